//! Proofs of the lock-free protocols of `perfschema-core`, two ways. What they prove is in `docs/memory-model.md`.
//!
//! **Models**, one protocol a file in `tests/`. They run the real code:
//! ```text
//! RUSTFLAGS="--cfg perfschema_loom" cargo test -p perfschema-loom-tests --release
//! ```
//! With that cfg the core's words are [loom](https://docs.rs/loom)'s, which explores what the threads of a small program may see
//! under the C11 memory model. Without it they are empty. `ci/orderings` plants faults and shows which model catches each.
//!
//! **An enumeration** of all executions that RC11 allows, [`rc11`], of small programs that stand for the protocols. It needs no cfg:
//! ```text
//! cargo run -p perfschema-loom-tests --example rc11
//! ```
//!
//! # Against the hole
//! loom 0.7.2 forgets executions: a thread that loads an atomic and then stores it hides other threads' loads of it (its issues
//! 166 and 392). So every model
//! - is explored twice, with each of its two threads spawned first (`Model::explore`, `either`): what one order hides the other shows;
//! - names the outcomes that it must reach and the least number of executions (`Model`), and fails if it did not.
//!
//! # Your own models
//! Code of yours that embeds the core can be modelled over it. Two lines of your manifest, and a test that runs under the cfg:
//! ```toml
//! [target.'cfg(perfschema_loom)'.dependencies]
//! loom = "0.7.2"
//! [lints.rust]
//! unexpected_cfgs = { level = "warn", check-cfg = ['cfg(perfschema_loom)'] }
//! ```
//! `tests/example.rs` is such a model, over public API only: a queue whose lock is instrumented. What to know:
//! - Memory is made within the model, one [`Word`](perfschema_core::Word) after the other: `Word::unwatched(0)` for what your protocol
//!   does not depend on, `Word::new(0)` for what loom is to explore. The time is exponential in the watched ones; all unwatched is right
//!   for most programs, whose own atomics are what they model. Nothing unwatched may be asserted while another thread writes it.
//! - A region borrows its words and loom's threads want `'static`: share the words in an `Arc`, and open the region in each thread.
//! - `StaticRegion` does not exist under the cfg, because loom's words cannot be made in a constant.

pub mod rc11;

#[cfg(perfschema_loom)]
pub use explore::{Model, Seen, either};

#[cfg(perfschema_loom)]
mod explore {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Instant;

    /// What an exploration must show of itself.
    #[derive(Clone, Copy, Debug)]
    pub struct Model {
        /// For the report.
        pub name: &'static str,
        /// How often a thread may be interrupted; None for every interleaving.
        pub preemptions: Option<usize>,
        /// Fewer executions than this, and something hid the rest.
        pub least: usize,
        /// Outcomes that some execution must reach, and no others may be seen.
        pub outcomes: &'static [&'static str],
    }

    /// The outcomes seen so far, over all executions.
    #[derive(Clone, Debug, Default)]
    pub struct Seen(Arc<Mutex<BTreeMap<&'static str, usize>>>);

    impl Seen {
        /// This execution had this outcome.
        pub fn note(&self, outcome: &'static str) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(outcome).or_default() += 1;
        }
    }

    impl Model {
        /// Runs every execution of `program`, which asserts what must always hold; once with `swap`, once without.
        ///
        /// # Panics
        /// If an assertion of the program fails, or if the exploration was too small to say anything.
        pub fn explore(self, program: impl Fn(bool, &Seen) + Send + Sync + 'static) {
            let (seen, executions) = (Seen::default(), Arc::new(AtomicUsize::new(0)));
            let start = Instant::now();
            let program = Arc::new(program);
            for swap in [false, true] {
                let mut builder = loom::model::Builder::new();
                builder.preemption_bound = self.preemptions;
                builder.max_branches = 10_000;
                let (seen, executions, program) = (seen.clone(), executions.clone(), program.clone());
                builder.check(move || {
                    executions.fetch_add(1, Ordering::Relaxed);
                    program(swap, &seen);
                });
            }
            let executions = executions.load(Ordering::Relaxed);
            let outcomes = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
            println!("{:<34} {executions:>8} executions {:>6.2} s  {outcomes:?}", self.name, start.elapsed().as_secs_f64());
            let found: Vec<_> = outcomes.keys().copied().collect();
            let mut expected = self.outcomes.to_vec();
            expected.sort_unstable();
            assert_eq!(found, expected, "{}: outcomes reached, and those that must be", self.name);
            assert!(executions >= self.least, "{}: {executions} executions, expected at least {}", self.name, self.least);
        }
    }

    /// Runs two threads of a model: one spawned, the other in the model's own thread; `swap` says which.
    pub fn either(swap: bool, a: impl FnOnce() + Send + 'static, b: impl FnOnce() + Send + 'static) {
        let mut threads: [Box<dyn FnOnce() + Send>; 2] = [Box::new(a), Box::new(b)];
        if swap {
            threads.reverse();
        }
        let [spawned, here] = threads;
        let thread = loom::thread::spawn(spawned);
        here();
        thread.join().expect("a model's thread does not panic");
    }
}
