//! tokio's files, sockets, locks and channels, instrumented: the same names, so that a `use` line is the whole change. A wait is the time until
//! the operation completes, however often and on whatever threads it is polled meanwhile.
//!
//! ```
//! use perfschema::task;
//! use perfschema::tokio::net::{TcpListener, TcpStream};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! # let process = perfschema::start()?;
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let mut client = TcpStream::connect(listener.local_addr()?).await?;
//! let (mut connection, _) = listener.accept().await?;
//! let served = tokio::spawn(task::attach("task/app/connection", async move {
//!     let mut request = [0; 5];
//!     connection.read_exact(&mut request).await // Seen in events_waits_current, until something comes.
//! }));
//! client.write_all(b"hello").await?;
//! assert_eq!(served.await??, 5);
//! # let mut bytes = 0;
//! # process.region().scan(&perfschema::tables::SocketSummaryByEventName, |row| bytes += row.sum_number_of_bytes_read);
//! # assert_eq!(bytes, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Whose a wait is.** Of a task that is [attached](crate::task::attach) a wait is shown while it lasts: its row is there from the first
//! poll on, THREAD_ID is the task's, and TIMER_END is NULL. A task may have several, as within `join!`; nothing lies within them. A wait of
//! what is not attached has no actor that is sure to be there at its end: it is recorded whole when it ends, by the thread that ends it.
//!
//! What one task has begun and another ends, because a future or a socket was handed over meanwhile, is recorded whole by the one that ends
//! it. With the first one, whose records nobody else writes, the row stays as that of a wait that still runs, and takes one of the
//! `performance_schema_events_waits_history_size` records that it has, until that task is polled again, or ends.
//!
//! **When a wait ends.** When the operation completes, with an error or without, and when its future is dropped before, as `select!` and
//! `timeout` do: then it has no bytes, and no lock is held. What is polled without a future, as everything that `AsyncReadExt` and
//! `AsyncWriteExt` do, ends when it completes, when the next operation of its kind is polled, one that reads or one that writes, or when the
//! socket or the file is dropped. So a read that was given up shows until then; a read of the same kind that follows goes on with it, because
//! nothing tells the two apart, unless one of them is [idle](net::Idle).
//!
//! **SOURCE** is that of the call; what is polled without a future has none.
//!
//! **Switched on meanwhile.** What is pending while its instrument is switched on is no wait if it is a future; if it is polled without one,
//! it is a wait from its next poll on.
//!
//! **What it costs.** While its instrument is off, or nothing records yet, four loads and two branches more a poll. A socket is some
//! 400 bytes larger than tokio's, a file 550: it keeps the wait that is polled. A future is 130 to 400 bytes larger; those of
//! [`fs`]'s functions up to 1.1 kB.

pub(crate) mod pending;

pub mod fs;
pub mod net;
pub mod sync;
