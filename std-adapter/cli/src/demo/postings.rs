//! The posting lists: for each term, the documents that it is in. Divided into shards with a mutex each, so that threads meet
//! seldom.

use super::dictionary::TermId;
use perfschema::sync::{Mutex, MutexGuard};
use perfschema_demo::Posting;

const SHARD_COUNT: usize = 16;

/// Posting lists of one batch, by shard: what [`Postings::add`] takes.
#[derive(Debug, Default)]
pub(crate) struct Additions([Vec<(TermId, Vec<Posting>)>; SHARD_COUNT]);

impl Additions {
    pub(crate) fn push(&mut self, term: TermId, postings: Vec<Posting>) {
        self.0[term as usize % SHARD_COUNT].push((term, postings));
    }
}

/// All posting lists.
#[derive(Debug)]
pub(crate) struct Postings {
    shards: [Mutex<Shard>; SHARD_COUNT],
}

/// The lists of the terms with one remainder, in the order of their numbers.
#[derive(Debug, Default)]
struct Shard {
    lists: Vec<Vec<Posting>>,
    posting_count: usize,
}

impl Postings {
    pub(crate) fn new() -> Postings {
        Postings { shards: std::array::from_fn(|_| perfschema::mutex!("wait/synch/mutex/demo/postings", Shard::default())) }
    }

    /// Appends the lists, and empties `additions`. Locks each shard once, `first` before the others: threads that begin at
    /// different shards do not run after each other from one to the next.
    pub(crate) fn add(&self, additions: &mut Additions, first: usize) {
        for shard in (0..SHARD_COUNT).map(|number| (first + number) % SHARD_COUNT) {
            let lists = &mut additions.0[shard];
            if !lists.is_empty() {
                lock(&self.shards[shard]).append(lists.drain(..));
            }
        }
    }

    /// Shows the documents that each term from 0 on is in, in their order, up to the first error. Locks each shard once.
    pub(crate) fn each<E>(&self, terms: TermId, mut show: impl FnMut(TermId, &[Posting]) -> Result<(), E>) -> Result<(), E> {
        let shards: Vec<_> = self.shards.iter().map(lock).collect();
        let mut list = Vec::new();
        (0..terms).try_for_each(|term| {
            list.clear();
            list.extend_from_slice(shards[term as usize % SHARD_COUNT].of(term));
            list.sort_unstable();
            show(term, &list)
        })
    }

    /// The documents that a term is in, in their order.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the server asks"))]
    pub(crate) fn of(&self, term: TermId) -> Vec<Posting> {
        let mut list = lock(&self.shards[term as usize % SHARD_COUNT]).of(term).to_vec();
        list.sort_unstable();
        list
    }

    /// How many pairs of a term and a document there are.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).posting_count).sum()
    }

    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            *lock(shard) = Shard::default();
        }
    }
}

#[track_caller]
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().expect("no thread panics while it holds posting lists")
}

impl Shard {
    fn of(&self, term: TermId) -> &[Posting] {
        self.lists.get(term as usize / SHARD_COUNT).map_or(&[], Vec::as_slice)
    }

    fn append(&mut self, lists: impl Iterator<Item = (TermId, Vec<Posting>)>) {
        for (term, postings) in lists {
            let index = term as usize / SHARD_COUNT;
            if index >= self.lists.len() {
                self.lists.resize_with(index + 1, Vec::new);
            }
            self.posting_count += postings.len();
            let list = &mut self.lists[index];
            if list.is_empty() {
                *list = postings;
            } else {
                list.extend(postings);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_whatever_the_order() {
        let postings = Postings::new();
        let posting = |document| Posting { document, count: 1 };
        for first in [3, 0, 15] {
            let mut additions = Additions::default();
            for term in [40, 7, 8] {
                additions.push(term, vec![posting(term), posting(term + first as u32)]);
            }
            postings.add(&mut additions, first);
            assert!(additions.0.iter().all(Vec::is_empty));
        }
        assert_eq!(postings.len(), 18);
        assert_eq!(postings.of(7), [7, 7, 7, 7, 10, 22].map(posting));
        assert!(postings.of(9).is_empty());
        assert!(postings.of(23).is_empty());
        postings.clear();
        assert_eq!(postings.len(), 0);
    }
}
