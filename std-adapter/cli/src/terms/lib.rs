//! What `perfschema demo` computes between its locks and files: the terms of documents, gathered.
//!
//! It is a crate of its own so that the compiler makes the same of it, but for where it allocates, with instrumentation around it and without:
//! most of the demo's time is spent here, and in one crate with the rest it took 1 to 4 % more in the one program or in the other, which
//! said nothing of either (`benches/whole-programs`).

mod tokenizer;

use foldhash::fast::FixedState;
use std::collections::HashMap;
pub use tokenizer::for_each_term;

/// Index of a document in its corpus.
pub type DocumentId = u32;

/// A document that a term is in, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    /// The document.
    pub document: DocumentId,
    /// How often the term is in it.
    pub count: u32,
}

/// The terms of a few documents, each with the documents that it is in.
#[derive(Debug, Default)]
pub struct Terms(HashMap<Box<str>, Vec<Posting>, FixedState>);

impl Terms {
    /// Adds the terms of a document, and says how many words it has.
    #[inline(never)]
    pub fn add(&mut self, document: DocumentId, text: &[u8]) -> u64 {
        let mut words = 0;
        for_each_term(text, |term| {
            words += 1;
            match self.0.get_mut(term) {
                Some(postings) => match postings.last_mut() {
                    Some(posting) if posting.document == document => posting.count += 1,
                    _ => postings.push(Posting { document, count: 1 }),
                },
                None => {
                    self.0.insert(term.into(), vec![Posting { document, count: 1 }]);
                }
            }
        });
        words
    }

    /// Takes all terms out, in any order.
    pub fn drain(&mut self) -> impl Iterator<Item = (Box<str>, Vec<Posting>)> {
        self.0.drain()
    }
}
