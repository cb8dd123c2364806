//! What a wait does: column OPERATION.

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// What a wait does to its object; the names are those of shipped MySQL.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Operation { $($(#[$doc])* $name = $code,)* }

        impl Operation {
            /// The text of column OPERATION.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$name => $text,)* }
            }

            /// The operation of a record's code; codes are never reused.
            pub(crate) const fn from_code(code: u8) -> Option<Operation> {
                match code { $($code => Some(Operation::$name),)* _ => None }
            }
        }
    };
}

operations! {
    /// A mutex is locked.
    Lock = 1, "lock";
    /// A mutex is locked if it is free.
    TryLock = 2, "try_lock";
    /// A read-write lock is locked for reading.
    ReadLock = 3, "read_lock";
    /// A read-write lock is locked for writing.
    WriteLock = 4, "write_lock";
    /// A read-write lock is locked for reading if nobody writes.
    TryReadLock = 5, "try_read_lock";
    /// A read-write lock is locked for writing if it is free.
    TryWriteLock = 6, "try_write_lock";
    /// A condition is waited for.
    Wait = 7, "wait";
    /// A condition is waited for, for a limited time.
    TimedWait = 8, "timed_wait";
    /// A unit of a semaphore is taken.
    Acquire = 9, "acquire";
    /// A unit of a semaphore is taken if there is one.
    TryAcquire = 10, "try_acquire";
    /// Something that happens once is done or waited for.
    CallOnce = 11, "call_once";
    /// A message is sent to another thread; bytes are sent on a socket.
    Send = 12, "send";
    /// A message is received from another thread; bytes are received from a socket.
    Receive = 13, "recv";
    /// A barrier is waited for.
    Barrier = 14, "barrier_wait";
    /// A thread waits for another one's end.
    Join = 15, "join";
    /// A thread is parked.
    Park = 16, "park";
    /// A thread sleeps.
    Sleep = 17, "sleep";
    /// A read-write lock is locked for reading, with the right to write later.
    SharedExclusiveLock = 18, "shared_exclusive_lock";
    /// The same, if nobody else has that right or writes.
    TrySharedExclusiveLock = 19, "try_shared_exclusive_lock";
    /// A lock of a file is let go; until then others wait for it.
    Unlock = 20, "unlock";
    /// A file is opened that may not have been there.
    Create = 21, "create";
    /// A file is opened.
    Open = 22, "open";
    /// A handle of a file is closed.
    Close = 23, "close";
    /// A file, or a part of it, is read.
    Read = 24, "read";
    /// A file, or a part of it, is written.
    Write = 25, "write";
    /// A file's position is set.
    Seek = 26, "seek";
    /// A file's position is asked for.
    Tell = 27, "tell";
    /// What was written is handed on.
    Flush = 28, "flush";
    /// A file's size and times are asked for.
    Stat = 29, "stat";
    /// A file's size is changed.
    Truncate = 30, "chsize";
    /// A file is deleted.
    Delete = 31, "delete";
    /// A file is renamed.
    Rename = 32, "rename";
    /// What was written goes to the device.
    Sync = 33, "sync";
    /// A folder is made.
    MakeDirectory = 34, "mkdir";
    /// A folder is deleted.
    RemoveDirectory = 35, "rmdir";
    /// A file gets another name.
    Link = 36, "link";
    /// What a symbolic link leads to is asked for.
    ReadLink = 37, "readlink";
    /// What a path leads to is asked for.
    RealPath = 38, "realpath";
    /// A file's permissions are changed.
    ChangeMode = 39, "chmod";
    /// A file's times are changed.
    ChangeTimes = 40, "utime";
    /// A socket gets its address, and for a server begins to listen.
    Bind = 41, "bind";
    /// A socket is connected.
    Connect = 42, "connect";
    /// A connection is accepted.
    Accept = 43, "accept";
    /// Bytes are sent to an address.
    SendTo = 44, "sendto";
    /// Bytes are received, and from whom.
    ReceiveFrom = 45, "recvfrom";
    /// One direction of a connection, or both, are closed.
    Shutdown = 46, "shutdown";
    /// A socket is waited for, or looked at, without anything being received.
    Select = 47, "select";
    /// An option of a socket is set or asked for.
    Option = 48, "opt";
    /// A thread waits for its next request.
    Idle = 49, "idle";
}

/// Which columns of the summaries of files and sockets an operation counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// COUNT_READ and what follows it.
    Read,
    /// COUNT_WRITE and what follows it.
    Write,
    /// COUNT_MISC and what follows it: everything else.
    Misc,
}

impl Operation {
    /// The columns in which the summaries of files and sockets count it.
    ///
    /// ```
    /// use perfschema_core::{Group, Operation};
    /// let groups = [Operation::Receive, Operation::Send, Operation::Close].map(|operation| (operation.name(), operation.group()));
    /// assert_eq!(groups, [("recv", Group::Read), ("send", Group::Write), ("close", Group::Misc)]);
    /// ```
    pub const fn group(self) -> Group {
        match self {
            Operation::Read | Operation::Receive | Operation::ReceiveFrom => Group::Read,
            Operation::Write | Operation::Send | Operation::SendTo => Group::Write,
            _ => Group::Misc,
        }
    }
}
