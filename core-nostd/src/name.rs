//! Instrument names: `class/order/family/…`, checked once, when the instrument is declared.
//!
//! A name is made of parts between `/`. The first part is the event class; it decides how many parts follow:
//!
//! | names | parts | example |
//! |---|---|---|
//! | `wait/synch/<family>/…/<name>` | 4 or more | `wait/synch/mutex/sql/LOCK_open` |
//! | `wait/io/<family>/…/<name>` | 4 or more | `wait/io/file/sql/error log` |
//! | `wait/lock/<family>/…/<name>` | 4 or more | `wait/lock/metadata/sql/mdl` |
//! | `wait/<module>/<name>` | 3 or more | `wait/app/db_pool` |
//! | `stage/<module>/<name>` | 3 or more | `stage/sql/Opening tables` |
//! | `statement/<module>/<name>` | 3 or more | `statement/com/Query` |
//! | `memory/<module>/<name>` | 3 or more | `memory/app/cache` |
//! | `transaction`, `idle` | 1 | |
//!
//! Rules for all of them:
//!
//! * At most [`NAME_LENGTH`] bytes of UTF-8.
//! * The class is one of the above, in lower case. The rest is free: what this crate does not know under `wait` is an ordinary
//!   wait, without instances, as a program has for what is no lock, file or socket.
//! * But for a slip: where the family is one that this crate knows and more follows, the order before it is `synch`, `io` or `lock`, in lower
//!   case. `wait/sync/mutex/sql/LOCK_open` is refused.
//! * No part is empty, or starts or ends with a space. Spaces within are fine (`error log`).
//! * No control characters, and none that are invisible, turn the direction of writing, or are a space but not the
//!   space: two names of one script that look the same are mostly the same (a letter may be written with its accent or before it).
//! * No `%` and `\`, which mean something else in a `LIKE` pattern, and no `=`, which ends the pattern in
//!   `performance-schema-instrument='pattern=ON'`. `_` and `?` are allowed, although patterns use them too: every
//!   second name has an underscore.
//!
//! A bad literal does not compile ([`InstrumentName::literal`]); a bad name at run time is a [`NameError`].

use core::fmt;

/// The longest name, in bytes: `VARCHAR(128)` in `setup_instruments`.
pub const NAME_LENGTH: usize = 128;

/// The kind of event that an instrument times: the first part of its name.
///
/// The numbers are part of the region's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum EventClass {
    /// `wait/…`: something that a thread waits for.
    Wait = 0,
    /// `stage/…`: a step of a statement.
    Stage = 1,
    /// `statement/…`: a request, from its arrival to its answer.
    Statement = 2,
    /// `transaction`.
    Transaction = 3,
    /// `idle`: a thread that waits for its next request. Recorded with the waits.
    Idle = 4,
    /// `memory/…`: counted, never timed.
    Memory = 5,
}

impl EventClass {
    /// All classes; the index is the number.
    pub const ALL: [EventClass; 6] = [
        EventClass::Wait,
        EventClass::Stage,
        EventClass::Statement,
        EventClass::Transaction,
        EventClass::Idle,
        EventClass::Memory,
    ];

    /// The first part of the names of this class.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            EventClass::Wait => "wait",
            EventClass::Stage => "stage",
            EventClass::Statement => "statement",
            EventClass::Transaction => "transaction",
            EventClass::Idle => "idle",
            EventClass::Memory => "memory",
        }
    }

    /// Fewest and most parts of a name.
    const fn part_count(self) -> (usize, usize) {
        match self {
            EventClass::Wait | EventClass::Stage | EventClass::Statement | EventClass::Memory => (3, usize::MAX),
            EventClass::Transaction | EventClass::Idle => (1, 1),
        }
    }
}

/// What an instrument measures, as far as the recorder treats it differently: read off the front of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum InstrumentKind {
    /// `wait/synch/mutex/…`: rows in `mutex_instances`.
    Mutex = 0,
    /// `wait/synch/rwlock/…`: rows in `rwlock_instances`.
    RwLock = 1,
    /// `wait/synch/cond/…`: rows in `cond_instances`.
    Cond = 2,
    /// Any other `wait/synch/…`: semaphores, once cells, channels.
    Synch = 3,
    /// `wait/io/file/…`: rows in `file_instances`.
    File = 4,
    /// `wait/io/socket/…`: rows in `socket_instances`.
    Socket = 5,
    /// Any other `wait/…`: an ordinary one, which has no instances.
    Wait = 6,
    /// `stage/…`
    Stage = 7,
    /// `statement/…`
    Statement = 8,
    /// `transaction`
    Transaction = 9,
    /// `idle`
    Idle = 10,
    /// `memory/…`
    Memory = 11,
}

/// Kind, event class and how its names begin; the first row that fits a name is its kind.
const KINDS: [(InstrumentKind, EventClass, &str); 12] = [
    (InstrumentKind::Mutex, EventClass::Wait, "wait/synch/mutex/"),
    (InstrumentKind::RwLock, EventClass::Wait, "wait/synch/rwlock/"),
    (InstrumentKind::Cond, EventClass::Wait, "wait/synch/cond/"),
    (InstrumentKind::Synch, EventClass::Wait, "wait/synch/"),
    (InstrumentKind::File, EventClass::Wait, "wait/io/file/"),
    (InstrumentKind::Socket, EventClass::Wait, "wait/io/socket/"),
    (InstrumentKind::Wait, EventClass::Wait, "wait/"),
    (InstrumentKind::Stage, EventClass::Stage, "stage/"),
    (InstrumentKind::Statement, EventClass::Statement, "statement/"),
    (InstrumentKind::Transaction, EventClass::Transaction, "transaction"),
    (InstrumentKind::Idle, EventClass::Idle, "idle"),
    (InstrumentKind::Memory, EventClass::Memory, "memory/"),
];

// Both lists are indexed by number.
const _: () = {
    let mut i = 0;
    while i < KINDS.len() {
        assert!(KINDS[i].0 as usize == i);
        assert!(starts_with(KINDS[i].2.as_bytes(), KINDS[i].1.as_str().as_bytes()));
        i += 1;
    }
    let mut i = 0;
    while i < EventClass::ALL.len() {
        assert!(EventClass::ALL[i] as usize == i);
        i += 1;
    }
};

impl InstrumentKind {
    pub(crate) fn all() -> impl Iterator<Item = InstrumentKind> {
        KINDS.iter().map(|(kind, ..)| *kind)
    }

    /// Whether its names begin with `wait/synch/`: it times locks, and what else threads wait for one another with.
    ///
    /// ```
    /// use perfschema_core::name::InstrumentKind;
    ///
    /// assert!(InstrumentKind::Cond.is_synch() && !InstrumentKind::File.is_synch());
    /// ```
    pub const fn is_synch(self) -> bool {
        matches!(self, InstrumentKind::Mutex | InstrumentKind::RwLock | InstrumentKind::Cond | InstrumentKind::Synch)
    }

    /// The kind of event that such an instrument times.
    ///
    /// ```
    /// use perfschema_core::name::{EventClass, InstrumentKind};
    ///
    /// assert_eq!(InstrumentKind::Socket.event_class(), EventClass::Wait);
    /// ```
    #[must_use]
    pub const fn event_class(self) -> EventClass {
        KINDS[self as usize].1
    }

    /// How the names of this kind begin.
    ///
    /// ```
    /// use perfschema_core::name::InstrumentKind;
    ///
    /// assert_eq!(InstrumentKind::Cond.prefix(), "wait/synch/cond/");
    /// ```
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        KINDS[self as usize].2
    }
}

/// The second part of a name under `wait`, where a family follows.
const WAIT_ORDERS: [&str; 3] = ["synch", "io", "lock"];

/// An instrument name that keeps the rules of this module.
///
/// ```
/// use perfschema_core::name::{InstrumentKind, InstrumentName, NameError};
///
/// let name = InstrumentName::new("wait/io/file/sql/error log")?;
/// assert_eq!(name.kind(), InstrumentKind::File);
/// # Ok::<(), NameError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstrumentName<'a> {
    name: &'a str,
    /// Follows from the name, so it does not disturb the derived comparisons.
    kind: InstrumentKind,
}

impl InstrumentName<'static> {
    /// A name written in the program: a mistake in it does not compile, if this is evaluated in a `const`. Elsewhere it is checked at run time,
    /// which links panics.
    ///
    /// ```
    /// use perfschema_core::name::InstrumentName;
    ///
    /// const LOCK_OPEN: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/app/LOCK_open");
    /// ```
    ///
    /// ```compile_fail
    /// use perfschema_core::name::InstrumentName;
    ///
    /// // error: evaluation panicked: instrument name: unknown class; expected wait, stage, …
    /// const LOCK_OPEN: InstrumentName<'static> = InstrumentName::literal("mutex/app/LOCK_open");
    /// ```
    ///
    /// # Panics
    ///
    /// Outside of a `const`, when the name breaks a rule. Names from outside belong in [`InstrumentName::new`].
    #[must_use]
    #[track_caller]
    pub const fn literal(name: &'static str) -> Self {
        match Self::new(name) {
            Ok(name) => name,
            Err(error) => panic!("{}", error.message()),
        }
    }
}

impl<'a> InstrumentName<'a> {
    /// Checks `name` against the rules of this module.
    ///
    /// # Errors
    ///
    /// The first rule that `name` breaks, reading from the left; a name that is too long says only that.
    ///
    /// ```
    /// use perfschema_core::name::{InstrumentName, NameError};
    ///
    /// assert_eq!(
    ///     InstrumentName::new("wait/synch/mutex/"),
    ///     Err(NameError::EmptyPart { position: 17 }),
    /// );
    /// ```
    pub const fn new(name: &'a str) -> Result<Self, NameError> {
        let bytes = name.as_bytes();
        if bytes.is_empty() {
            return Err(NameError::Empty);
        }
        if bytes.len() > NAME_LENGTH {
            return Err(NameError::TooLong { length: bytes.len() });
        }
        let class = match class_of(bytes) {
            Some(class) => class,
            None => return Err(NameError::UnknownClass),
        };

        // One round for each byte and one for the end of the name, which ends a part like a '/'.
        let mut part_count = 0;
        let mut part_start = 0;
        let mut position = 0;
        // Where the order starts that is none of those known, if the name is one of a wait.
        let mut unknown_order = None;
        let (mut fewest, most) = class.part_count();
        while position <= bytes.len() {
            if position == bytes.len() || bytes[position] == b'/' {
                if let Some(error) = part_error(bytes, part_start, position) {
                    return Err(error);
                }
                part_count += 1;
                if part_count == 2 && matches!(class, EventClass::Wait) {
                    if is_wait_order(bytes, part_start, position) {
                        fewest += 1;
                    } else {
                        unknown_order = Some(part_start);
                    }
                }
                if part_count == 3
                    && position < bytes.len()
                    && is_wait_family(bytes, part_start, position)
                    && let Some(position) = unknown_order
                {
                    return Err(NameError::UnknownOrder { position });
                }
                part_start = position + 1;
            } else if let Some(found) = forbidden(bytes, position) {
                return Err(NameError::Forbidden { position, found });
            }
            position += 1;
        }

        if part_count < fewest {
            return Err(NameError::TooFewParts { class, found: part_count, expected: fewest });
        }
        if part_count > most {
            return Err(NameError::TooManyParts { class, found: part_count, expected: most });
        }
        match kind_of(bytes) {
            Some(kind) => Ok(InstrumentName { name, kind }),
            // Every class ends the list with a prefix that fits all of its names.
            None => unreachable!(),
        }
    }

    /// The whole name.
    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.name
    }

    /// What the instrument measures.
    #[must_use]
    pub const fn kind(&self) -> InstrumentKind {
        self.kind
    }

    /// The kind of event that it times.
    #[must_use]
    pub const fn event_class(&self) -> EventClass {
        self.kind.event_class()
    }

    /// The parts of the name: class, order, family and so on.
    ///
    /// ```
    /// use perfschema_core::name::InstrumentName;
    ///
    /// let name = InstrumentName::literal("stage/sql/Opening tables");
    /// assert!(name.parts().eq(["stage", "sql", "Opening tables"]));
    /// ```
    pub fn parts(&self) -> core::str::Split<'a, char> {
        self.name.split('/')
    }
}

impl fmt::Debug for InstrumentName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.name, f)
    }
}

impl fmt::Display for InstrumentName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl AsRef<str> for InstrumentName<'_> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<'a> TryFrom<&'a str> for InstrumentName<'a> {
    type Error = NameError;

    fn try_from(name: &'a str) -> Result<Self, NameError> {
        InstrumentName::new(name)
    }
}

/// The rule that a name breaks. Positions count bytes from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    Empty,
    /// The name has more than [`NAME_LENGTH`] bytes.
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The first part is none of the known event classes.
    UnknownClass,
    /// The third part of a wait is a known family, but the second one none of the known orders.
    UnknownOrder {
        /// Where the second part starts.
        position: usize,
    },
    /// Nothing between two `/`, or after the last one.
    EmptyPart {
        /// Where something should be.
        position: usize,
    },
    /// A part starts or ends with a space.
    OuterSpace {
        /// Where the space is.
        position: usize,
    },
    /// A character that no name may have.
    Forbidden {
        /// Where the character starts.
        position: usize,
        /// The character.
        found: char,
    },
    /// Names of this class have more parts.
    TooFewParts {
        /// The class.
        class: EventClass,
        /// Number of parts in the name.
        found: usize,
        /// The fewest that the class needs.
        expected: usize,
    },
    /// Names of this class have fewer parts.
    TooManyParts {
        /// The class.
        class: EventClass,
        /// Number of parts in the name.
        found: usize,
        /// The most that the class has.
        expected: usize,
    },
}

impl NameError {
    /// What is wrong and what was expected, without the numbers: all that a `const` can print.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        match self {
            NameError::Empty => "instrument name: empty; expected class/order/family/…",
            NameError::TooLong { .. } => "instrument name: too long; expected at most 128 bytes",
            NameError::UnknownClass => {
                "instrument name: unknown class; expected wait, stage, statement, transaction, idle or memory, \
                 in lower case, then '/'"
            }
            NameError::UnknownOrder { .. } => {
                "instrument name: unknown order; expected wait/synch/, wait/io/ or wait/lock/ before such a family, in lower case"
            }
            NameError::EmptyPart { .. } => "instrument name: empty part; expected a name before and after each '/'",
            NameError::OuterSpace { .. } => "instrument name: space at the edge of a part; expected it only within",
            NameError::Forbidden { .. } => {
                "instrument name: forbidden character; expected printable ones except '%', '\\' and '='"
            }
            NameError::TooFewParts { .. } => {
                "instrument name: too few parts; expected 4 (wait/order/family/name) or 3 (wait/module/name, class/module/name)"
            }
            NameError::TooManyParts { .. } => "instrument name: too many parts; expected nothing after 'transaction' and 'idle'",
        }
    }

    /// The byte at which the name stops being right; `None` if it is wrong as a whole.
    ///
    /// ```
    /// use perfschema_core::InstrumentName;
    /// let error = InstrumentName::new("wait/io/file/app/100%").unwrap_err();
    /// assert_eq!(error.position(), Some(20));
    /// assert!(error.to_string().starts_with(error.message()));
    /// ```
    #[must_use]
    pub const fn position(&self) -> Option<usize> {
        match *self {
            NameError::Empty | NameError::UnknownClass => Some(0),
            NameError::TooLong { .. } => Some(NAME_LENGTH),
            NameError::UnknownOrder { position }
            | NameError::EmptyPart { position }
            | NameError::OuterSpace { position }
            | NameError::Forbidden { position, .. } => Some(position),
            NameError::TooFewParts { .. } | NameError::TooManyParts { .. } => None,
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())?;
        match self {
            NameError::Empty => Ok(()),
            NameError::TooLong { length } => write!(f, " (found {length})"),
            NameError::Forbidden { position, found } => {
                write!(f, " (found {found:?} at byte {position})")
            }
            NameError::TooFewParts { class, found, .. } | NameError::TooManyParts { class, found, .. } => {
                write!(f, " (found {found} in class {})", class.as_str())
            }
            NameError::UnknownClass
            | NameError::UnknownOrder { .. }
            | NameError::EmptyPart { .. }
            | NameError::OuterSpace { .. } => {
                write!(f, " (at byte {})", self.position().unwrap_or(0))
            }
        }
    }
}

impl core::error::Error for NameError {}

/// The class that the first part names.
const fn class_of(name: &[u8]) -> Option<EventClass> {
    let mut i = 0;
    while i < EventClass::ALL.len() {
        let class = EventClass::ALL[i].as_str().as_bytes();
        if starts_with(name, class) && (name.len() == class.len() || name[class.len()] == b'/') {
            return Some(EventClass::ALL[i]);
        }
        i += 1;
    }
    None
}

/// The kind of a name that was checked when its instrument was registered; None if it is that of no instrument.
pub(crate) const fn kind_of(name: &[u8]) -> Option<InstrumentKind> {
    let mut i = 0;
    while i < KINDS.len() {
        if starts_with(name, KINDS[i].2.as_bytes()) {
            return Some(KINDS[i].0);
        }
        i += 1;
    }
    None
}

const fn is_wait_order(name: &[u8], start: usize, end: usize) -> bool {
    let mut i = 0;
    while i < WAIT_ORDERS.len() {
        if end - start == WAIT_ORDERS[i].len() && starts_with(name.split_at(start).1, WAIT_ORDERS[i].as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether the prefix of a kind of waits ends with this part: `mutex`, `file` and the others.
const fn is_wait_family(name: &[u8], start: usize, end: usize) -> bool {
    let part = name.split_at(start).1.split_at(end - start).0;
    let mut i = 0;
    while i < KINDS.len() {
        let prefix = KINDS[i].2.as_bytes();
        // Between two '/', with an order before it.
        if prefix.len() > "wait/".len() + part.len() + 1 {
            let (before, last) = prefix.split_at(prefix.len() - part.len() - 1);
            if before[before.len() - 1] == b'/' && starts_with(last, part) {
                return true;
            }
        }
        i += 1;
    }
    false
}

const fn starts_with(name: &[u8], prefix: &[u8]) -> bool {
    if name.len() < prefix.len() {
        return false;
    }
    let mut i = 0;
    while i < prefix.len() {
        if name[i] != prefix[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn part_error(name: &[u8], start: usize, end: usize) -> Option<NameError> {
    if start == end {
        Some(NameError::EmptyPart { position: start })
    } else if name[start] == b' ' {
        Some(NameError::OuterSpace { position: start })
    } else if name[end - 1] == b' ' {
        Some(NameError::OuterSpace { position: end - 1 })
    } else {
        None
    }
}

/// The character that starts at `position`, if no name may have it. `name` is UTF-8.
const fn forbidden(name: &[u8], position: usize) -> Option<char> {
    // What follows the first byte of a character has its lowest 6 bits.
    let (mut code, bytes) = match name[position] {
        byte @ 0..=0x7f => (byte as u32, 1),
        0x80..=0xbf => return None,
        lead @ 0xc0..=0xdf => (lead as u32 & 0x1f, 2),
        lead @ 0xe0..=0xef => (lead as u32 & 0xf, 3),
        lead @ 0xf0.. => (lead as u32 & 7, 4),
    };
    let mut i = 1;
    while i < bytes {
        code = code << 6 | name[position + i] as u32 & 0x3f;
        i += 1;
    }
    match code {
        0..=0x1f | 0x7f | 0x25 | 0x5c | 0x3d | 0x80..=0x9f
        // Spaces that are not the space.
        | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000
        // Line and paragraph separator, embeddings and overrides of direction.
        | 0x2028..=0x202e
        // What Unicode lets a font show as nothing: soft hyphen, joiners, fillers, direction marks, variation selectors, isolates,
        // the byte order mark, tags.
        | 0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x2060..=0x206f | 0x3164
        | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0xe0fff => char::from_u32(code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Result<InstrumentKind, NameError>) {
        assert_eq!(InstrumentName::new(name).map(|name| name.kind()), expected, "{name:?}");
    }

    #[test]
    fn names_of_the_worklogs() {
        use InstrumentKind::*;
        for (name, kind) in [
            ("wait/synch/mutex/sql/LOCK_des_key_file", Mutex),
            ("wait/synch/mutex/mysys/KEY_CACHE::cache_lock", Mutex),
            ("wait/synch/mutex/LOCK_plugin", Mutex),
            ("wait/synch/rwlock/mysys/SAFE_HASH_mutex", RwLock),
            ("wait/synch/cond/archive/azio_container::threshhold", Cond),
            ("wait/synch/semaphore/app/permits", Synch),
            ("wait/synch/once/app/config", Synch),
            ("wait/synch/sxlock/innodb/index_tree_rw_lock", Synch),
            ("wait/io/file/sql/error log", File),
            ("wait/io/socket/sql/server_tcpip_socket", Socket),
            ("wait/io/table/sql/handler", Wait),
            ("wait/lock/metadata/sql/mdl", Wait),
            ("wait/app/db_pool", Wait),
            ("wait/app/pool/of the reports", Wait),
            ("wait/app/file", Wait),
            ("wait/app/synch/x", Wait),
            ("wait/app/ex/x", Wait),
            ("wait/app/files/x", Wait),
            ("wait/Synch/semaphore/x", Wait),
            ("stage/sql/Opening tables", Stage),
            ("stage/sql/Slave has read all relay log; waiting for more updates", Stage),
            ("stage/innodb/alter table (read PK and internal sort)", Stage),
            ("statement/com/Query", Statement),
            ("transaction", Transaction),
            ("idle", Idle),
            ("memory/sql/THD::main_mem_root", Memory),
            ("wait/synch/mutex/größe/Schloß_1?", Mutex),
        ] {
            check(name, Ok(kind));
            let name = InstrumentName::new(name).unwrap();
            assert!(name.as_str().starts_with(kind.prefix()));
            assert_eq!(name.parts().next(), Some(name.event_class().as_str()));
        }
    }

    #[test]
    fn refused_names() {
        use NameError::*;
        check("", Err(Empty));
        check("/", Err(UnknownClass));
        check("mutex/sql/LOCK_open", Err(UnknownClass));
        check("Wait/Synch/MUTEX/LOCK_plugin", Err(UnknownClass));
        check("waiting/synch/mutex/x", Err(UnknownClass));
        check("transactions", Err(UnknownClass));
        check(" idle", Err(UnknownClass));
        check("wait/sync/mutex/x", Err(UnknownOrder { position: 5 }));
        check("wait/synchro/mutex/x", Err(UnknownOrder { position: 5 }));
        check("wait/SYNCH/mutex/x", Err(UnknownOrder { position: 5 }));
        check("wait/sync/mutex/", Err(UnknownOrder { position: 5 }));
        check("wait/app/file/x", Err(UnknownOrder { position: 5 }));
        check("wait/lock/mutex", Err(TooFewParts { class: EventClass::Wait, found: 3, expected: 4 }));
        check("wait/app", Err(TooFewParts { class: EventClass::Wait, found: 2, expected: 3 }));
        check("wait//mutex/x", Err(EmptyPart { position: 5 }));
        check("wait/synch/mutex//x", Err(EmptyPart { position: 17 }));
        check("wait/synch/mutex/", Err(EmptyPart { position: 17 }));
        check("idle/", Err(EmptyPart { position: 5 }));
        check("stage/ sql/x", Err(OuterSpace { position: 6 }));
        check("stage/sql /x", Err(OuterSpace { position: 9 }));
        check("stage/sql/x ", Err(OuterSpace { position: 11 }));
        check("stage/sql/ ", Err(OuterSpace { position: 10 }));
        check("stage/sql/50%", Err(Forbidden { position: 12, found: '%' }));
        check("stage/sql/a\\b", Err(Forbidden { position: 11, found: '\\' }));
        check("stage/sql/a=b", Err(Forbidden { position: 11, found: '=' }));
        check("stage/sql/a\nb", Err(Forbidden { position: 11, found: '\n' }));
        check("stage/sql/a\0", Err(Forbidden { position: 11, found: '\0' }));
        check("stage/sql/ä\u{7f}", Err(Forbidden { position: 12, found: '\u{7f}' }));
        check("stage/sql/\u{85}", Err(Forbidden { position: 10, found: '\u{85}' }));
        check("stage/sql/\u{202e}x", Err(Forbidden { position: 10, found: '\u{202e}' }));
        check("wait", Err(TooFewParts { class: EventClass::Wait, found: 1, expected: 3 }));
        check("wait/synch/mutex", Err(TooFewParts { class: EventClass::Wait, found: 3, expected: 4 }));
        check("stage/sql", Err(TooFewParts { class: EventClass::Stage, found: 2, expected: 3 }));
        check("memory/x", Err(TooFewParts { class: EventClass::Memory, found: 2, expected: 3 }));
        check("idle/x", Err(TooManyParts { class: EventClass::Idle, found: 2, expected: 1 }));
    }

    #[test]
    fn forbidden_characters_are_these() {
        let mut buffer = [0; 16];
        buffer[..10].copy_from_slice(b"stage/sql/");
        for found in ('\0'..=char::MAX).step_by(if cfg!(miri) { 2_053 } else { 1 }) {
            let end = 10 + found.encode_utf8(&mut buffer[10..]).len();
            let error = InstrumentName::new(str::from_utf8(&buffer[..end]).unwrap()).err();
            let forbidden = found.is_control()
                || (found.is_whitespace() && found != ' ')
                || matches!(found, '%' | '\\' | '=' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}')
                || matches!(found, '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{feff}' | '\u{ffa0}')
                || matches!(found, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
                || matches!(found, '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
                || matches!(found, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}');
            let expected = match found {
                '/' => Some(NameError::EmptyPart { position: 10 }),
                ' ' => Some(NameError::OuterSpace { position: 10 }),
                _ => forbidden.then_some(NameError::Forbidden { position: 10, found }),
            };
            assert_eq!(error, expected, "{found:?}");
        }
    }

    #[test]
    fn length_at_its_limit() {
        let mut bytes = [b'x'; NAME_LENGTH + 1];
        bytes[..17].copy_from_slice(b"wait/synch/mutex/");
        let name = str::from_utf8(&bytes).unwrap();
        check(&name[..NAME_LENGTH - 1], Ok(InstrumentKind::Mutex));
        check(&name[..NAME_LENGTH], Ok(InstrumentKind::Mutex));
        check(name, Err(NameError::TooLong { length: NAME_LENGTH + 1 }));
    }

    #[test]
    fn messages_list_what_is_known() {
        for class in EventClass::ALL {
            assert!(NameError::UnknownClass.message().contains(class.as_str()));
        }
        for order in WAIT_ORDERS {
            assert!(NameError::UnknownOrder { position: 5 }.message().contains(order));
        }
        assert_eq!(NAME_LENGTH, 128, "the message of TooLong says 128");
    }

    #[test]
    fn literals_are_checked_at_compile_time() {
        const NAME: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/app/LOCK_open");
        assert_eq!(NAME.kind(), InstrumentKind::Mutex);
    }
}
