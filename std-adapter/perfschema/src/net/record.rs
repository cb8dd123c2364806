//! How an operation on a socket becomes a wait, and how the region comes to know the socket.

use crate::instrument::Instrument;
use crate::process::process;
use crate::thread::with_actor;
use perfschema_core::{
    Group, Held, InstanceId, IoEvent, Operation, SocketAddress, SocketEvent, SocketIo, Switches, Wait, WaitStart,
};
use perfschema_timer::SystemClock;
use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::Location;

/// Where in the program an operation is called; None where it is not called, as when a socket is dropped.
pub(crate) type Caller = Option<&'static Location<'static>>;

/// A thread that waits for its client's next request.
static IDLE: Instrument = Instrument::new("idle");

thread_local! {
    /// How many calls of `idle` the thread is within.
    static IDLE_CALLS: Cell<u32> = const { Cell::new(0) };
}

/// The process records from now on: the instrument `idle` has its row.
pub(crate) fn started(process: &crate::process::Process) {
    IDLE.class(process);
}

/// A socket of std's as the hooks need it.
pub(crate) trait Std {
    /// SOCKET_ID.
    fn descriptor(&self) -> i32;
    /// Whom it leads to, or where it listens, as the system says: for a socket that came from elsewhere.
    fn leads_to(&self) -> SocketAddress;
    /// The instrument of those that came from elsewhere.
    fn instrument(&self) -> &'static Instrument;
}

/// A socket of std's, its instrument, and its place in the region.
pub(crate) struct Socket<S: Std> {
    // Dropped by `Socket::drop`, or taken by who gives the socket away: so that the close is recorded.
    inner: ManuallyDrop<S>,
    pub(crate) instrument: &'static Instrument,
    id: InstanceId,
}

impl<S: Std> Socket<S> {
    #[inline(always)]
    pub(crate) fn std(&self) -> &S {
        &self.inner
    }

    /// A socket that is open, made known also while its instrument is off: so it has a row, and counts once that is switched on.
    pub(crate) fn new(inner: S, instrument: &'static Instrument, leads_to: SocketAddress, is_mine: bool) -> Socket<S> {
        let id = process().and_then(|process| {
            let class = instrument.class(process)?;
            let thread_id = if is_mine { crate::thread::current_id().unwrap_or(0) } else { 0 };
            process.region().create_socket(class, inner.descriptor(), leads_to, thread_id)
        });
        Socket { inner: ManuallyDrop::new(inner), instrument, id: id.unwrap_or(InstanceId::NONE) }
    }

    /// A socket that was opened elsewhere.
    pub(crate) fn adopt(inner: S) -> Socket<S> {
        let instrument = inner.instrument();
        // Nobody asks the system while nobody records.
        let leads_to = if process().is_some() { inner.leads_to() } else { SocketAddress::UNKNOWN };
        Socket::new(inner, instrument, leads_to, false)
    }

    /// A socket that is opened, connected or accepted by this operation, which records a wait for `leads_to`; `opened` says whom the
    /// socket leads to then.
    pub(crate) fn open(
        instrument: &'static Instrument,
        operation: Operation,
        leads_to: SocketAddress,
        caller: Caller,
        open: impl FnOnce() -> io::Result<S>,
        opened: impl FnOnce(&S) -> SocketAddress,
    ) -> io::Result<Socket<S>> {
        let mut waiting = instrument.on().and_then(|switches| {
            let what = Io { instrument, socket: InstanceId::NONE, operation, bytes: None, caller };
            what.begin(switches, leads_to)
        });
        let inner = open()?;
        // Nobody asks the system while nobody records.
        let leads_to = if process().is_some() { opened(&inner) } else { SocketAddress::UNKNOWN };
        let socket = Socket::new(inner, instrument, leads_to, true);
        if let Some(waiting) = &mut waiting {
            waiting.socket = socket.id;
        }
        Ok(socket)
    }

    /// Another descriptor of the same socket: a row of its own.
    pub(crate) fn duplicate(&self, inner: S) -> Socket<S> {
        let leads_to = process().and_then(|process| process.region().socket(self.id)).map(|socket| socket.peer());
        Socket::new(inner, self.instrument, leads_to.unwrap_or_default(), false)
    }

    /// A socket that an operation on this one has brought, and whom it leads to.
    pub(crate) fn accept<A: Std, P: Peer>(
        &self,
        caller: Caller,
        connections: &'static Instrument,
        accept: impl FnOnce(&S) -> io::Result<(A, P)>,
    ) -> io::Result<(Socket<A>, P)> {
        let (inner, peer) = self.run(Operation::Accept, caller, || accept(&self.inner))?;
        Ok((Socket::new(inner, connections, peer.leads_to(), false), peer))
    }

    /// It leads there from now on.
    pub(crate) fn set_peer(&self, leads_to: SocketAddress) {
        if let Some(process) = process().filter(|_| self.id != InstanceId::NONE)
            && let Some(socket) = process.region().socket(self.id)
        {
            socket.set_peer(leads_to);
        }
    }

    #[inline(always)]
    fn io(&self, operation: Operation, bytes: Option<usize>, caller: Caller) -> Io {
        Io { instrument: self.instrument, socket: self.id, operation, bytes: bytes.map(|bytes| bytes as u64), caller }
    }

    /// Runs an operation, and records it if it is to be recorded.
    #[inline(always)]
    pub(crate) fn run<T>(&self, operation: Operation, caller: Caller, run: impl FnOnce() -> T) -> T {
        match self.instrument.on() {
            None => run(),
            Some(switches) => self.io(operation, None, caller).run(switches, run),
        }
    }

    /// The same for what sends or receives; it returns how many bytes it did, maybe with something else. What `run` captures is nothing
    /// but the buffer, so that it stays in registers.
    #[inline(always)]
    pub(crate) fn transfer<T: Transferred>(
        &self,
        operation: Operation,
        bytes: usize,
        caller: Caller,
        run: impl FnOnce(&S) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.instrument.on() {
            None => run(&self.inner),
            Some(switches) => self.transfer_recorded(switches, operation, bytes, caller, run),
        }
    }

    // Out of line, and out of the way of what is off: a call is nothing beside a call of the system.
    #[cold]
    #[inline(never)]
    fn transfer_recorded<T: Transferred>(
        &self,
        switches: Switches,
        operation: Operation,
        bytes: usize,
        caller: Caller,
        run: impl FnOnce(&S) -> io::Result<T>,
    ) -> io::Result<T> {
        self.io(operation, Some(bytes), caller).transfer(switches, || run(&self.inner))
    }

    /// Runs what waits for the client's next request: one event of the instrument `idle`, and STATE is IDLE. What the thread receives
    /// meanwhile counts, but is no wait.
    pub(crate) fn idle<T>(&self, caller: Caller, wait: impl FnOnce() -> T) -> T {
        let _idle = Idle::begin(self.id, caller);
        wait()
    }

    /// std's socket; the region knows it no longer.
    pub(crate) fn into_std(self) -> S {
        let mut socket = ManuallyDrop::new(self);
        closed(socket.id);
        // SAFETY: the socket is not dropped, so nobody uses `inner` after this.
        unsafe { ManuallyDrop::take(&mut socket.inner) }
    }
}

impl<S: Std> Drop for Socket<S> {
    fn drop(&mut self) {
        let what = self.io(Operation::Close, None, None);
        let inner = &mut self.inner;
        // SAFETY: this is the only place that drops it, and nobody uses it after this.
        let mut close = || unsafe { ManuallyDrop::drop(inner) };
        match self.instrument.on() {
            None => close(),
            Some(switches) => what.run(switches, close),
        }
        closed(self.id);
    }
}

fn closed(id: InstanceId) {
    if let Some(process) = process().filter(|_| id != InstanceId::NONE) {
        process.region().destroy_instance(id);
    }
}

/// The other end of a connection, as std gives it.
pub(crate) trait Peer {
    fn leads_to(&self) -> SocketAddress;
}

impl Peer for std::net::SocketAddr {
    fn leads_to(&self) -> SocketAddress {
        (*self).into()
    }
}

#[cfg(unix)]
impl Peer for std::os::unix::net::SocketAddr {
    fn leads_to(&self) -> SocketAddress {
        SocketAddress::UNIX
    }
}

/// How many bytes an operation has sent or received.
pub(crate) trait Transferred {
    fn bytes(&self) -> usize;
}

impl Transferred for usize {
    #[inline(always)]
    fn bytes(&self) -> usize {
        *self
    }
}

impl<A> Transferred for (usize, A) {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.0
    }
}

/// An operation on a socket, as it is before it begins.
#[derive(Clone, Copy, Debug)]
struct Io {
    instrument: &'static Instrument,
    socket: InstanceId,
    operation: Operation,
    /// How many bytes are asked for; None where there are none.
    bytes: Option<u64>,
    caller: Caller,
}

impl Io {
    #[inline(never)]
    fn run<T>(&self, switches: Switches, run: impl FnOnce() -> T) -> T {
        if self.is_idle() {
            return run();
        }
        let waiting = self.begin(switches, SocketAddress::UNKNOWN);
        let result = run();
        drop(waiting);
        result
    }

    /// An error counts as no bytes.
    #[inline(always)]
    fn transfer<T: Transferred>(&self, switches: Switches, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.is_idle() {
            let result = run();
            self.count(switches, transferred(&result));
            return result;
        }
        let mut waiting = self.begin(switches, SocketAddress::UNKNOWN);
        let result = run();
        if let Some(waiting) = &mut waiting {
            waiting.wait.set_amount(amount(Some(transferred(&result))));
        }
        drop(waiting);
        result
    }

    /// Whether this is what an idle thread waits for: to receive something.
    #[inline(always)]
    fn is_idle(&self) -> bool {
        let receives = self.operation.group() == Group::Read || self.operation == Operation::Select;
        receives && IDLE_CALLS.get() != 0
    }

    /// Counts what was received without a wait.
    #[cold]
    fn count(&self, switches: Switches, bytes: u64) {
        with_actor(|actor| {
            let io = SocketIo { socket: actor.region().socket(self.socket), group: self.operation.group() };
            actor.count_socket(switches, self.instrument.registered(), &io, bytes);
        });
    }

    /// `leads_to` is for a socket that is not known yet.
    #[inline(always)]
    fn begin(&self, switches: Switches, leads_to: SocketAddress) -> Option<Waiting> {
        let wait = with_actor(|actor| {
            let socket = actor.region().socket(self.socket);
            let start = WaitStart {
                operation: self.operation,
                object: socket.map_or(0, |socket| socket.address()),
                source: self.caller,
                amount: amount(self.bytes),
                io: IoEvent::Socket(SocketEvent { address: socket.map_or(leads_to, |socket| socket.peer()) }),
            };
            actor.begin(&SystemClock, switches, self.instrument.registered(), &start)
        })?;
        Some(Waiting { wait, socket: self.socket, group: self.operation.group() })
    }
}

fn transferred<T: Transferred>(result: &io::Result<T>) -> u64 {
    result.as_ref().map_or(0, |result| result.bytes() as u64)
}

fn amount(bytes: Option<u64>) -> u64 {
    bytes.map_or(0, |bytes| bytes.saturating_add(1))
}

/// A wait that is being recorded. Ends when it is dropped, also by a panic.
struct Waiting {
    wait: Wait<'static>,
    socket: InstanceId,
    group: Group,
}

impl Drop for Waiting {
    #[inline(always)]
    fn drop(&mut self) {
        with_actor(|actor| {
            let socket = actor.region().socket(self.socket);
            actor.end(&SystemClock, self.wait, Held::Socket(SocketIo { socket, group: self.group }))
        });
    }
}

/// A thread that is idle. Ends when it is dropped, also by a panic.
struct Idle {
    socket: InstanceId,
    wait: Option<Wait<'static>>,
}

impl Idle {
    fn begin(id: InstanceId, caller: Caller) -> Idle {
        IDLE_CALLS.set(IDLE_CALLS.get() + 1);
        if let Some(process) = process()
            && let Some(socket) = process.region().socket(id)
        {
            socket.begin_idle(crate::thread::current_id().unwrap_or(0));
        }
        let wait = IDLE.on().and_then(|switches| {
            let start = WaitStart { source: caller, ..WaitStart::new(Operation::Idle) };
            with_actor(|actor| actor.begin(&SystemClock, switches, IDLE.registered(), &start))
        });
        Idle { socket: id, wait }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        if let Some(wait) = self.wait.take() {
            with_actor(|actor| actor.end(&SystemClock, wait, Held::None));
        }
        if let Some(process) = process()
            && let Some(socket) = process.region().socket(self.socket)
        {
            socket.end_idle();
        }
        IDLE_CALLS.set(IDLE_CALLS.get() - 1);
    }
}
