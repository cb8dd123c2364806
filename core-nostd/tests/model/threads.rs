//! Threads, and what `setup_actors` says of them.

use super::*;

impl Naive {
    /// The error's number, if it is refused.
    pub(crate) fn insert_actor(
        &mut self,
        user: &'static str,
        host: &'static str,
        enabled: bool,
        history: bool,
    ) -> Result<(), u16> {
        if self.setup_actors.iter().any(|row| row.user == user && row.host == host) {
            return Err(1022);
        }
        if self.setup_actors.len() == self.size(Size::SetupActorsSize) {
            return Err(1114);
        }
        self.setup_actors.push(SetupActor { user, host, enabled, history });
        Ok(())
    }

    pub(crate) fn update_actors(&mut self, user: &str, column: &str, yes: bool) -> (u64, u64) {
        let mut counts = (0, 0);
        for row in self.setup_actors.iter_mut().filter(|row| row.user == user) {
            let setting = if column == "HISTORY" { &mut row.history } else { &mut row.enabled };
            counts = (counts.0 + 1, counts.1 + u64::from(*setting != yes));
            *setting = yes;
        }
        counts
    }

    pub(crate) fn delete_actors(&mut self, user: &str) -> u64 {
        let before = self.setup_actors.len();
        self.setup_actors.retain(|row| row.user != user);
        (before - self.setup_actors.len()) as u64
    }

    /// INSTRUMENTED and HISTORY of a thread that starts: background threads always; else the row that names most exactly who it is, a
    /// named user before a named host.
    pub(super) fn start_setting(&self, who: &Who) -> (bool, bool) {
        if who.background {
            return (true, true);
        }
        let find = |user: &str, host: &str| self.setup_actors.iter().find(|row| row.user == user && row.host == host);
        let row = find(who.user, who.host).or_else(|| find(who.user, "%")).or_else(|| find("%", who.host));
        row.or_else(|| find("%", "%")).map_or((false, false), |row| (row.enabled, row.history))
    }

    // Threads.

    pub(super) fn live(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(|thread| thread.slot.is_some())
    }

    pub(crate) fn live_ids(&self) -> Vec<u64> {
        self.live().map(|thread| thread.id).collect()
    }

    /// A thread starts, with a slot if there is one or, if `slotless`, without asking. Returns its index, and its THREAD_ID or 0.
    pub(crate) fn attach(&mut self, who: Who, slotless: bool) -> (usize, u64) {
        let setting = self.start_setting(&who);
        let own = || Own {
            open: Vec::new(),
            last_ended: None,
            kept: VecDeque::new(),
            chunk: (0, 0, 0),
            numbers: VecDeque::new(),
            batch: 1,
            drew_up_to: 0,
            chunks_taken: 0,
        };
        let mut thread = Thread {
            who,
            slot: None,
            id: 0,
            instrumented: true,
            history: true,
            last_event: 0,
            drawn: 0,
            lines_without_place: HashSet::new(),
            events: [own(), own(), own(), own()],
        };
        match self.slots.iter().position(|taken| !taken).filter(|_| !slotless) {
            Some(slot) => {
                self.slots[slot] = true;
                (thread.instrumented, thread.history) = setting;
                (thread.slot, thread.id) = (Some(slot), self.next_thread);
                self.next_thread += 1;
            }
            None if slotless => {}
            None => self.lose(Lost::ThreadInstances),
        }
        let id = thread.id;
        self.threads.push(thread);
        (self.threads.len() - 1, id)
    }

    pub(crate) fn detach(&mut self, thread: usize) {
        let thread = &mut self.threads[thread];
        let Some(slot) = thread.slot.take() else { return };
        self.slots[slot] = false;
        // What it records from now on is that of a thread without a slot.
        (thread.instrumented, thread.history) = (true, true);
        for (own, long) in iter::zip(&mut thread.events, &mut self.long) {
            // What was on stays so, for who ends it: another thread may, which counts it as its own.
            own.open.iter_mut().for_each(|event| event.shown = false);
            if own.chunk.2 > 0 {
                long.chunks[own.chunk.0].1 = false;
                own.chunk.2 = 0;
            }
        }
    }

    /// UPDATE of `threads` for one THREAD_ID; whether it changed anything.
    pub(crate) fn update_thread(&mut self, id: u64, column: &str, yes: bool) -> bool {
        let thread = self.threads.iter_mut().find(|thread| thread.slot.is_some() && thread.id == id).unwrap();
        let setting = if column == "HISTORY" { &mut thread.history } else { &mut thread.instrumented };
        std::mem::replace(setting, yes) != yes
    }

    // Events.
}
