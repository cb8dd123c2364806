//! Sockets: what has a descriptor of its own, whom it leads to, and its sums.
//!
//! A socket's place is claimed when it is opened and given back when it is closed, by the protocols of [`pool`] and
//! [`instance`](crate::instance), as that of a lock. The handle keeps the place's number, so an event searches nothing. How waits are
//! counted is the same for files, and stands in [`io`].
//!
//! An event keeps the address itself, not where it stands: so the histories name sockets that are closed, too.

use crate::class::{Class, SOCKET_POOL};
use crate::instance::InstanceId;
use crate::io::{self, IoSummary, Place, SOCKETS};
use crate::operation::Group;
use crate::pool::{self, Look};
use crate::region::{Region, SOCKET, Section, Text};
use crate::setup;
use crate::stat::Summary;
use crate::sync::{Ordering, Word};
use crate::table::Sweep;
use core::fmt::Write;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Words of a socket's place. The first are those of an [`io::Place`].
pub(crate) mod word {
    pub(crate) use crate::io::word::{ADDRESS, CLASS, OWNER, STATE};
    /// The thread that said last that it waits for the client's next request; 0: the one that counted first.
    pub(crate) const THREAD: usize = 3;
    pub(crate) const DESCRIPTOR: usize = 4;
    pub(crate) const PEER: core::ops::Range<usize> = 5..8;
    /// How many threads wait for the client's next request.
    pub(crate) const IDLE: usize = crate::io::word::SHARED.end;
}

/// Whom a socket leads to, or where it listens: IP and PORT.
///
/// ```
/// use perfschema_core::SocketAddress;
/// let address = SocketAddress::from(std::net::SocketAddr::from(([192, 0, 2, 7], 3306)));
/// assert_eq!((address.ip().as_str(), address.port()), ("192.0.2.7", 3306));
/// assert_eq!((SocketAddress::UNIX.ip().as_str(), SocketAddress::UNIX.port()), ("", 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketAddress {
    /// Which kind it is, and above it the port.
    kind: u64,
    /// Of the address the upper and the lower half; of IPv4 the lower.
    ip: [u64; 2],
}

const UNKNOWN: u64 = 0;
const UNIX: u64 = 1;
const V4: u64 = 4;
const V6: u64 = 6;
const PORT_SHIFT: u32 = 16;

impl SocketAddress {
    /// Nothing is known: no IP, port 0, and OBJECT_NAME of an event is NULL.
    pub const UNKNOWN: SocketAddress = SocketAddress { kind: UNKNOWN, ip: [0; 2] };
    /// A Unix socket: no IP, and port 0.
    pub const UNIX: SocketAddress = SocketAddress { kind: UNIX, ip: [0; 2] };

    /// IP: as text, empty if there is none.
    pub fn ip(&self) -> Text<64> {
        let mut text = Text::EMPTY;
        let [upper, lower] = self.ip;
        let _ = match self.kind & 0xffff {
            V4 => write!(text, "{}", Ipv4Addr::from_bits(lower as u32)),
            V6 => write!(text, "{}", Ipv6Addr::from_bits(u128::from(upper) << 64 | u128::from(lower))),
            _ => Ok(()),
        };
        text
    }

    /// PORT, 0 if there is none.
    pub fn port(&self) -> u16 {
        (self.kind >> PORT_SHIFT) as u16
    }

    /// OBJECT_NAME of an event: `IP:PORT`; of a Unix socket that is `:0`.
    pub(crate) fn object_name(&self) -> Option<Text<512>> {
        let mut text = Text::EMPTY;
        write!(text, "{}:{}", self.ip().as_str(), self.port()).ok()?;
        (self.kind != UNKNOWN).then_some(text)
    }

    pub(crate) fn write(&self, words: &[Word]) {
        let [upper, lower] = self.ip;
        words.iter().zip([self.kind, upper, lower]).for_each(|(word, value)| word.set(value));
    }

    pub(crate) fn read(words: &[Word]) -> SocketAddress {
        let word = |index: usize| words.get(index).map_or(0, Word::get);
        SocketAddress { kind: word(0), ip: [word(1), word(2)] }
    }
}

impl From<SocketAddr> for SocketAddress {
    fn from(address: SocketAddr) -> SocketAddress {
        let (kind, bits) = match address.ip() {
            IpAddr::V4(ip) => (V4, u128::from(ip.to_bits())),
            IpAddr::V6(ip) => (V6, ip.to_bits()),
        };
        SocketAddress { kind: kind | u64::from(address.port()) << PORT_SHIFT, ip: [(bits >> 64) as u64, bits as u64] }
    }
}

/// Bits of OBJECT_INSTANCE_BEGIN that say which place it is, of at most 2²⁰; the lowest is set, which no lock's address has, nor where a file is.
const PLACE_BITS: u32 = 24;

/// What the record of a wait for a socket keeps besides what every wait has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketEvent {
    /// OBJECT_NAME.
    pub address: SocketAddress,
}

/// A socket as the region knows it.
///
/// Made by [`Region::create_socket`] and given back by [`Region::destroy_instance`]. Copy it freely; after it was given back it may not
/// be used, and if it is, only some other socket's figures suffer.
#[derive(Clone, Copy, Debug)]
pub struct SocketInstance<'r> {
    words: &'r [Word; SOCKET],
}

/// How a wait for a socket counts, given to [`Actor::end`](crate::Actor::end).
#[derive(Clone, Copy, Debug)]
pub struct SocketIo<'r> {
    /// The socket, if it is known.
    pub socket: Option<SocketInstance<'r>>,
    /// Which columns of the summaries.
    pub group: Group,
}

impl<'r> SocketIo<'r> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn counted(&self) -> io::Counted<'r> {
        io::Counted { place: self.socket.and_then(|socket| socket.place()), group: self.group }
    }
}

impl<'r> SocketInstance<'r> {
    /// Where its waits are counted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place(&self) -> Option<Place<'r>> {
        Place::of(self.words)
    }

    /// OBJECT_INSTANCE_BEGIN: a number that no other socket has or had.
    #[inline]
    pub fn address(&self) -> u64 {
        self.words[word::ADDRESS].get()
    }

    /// Whom it leads to; unknown at the very moment when another thread changes that.
    #[inline]
    pub fn peer(&self) -> SocketAddress {
        match pool::read(&self.words[word::STATE], |_| SocketAddress::read(&self.words[word::PEER])) {
            Look::Live(peer) => peer,
            Look::Free | Look::Changed => SocketAddress::UNKNOWN,
        }
    }

    /// Whom it leads to from now on: a socket of datagrams was connected. Of two who say so at once, one does.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/socket/app/client_connection"), Setting::ON)?;
    /// let id = region.create_socket(class, 5, SocketAddress::UNIX, 0).expect("there is room");
    /// let socket = region.socket(id).expect("it was made");
    /// socket.set_peer(std::net::SocketAddr::from(([192, 0, 2, 7], 53)).into());
    /// assert_eq!((socket.peer().ip().as_str(), socket.peer().port()), ("192.0.2.7", 53));
    /// region.scan(&tables::SocketInstances, |row| assert_eq!((row.object_instance_begin, row.port), (socket.address(), 53)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_peer(&self, peer: SocketAddress) {
        if let Some(claim) = pool::claim_again(&self.words[word::STATE]) {
            peer.write(&self.words[word::PEER]);
            claim.publish();
        }
    }

    /// The thread waits for its client's next request: STATE is IDLE, and THREAD_ID this one.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/socket/app/client_connection"), Setting::ON)?;
    /// let socket = region.create_socket(class, 5, SocketAddress::UNIX, 0).and_then(|id| region.socket(id)).expect("there is room");
    /// socket.begin_idle(7);
    /// region.scan(&tables::SocketInstances, |row| assert_eq!((row.state, row.thread_id), ("IDLE", Some(7))));
    /// socket.end_idle();
    /// region.scan(&tables::SocketInstances, |row| assert_eq!((row.state, row.thread_id), ("ACTIVE", Some(7))));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn begin_idle(&self, thread_id: u64) {
        // Relaxed, here and below: values of their own.
        if thread_id != 0 && self.words[word::THREAD].get() != thread_id {
            self.words[word::THREAD].set(thread_id);
        }
        self.words[word::IDLE].fetch_add(1, Ordering::Relaxed);
    }

    /// The request is there, or will not come.
    pub fn end_idle(&self) {
        // Not below 0: a forked child forgets who was idle.
        self.words[word::IDLE].update(|threads| threads.saturating_sub(1));
    }
}

impl<'r> Region<'r> {
    /// Makes a socket known: its descriptor, and whom it leads to or where it listens. `thread_id` is whose it is, 0 for the thread that
    /// counts first. [`destroy_instance`](Self::destroy_instance) gives it back. None if there is no room, which is counted, or if the
    /// instrument is none of sockets.
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, InstrumentName, Region, Setting, StaticRegion, tables};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &perfschema_timer::Timers::calibrate())?;
    /// let class = region.register(InstrumentName::literal("wait/io/socket/app/client_connection"), Setting::ON)?;
    /// let peer = std::net::SocketAddr::from(([192, 0, 2, 7], 40001));
    /// let socket = region.create_socket(class, 5, peer.into(), 0).expect("there is room");
    /// region.scan(&tables::SocketInstances, |row| assert_eq!((row.ip.as_str(), row.port, row.socket_id), ("192.0.2.7", 40001, 5)));
    /// region.destroy_instance(socket);
    /// region.scan(&tables::SocketInstances, |row| panic!("{row:?} is closed"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn create_socket(&self, class: Class, descriptor: i32, peer: SocketAddress, thread_id: u64) -> Option<InstanceId> {
        if !SOCKETS.classes(self).contains(&class.index()) {
            return None;
        }
        self.create_in(&SOCKET_POOL, class, &|words: &[Word; SOCKET], claimed| {
            // The place, and above it how often it was claimed: joins find no later socket of the place.
            words[word::ADDRESS].set(claimed.version << PLACE_BITS | (claimed.place as u64) << 1 | 1);
            words[word::THREAD].set(thread_id);
            words[word::DESCRIPTOR].set(descriptor as u32 as u64);
            words[word::IDLE].set(0);
            peer.write(&words[word::PEER]);
            Place::of(words).into_iter().for_each(|place| place.begin(self));
        })
    }

    /// The socket of an id; None for [`InstanceId::NONE`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn socket(&self, id: InstanceId) -> Option<SocketInstance<'r>> {
        self.words_of(id).map(|words| SocketInstance { words })
    }

    /// Delivers the sockets that are open.
    pub(crate) fn sweep_sockets<T>(&self, also: impl Fn(Place<'r>) -> Option<T>, mut each: impl FnMut(&Found, T)) -> Sweep {
        let look = |words: &'r [Word; SOCKET]| {
            let found = pool::read(&words[word::STATE], |_| (Found::load(self, words), Place::of(words).and_then(&also)));
            found.and_then(|(found, also)| match found.event_name.as_str() {
                // Taken in a forked child, by whom nobody knows.
                "" => Look::Free,
                _ => Look::whole(also.map(|also| (found, also))),
            })
        };
        Sweep::over(self.arrays::<SOCKET>(Section::SocketInstances), look, |(found, also)| each(&found, also))
    }

    /// The same, each with its sums as `socket_summary_by_instance` shows them.
    pub(crate) fn sweep_socket_sums(&self, mut each: impl FnMut(&Found, &IoSummary)) -> Sweep {
        let epoch = SOCKETS.instance_epoch(self).get();
        self.sweep_sockets(|place| place.sums(self.patience(), epoch), |found, sums| each(found, &sums))
    }

    /// The same, each with its sums as `events_waits_summary_by_instance` shows them.
    pub(crate) fn sweep_socket_waits(&self, mut each: impl FnMut(&Found, &Summary)) -> Sweep {
        let epoch = self.setup()[setup::word::INSTANCE_EPOCH].get();
        self.sweep_sockets(|place| place.waits(self.patience(), epoch), |found, sums| each(found, &sums))
    }

    fn socket_places(&self) -> impl Iterator<Item = Place<'r>> {
        self.arrays::<SOCKET>(Section::SocketInstances).iter().filter_map(|words| Place::of(words))
    }

    /// TRUNCATE of `socket_summary_by_instance`.
    pub(crate) fn truncate_sockets(&self) {
        setup::next_epoch(SOCKETS.instance_epoch(self));
        self.socket_places().for_each(Place::reset);
    }

    /// TRUNCATE of `events_waits_summary_by_instance`, for sockets.
    pub(crate) fn truncate_socket_waits(&self) {
        self.socket_places().for_each(Place::reset_waits);
    }

    /// After a fork: the sums of all sockets start anew, and nobody is idle. In a child that is idle, whoever was about to open one is gone.
    pub(crate) fn forget_socket_io(&self, idle: bool) {
        for words in self.arrays::<SOCKET>(Section::SocketInstances) {
            if pool::was_used(&words[word::STATE]) {
                if idle {
                    pool::release_claimed(&words[word::STATE]);
                    // Whom it leads to from now on only that thread knew.
                    pool::finish_change(&words[word::STATE], || SocketAddress::UNKNOWN.write(&words[word::PEER]));
                }
                Place::of(words).into_iter().for_each(Place::forget);
            }
        }
    }

    /// The io of an instrument of sockets, summed over all threads that ever were, since `socket_summary_by_event_name` was truncated. Of
    /// a thread that was stopped in the middle of counting, for longer than a reader waits, half an event is taken in.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/socket/app/client_connection"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let io = SocketIo { socket: None, group: Group::Write };
    /// for bytes in [100, 200] {
    ///     // NUMBER_OF_BYTES plus 1.
    ///     let start = WaitStart { amount: bytes + 1, ..WaitStart::new(Operation::Send) };
    ///     let wait = actor.begin(&clock, region.switches(class), class, &start);
    ///     actor.end(&clock, wait, Held::Socket(io));
    /// }
    /// let written = *region.socket_summary_by_event_name(class).group(Group::Write);
    /// assert_eq!((written.waits.count, written.bytes), (2, 300));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn socket_summary_by_event_name(&self, class: Class) -> IoSummary {
        SOCKETS.summary_by_event_name(self, class)
    }
}

/// A socket as a reader sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) event_name: Text<128>,
    pub(crate) address: u64,
    pub(crate) thread_id: u64,
    pub(crate) descriptor: i32,
    pub(crate) peer: SocketAddress,
    pub(crate) idle: bool,
}

impl Found {
    fn load(region: &Region<'_>, words: &[Word; SOCKET]) -> Found {
        let thread_id = match words[word::THREAD].get() {
            0 => words[word::OWNER].get(),
            thread_id => thread_id,
        };
        Found {
            event_name: region.class_name(Class(words[word::CLASS].get() as u16)),
            address: words[word::ADDRESS].get(),
            thread_id,
            descriptor: words[word::DESCRIPTOR].get() as u32 as i32,
            peer: SocketAddress::read(&words[word::PEER]),
            idle: words[word::IDLE].get() != 0,
        }
    }
}
