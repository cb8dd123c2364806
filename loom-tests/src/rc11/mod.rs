//! Every execution of a small program that RC11 allows, and what the program sees in each.
//!
//! A second opinion beside loom, independent of it. Loom runs the real code, but takes SeqCst accesses for what they are not, and forgets
//! some executions. This takes a program of a few accesses that stands for a protocol ([`protocols`]), and the axioms as they were published
//! (`graph.rs`). What is safe by both is safe, and an ordering that neither can do without is needed.
//!
//! A thread of a program is a function of what its loads return:
//! ```
//! use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
//! use perfschema_loom_tests::rc11::{Program, Thread};
//!
//! fn writer(t: &mut Thread<'_>) -> Option<&'static str> {
//!     t.store("", "data", 1, Relaxed)?;
//!     t.store("R1", "ready", 1, Release)?;
//!     Some("")
//! }
//! fn reader(t: &mut Thread<'_>) -> Option<&'static str> {
//!     if t.load("R2", "ready", Acquire)? == 0 {
//!         return Some("nothing");
//!     }
//!     Some(if t.load("", "data", Relaxed)? == 1 { "data" } else { "ready without data" })
//! }
//! let program = Program {
//!     name: "message passing",
//!     words: &[("data", 0), ("ready", 0)],
//!     threads: &[("writer", writer), ("reader", reader)],
//!     finally: None,
//!     wanted: &["nothing", "data"],
//!     forbidden: &["ready without data"],
//!     wrong: &[],
//! };
//! let as_written = program.explore(&[]);
//! assert_eq!(as_written.outcomes(), ["data", "nothing"]);
//! assert!(program.explore(&[("R1", Some(Relaxed))]).reaches(program.forbidden));
//! ```
//! **How.** An execution is built event by event: a read takes the value of any write of its word that is there, a write takes any place in
//! the word's modification order, and what breaks an axiom is dropped with all that would follow. That finds every execution because RC11
//! has none with a cycle in `po ∪ rf`: some order of adding puts each write before its reads. Graphs met before are not gone through again.

mod graph;
pub mod protocols;

use core::sync::atomic::Ordering;
use graph::{Event, Graph, Kind};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// What a thread does, up to what it does next: `None` from any access means "not yet", for the thread to pass on with `?`. At its end it
/// says what it saw; `""` is nothing worth saying.
pub type Run = fn(&mut Thread<'_>) -> Option<&'static str>;

/// A program that stands for a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// For the report.
    pub name: &'static str,
    /// The words, and what they hold at first.
    pub words: &'static [(&'static str, u64)],
    /// The threads.
    pub threads: &'static [(&'static str, Run)],
    /// What the words say when all threads have ended.
    pub finally: Option<fn(&Last<'_>) -> &'static str>,
    /// The outcomes that executions reach, all of them.
    pub wanted: &'static [&'static str],
    /// Those that none may reach, and that weakened orderings allow.
    pub forbidden: &'static [&'static str],
    /// Other ways to write it that look right.
    pub wrong: &'static [Wrong],
}

/// A change of orderings: a site of the program, and its ordering then; `None` leaves a fence out.
pub type Change = (&'static str, Option<Ordering>);

/// A way to write a program that looks right and is not.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    /// The labels of the orderings that it is about.
    pub labels: &'static str,
    /// What is done instead.
    pub form: &'static str,
    /// What that changes.
    pub changes: &'static [Change],
}

/// One thread of an execution, so far.
#[derive(Debug)]
pub struct Thread<'a> {
    program: &'a Program,
    changes: &'a [Change],
    /// What its events read, in order.
    past: &'a [u64],
    done: usize,
    next: Option<Action>,
}

#[derive(Clone, Copy, Debug)]
struct Action {
    site: &'static str,
    ordering: Ordering,
    word: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Load,
    Store(u64),
    Add(u64),
    Exchange { old: u64, new: u64 },
    Fence,
}

impl Thread<'_> {
    /// What the access read, or None if it is the next to do. Its site is the label of its ordering, and more words if there are several
    /// of that label; `""` if nothing depends on it.
    fn access(&mut self, site: &'static str, word: &str, ordering: Ordering, what: What) -> Option<u64> {
        let changed = self.changes.iter().find(|(changed, _)| *changed == site);
        let ordering = match changed {
            Some((_, None)) => {
                assert!(matches!(what, What::Fence), "only fences can be left out");
                return Some(0);
            }
            Some((_, Some(ordering))) => *ordering,
            None => ordering,
        };
        if let Some(read) = self.past.get(self.done) {
            self.done += 1;
            return Some(*read);
        }
        let word = self.program.words.iter().position(|(name, _)| *name == word).unwrap_or(usize::MAX);
        assert!(word != usize::MAX || matches!(what, What::Fence), "a word that the program does not have");
        self.next = Some(Action { site, ordering, word, what });
        None
    }

    /// Loads a word.
    pub fn load(&mut self, site: &'static str, word: &str, ordering: Ordering) -> Option<u64> {
        self.access(site, word, ordering, What::Load)
    }

    /// Stores a word.
    #[must_use = "a thread stops here if this is what it does next"]
    pub fn store(&mut self, site: &'static str, word: &str, value: u64, ordering: Ordering) -> Option<()> {
        self.access(site, word, ordering, What::Store(value)).map(|_| ())
    }

    /// Adds to a word, and returns what was there before.
    pub fn fetch_add(&mut self, site: &'static str, word: &str, value: u64, ordering: Ordering) -> Option<u64> {
        self.access(site, word, ordering, What::Add(value))
    }

    /// Compare-and-swap, relaxed where it fails, as in `sync.rs`.
    pub fn compare_exchange(
        &mut self,
        site: &'static str,
        word: &str,
        old: u64,
        new: u64,
        success: Ordering,
    ) -> Option<Result<u64, u64>> {
        self.access(site, word, success, What::Exchange { old, new }).map(|seen| if seen == old { Ok(seen) } else { Err(seen) })
    }

    /// A fence.
    #[must_use = "a thread stops here if this is what it does next"]
    pub fn fence(&mut self, site: &'static str, ordering: Ordering) -> Option<()> {
        self.access(site, "", ordering, What::Fence).map(|_| ())
    }
}

/// The words when all threads have ended.
#[derive(Debug)]
pub struct Last<'a>(&'a Program, &'a Graph);

impl Last<'_> {
    /// What a word holds.
    ///
    /// # Panics
    /// If the program has no such word.
    pub fn get(&self, word: &str) -> u64 {
        let index = self.0.words.iter().position(|(name, _)| *name == word).expect("a word of the program");
        let write = *self.1.writes[index].last().expect("the initial write is always there");
        self.1.events[write].written
    }
}

/// An ordering of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Label, and what tells it from others of that label.
    pub name: &'static str,
    /// The ordering as written.
    pub ordering: Ordering,
    /// Whether it is a fence.
    pub is_fence: bool,
}

impl Site {
    /// `E1`; None if it has no number.
    pub fn label(&self) -> Option<&'static str> {
        let label = self.name.split(' ').next()?;
        let numbered =
            |label: &str| label.len() == 2 && label.as_bytes()[0].is_ascii_uppercase() && label.as_bytes()[1].is_ascii_digit();
        numbered(label).then_some(label)
    }

    /// Each next weaker ordering, and what that is called.
    pub fn weaker(&self) -> Vec<(&'static str, Option<Ordering>)> {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match (self.is_fence, self.ordering) {
            (true, SeqCst) => vec![("fence not SeqCst", Some(AcqRel)), ("fence left out", None)],
            (true, AcqRel) => {
                vec![("fence only Acquire", Some(Acquire)), ("fence only Release", Some(Release)), ("fence left out", None)]
            }
            (true, _) => vec![("fence left out", None)],
            (false, SeqCst | AcqRel) => {
                vec![("only Acquire", Some(Acquire)), ("only Release", Some(Release)), ("relaxed", Some(Relaxed))]
            }
            (false, Relaxed) => Vec::new(),
            (false, _) => vec![("relaxed", Some(Relaxed))],
        }
    }
}

/// What becomes of the programs when an ordering is weakened, or written in another way.
#[derive(Clone, Debug)]
pub struct Weakening {
    /// The label of the ordering; or several, with a space between.
    pub labels: &'static str,
    /// What is changed, as the faults of `ci/orderings` call it.
    pub form: &'static str,
    /// Programs that reach what is forbidden, and an execution that does.
    pub breaks: Vec<(&'static str, String)>,
}

/// Every numbered ordering of the programs made weaker by each next step, and every wrong way to write them; sorted by label.
pub fn weakenings(programs: &[Program]) -> Vec<Weakening> {
    let mut all: BTreeMap<(&str, &str), Vec<_>> = BTreeMap::new();
    for program in programs {
        let mut explore = |labels, form, changes: &[Change]| {
            let example = program.explore(changes).example(program.forbidden).map(str::to_owned);
            all.entry((labels, form)).or_default().extend(example.map(|example| (program.name, example)));
        };
        for site in program.explore(&[]).sites {
            for (form, ordering) in site.weaker() {
                if let Some(label) = site.label() {
                    explore(label, form, &[(site.name, ordering)]);
                }
            }
        }
        for wrong in program.wrong {
            explore(wrong.labels, wrong.form, wrong.changes);
        }
    }
    all.into_iter().map(|((labels, form), breaks)| Weakening { labels, form, breaks }).collect()
}

/// What an exploration found.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// Executions that RC11 allows.
    pub executions: usize,
    /// The orderings met.
    pub sites: Vec<Site>,
    /// Each outcome, and the first execution that had it.
    outcomes: BTreeMap<&'static str, String>,
}

impl Explored {
    /// The outcomes, sorted.
    pub fn outcomes(&self) -> Vec<&'static str> {
        self.outcomes.keys().copied().collect()
    }

    /// Whether some execution has one of these outcomes.
    pub fn reaches(&self, outcomes: &[&str]) -> bool {
        outcomes.iter().any(|outcome| self.outcomes.contains_key(outcome))
    }

    /// An execution with one of these outcomes: what each thread wrote (`:=`) and read (`=`).
    pub fn example(&self, outcomes: &[&str]) -> Option<&str> {
        outcomes.iter().find_map(|outcome| self.outcomes.get(*outcome).map(String::as_str))
    }

    fn note(&mut self, outcome: &'static str, example: impl Fn() -> String) {
        if !outcome.is_empty() {
            self.outcomes.entry(outcome).or_insert_with(example);
        }
    }
}

impl Program {
    /// All executions, with some orderings changed.
    ///
    /// # Panics
    /// If a change names a site that the program does not have.
    pub fn explore(&self, changes: &[Change]) -> Explored {
        let mut explored = Explored::default();
        let mut used = HashSet::new();
        let mut seen = HashSet::new();
        let mut open = vec![Graph::new(self.words.iter().map(|(_, value)| *value))];
        while let Some(graph) = open.pop() {
            let steps: Vec<_> = (0..self.threads.len()).map(|thread| self.step(&graph, thread, changes)).collect();
            let said: Vec<_> = steps.iter().filter_map(|step| step.as_ref().err().copied()).collect();
            if said.len() == steps.len() {
                explored.executions += 1;
                let finally = self.finally.map_or("", |finally| finally(&Last(self, &graph)));
                for outcome in said.into_iter().chain([finally]) {
                    explored.note(outcome, || self.describe(&graph));
                }
                continue;
            }
            // Stores and fences read nothing, so they may as well come first; in which order reads come decides what they find.
            let first = steps.iter().position(|step| matches!(step, Ok(Action { what: What::Store(_) | What::Fence, .. })));
            let threads = first.map_or(0..steps.len(), |first| first..first + 1);
            for (thread, action) in threads.filter_map(|thread| Some((thread, steps[thread].ok()?))) {
                used.insert(action.site);
                let is_fence = matches!(action.what, What::Fence);
                let site = Site { name: action.site, ordering: action.ordering, is_fence };
                if !explored.sites.contains(&site) {
                    explored.sites.push(site);
                }
                for next in extend(&graph, thread, &action) {
                    if seen.insert(next.key(steps.len())) && next.is_consistent() {
                        open.push(next);
                    }
                }
            }
        }
        for (site, ordering) in changes {
            assert!(ordering.is_none() || used.contains(site), "{}: no site {site}", self.name);
        }
        explored
    }

    /// What the thread does next, or what it said at its end.
    fn step(&self, graph: &Graph, thread: usize, changes: &[Change]) -> Result<Action, &'static str> {
        let past: Vec<u64> = graph.of_thread(thread).map(|event| event.read).collect();
        let mut running = Thread { program: self, changes, past: &past, done: 0, next: None };
        match (self.threads[thread].1(&mut running), running.next) {
            (Some(outcome), None) => Err(outcome),
            (None, Some(action)) => Ok(action),
            _ => panic!("{}: a thread that stops at no access, or goes on after one", self.name),
        }
    }

    fn describe(&self, graph: &Graph) -> String {
        let mut text = String::new();
        for (thread, (name, _)) in self.threads.iter().enumerate() {
            let _ = write!(text, "{}{name}:", if thread == 0 { "" } else { "; " });
            for event in graph.of_thread(thread) {
                let word = self.words.get(event.word).map_or("", |(word, _)| *word);
                let _ = match event.kind {
                    Kind::Load => write!(text, " {word}={}", event.read),
                    Kind::Store => write!(text, " {word}:={}", event.written),
                    Kind::Update => write!(text, " {word}={}:={}", event.read, event.written),
                    Kind::Fence => write!(text, " fence"),
                };
            }
        }
        text
    }
}

/// The graph with the action done, in every way that its reads and the modification order leave open.
fn extend(graph: &Graph, thread: usize, action: &Action) -> Vec<Graph> {
    let &Action { ordering, word, what, .. } = action;
    let event = Event { thread: Some(thread), kind: Kind::Fence, word, ordering, read: 0, written: 0, reads_from: None };
    match what {
        What::Fence => vec![graph.with(event, None)],
        What::Store(written) => {
            let store = Event { kind: Kind::Store, written, ..event };
            // Place 0 is the initial value's.
            (1..=graph.writes[word].len()).map(|at| graph.with(store, Some(at))).collect()
        }
        What::Load | What::Add(_) | What::Exchange { .. } => (graph.writes[word].iter().enumerate())
            .map(|(at, &write)| {
                let read = graph.events[write].written;
                let load = Event { kind: Kind::Load, read, reads_from: Some(write), ..event };
                let update = |written| graph.with(Event { kind: Kind::Update, written, ..load }, Some(at + 1));
                match what {
                    What::Add(value) => update(read.wrapping_add(value)),
                    What::Exchange { old, new } if read == old => update(new),
                    What::Exchange { .. } => graph.with(Event { ordering: Ordering::Relaxed, ..load }, None),
                    _ => graph.with(load, None),
                }
            })
            .collect(),
    }
}
