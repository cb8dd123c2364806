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
    /// A message is sent to another thread.
    Send = 12, "send";
    /// A message is received from another thread.
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
}
