//! The dictionary: from terms to their numbers. Read for every batch, written for the new terms in it.

use foldhash::fast::FixedState;
use perfschema::sync::RwLock;
use std::collections::HashMap;

/// The number of a term, from 0 in the order of their arrival.
pub(crate) type TermId = u32;

/// All terms.
#[derive(Debug)]
pub(crate) struct Dictionary {
    ids: RwLock<HashMap<Box<str>, TermId, FixedState>>,
}

impl Dictionary {
    pub(crate) fn new() -> Dictionary {
        Dictionary { ids: perfschema::rwlock!("wait/synch/rwlock/demo/dictionary", HashMap::default()) }
    }

    /// Hands the number of each term, with what came with it, to `each`; terms that are new get one. Locks once to read, and once
    /// to write if there is anything new.
    pub(crate) fn resolve<V>(&self, terms: impl Iterator<Item = (Box<str>, V)>, mut each: impl FnMut(TermId, V)) {
        let mut new = Vec::new();
        {
            let ids = self.ids.read().expect("no thread panics while it writes the dictionary");
            for (term, value) in terms {
                match ids.get(&term) {
                    Some(&id) => each(id, value),
                    None => new.push((term, value)),
                }
            }
        }
        if new.is_empty() {
            return;
        }
        let mut ids = self.ids.write().expect("no thread panics while it writes the dictionary");
        for (term, value) in new {
            let next = TermId::try_from(ids.len()).expect("memory is full before that");
            // Another thread may have come first.
            each(*ids.entry(term).or_insert(next), value);
        }
    }

    /// All terms, in the order of their numbers.
    pub(crate) fn terms(&self) -> Vec<Box<str>> {
        let ids = self.ids.read().expect("no thread panics while it writes the dictionary");
        let mut terms: Vec<_> = ids.iter().map(|(term, id)| (*id, term.clone())).collect();
        terms.sort_unstable_by_key(|(id, _)| *id);
        terms.into_iter().map(|(_, term)| term).collect()
    }

    /// The number of a term.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the server asks"))]
    pub(crate) fn get(&self, term: &str) -> Option<TermId> {
        self.ids.read().expect("no thread panics while it writes the dictionary").get(term).copied()
    }

    /// How many terms there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.read().expect("no thread panics while it writes the dictionary").len()
    }

    pub(crate) fn clear(&self) {
        *self.ids.write().expect("no thread panics while it writes the dictionary") = HashMap::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dense_and_stay() {
        let dictionary = Dictionary::new();
        let resolve = |terms: &[&str]| {
            let mut ids = Vec::new();
            dictionary.resolve(terms.iter().map(|&term| (term.into(), term)), |id, term| ids.push((term.to_owned(), id)));
            ids.sort();
            ids.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
        };
        assert_eq!(resolve(&["a", "b"]), [0, 1]);
        assert_eq!(resolve(&["b", "c", "a"]), [0, 1, 2]);
        assert_eq!((dictionary.len(), dictionary.get("c"), dictionary.get("d")), (3, Some(2), None));
        dictionary.clear();
        assert_eq!(resolve(&["c"]), [0]);
    }
}
