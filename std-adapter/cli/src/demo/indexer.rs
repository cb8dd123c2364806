//! The application: corpus, queue and index, and the figures of the run.

use super::corpus::{Corpus, Job};
use super::index::Index;
use super::queue::Queue;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// What all threads share.
#[derive(Debug)]
pub(crate) struct Indexer {
    pub(crate) corpus: Corpus,
    pub(crate) queue: Queue<Job>,
    pub(crate) index: Index,
    pub(crate) tally: Tally,
    jobs: Vec<Job>,
    jobs_left: AtomicU64,
    failed: AtomicBool,
    /// Who waits for the end of a run.
    main: Thread,
}

/// What the workers did in this run. All accesses are Relaxed: the figures are read after `jobs_left` says that the run is over,
/// and until then only shown.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// By the sizes in the corpus: so far.
    pub(crate) done_bytes: AtomicU64,
    pub(crate) files: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) words: AtomicU64,
    pub(crate) binary: AtomicU64,
    pub(crate) unreadable: AtomicU64,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) words: u64,
    pub(crate) terms: u64,
    pub(crate) postings: u64,
    pub(crate) binary: u64,
    pub(crate) unreadable: u64,
    pub(crate) too_large: u64,
}

impl Indexer {
    pub(crate) fn new(corpus: Corpus) -> Indexer {
        Indexer {
            jobs: corpus.jobs(),
            corpus,
            queue: Queue::new(),
            index: Index::new(),
            tally: Tally::default(),
            jobs_left: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            main: thread::current(),
        }
    }

    /// Indexes all, from nothing, and returns when it is done; the workers do it. Calls `look` now and then with the bytes done.
    ///
    /// The calling thread waits in a way of its own, not for the queue: who watches is not part of what is watched.
    pub(crate) fn run(&self, tick: Duration, mut look: impl FnMut(u64)) {
        self.index.clear();
        self.tally.clear();
        self.jobs_left.store(self.jobs.len() as u64, Ordering::Relaxed);
        self.queue.put(self.jobs.iter().cloned());
        // Acquire: pairs with the Release in done(); the tallies are complete.
        while self.jobs_left.load(Ordering::Acquire) != 0 && !self.has_failed() {
            thread::park_timeout(tick);
            look(self.tally.done_bytes.load(Ordering::Relaxed));
        }
    }

    /// A job is done.
    pub(crate) fn done(&self) {
        // AcqRel: the last one passes on what all others released.
        if self.jobs_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.main.unpark();
        }
    }

    /// A worker panics: there is no use in waiting.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.main.unpark();
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// What the last run came to.
    pub(crate) fn figures(&self) -> Figures {
        let tally = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Figures {
            files: tally(&self.tally.files),
            bytes: tally(&self.tally.bytes),
            words: tally(&self.tally.words),
            terms: self.index.term_count() as u64,
            postings: self.index.posting_count() as u64,
            binary: tally(&self.tally.binary),
            unreadable: tally(&self.tally.unreadable) + self.corpus.unreadable,
            too_large: self.corpus.too_large,
        }
    }
}

impl Tally {
    fn clear(&self) {
        for count in [&self.done_bytes, &self.files, &self.bytes, &self.words, &self.binary, &self.unreadable] {
            count.store(0, Ordering::Relaxed);
        }
    }
}
