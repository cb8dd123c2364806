//! The queries: which documents have all of some words, and how often.

use super::indexer::Indexer;
use perfschema::render::text::escape;
use perfschema_demo::{DocumentId, for_each_term};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Instant;

/// Documents that an answer names.
const SHOWN: usize = 10;

/// What a query comes to.
#[derive(Debug)]
pub(crate) struct Answer {
    /// How many documents there are, a line each for the best of them, and an empty line.
    pub(crate) text: String,
    /// Lines of documents.
    pub(crate) rows_sent: u64,
    /// Postings that were looked at.
    pub(crate) rows_examined: u64,
}

/// The answer to a line of words: how many documents have all of them, and the best ones with how often they have them.
pub(crate) fn answer(indexer: &Indexer, line: &[u8]) -> Answer {
    let begin = Instant::now();
    let Found { documents, rows_examined } = find(indexer, line);
    let mut text = format!("{} documents, {} us\n", documents.len(), begin.elapsed().as_micros());
    let mut rows_sent = 0;
    for (document, count) in documents.iter().take(SHOWN) {
        // A line is one document, whatever its name.
        let path = escape(&indexer.corpus.documents[*document as usize].path.display().to_string());
        // Writing to a String does not fail.
        let _ = writeln!(text, "{count}\t{path}");
        rows_sent += 1;
    }
    text.push('\n');
    Answer { text, rows_sent, rows_examined }
}

struct Found {
    /// Those that have all the words, and how often.
    documents: Vec<(DocumentId, u64)>,
    rows_examined: u64,
}

/// Documents that have all the words, those that have them most often first.
fn find(indexer: &Indexer, line: &[u8]) -> Found {
    let mut terms: Vec<String> = Vec::new();
    for_each_term(line, |term| {
        if !terms.iter().any(|other| other == term) {
            terms.push(term.to_owned());
        }
    });
    let mut counts: HashMap<DocumentId, (usize, u64)> = HashMap::new();
    let mut rows_examined = 0;
    for (number, term) in terms.iter().enumerate() {
        for posting in indexer.index.find(term) {
            rows_examined += 1;
            let (matched, count) = counts.entry(posting.document).or_default();
            // Only those that had all words before this one are still of interest.
            if *matched == number {
                *matched += 1;
                *count += u64::from(posting.count);
            }
        }
    }
    let all = counts.into_iter().filter(|(_, (matched, _))| *matched == terms.len());
    let mut documents: Vec<(DocumentId, u64)> = all.map(|(document, (_, count))| (document, count)).collect();
    documents.sort_unstable_by_key(|(document, count)| (std::cmp::Reverse(*count), *document));
    Found { documents, rows_examined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::corpus::{Corpus, Document};
    use crate::demo::index::Batch;

    #[test]
    fn documents_with_all_words_the_best_first() {
        let document = |path: &str| Document { path: path.into(), size_bytes: 0 };
        let documents = vec![document("a"), document("b"), document("c")];
        let indexer = Indexer::new(Corpus { documents, ..Corpus::default() });
        let mut batch = Batch::default();
        for (number, text) in ["to be", "be or not to be, be", "not"].iter().enumerate() {
            batch.add(number as DocumentId, text.as_bytes());
        }
        indexer.index.add(&mut batch, 0);
        for (line, documents, postings) in [
            (&b"be"[..], &[(1, 3), (0, 1)][..], 2),
            (b"To, be to\n", &[(1, 4), (0, 2)], 4),
            (b"to not", &[(1, 2)], 4),
            (b"be nothing", &[], 2),
            (b"", &[], 0),
            (b"\xff\n", &[], 0),
        ] {
            let found = find(&indexer, line);
            assert_eq!((&*found.documents, found.rows_examined), (documents, postings), "{line:?}");
        }
        let answer = answer(&indexer, b"be\n");
        let lines: Vec<&str> = answer.text.split('\n').collect();
        assert!(lines[0].starts_with("2 documents, "), "{answer:?}");
        assert_eq!(lines[1..], ["3\tb", "1\ta", "", ""]);
        assert_eq!((answer.rows_sent, answer.rows_examined), (2, 2));
    }
}
