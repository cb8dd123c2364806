//! What an actor sums when an event has ended: by its instrument, in its histogram, and for the lock, the file or the socket. What two
//! truncations need is in [`stat`].

use super::{Actor, Recorder};
use crate::class::Class;
use crate::file::FileIo;
use crate::instance::{Held, Instance};
use crate::region::{CARRY, STAT, Section};
use crate::setup::Switches;
use crate::slot::Claimed;
use crate::socket::SocketIo;
use crate::stat::{self, Figure, Shared, StatWords, Sums, Unit};
use crate::wait::Wait;
use crate::{histogram, statement, wait_histogram};
use perfschema_timer::TimerName;

impl<'r> Actor<'r> {
    /// An event that has ended is summed by its thread, and by `figures` as `count_figures` does; or, which false says, where no actor owns the
    /// sums.
    pub(crate) fn sum(
        &self,
        on: &Recorder<'r>,
        switches: Switches,
        wait_ps: Option<u64>,
        figures: &[Figure],
        count_figures: impl FnOnce(),
    ) -> bool {
        let class = switches.class().index();
        let Some(stat) = self.stats.get().get(class).filter(|_| switches.has(Switches::THREAD)) else {
            self.count_shared(switches, wait_ps);
            return false;
        };
        let unit = Unit::Picoseconds;
        let sums = stat::begin(stat, self.epochs(on.store()), unit, || self.honour(on, stat, figures, switches, unit));
        match wait_ps {
            Some(wait_ps) => sums.count(wait_ps, None),
            None => sums.count_none(),
        }
        count_figures();
        sums.publish();
        true
    }

    pub(crate) fn statement_figures(&self, class: Class) -> &'r [Figure] {
        statement::figures(self.statement_stats.get().get(self.statement_sizes.class_index(class.index())))
    }

    /// Ends what [`stat::begin_current`] began for a wait that was timed until `ticks` of CYCLE.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn count_ticks(&self, sums: Sums<'_>, wait: &Wait<'_>, switches: Switches, ticks: u64) {
        let wait_ticks = sums.count_ticks(ticks.wrapping_sub(wait.start));
        if switches.has(Switches::HISTOGRAM) {
            match histogram::bucket_of_ticks(self.tick_buckets, wait_ticks) {
                Some(bucket) => {
                    wait_histogram::note(self.histograms, sums.histogram(), bucket, || {
                        self.note_any(switches, sums, bucket);
                    });
                }
                None => self.note_long(switches, sums, wait_ticks),
            }
        }
        sums.publish();
    }

    /// The same of what [`stat::begin`] began, by any timer. Returns how long it took, in picoseconds.
    pub(super) fn count_timed(&self, sums: Sums<'_>, wait: &Wait<'_>, switches: Switches, timer: usize, ticks: u64) -> u64 {
        let (wait_ticks, wait_ps) = self.conversions[timer % 8].wait(wait.start, ticks);
        sums.count(wait_ps, (timer == TimerName::Cycle.index()).then_some(wait_ticks));
        if switches.has(Switches::HISTOGRAM) {
            self.note_any(switches, sums, histogram::bucket(wait_ps));
        }
        sums.publish();
        wait_ps
    }

    /// Counts the wait for the lock, the file or the socket.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn count_object(
        &self,
        wait: &Wait<'_>,
        switches: Switches,
        object: &Object<'_>,
        wait_ps: impl Fn() -> Option<u64>,
    ) {
        let bytes = wait.amount.saturating_sub(1);
        let io = match object {
            Object::File(io) => Some((&self.files, io.counted())),
            Object::Socket(io) => Some((&self.sockets, io.counted())),
            Object::Exclusive(_) | Object::Shared(_) | Object::None => None,
        };
        if let Some((recorder, io)) = &io {
            recorder.count(self.region, io, switches, self.thread_id, wait_ps(), bytes);
        }
        if switches.has(Switches::INSTANCE) {
            match object {
                Object::Exclusive(instance) => instance.record_alone(self.instance_epoch.get(), wait_ps()),
                Object::Shared(instance) => instance.record_shared(wait_ps()),
                Object::File(_) | Object::Socket(_) => {
                    if let Some(place) = io.and_then(|(_, io)| io.place) {
                        place.count_wait(self.thread_id, self.instance_epoch.get(), wait_ps());
                    }
                }
                Object::None => {}
            }
        }
    }

    /// Counts an operation on a socket that is no wait: what a thread that was idle has received. It is not timed, enters no events table
    /// and no sum of waits, only the sums of the socket's operations and bytes. `switches` are those of its class.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/socket/app/client_connection"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let id = region.create_socket(class, 5, SocketAddress::UNIX, actor.thread_id()).expect("there is room");
    /// let io = SocketIo { socket: region.socket(id), group: Group::Read };
    /// actor.count_socket(region.switches(class), &io, 100);
    /// let reads = *region.socket_summary_by_event_name(class).group(Group::Read);
    /// assert_eq!((reads.waits.count, reads.waits.count_timed, reads.bytes), (1, 0, 100));
    /// assert_eq!(region.summary_by_event_name(class).count, 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn count_socket(&self, switches: Switches, io: &SocketIo<'_>, bytes: u64) {
        let switches = self.masked(switches);
        if switches.has(Switches::ENABLED) {
            self.sockets.count(self.region, &io.counted(), switches, self.thread_id, None, bytes);
        }
    }

    /// A table was truncated, or the slot has a new owner, since the last event of this class, or its times are in another unit. The table may be
    /// `events_waits_current`: so a wait that runs alone comes to be among others, whose ends ask what it hid.
    // Takes the switches: their class is worked out here, and not on the way of those who need not come here.
    #[cold]
    #[inline(never)]
    pub(super) fn honour(&self, on: &Recorder<'r>, stat: &StatWords, figures: &[Figure], switches: Switches, unit: Unit) {
        if core::ptr::eq(on, &self.waits) {
            self.enclosing();
        }
        let class = switches.class().index();
        let carries = |slot: &Claimed<'r>| self.region.arrays_of::<CARRY>(Section::Carries, slot.index).get(class);
        if let Some(carry) = self.slot.as_ref().and_then(carries) {
            let conversion = &self.conversions[TimerName::Cycle.index()];
            stat::honour(stat, carry, figures, self.epochs(on.store()), unit, conversion);
        }
    }

    /// A wait by the counter that no bucket of short ones takes, or that took no tick.
    #[cold]
    #[inline(never)]
    fn note_long(&self, switches: Switches, sums: Sums<'_>, ticks: u64) {
        let wait_ps = self.conversions[TimerName::Cycle.index()].picoseconds(ticks);
        self.note_any(switches, sums, histogram::bucket(wait_ps));
    }

    /// A wait that is long, or timed otherwise than by the counter, or the first, or has a shared histogram, enters it.
    #[cold]
    #[inline(never)]
    fn note_any(&self, switches: Switches, sums: Sums<'_>, bucket: usize) {
        wait_histogram::note_any(self.region, switches.class().index(), self.histograms, sums.histogram(), bucket);
    }

    #[cold]
    pub(super) fn count_shared(&self, switches: Switches, wait_ps: Option<u64>) {
        let class = switches.class().index();
        let shared = self.region.arrays::<STAT>(Section::SharedStats);
        if let Some(sums) = shared.get(class).and_then(|words| Shared::of(words)) {
            sums.record(wait_ps);
        }
        if let Some(wait_ps) = wait_ps.filter(|_| switches.has(Switches::HISTOGRAM)) {
            wait_histogram::count_shared(self.region, class, histogram::bucket(wait_ps));
        }
    }
}

/// What a wait was for: [`Held`], by value.
#[derive(Clone, Copy)]
pub(super) enum Object<'r> {
    Exclusive(Instance<'r>),
    Shared(Instance<'r>),
    File(FileIo<'r>),
    Socket(SocketIo<'r>),
    None,
}

impl<'r> Object<'r> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of(held: &Held<'_, 'r>) -> Object<'r> {
        match held {
            Held::Exclusive(instance) => Object::Exclusive(**instance),
            Held::Shared(instance) => Object::Shared(**instance),
            Held::File(io) => Object::File(*io),
            Held::Socket(io) => Object::Socket(*io),
            Held::None => Object::None,
        }
    }
}
