//! The index: a dictionary and posting lists, filled in batches.

use super::dictionary::{Dictionary, TermId};
use super::metrics;
use super::postings::{Additions, Postings};
use perfschema_demo::{DocumentId, Posting, Terms};
use std::io;

/// What can be searched.
#[derive(Debug)]
pub(crate) struct Index {
    dictionary: Dictionary,
    postings: Postings,
}

/// The terms of a few documents, gathered without a lock; one a thread, used again and again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    terms: Terms,
    additions: Additions,
}

impl Batch {
    /// Adds the terms of a document, and says how many words it has.
    pub(crate) fn add(&mut self, document: DocumentId, text: &[u8]) -> u64 {
        self.terms.add(document, text)
    }
}

impl Index {
    pub(crate) fn new() -> Index {
        Index { dictionary: Dictionary::new(), postings: Postings::new() }
    }

    /// Adds what was gathered, and empties the batch. `thread` is the number of the calling thread.
    pub(crate) fn add(&self, batch: &mut Batch, thread: usize) {
        let Batch { terms, additions } = batch;
        let mut added = 0;
        self.dictionary.resolve(terms.drain(), |id, postings| {
            added += postings.len() as u64;
            additions.push(id, postings);
        });
        self.postings.add(additions, thread);
        metrics::POSTINGS.add(added);
    }

    /// Shows each term, in the order of their arrival, and the documents that it is in. Nobody adds meanwhile.
    pub(crate) fn each_term(&self, mut each: impl FnMut(&str, &[Posting]) -> io::Result<()>) -> io::Result<()> {
        let terms = self.dictionary.terms();
        self.postings.each(terms.len() as TermId, |id, postings| each(&terms[id as usize], postings))
    }

    /// The documents that a term is in, in their order.
    #[cfg_attr(not(unix), allow(dead_code, reason = "the server asks"))]
    pub(crate) fn find(&self, term: &str) -> Vec<Posting> {
        self.dictionary.get(term).map_or(Vec::new(), |id| self.postings.of(id))
    }

    /// How many different terms there are.
    pub(crate) fn term_count(&self) -> usize {
        self.dictionary.len()
    }

    /// How many pairs of a term and a document there are.
    pub(crate) fn posting_count(&self) -> usize {
        self.postings.len()
    }

    pub(crate) fn clear(&self) {
        self.dictionary.clear();
        self.postings.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_added() {
        let index = Index::new();
        let mut batch = Batch::default();
        assert_eq!(batch.add(0, b"to be, or not to be"), 6);
        assert_eq!(batch.add(1, b"Not me"), 2);
        index.add(&mut batch, 0);
        assert_eq!(batch.add(2, b"or else"), 2);
        index.add(&mut batch, 5);
        let posting = |document, count| Posting { document, count };
        assert_eq!(index.find("to"), [posting(0, 2)]);
        assert_eq!(index.find("not"), [posting(0, 1), posting(1, 1)]);
        assert_eq!(index.find("or"), [posting(0, 1), posting(2, 1)]);
        assert_eq!(index.find("nothing"), []);
        assert_eq!((index.term_count(), index.posting_count()), (6, 8));
    }
}
