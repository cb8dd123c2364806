//! A worker: takes a job, reads its files, gathers their terms, adds them to the index.

use super::corpus::{Contents, Document};
use super::index::Batch;
use super::indexer::{Indexer, Tally};
use super::metrics;
use perfschema::stage::Stage;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

static WAITING: Stage = perfschema::stage!("stage/demo/waiting for a job");
static READING: Stage = perfschema::stage!("stage/demo/reading a file");
static SPLITTING: Stage = perfschema::stage!("stage/demo/splitting into words");
static ADDING: Stage = perfschema::stage!("stage/demo/adding to the index");

/// What the thread `number` does until the queue is closed.
pub(crate) fn work(indexer: &Indexer, number: usize) {
    let _watch = Watch(indexer);
    let mut batch = Batch::default();
    let mut contents = Contents::default();
    WAITING.begin();
    while let Some(job) = indexer.queue.take() {
        for id in job {
            let document = &indexer.corpus.documents[id as usize];
            READING.begin();
            if let Some(text) = read(document, &mut contents, &indexer.tally) {
                SPLITTING.begin();
                let words = batch.add(id, text);
                add(&indexer.tally.words, words);
                metrics::WORDS.add(words);
            }
            add(&indexer.tally.done_bytes, document.size_bytes);
        }
        ADDING.begin();
        indexer.index.add(&mut batch, number);
        WAITING.begin();
        indexer.done();
    }
}

/// Reads a file, and counts it; None if it is not text.
fn read<'c>(document: &Document, contents: &'c mut Contents, tally: &Tally) -> Option<&'c [u8]> {
    match contents.read(document) {
        Ok(Some(text)) => {
            add(&tally.files, 1);
            add(&tally.bytes, text.len() as u64);
            metrics::READ.add(text.len() as u64);
            return Some(text);
        }
        Ok(None) => add(&tally.binary, 1),
        Err(_) => add(&tally.unreadable, 1),
    }
    None
}

fn add(tally: &AtomicU64, amount: u64) {
    tally.fetch_add(amount, Ordering::Relaxed);
}

/// Says so if the worker panics, instead of letting everybody wait for its job.
struct Watch<'a>(&'a Indexer);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail();
        }
    }
}
