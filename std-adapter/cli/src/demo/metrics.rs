//! What the application counts of itself: rows of `innodb_metrics`, on from the start.

use perfschema::metric::{Counter, CounterSet};

/// How many bytes of text, and of how many files: AVG_COUNT is the bytes of one.
pub(crate) static READ: CounterSet = perfschema::counter_set!(
    ("index_file_bytes", "index", "Bytes of text files indexed", enabled),
    ("index_files", "index", "Text files indexed", enabled),
);
pub(crate) static WORDS: Counter = perfschema::counter!("index_words", "index", "Words indexed", enabled);
pub(crate) static POSTINGS: Counter =
    perfschema::counter!("index_postings", "index", "Pairs of a term and a file added to the index", enabled);
#[cfg(unix)]
pub(crate) static QUERIES: Counter = perfschema::counter!("server_queries", "server", "Queries answered", enabled);
/// A level: whoever enables it later sees how many there are.
#[cfg(unix)]
pub(crate) static CONNECTIONS: perfschema::metric::Level =
    perfschema::level!("server_open_connections", "server", "Connections that are open", enabled);
