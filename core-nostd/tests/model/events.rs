//! Waits, stages, statements and transactions: they begin, change, end, and are kept and counted.

use super::*;

impl Naive {
    /// A wait begins. `chained`: at the moment when one that was timed so ended. Returns how often the timer is read.
    pub(crate) fn begin(
        &mut self,
        thread: usize,
        class: ClassKey,
        begun: Begun,
        clock: &impl Clock,
        chained: Option<usize>,
    ) -> u64 {
        let event = self.start(thread, class, begun, clock);
        let On { enabled, timed, timer, .. } = event.on;
        self.threads[thread].events[WAITS].open.push(event);
        u64::from(enabled && timed && chained != Some(timer))
    }

    /// An event begins: it gets a number, and a record.
    pub(super) fn start(&mut self, thread: usize, class: ClassKey, begun: Begun, clock: &impl Clock) -> Event {
        let on = self.on(class, &self.threads[thread]);
        let one_in = self.class(class).setting.timed_one_in;
        let records = self.records(kind(class));
        let state = &mut self.threads[thread];
        let mut event = Event {
            on,
            begun,
            id: 0,
            end_id: None,
            class,
            start: clock.ticks(TimerName::ALL[on.timer]) * TICK_PS[on.timer],
            end: None,
            nesting: state.within(kind(class)),
            statements: state.enclosing(STATEMENTS).map(|statement| statement.id).collect(),
            outlives: false,
            figures: [0; FIGURES],
            digest: None,
            error: Failed::default(),
            transaction: 0,
            said: Details::default(),
            written: Details::default(),
            gtid: "",
            state: "ACTIVE",
            progress: None,
            shown: false,
            hidden_current: false,
            hidden_history: false,
        };
        let mut lost = false;
        if on.current || on.enabled && kind(class) != WAITS {
            state.last_event += 1;
            event.id = state.last_event;
        }
        // Thread n begins where thread n - 1 was after its first: no two begin alike.
        if on.enabled && on.timed && one_in > 1 {
            state.drawn += 1;
            event.on.timed = is_timed(one_in, state.id + state.drawn);
        }
        if on.current {
            let own = &mut state.events[event.kind()];
            let running = own.open.iter().filter(|event| event.shown).count();
            lost = running == records;
            event.shown = !lost;
            if event.shown && running + own.kept.len() == records {
                own.kept.pop_front();
            }
        }
        if lost {
            self.lose(Lost::NestedEvents);
        }
        // A line is noted when a record is to show it.
        event.begun.source = event.begun.source.filter(|line| event.shown && self.note_source(thread, *line));
        event.digest = if on.digest { self.digest(&event.begun) } else { None };
        event
    }

    /// Where statements of this schema and digest are counted; none if there is no text.
    pub(super) fn digest(&mut self, begun: &Begun) -> Option<usize> {
        let text = kept_text(begun.text, self.text_room());
        let (schema, digest) = (kept_text(begun.schema, 64), digest_text(text).as_str().to_owned());
        if text.is_empty() || self.size(Size::DigestsSize) == 0 {
            return None;
        }
        let known = self.digests.iter().position(|known| known.schema == schema && known.text == digest);
        if let Some(known) = known.filter(|known| self.digests[*known].has_place) {
            return Some(known + 1);
        }
        if self.digests.iter().filter(|known| known.has_place).count() + 1 == self.size(Size::DigestsSize) {
            self.lose(Lost::StatementDigests);
            return Some(0);
        }
        let known = known.unwrap_or_else(|| {
            self.digests.push(KnownDigest { schema, text: digest, has_place: false });
            self.digests.len() - 1
        });
        self.digests[known].has_place = true;
        Some(known + 1)
    }

    /// The places of digests that no statement holds are free again.
    pub(super) fn free_digests(&mut self) {
        let statements = self.threads.iter().flat_map(|thread| &thread.events[STATEMENTS].open);
        let held: HashSet<usize> = statements.filter_map(|statement| statement.digest).collect();
        for (place, known) in (1..).zip(&mut self.digests) {
            known.has_place &= held.contains(&place);
        }
    }

    /// Bytes that are kept of the text of a statement.
    pub(super) fn text_room(&self) -> usize {
        self.size(Size::MaxSqlTextLength).next_multiple_of(8)
    }

    /// Records of a thread for a kind of events.
    pub(super) fn records(&self, kind: usize) -> usize {
        match kind {
            STAGES if self.size(Size::MaxStageClasses) == 0 => 0,
            STATEMENTS if self.size(Size::MaxStatementClasses) == 0 => 0,
            TRANSACTIONS if self.size(Size::MaxTransactionClasses) == 0 => 0,
            _ => self.size(EVENTS[kind].history_size) + EVENTS[kind].spare_records,
        }
    }

    /// Whether the location has a place, now or already. A thread looks once.
    fn note_source(&mut self, thread: usize, line: u32) -> bool {
        let room = match self.size(Size::MaxSourceLocations) {
            0 => 0,
            size => size.next_power_of_two(),
        };
        if self.sources.contains(&line) {
            return true;
        }
        if self.sources.len() == room {
            if room > 0 && self.threads[thread].lines_without_place.insert(line) {
                self.lose(Lost::SourceLocations);
            }
            return false;
        }
        self.sources.push(line);
        true
    }

    /// The wait that is at this place among those that run ends; those within it that others lie within are in what it was in from now on.
    /// Returns the timer that it was timed with.
    pub(crate) fn end(
        &mut self,
        thread: usize,
        which: usize,
        instance: Option<InstanceKey>,
        io: Option<Io>,
        amount: Option<u64>,
        clock: &impl Clock,
    ) -> Option<usize> {
        let state = &mut self.threads[thread];
        let around = nesting(state, &state.events[WAITS].open[which]);
        let open = &mut state.events[WAITS].open;
        let mut event = open.remove(which);
        if !event.on.enabled {
            return None;
        }
        let within = |wait: &&mut Event| wait.nesting == Some((event.id, "WAIT")) && !wait.begun.concurrent;
        open.iter_mut().filter(within).for_each(|wait| wait.nesting = around);
        event.begun.amount = amount.unwrap_or(event.begun.amount);
        self.finish(thread, event, instance, io, clock)
    }

    /// A stage begins, and the one that runs ends, also if the new one is off. Returns how often the timer is read: where one ends the
    /// other begins, so once, if both are timed with the same.
    pub(crate) fn begin_stage(&mut self, thread: usize, class: ClassKey, source: Option<u32>, clock: &impl Clock) -> u64 {
        let ended = self.end_any_stage(thread, clock).flatten();
        let stage = self.start(thread, class, Begun { source, ..Begun::default() }, clock);
        let On { enabled, timed, timer, .. } = stage.on;
        if enabled {
            self.threads[thread].events[STAGES].open.push(stage);
        }
        ended.into_iter().chain((enabled && timed).then_some(timer)).collect::<HashSet<usize>>().len() as u64
    }

    /// The stage that runs ends, if there is one. Returns whether, and the timer that it was timed with. What lay within it lies within its
    /// statement from now on, or the innermost transaction if that was there before; or within the stage that follows.
    pub(crate) fn end_any_stage(&mut self, thread: usize, clock: &impl Clock) -> Option<Option<usize>> {
        let state = &mut self.threads[thread];
        let stage = state.events[STAGES].open.first()?;
        let is_within = |wait: &Event| nesting(state, wait) == Some((stage.id, "STAGE"));
        let waits_within: Vec<bool> = state.events[WAITS].open.iter().map(is_within).collect();
        let transaction = state.transaction();
        let stage = state.events[STAGES].open.pop()?;
        for (wait, _) in iter::zip(&mut state.events[WAITS].open, waits_within).filter(|(_, is_within)| *is_within) {
            let is_of_statement = matches!(stage.nesting, Some((_, "STATEMENT")));
            wait.nesting = if is_of_statement { stage.nesting } else { transaction.filter(|(id, _)| *id < wait.id) };
        }
        Some(self.finish(thread, stage, None, None, clock))
    }

    /// The stage that runs.
    pub(crate) fn running_stage(&self, thread: usize) -> Option<StageKey> {
        self.threads[thread].events[STAGES].open.first().map(|stage| (thread, stage.id))
    }

    /// Says how far the stage is that runs, if it is visible: so much more is done, of so much. Returns what was said before.
    pub(crate) fn change_progress(&mut self, thread: usize, more: u64, estimated: u64) -> Option<[u64; 2]> {
        let stage = self.threads[thread].events[STAGES].open.iter_mut().find(|stage| stage.shown)?;
        let before = stage.progress.unwrap_or_default();
        // One number is left to say that there is none.
        stage.progress = Some([before[0].saturating_add(more), estimated].map(|number| number.min(u64::MAX - 1)));
        Some(before)
    }

    /// A statement begins. Returns whether it is recorded, and how often the timer is read.
    pub(crate) fn begin_statement(&mut self, thread: usize, class: ClassKey, begun: Begun, clock: &impl Clock) -> (bool, u64) {
        let statement = self.start(thread, class, begun, clock);
        let On { enabled, timed, .. } = statement.on;
        self.threads[thread].events[STATEMENTS].open.push(statement);
        (enabled, u64::from(enabled && timed))
    }

    /// A figure of the statement that is at this place among those that run grows.
    pub(crate) fn change_statement(&mut self, thread: usize, which: usize, figure: usize, by: u64) {
        let figure = &mut self.threads[thread].events[STATEMENTS].open[which].figures[figure];
        *figure = figure.wrapping_add(by);
    }

    /// The statement that is at this place ends, and the stage that began within it. One that ended before what it enclosed takes that
    /// along: from then on the others enclose nothing. Returns how often the timer is read.
    pub(crate) fn end_statement(&mut self, thread: usize, which: usize, error: Failed, clock: &impl Clock) -> u64 {
        let mut statement = self.threads[thread].events[STATEMENTS].open.remove(which);
        if !statement.on.enabled {
            return 0;
        }
        statement.error = error;
        let mut timers = HashSet::new();
        if !statement.outlives {
            let stage = self.threads[thread].events[STAGES].open.first();
            if stage.is_some_and(|stage| stage.statements.contains(&statement.id)) {
                timers.extend(self.end_any_stage(thread, clock).flatten());
            }
            let inner = self.threads[thread].events[STATEMENTS].open.iter_mut().filter(|inner| inner.id > statement.id);
            inner.for_each(|inner| inner.outlives = true);
        }
        // When it is seen is told by NANOSECOND.
        let seen = statement.digest.is_some();
        let timer = self.finish(thread, statement, None, None, clock);
        timers.extend(timer);
        timers.len() as u64 + u64::from(seen && timer.is_none_or(|timer| TimerName::ALL[timer] != TimerName::Nanosecond))
    }

    /// A transaction begins. Returns its number, whether it is recorded, and how often the timer is read.
    pub(crate) fn begin_transaction(
        &mut self,
        thread: usize,
        class: ClassKey,
        begun: Begun,
        clock: &impl Clock,
    ) -> (TransactionKey, bool, u64) {
        let mut transaction = self.start(thread, class, begun, clock);
        self.transactions_begun += 1;
        transaction.transaction = self.transactions_begun;
        let On { enabled, timed, .. } = transaction.on;
        self.threads[thread].events[TRANSACTIONS].open.push(transaction);
        ((thread, self.transactions_begun), enabled, u64::from(enabled && timed))
    }

    /// Where it is among those that run.
    fn place_of(&self, (thread, number): TransactionKey) -> usize {
        let open = &self.threads[thread].events[TRANSACTIONS].open;
        open.iter().position(|transaction| transaction.transaction == number).unwrap()
    }

    /// More is said of it. What another thread says is written down when it ends.
    pub(crate) fn change_transaction(&mut self, by: usize, key: TransactionKey, detail: usize, more: u64) {
        let place = self.place_of(key);
        let transaction = &mut self.threads[key.0].events[TRANSACTIONS].open[place];
        transaction.said[detail] = transaction.said[detail].wrapping_add(more);
        if by == key.0 {
            transaction.written = transaction.said;
        }
    }

    /// What it is called; of another thread nobody listens.
    pub(crate) fn set_gtid(&mut self, by: usize, key: TransactionKey, gtid: &'static str) {
        let place = self.place_of(key);
        if by == key.0 {
            self.threads[key.0].events[TRANSACTIONS].open[place].gtid = gtid;
        }
    }

    /// It ends; where it ends before what it enclosed, that encloses nothing from then on. One that another thread ends is counted there as an
    /// event of that one, and goes on for all that can be seen of its own. Returns how often the timer is read.
    pub(crate) fn end_transaction(&mut self, by: usize, key: TransactionKey, committed: bool, clock: &impl Clock) -> u64 {
        let place = self.place_of(key);
        let open = &mut self.threads[key.0].events[TRANSACTIONS].open;
        if by != key.0 {
            let transaction = Event { shown: false, ..open[place].clone() };
            if !transaction.on.enabled {
                return 0;
            }
            self.threads[by].last_event += 1;
            return self.finish(by, transaction, None, None, clock).into_iter().count() as u64;
        }
        let mut transaction = open.remove(place);
        if !transaction.on.enabled {
            return 0;
        }
        if !transaction.outlives {
            open.iter_mut().filter(|inner| inner.id > transaction.id).for_each(|inner| inner.outlives = true);
        }
        transaction.written = transaction.said;
        transaction.state = if committed { "COMMITTED" } else { "ROLLED BACK" };
        self.finish(by, transaction, None, None, clock).into_iter().count() as u64
    }

    /// Waits end in any order, also before statements and transactions that began within them; of the latter two the outer one may end first,
    /// and each before or after the other. Whether the wait at this place would end as it began.
    pub(crate) fn ends_as_it_began(&self, thread: usize, which: usize) -> bool {
        let wait = &self.threads[thread].events[WAITS].open[which];
        let nests = wait.shown && !wait.begun.concurrent;
        let thread = &self.threads[thread];
        !nests || thread.enclosing(STATEMENTS).chain(thread.enclosing(TRANSACTIONS)).all(|event| event.id < wait.id)
    }

    /// Whether the statement at this place may.
    pub(crate) fn may_end_statement(&self, thread: usize, which: usize) -> bool {
        self.no_wait_since(thread, &self.threads[thread].events[STATEMENTS].open[which])
    }

    /// Whether the transaction may; by another thread only where no wait is around it, for it encloses what comes after that.
    pub(crate) fn may_end_transaction(&self, by: usize, key: TransactionKey) -> bool {
        let transaction = &self.threads[key.0].events[TRANSACTIONS].open[self.place_of(key)];
        if by == key.0 { self.no_wait_since(by, transaction) } else { self.threads[key.0].wait().is_none() }
    }

    fn no_wait_since(&self, thread: usize, event: &Event) -> bool {
        !event.on.enabled || event.outlives || self.threads[thread].wait().is_none_or(|(wait, _)| wait < event.id)
    }

    /// An event that was on ends. Returns the timer that it was timed with.
    pub(super) fn finish(
        &mut self,
        thread: usize,
        mut event: Event,
        instance: Option<InstanceKey>,
        io: Option<Io>,
        clock: &impl Clock,
    ) -> Option<usize> {
        let state = &mut self.threads[thread];
        event.nesting = nesting(state, &event);
        event.end = Some(clock.ticks(TimerName::ALL[event.on.timer]) * TICK_PS[event.on.timer]);
        event.end_id = Some(state.last_event);
        // Hidden while it ran: it counts, and has its place in the histories, but they do not show it.
        event.hidden_history = event.shown && event.hidden_current;
        if event.shown {
            let own = &mut state.events[event.kind()];
            if own.last_ended.as_ref().is_none_or(|last| last.end_order() < event.end_order()) {
                own.last_ended = Some(event.clone());
            }
            if event.on.history {
                own.kept.push_back(event.clone());
            }
        }
        let wait_ps = event.wait_ps().filter(|_| event.on.timed);
        let by_thread = state.slot.filter(|_| event.on.thread);
        let counted = Counted {
            class: event.class,
            thread: by_thread.map(|_| state.id),
            instance: instance.filter(|_| event.on.instance),
            wait_ps,
            bucket: wait_ps
                .filter(|_| event.on.histogram && self.size(Size::MaxWaitHistograms) > 0)
                .map(|wait_ps| self.bucket(wait_ps)),
            io,
            io_waits: event.on.instance,
            is_wait: true,
            bytes: event.begun.amount.saturating_sub(1),
            figures: event.figures,
            read_only: event.begun.read_only,
            digest: event.digest.map(|place| (place, clock.ticks(TimerName::Nanosecond) / 1_000)),
        };
        self.counted.push(counted);
        io.into_iter().for_each(|io| self.count_first(thread, io));
        // The long history takes copies of the records.
        if event.on.history_long && event.shown {
            self.write_long(thread, event.clone());
        }
        event.on.timed.then_some(event.on.timer)
    }

    pub(super) fn write_long(&mut self, thread: usize, event: Event) {
        let id = self.threads[thread].id;
        let long = &mut self.long[event.kind()];
        if long.chunks.is_empty() {
            return;
        }
        let own = &mut self.threads[thread].events[event.kind()];
        if own.chunk.2 == 0 {
            for _ in 0..PROBES {
                let count = long.chunks.len();
                if own.numbers.is_empty() {
                    // Of what all draw, together an eighth of the chunks, its share by what was drawn since the last time.
                    let (batch, first) = (own.batch, long.next_number);
                    long.next_number += batch;
                    own.numbers = (first..long.next_number).collect();
                    let share = (count / 8) * batch / (long.next_number - own.drew_up_to);
                    own.batch = share.clamp(1, 1 + own.chunks_taken / 4);
                    own.drew_up_to = long.next_number;
                }
                let Some(number) = own.numbers.pop_front() else { break };
                let (taken_by, being_filled) = &mut long.chunks[number % count];
                if *taken_by > Some(number) {
                    own.numbers.clear();
                    own.drew_up_to = number + 1;
                } else if !*being_filled {
                    let first = number % count * long.chunk_len;
                    // Of those whose rows are there, two are known.
                    for row in &mut long.rows[first..first + long.chunk_len] {
                        *row = row.take().filter(|(by, ..)| Some(*by) == *taken_by);
                    }
                    (*taken_by, *being_filled) = (Some(number), true);
                    own.chunks_taken += 1;
                    own.chunk = (number % count, first, long.chunk_len);
                    break;
                }
            }
        }
        let (chunk, next, left) = &mut own.chunk;
        if *left == 0 {
            return self.lose(EVENTS[event.kind()].history_long_lost);
        }
        let (taken_by, being_filled) = &mut long.chunks[*chunk];
        long.rows[*next] = taken_by.map(|number| (number, id, event));
        *next += 1;
        *left -= 1;
        if *left == 0 {
            *being_filled = false;
        }
    }

    // Tables.
}
