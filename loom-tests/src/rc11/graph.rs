//! An execution as a graph, and the axioms that say whether RC11 allows it.
//!
//! Names and formulas are those of Lahav, Vafeiadis, Kang, Hur and Dreyer, *Repairing Sequential Consistency in C/C++11*, PLDI 2017,
//! section 3. Two things differ. A read-modify-write is one event here, which reads and writes, and two in the paper. And a release
//! sequence goes on through read-modify-writes only, as in C++20 and Rust, no longer through later stores of the same thread: fewer
//! synchronisations, so more executions, so what holds here holds there.

use core::sync::atomic::Ordering;

/// Events of one execution; a set of them is a word.
const EVENTS_MAX: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    /// A read-modify-write that wrote.
    Update,
    Fence,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// None for the initial value of a word, which comes before everything.
    pub(super) thread: Option<usize>,
    pub(super) kind: Kind,
    /// Index of the word; of no meaning for a fence.
    pub(super) word: usize,
    pub(super) ordering: Ordering,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) reads_from: Option<usize>,
}

impl Event {
    fn writes(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::Update)
    }

    fn is_fence(&self) -> bool {
        self.kind == Kind::Fence
    }

    fn acquires(&self) -> bool {
        matches!(self.ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) && !matches!(self.kind, Kind::Store)
    }

    fn releases(&self) -> bool {
        matches!(self.ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) && !matches!(self.kind, Kind::Load)
    }

    fn is_sc(&self) -> bool {
        self.ordering == Ordering::SeqCst
    }
}

/// Events in the order in which they were added, and the writes of each word in modification order.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    pub(super) writes: Vec<Vec<usize>>,
}

impl Graph {
    pub(super) fn new(initial: impl Iterator<Item = u64>) -> Graph {
        let mut graph = Graph { events: Vec::new(), writes: Vec::new() };
        for (word, written) in initial.enumerate() {
            let kind = Kind::Store;
            graph.events.push(Event {
                thread: None,
                kind,
                word,
                ordering: Ordering::Relaxed,
                read: 0,
                written,
                reads_from: None,
            });
            graph.writes.push(vec![word]);
        }
        graph
    }

    pub(super) fn of_thread(&self, thread: usize) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.thread == Some(thread))
    }

    /// With one event more; a write takes the place `at` in the modification order.
    pub(super) fn with(&self, event: Event, at: Option<usize>) -> Graph {
        let mut graph = self.clone();
        if let Some(at) = at {
            graph.writes[event.word].insert(at, graph.events.len());
        }
        graph.events.push(event);
        assert!(graph.events.len() <= EVENTS_MAX, "a litmus program is smaller than that");
        graph
    }

    /// What tells this graph from all others of the program, whatever the order in which the events were added: for each thread whence
    /// it reads, for each word the order of its writes. All else follows from the program.
    pub(super) fn key(&self, threads: usize) -> Vec<u8> {
        let mut next = vec![0; threads];
        // Thread and place in it; initial writes are told apart by their word.
        let names: Vec<[u8; 2]> = (self.events.iter())
            .map(|event| match event.thread {
                None => [u8::MAX, event.word as u8],
                Some(thread) => {
                    next[thread] += 1;
                    [thread as u8, next[thread]]
                }
            })
            .collect();
        let mut key = Vec::with_capacity(4 * self.events.len());
        for thread in 0..threads {
            for event in self.of_thread(thread) {
                key.extend(event.reads_from.map_or([u8::MAX; 2], |write| names[write]));
            }
            key.push(u8::MAX - 1);
        }
        key.extend(self.writes.iter().flatten().flat_map(|&write| names[write]));
        key
    }

    /// Whether RC11 allows it. If not, it allows no execution that has this one as its beginning either: adding an event leaves the
    /// relations between the others as they are.
    ///
    /// NO-THIN-AIR, that `po ∪ rf` has no cycle, holds by construction: an event is added after those before it in its thread, and after
    /// the write that it reads.
    pub(super) fn is_consistent(&self) -> bool {
        let events = &self.events;
        let n = events.len();
        let only = |which: fn(&Event) -> bool| Relation::identity(n, |event| which(&events[event]));
        let id = Relation::identity(n, |_| true);

        // po: program order (sb in the paper); the initial writes come first. rf: a read reads from a write.
        let (mut po, mut rf, mut rf_inverse) = (Relation::empty(n), Relation::empty(n), Relation::empty(n));
        for (after, event) in events.iter().enumerate().filter(|(_, event)| event.thread.is_some()) {
            for (before, _) in events[..after].iter().enumerate().filter(|(_, b)| b.thread.is_none() || b.thread == event.thread)
            {
                po.add(before, after);
            }
            if let Some(write) = event.reads_from {
                rf.add(write, after);
                rf_inverse.add(after, write);
            }
        }
        // mo: modification order. rb: a read comes before the writes after the one that it reads.
        let mut mo = Relation::empty(n);
        for writes in &self.writes {
            for (index, &before) in writes.iter().enumerate() {
                writes[index + 1..].iter().for_each(|&after| mo.add(before, after));
            }
        }
        let rb = rf_inverse.then(&mo).without(&id);
        // eco: extended coherence order.
        let eco = rf.or(&mo).or(&rb).closure();

        // rs: release sequence. sw: synchronises-with. hb: happens-before.
        let rs = only(Event::writes).or(&rf.then(&only(|event| event.kind == Kind::Update)).closure());
        let fence = only(Event::is_fence);
        let sw = only(Event::releases)
            .then(&id.or(&fence.then(&po)))
            .then(&rs)
            .then(&rf)
            .then(&id.or(&po.then(&fence)))
            .then(&only(Event::acquires));
        let hb = po.or(&sw).closure();

        // COHERENCE: hb; eco? is irreflexive. ATOMICITY: nothing is written between the two halves of a read-modify-write; as these are
        // one event, it would come both before and after that.
        if !hb.is_irreflexive() || !hb.then(&eco).is_irreflexive() || !eco.is_irreflexive() {
            return false;
        }
        if !events.iter().any(Event::is_sc) {
            return true;
        }

        // SC: psc is acyclic.
        let same_word =
            Relation::new(n, |a, b| !events[a].is_fence() && !events[b].is_fence() && events[a].word == events[b].word);
        let po_other_word = po.without(&same_word);
        let scb = po.or(&po_other_word.then(&hb).then(&po_other_word)).or(&hb.and(&same_word)).or(&mo).or(&rb);
        let sc = only(Event::is_sc);
        let sc_fence = sc.and(&fence);
        let hb_or_same = hb.or(&id);
        let psc_base = sc.or(&sc_fence.then(&hb_or_same)).then(&scb).then(&sc.or(&hb_or_same.then(&sc_fence)));
        let psc_fence = sc_fence.then(&hb.or(&hb.then(&eco).then(&hb))).then(&sc_fence);
        psc_base.or(&psc_fence).closure().is_irreflexive()
    }
}

/// A relation between events: for each the set of those that it is related to.
#[derive(Clone, Debug)]
struct Relation(Vec<u64>);

impl Relation {
    fn empty(n: usize) -> Relation {
        Relation(vec![0; n])
    }

    fn new(n: usize, related: impl Fn(usize, usize) -> bool) -> Relation {
        Relation((0..n).map(|a| (0..n).filter(|&b| related(a, b)).fold(0, |row, b| row | 1 << b)).collect())
    }

    /// `[S]`: each event of a set, related to itself.
    fn identity(n: usize, contains: impl Fn(usize) -> bool) -> Relation {
        Relation((0..n).map(|event| u64::from(contains(event)) << event).collect())
    }

    fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    fn zip(&self, other: &Relation, row: impl Fn(u64, u64) -> u64) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| row(*a, *b)).collect())
    }

    fn or(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a | b)
    }

    fn and(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & b)
    }

    fn without(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & !b)
    }

    /// `self ; other`
    fn then(&self, other: &Relation) -> Relation {
        let through = |mut row: u64| {
            let mut reached = 0;
            while row != 0 {
                reached |= other.0[row.trailing_zeros() as usize];
                row &= row - 1;
            }
            reached
        };
        Relation(self.0.iter().map(|row| through(*row)).collect())
    }

    /// `self⁺`
    fn closure(&self) -> Relation {
        let mut closed = self.clone();
        for through in 0..closed.0.len() {
            let reached = closed.0[through];
            for row in &mut closed.0 {
                if *row >> through & 1 != 0 {
                    *row |= reached;
                }
            }
        }
        closed
    }

    fn is_irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(event, row)| row >> event & 1 == 0)
    }
}
