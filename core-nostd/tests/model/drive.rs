//! Events and what they are of, begun and ended in the core and in the model.

use super::*;

impl<'r> Both<'r> {
    pub(super) fn attach(&mut self, user: usize, host: usize, background: bool, slotless: bool) {
        if self.actors.len() == ACTORS {
            return;
        }
        let who = Who {
            name: THREAD_NAMES[user % 2],
            user: USERS[user],
            host: HOSTS[host],
            background,
            os_id: host as u64 * 1000,
            parent: self.actors.last().map_or(0, |parent| parent.actor.thread_id()),
        };
        let identity = ActorIdentity {
            name: who.name,
            thread_type: if background { ThreadType::Background } else { ThreadType::Foreground },
            user: who.user,
            host: who.host,
            os_id: who.os_id,
            parent_thread_id: who.parent,
            start_monotonic_ns: 0,
        };
        let actor = if slotless { Actor::without_slot(self.region) } else { Actor::attach(self.region, &identity) };
        let (thread, id) = self.model.attach(who, slotless);
        assert_eq!(actor.thread_id(), id);
        self.actors.push(Driven { actor, thread, waits: Vec::new(), statements: Vec::new(), transactions: Vec::new() });
    }

    pub(super) fn begin(&mut self, at: usize, class: usize, what: &What, concurrent: bool, chained: Option<usize>) {
        let (class, key) = self.classes[class];
        let source = what.source.map(|source| sources()[source]);
        let is_file = class_is(self.region, class, "wait/io/file/");
        let is_socket = class_is(self.region, class, "wait/io/socket/");
        let operations = match (is_file, is_socket) {
            (true, _) => FILE_OPERATIONS,
            (_, true) => SOCKET_OPERATIONS,
            _ => OPERATIONS,
        };
        let (operation, name) = operations[what.operation];
        let socket = choose(&self.sockets, what.object as usize).filter(|_| is_socket).map(|at| self.sockets[at].1);
        let peer = peers()[what.amount];
        let handle = choose(&self.handles, what.object as usize).filter(|_| is_file).map(|at| &self.handles[at]);
        let flags = what.amount as u32;
        let file = handle.and_then(|handle| self.region.file(handle.id));
        let start = WaitStart {
            operation,
            object: what.object,
            source,
            amount: AMOUNTS[what.amount],
            io: match (is_file, is_socket) {
                (true, _) => IoEvent::File(FileEvent::new(file.as_ref(), flags)),
                (_, true) => IoEvent::Socket(SocketEvent { address: peer.0 }),
                _ => IoEvent::None,
            },
        };
        let begun = Begun {
            operation: name,
            object: what.object,
            amount: start.amount,
            source: source.map(Location::line),
            file: is_file.then(|| (handle.map(|handle| handle.key), flags)),
            peer: peer.3.filter(|_| is_socket).map(String::from),
            concurrent,
            ..Begun::default()
        };
        let io = match (is_file, is_socket) {
            (true, _) => Some((For::File(handle.map(|handle| handle.number)), operation)),
            (_, true) => Some((For::Socket(socket), operation)),
            _ => None,
        };

        let thread = self.actors[at].thread;
        // What the wait was for that ends, and its amount, are chosen by what the next one is for.
        let amount = what.object.is_multiple_of(3).then_some(what.object + 1);
        let held = chained.filter(|ended| self.actors[at].waits[*ended].io.is_none());
        let held = held.and_then(|_| choose(&self.instances, what.object as usize)).map(|at| self.instances[at]);
        let ended =
            chained.and_then(|ended| self.model.end(thread, ended, held.map(|(_, key)| key), None, amount, &self.clock.clock));
        let expected_reads = self.model.begin(thread, key, begun, &self.clock.clock, ended) + u64::from(ended.is_some());

        let switches = self.region.switches(class);
        let Driven { actor, waits, .. } = &mut self.actors[at];
        let reads_before = self.clock.reads.get();
        let wait = match chained.map(|ended| waits.remove(ended).wait) {
            None if concurrent => actor.begin_concurrent(self.clock, switches, class, &start),
            None => actor.begin(self.clock, switches, class, &start),
            Some(mut ended) => {
                amount.into_iter().for_each(|amount| ended.set_amount(amount));
                let instance = held.and_then(|(id, _)| self.region.instance(id));
                let held = match &instance {
                    Some(instance) if what.object.is_multiple_of(2) => Held::Exclusive(instance),
                    Some(instance) => Held::Shared(instance),
                    None => Held::None,
                };
                actor.chain(self.clock, ended, held, switches, class, &start)
            }
        };
        waits.push(Waiting { wait, concurrent, io });
        assert_eq!(self.clock.reads.get() - reads_before, expected_reads, "timer reads");
    }

    pub(super) fn end(&mut self, at: usize, which: usize, held: usize, amount: Option<u64>) {
        let Driven { actor, thread, waits, .. } = &mut self.actors[at];
        let as_it_began = innermost(waits) == Some(which) && self.model.ends_as_it_began(*thread, which);
        let Waiting { mut wait, concurrent, io } = waits.remove(which);
        // One that ends as it began does so either way.
        let in_any_order = !as_it_began || held.is_multiple_of(2);
        // A third of the waits is for no instance.
        let chosen = choose(&self.instances, held / 3).filter(|_| !held.is_multiple_of(3) && io.is_none());
        let chosen = chosen.map(|at| self.instances[at]);
        let instance = chosen.and_then(|(id, _)| self.region.instance(id));
        // A handle, or a socket, that is closed meanwhile refers to nothing any more.
        let handle = match io {
            Some((For::File(number), _)) => self.handles.iter().find(|handle| Some(handle.number) == number),
            _ => None,
        };
        let socket = match io {
            Some((For::Socket(key), _)) => self.sockets.iter().find(|(_, open)| Some(*open) == key).copied(),
            _ => None,
        };
        let held = match (&instance, io) {
            (_, Some((For::File(_), operation))) => {
                Held::File(FileIo { file: handle.and_then(|handle| self.region.file(handle.id)), group: operation.group() })
            }
            (_, Some((For::Socket(_), operation))) => {
                Held::Socket(SocketIo { socket: socket.and_then(|(id, _)| self.region.socket(id)), group: operation.group() })
            }
            (None, None) => Held::None,
            (Some(instance), None) if held % 3 == 1 => Held::Exclusive(instance),
            (Some(instance), None) => Held::Shared(instance),
        };
        if let Some(amount) = amount {
            wait.set_amount(amount);
        }
        let reads_before = self.clock.reads.get();
        if concurrent {
            actor.end_concurrent(self.clock, wait, held);
        } else if in_any_order {
            actor.end_in_any_order(self.clock, wait, held);
        } else {
            actor.end(self.clock, wait, held);
        }
        let io = io.map(|(_, operation)| Io {
            file: handle.map(|handle| handle.key),
            socket: socket.map(|(_, key)| key),
            group: operation.group() as usize,
        });
        let timed = self.model.end(*thread, which, chosen.map(|(_, key)| key), io, amount, &self.clock.clock);
        assert_eq!(self.clock.reads.get() - reads_before, u64::from(timed.is_some()), "timer reads");
    }

    pub(super) fn begin_stage(&mut self, at: usize, class: usize, source: Option<usize>) {
        let (class, key) = self.classes[class];
        let switches = self.region.switches(class);
        assert_eq!(switches.is_on(), self.model.stages_used(), "what the code of a stage looks at");
        if !switches.is_on() {
            return;
        }
        let source = source.map(|source| sources()[source]);
        let Driven { actor, thread, .. } = &self.actors[at];
        let reads_before = self.clock.reads.get();
        let stage = actor.begin_stage(self.clock, switches, source);
        let reads = self.model.begin_stage(*thread, key, source.map(Location::line), &self.clock.clock);
        assert_eq!(self.clock.reads.get() - reads_before, reads, "timer reads");
        assert_eq!(stage, actor.running_stage());
        let begun = self.model.running_stage(*thread);
        assert_eq!(stage.is_some(), begun.is_some());
        self.stages.extend(stage.zip(begun));
    }

    pub(super) fn end_stage(&mut self, at: usize, which: &Ending) {
        let Driven { actor, thread, .. } = &self.actors[at];
        let running = self.model.running_stage(*thread);
        let stage = match which {
            Ending::Any => None,
            Ending::Running => self.stages.iter().find(|(_, key)| Some(*key) == running),
            Ending::Began(age) => self.stages.iter().rev().nth(*age),
        };
        let reads_before = self.clock.reads.get();
        let (ended, expected) = match stage {
            Some((id, key)) if Some(*key) == running => {
                (actor.end_stage(self.clock, *id), self.model.end_any_stage(*thread, &self.clock.clock))
            }
            Some((id, _)) => (actor.end_stage(self.clock, *id), None),
            None => (actor.end_any_stage(self.clock), self.model.end_any_stage(*thread, &self.clock.clock)),
        };
        assert_eq!(ended, expected.is_some());
        assert_eq!(self.clock.reads.get() - reads_before, u64::from(expected.flatten().is_some()), "timer reads");
        assert_eq!(actor.running_stage().is_some(), self.model.running_stage(*thread).is_some());
    }

    pub(super) fn begin_statement(
        &mut self,
        at: usize,
        class: usize,
        text: &'static str,
        schema: &'static str,
        source: Option<usize>,
    ) {
        let (class, key) = self.classes[class];
        let source = source.map(|source| sources()[source]);
        let Driven { actor, thread, statements, .. } = &mut self.actors[at];
        let reads_before = self.clock.reads.get();
        let start = StatementStart { text, schema, source };
        let statement = actor.begin_statement(self.clock, self.region.switches(class), &start);
        let begun = Begun { text, schema, source: source.map(Location::line), ..Begun::default() };
        let (recorded, reads) = self.model.begin_statement(*thread, key, begun, &self.clock.clock);
        assert_eq!(self.clock.reads.get() - reads_before, reads, "timer reads");
        assert_eq!(statement.is_recorded(), recorded);
        statements.push(statement);
    }

    pub(super) fn end_statement(&mut self, at: usize, which: usize, error: usize) {
        let Driven { actor, thread, statements, .. } = &mut self.actors[at];
        let mut statement = statements.remove(which);
        let (number, sqlstate, message) = ERRORS[error];
        actor.set_statement_error(&mut statement, &StatementError { number, sqlstate: sqlstate.into(), message: message.into() });
        let reads_before = self.clock.reads.get();
        actor.end_statement(self.clock, statement);
        let reads = self.model.end_statement(*thread, which, Failed { number, sqlstate, message }, &self.clock.clock);
        assert_eq!(self.clock.reads.get() - reads_before, reads, "timer reads");
        assert_eq!(actor.running_stage().is_some(), self.model.running_stage(*thread).is_some());
    }

    /// The actor, which of its transactions, and the actor that does something with that.
    pub(super) fn choose_transaction(
        &self,
        actor: usize,
        which: Option<usize>,
        by: Option<usize>,
    ) -> Option<(usize, usize, usize)> {
        let at = choose(&self.actors, actor)?;
        let transactions = &self.actors[at].transactions;
        let which = match which {
            Some(which) => choose(transactions, which),
            None => transactions.len().checked_sub(1),
        };
        Some((at, which?, by.and_then(|by| choose(&self.actors, by)).unwrap_or(at)))
    }

    pub(super) fn begin_transaction(&mut self, at: usize, class: usize, begun: Begun, source: Option<usize>) {
        let (class, key) = self.classes[class];
        let source = source.map(|source| sources()[source]);
        let Driven { actor, thread, transactions, .. } = &mut self.actors[at];
        let reads_before = self.clock.reads.get();
        let start = TransactionStart {
            access_mode: if begun.read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite },
            isolation_level: begun.isolation_level,
            autocommit: begun.autocommit,
            source,
        };
        let transaction = actor.begin_transaction(self.clock, self.region.switches(class), &start);
        let begun = Begun { source: source.map(Location::line), ..begun };
        let (key, recorded, reads) = self.model.begin_transaction(*thread, key, begun, &self.clock.clock);
        assert_eq!(self.clock.reads.get() - reads_before, reads, "timer reads");
        assert_eq!(transaction.is_recorded(), recorded);
        transactions.push((transaction, key));
    }

    pub(super) fn end_transaction(&mut self, at: usize, which: usize, by: usize, state: TransactionState) {
        let (transaction, key) = self.actors[at].transactions.remove(which);
        let Driven { actor, thread, .. } = &self.actors[by];
        let reads_before = self.clock.reads.get();
        let ticks = actor.end_transaction(self.clock, transaction, state);
        let committed = state == TransactionState::Committed;
        let reads = self.model.end_transaction(*thread, key, committed, &self.clock.clock);
        assert_eq!(self.clock.reads.get() - reads_before, reads, "timer reads");
        assert_eq!(u64::from(ticks.is_some()), reads);
    }

    pub(super) fn add_handle(&mut self, id: FileId, key: FileKey) {
        self.handles_made += 1;
        self.handles.push(Handle { number: self.handles_made, id, key, open: false });
    }

    pub(super) fn open(&mut self, at: usize) {
        let handle = &mut self.handles[at];
        if !std::mem::replace(&mut handle.open, true) {
            self.region.file_opened(handle.id);
            self.model.file_opened(handle.key);
        }
    }
}
