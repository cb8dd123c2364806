//! The queries: which documents have all of some words, and how often.

use super::corpus::DocumentId;
use super::indexer::Indexer;
use super::tokenizer::for_each_term;
use perfschema::render::text::escape;
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Instant;

/// Documents that an answer names.
const SHOWN: usize = 10;

/// The answer to a line of words: how many documents have all of them, the best ones with how often they have them, and an empty
/// line.
pub(crate) fn answer(indexer: &Indexer, line: &[u8]) -> String {
    let begin = Instant::now();
    let found = find(indexer, line);
    let mut answer = format!("{} documents, {} us\n", found.len(), begin.elapsed().as_micros());
    for (document, count) in found.iter().take(SHOWN) {
        // A line is one document, whatever its name.
        let path = escape(&indexer.corpus.documents[*document as usize].path.display().to_string());
        // Writing to a String does not fail.
        let _ = writeln!(answer, "{count}\t{path}");
    }
    answer.push('\n');
    answer
}

/// Documents that have all the words, those that have them most often first.
fn find(indexer: &Indexer, line: &[u8]) -> Vec<(DocumentId, u64)> {
    let mut terms: Vec<String> = Vec::new();
    for_each_term(line, |term| {
        if !terms.iter().any(|other| other == term) {
            terms.push(term.to_owned());
        }
    });
    let mut counts: HashMap<DocumentId, (usize, u64)> = HashMap::new();
    for (number, term) in terms.iter().enumerate() {
        for posting in indexer.index.find(term) {
            let (matched, count) = counts.entry(posting.document).or_default();
            // Only those that had all words before this one are still of interest.
            if *matched == number {
                *matched += 1;
                *count += u64::from(posting.count);
            }
        }
    }
    let all = counts.into_iter().filter(|(_, (matched, _))| *matched == terms.len());
    let mut found: Vec<(DocumentId, u64)> = all.map(|(document, (_, count))| (document, count)).collect();
    found.sort_unstable_by_key(|(document, count)| (std::cmp::Reverse(*count), *document));
    found
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
        assert_eq!(find(&indexer, b"be"), [(1, 3), (0, 1)]);
        assert_eq!(find(&indexer, b"To, be to\n"), [(1, 4), (0, 2)]);
        assert_eq!(find(&indexer, b"to not"), [(1, 2)]);
        for nothing in [&b"be nothing"[..], b"", b"\xff\n"] {
            assert_eq!(find(&indexer, nothing), []);
        }
        let answer = answer(&indexer, b"be\n");
        let lines: Vec<&str> = answer.split('\n').collect();
        assert!(lines[0].starts_with("2 documents, "), "{answer}");
        assert_eq!(lines[1..], ["3\tb", "1\ta", "", ""]);
    }
}
