//! How an operation on a socket becomes a wait, and how the region comes to know the socket.

use crate::instrument::Instrument;
pub(crate) use crate::io::Caller;
use crate::io::{Io as _, SocketPlace, Transferred, Waiting, amount, as_it_is, transferred};
use crate::process::process;
use crate::thread::with_actor;
use perfschema_core::{Group, InstanceId, IoEvent, Operation, SocketAddress, SocketEvent, SocketIo, Switches, WaitStart};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::panic::Location;

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

/// A socket of std's, or of tokio's, as the hooks need it.
pub(crate) trait Std {
    /// SOCKET_ID.
    fn descriptor(&self) -> i32;
    /// Whom it leads to, or where it listens, as the system says: for a socket that came from elsewhere.
    fn leads_to(&self) -> SocketAddress;
    /// The instrument of those that came from elsewhere.
    fn instrument(&self) -> &'static Instrument;
}

/// Std's socket, and tokio's of the same kind: the instrument of those that came from elsewhere, and whom it leads to.
macro_rules! known_sockets {
    ($($std:ty, $tokio:ty: $instrument:ident, |$socket:pat_param| $leads_to:expr;)*) => {
        $(
            known_sockets! { @ $std: $instrument, |$socket| $leads_to }
            #[cfg(feature = "tokio")]
            known_sockets! { @ $tokio: $instrument, |$socket| $leads_to }
        )*
    };
    (@ $type:ty: $instrument:ident, |$socket:pat_param| $leads_to:expr) => {
        impl Std for $type {
            fn descriptor(&self) -> i32 {
                super::descriptor(self)
            }

            fn leads_to(&self) -> SocketAddress {
                let $socket = self;
                $leads_to
            }

            fn instrument(&self) -> &'static Instrument {
                &super::$instrument
            }
        }
    };
}

known_sockets! {
    std::net::TcpListener, ::tokio::net::TcpListener: SERVER_TCPIP_SOCKET, |socket| known(socket.local_addr());
    std::net::TcpStream, ::tokio::net::TcpStream: CLIENT_CONNECTION, |socket| known(socket.peer_addr());
    std::net::UdpSocket, ::tokio::net::UdpSocket: DATAGRAM_SOCKET, |socket| known(socket.peer_addr().or_else(|_| socket.local_addr()));
}

#[cfg(unix)]
known_sockets! {
    std::os::unix::net::UnixListener, ::tokio::net::UnixListener: SERVER_UNIX_SOCKET, |_| SocketAddress::UNIX;
    std::os::unix::net::UnixStream, ::tokio::net::UnixStream: CLIENT_CONNECTION, |_| SocketAddress::UNIX;
    std::os::unix::net::UnixDatagram, ::tokio::net::UnixDatagram: DATAGRAM_SOCKET, |_| SocketAddress::UNIX;
}

/// An address, if the system has said it.
fn known(address: io::Result<std::net::SocketAddr>) -> SocketAddress {
    address.map(SocketAddress::from).unwrap_or_default()
}

/// A socket of std's, its instrument, and its place in the region.
pub(crate) struct Socket<S: Std> {
    // Dropped by `Socket::drop`, or taken by who gives the socket away: so that the close is recorded.
    inner: ManuallyDrop<S>,
    pub(crate) handle: Handle,
}

/// A socket as its hooks know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub(crate) instrument: &'static Instrument,
    id: InstanceId,
    /// What is at `id`.
    place: SocketPlace,
}

impl Handle {
    /// Of a socket that the region does not know.
    fn unknown(instrument: &'static Instrument) -> Handle {
        Handle { instrument, id: InstanceId::NONE, place: None }
    }
}

/// A socket that is being opened, connected or accepted by an operation, which may record a wait.
pub(crate) struct Opening {
    instrument: &'static Instrument,
    waiting: Option<Waiting<SocketPlace>>,
}

impl Opening {
    /// The operation begins; `leads_to` is what its wait shows.
    pub(crate) fn begin(
        instrument: &'static Instrument,
        operation: Operation,
        leads_to: SocketAddress,
        caller: Caller,
    ) -> Opening {
        let waiting = instrument.on().and_then(|switches| {
            Io { leads_to, ..Io::new(Handle::unknown(instrument), operation, None, caller) }.begin(switches)
        });
        Opening { instrument, waiting }
    }

    /// It has ended; `opened` says whom the socket leads to then.
    pub(crate) fn end<S: Std>(self, opening: io::Result<S>, opened: impl FnOnce(&S) -> SocketAddress) -> io::Result<Socket<S>> {
        let inner = opening?;
        // Nobody asks the system while nobody records.
        let leads_to = if process().is_some() { opened(&inner) } else { SocketAddress::UNKNOWN };
        let socket = Socket::new(inner, self.instrument, leads_to, true);
        if let Some(mut waiting) = self.waiting {
            waiting.object = socket.handle.place;
            waiting.end(None);
        }
        Ok(socket)
    }
}

impl<S: Std> Socket<S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn std(&self) -> &S {
        &self.inner
    }

    /// A socket that is open, made known also while its instrument is off: so it has a row, and counts once that is switched on.
    pub(crate) fn new(inner: S, instrument: &'static Instrument, leads_to: SocketAddress, is_mine: bool) -> Socket<S> {
        let handle = process().and_then(|process| {
            let class = instrument.class(process)?;
            let thread_id = if is_mine { crate::thread::thread_id().unwrap_or(0) } else { 0 };
            let id = process.region().create_socket(class, inner.descriptor(), leads_to, thread_id)?;
            Some(Handle { instrument, id, place: process.region().socket(id) })
        });
        Socket { inner: ManuallyDrop::new(inner), handle: handle.unwrap_or(Handle::unknown(instrument)) }
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
        Opening::begin(instrument, operation, leads_to, caller).end(open(), opened)
    }

    /// Another descriptor of the same socket: a row of its own.
    pub(crate) fn duplicate(&self, inner: S) -> Socket<S> {
        let leads_to = process().map(|_| self.handle.place.map_or_else(|| inner.leads_to(), |socket| socket.peer()));
        Socket::new(inner, self.handle.instrument, leads_to.unwrap_or_default(), false)
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

    /// It was connected to this address.
    pub(crate) fn connected(&self, address: std::net::SocketAddr) {
        if let Some(socket) = process().and(self.handle.place) {
            socket.set_peer(connected_to(self.std(), address));
        }
    }

    /// Runs an operation, and records it if it is to be recorded.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run<T>(&self, operation: Operation, caller: Caller, run: impl FnOnce() -> T) -> T {
        self.handle.run(operation, caller, run)
    }

    /// The same for what sends or receives; it returns how many bytes it did, maybe with something else. What `run` captures is nothing
    /// but the buffer, so that it stays in registers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn transfer<T: Transferred>(
        &self,
        operation: Operation,
        bytes: usize,
        caller: Caller,
        run: impl FnOnce(&S) -> io::Result<T>,
    ) -> io::Result<T> {
        let switches = self.handle.instrument.switches();
        match switches.is_on() {
            false => as_it_is(run(&self.inner)),
            true => self.transfer_recorded(switches, operation, bytes, caller, run),
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
        match self.handle.instrument.checked(switches) {
            None => run(&self.inner),
            Some(switches) => Io::new(self.handle, operation, Some(bytes), caller).transfer(switches, || run(&self.inner)),
        }
    }

    /// Runs what waits for the client's next request: one event of the instrument `idle`, and STATE is IDLE. What the thread receives
    /// meanwhile counts, but is no wait.
    pub(crate) fn idle<T>(&self, caller: Caller, wait: impl FnOnce() -> T) -> T {
        let _within = Within::begin();
        let _idle = Idle::begin(self.handle);
        let _waiting = IDLE.on().and_then(|switches| IdleIo { caller }.begin(switches));
        wait()
    }

    /// std's socket; the region knows it no longer.
    pub(crate) fn into_std(self) -> S {
        let (inner, handle) = self.into_parts();
        handle.closed();
        inner
    }

    /// std's socket, and what the hooks know of it, which goes on.
    pub(crate) fn into_parts(self) -> (S, Handle) {
        let mut socket = ManuallyDrop::new(self);
        // SAFETY: the socket is not dropped, so nobody uses `inner` after this.
        (unsafe { ManuallyDrop::take(&mut socket.inner) }, socket.handle)
    }
}

/// A stream as what std makes of several operations sees it, such as `read_exact`: all of them have the source of that.
pub(crate) struct At<'s, S: Std>(&'s Socket<S>, Caller);

impl<S: Std> Socket<S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) fn at(&self) -> At<'_, S> {
        At(self, Some(Location::caller()))
    }
}

impl<S: Std> Read for At<'_, S>
where
    for<'s> &'s S: Read,
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.transfer(Operation::Receive, buf.len(), self.1, move |mut socket| socket.read(buf))
    }
}

impl<S: Std> Write for At<'_, S>
where
    for<'s> &'s S: Write,
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.transfer(Operation::Send, buf.len(), self.1, move |mut socket| socket.write(buf))
    }

    /// Nothing waits here: std's socket has no buffer.
    fn flush(&mut self) -> io::Result<()> {
        self.0.std().flush()
    }
}

impl<S: Std> Drop for Socket<S> {
    fn drop(&mut self) {
        let inner = &mut self.inner;
        // SAFETY: this is the only place that drops it, and nobody uses it after this.
        self.handle.run(Operation::Close, None, || unsafe { ManuallyDrop::drop(inner) });
        self.handle.closed();
    }
}

impl Handle {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run<T>(self, operation: Operation, caller: Caller, run: impl FnOnce() -> T) -> T {
        match self.instrument.on() {
            None => run(),
            Some(switches) => Io::new(self, operation, None, caller).run(switches, run),
        }
    }

    /// The region knows the socket no longer.
    pub(crate) fn closed(self) {
        if let Some(process) = process().filter(|_| self.id != InstanceId::NONE) {
            process.region().destroy_instance(self.id);
        }
    }
}

/// Whom a socket leads to that was connected to this address. No address is that of this machine, as the system chooses it.
pub(crate) fn connected_to(socket: &impl Std, address: std::net::SocketAddr) -> SocketAddress {
    if address.ip().is_unspecified() { socket.leads_to() } else { address.into() }
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

/// An operation on a socket, as it is before it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    handle: Handle,
    operation: Operation,
    /// How many bytes are asked for; None where there are none.
    bytes: Option<u64>,
    caller: Caller,
    /// For a socket that is not known yet.
    leads_to: SocketAddress,
}

impl Io {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(handle: Handle, operation: Operation, bytes: Option<usize>, caller: Caller) -> Io {
        Io { handle, operation, bytes: bytes.map(|bytes| bytes as u64), caller, leads_to: SocketAddress::UNKNOWN }
    }

    #[inline(never)]
    fn run<T>(&self, switches: Switches, run: impl FnOnce() -> T) -> T {
        if self.is_idle() {
            return run();
        }
        let Some(waiting) = self.begin(switches) else { return run() };
        let result = run();
        waiting.end(None);
        result
    }

    /// An error counts as no bytes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn transfer<T: Transferred>(&self, switches: Switches, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.is_idle() {
            let result = run();
            self.count_received(switches, transferred(&result));
            return result;
        }
        let Some(waiting) = self.begin(switches) else { return run() };
        let result = run();
        waiting.end(Some(transferred(&result)));
        result
    }

    /// Whether this is what an idle thread waits for: to receive something.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_idle(&self) -> bool {
        let receives = self.operation.group() == Group::Read || self.operation == Operation::Select;
        receives && IDLE_CALLS.get() != 0
    }

    /// Counts what was received without a wait.
    #[cold]
    fn count_received(&self, switches: Switches, bytes: u64) {
        with_actor(|actor| {
            let io = SocketIo { socket: self.handle.place, group: self.operation.group() };
            actor.count_socket(switches, &io, bytes);
        });
    }
}

impl crate::io::Io for Io {
    type Object = SocketPlace;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn instrument(&self) -> &'static Instrument {
        self.handle.instrument
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn object(&self) -> SocketPlace {
        self.handle.place
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn operation(&self) -> Operation {
        self.operation
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start(&self) -> WaitStart {
        let socket = self.handle.place;
        WaitStart {
            operation: self.operation,
            object: socket.map_or(0, |socket| socket.address()),
            source: self.caller,
            amount: amount(self.bytes),
            io: IoEvent::Socket(SocketEvent { address: socket.map_or(self.leads_to, |socket| socket.peer()) }),
        }
    }

    #[cfg(feature = "tokio")]
    fn transfers(&self) -> bool {
        self.bytes.is_some()
    }

    #[cfg(feature = "tokio")]
    fn asked(&self) -> u64 {
        self.bytes.unwrap_or(0)
    }

    #[cfg(feature = "tokio")]
    fn counts_only(&self) -> bool {
        self.is_idle()
    }

    #[cfg(feature = "tokio")]
    fn count(&self, switches: Switches, bytes: u64) {
        self.count_received(switches, bytes);
    }
}

/// The calling thread is within a call of `idle`, or polls one.
struct Within;

impl Within {
    fn begin() -> Within {
        IDLE_CALLS.set(IDLE_CALLS.get() + 1);
        Within
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        IDLE_CALLS.set(IDLE_CALLS.get() - 1);
    }
}

/// A socket that is idle. Ends when it is dropped, also by a panic.
struct Idle(Handle);

impl Idle {
    fn begin(handle: Handle) -> Idle {
        if let Some(socket) = process().and(handle.place) {
            socket.begin_idle(crate::thread::thread_id().unwrap_or(0));
        }
        Idle(handle)
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        if let Some(socket) = process().and(self.0.place) {
            socket.end_idle();
        }
    }
}

/// The one event of being idle.
#[derive(Clone, Copy, Debug)]
struct IdleIo {
    caller: Caller,
}

impl crate::io::Io for IdleIo {
    type Object = ();

    fn instrument(&self) -> &'static Instrument {
        &IDLE
    }

    fn object(&self) {}

    fn operation(&self) -> Operation {
        Operation::Idle
    }

    fn start(&self) -> WaitStart {
        WaitStart { source: self.caller, ..WaitStart::new(Operation::Idle) }
    }

    #[cfg(feature = "tokio")]
    fn transfers(&self) -> bool {
        false
    }
}

/// What lasts over several polls.
#[cfg(feature = "tokio")]
mod polled {
    use super::*;
    use crate::tokio::pending::{self, Pending};
    use std::pin::pin;

    impl Handle {
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn io(self, operation: Operation, bytes: Option<usize>, caller: Caller) -> Io {
            Io::new(self, operation, bytes, caller)
        }

        /// An operation, recorded from its first poll until it has completed, or is given up.
        pub(crate) fn wait<T>(
            self,
            operation: Operation,
            caller: Caller,
            wait: impl Future<Output = T>,
        ) -> impl Future<Output = T> {
            pending::run(self.io(operation, None, caller), wait)
        }

        /// The same, and what the program gets of it.
        pub(crate) fn wait_then<T, N>(
            self,
            operation: Operation,
            caller: Caller,
            wait: impl Future<Output = T>,
            then: impl FnOnce(T) -> N,
        ) -> impl Future<Output = N> {
            pending::then(self.io(operation, None, caller), wait, |pending, result| {
                pending.end(None);
                then(result)
            })
        }

        /// The same for what sends or receives.
        pub(crate) fn wait_transfer<T: Transferred>(
            self,
            operation: Operation,
            bytes: usize,
            caller: Caller,
            wait: impl Future<Output = io::Result<T>>,
        ) -> impl Future<Output = io::Result<T>> {
            pending::transfer(self.io(operation, Some(bytes), caller), wait)
        }

        /// Sends or receives at once what goes at once.
        pub(crate) fn transfer<T: Transferred>(
            self,
            operation: Operation,
            bytes: usize,
            caller: Caller,
            run: impl FnOnce() -> io::Result<T>,
        ) -> io::Result<T> {
            match self.instrument.on() {
                None => run(),
                Some(switches) => self.io(operation, Some(bytes), caller).transfer(switches, run),
            }
        }

        /// See [`Socket::idle`]: what is within is known of each poll, whatever thread it is on.
        pub(crate) async fn idle<T>(self, caller: Caller, wait: impl Future<Output = T>) -> T {
            let mut wait = pin!(wait);
            let _idle = Idle::begin(self);
            let mut pending = Pending::begin(IdleIo { caller });
            let result = std::future::poll_fn(|context| {
                let _within = Within::begin();
                wait.as_mut().poll(context)
            })
            .await;
            pending.end(None);
            result
        }
    }

    impl<S: Std> Socket<S> {
        /// As [`Socket::open`], of what opens over several polls; `made` is what the program gets of it.
        pub(crate) fn opening<T>(
            instrument: &'static Instrument,
            operation: Operation,
            leads_to: SocketAddress,
            caller: Caller,
            open: impl Future<Output = io::Result<S>>,
            opened: impl FnOnce(&S) -> SocketAddress,
            made: impl FnOnce(Socket<S>) -> T,
        ) -> impl Future<Output = io::Result<T>> {
            let io = Io { leads_to, ..Io::new(Handle::unknown(instrument), operation, None, caller) };
            pending::then(io, open, move |pending, inner| {
                let inner = inner?;
                // Nobody asks the system while nobody records.
                let leads_to = if process().is_some() { opened(&inner) } else { SocketAddress::UNKNOWN };
                let socket = Socket::new(inner, instrument, leads_to, true);
                pending.set_object(socket.handle.place);
                pending.end(None);
                Ok(made(socket))
            })
        }

        /// The same socket again, from its parts.
        pub(crate) fn again(inner: S, handle: Handle) -> Socket<S> {
            Socket { inner: ManuallyDrop::new(inner), handle }
        }

        pub(crate) fn std_mut(&mut self) -> &mut S {
            &mut self.inner
        }
    }
}
