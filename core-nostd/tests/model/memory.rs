//! Memory: what comes and goes, and what is left of it when a table is truncated.

use super::*;

impl Used {
    fn change(&mut self, [came, went]: [i64; 2]) {
        self.came += came;
        self.went += went;
        self.low = self.low.min(self.came - self.went);
        self.high = self.high.max(self.came - self.went);
    }

    /// What came and went is forgotten, what is there stays.
    fn truncate(&mut self) {
        let both = self.came.min(self.went);
        let left = self.came - self.went;
        *self = Used { came: self.came - both, went: self.went - both, low: left, high: left };
    }
}

impl Naive {
    /// Blocks of so many bytes go, and come.
    pub(crate) fn count_memory(&mut self, thread: usize, class: ClassKey, freed: Option<u64>, allocated: Option<u64>) {
        let thread = &self.threads[thread];
        let on = self.on(class, thread);
        if on.enabled {
            let blocks = [allocated, freed].map(|bytes| i64::from(bytes.is_some()));
            let bytes = [allocated, freed].map(|bytes| bytes.unwrap_or(0) as i64);
            let slot = thread.slot.filter(|_| on.thread);
            self.memory.push(Memory::Change { class, slot, thread: thread.id, blocks, bytes });
        }
    }

    /// The columns of a memory table, for what was counted in places that are told apart by `place`; None is another row's.
    pub(super) fn memory_row(&self, table: &str, class: ClassKey, place: impl Fn(Option<usize>, u64) -> Option<usize>) -> String {
        let mut places: HashMap<usize, [Used; 2]> = HashMap::new();
        for happened in &self.memory {
            match happened {
                Memory::Change { class: other, slot, thread, blocks, bytes } if *other == class => {
                    let Some(place) = place(*slot, *thread) else { continue };
                    let used = places.entry(place).or_default();
                    used[0].change(*blocks);
                    used[1].change(*bytes);
                }
                Memory::Truncated(other) if *other == table => places.values_mut().flatten().for_each(Used::truncate),
                _ => {}
            }
        }
        let sum = |what: usize, number: fn(&Used) -> i64| places.values().map(|used| number(&used[what])).sum::<i64>();
        let used = |what| [sum(what, |used| used.low), sum(what, |used| used.came - used.went), sum(what, |used| used.high)];
        let counts = [0, 1].map(|what| [sum(what, |used| used.came), sum(what, |used| used.went)]);
        let all = [&counts[0][..], &counts[1], &used(0), &used(1)].concat();
        all.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
    }
}
