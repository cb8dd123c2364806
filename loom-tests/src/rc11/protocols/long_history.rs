//! The long history: a chunk of one row goes from one thread to another, and whose a row is.

use super::Saw;
use crate::rc11::{Last, Program, Thread};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A chunk that is given back goes from one thread to another, while somebody reads its row.
pub(super) const GIVEN_BACK: Program = Program {
    name: "long history",
    words: &[("chunk", 1), ("version", 0), ("start", 0), ("amount", 0)],
    threads: &[("first", gives_back), ("second", takes_given_back), ("reader", reader)],
    finally: Some(finally),
    wanted: &["free", "changed", "first", "second", "lost"],
    forbidden: &["torn"],
    wrong: &[],
};

/// The same of a chunk whose only row has ended.
pub(super) const FULL: Program = Program {
    name: "long history, full",
    threads: &[("first", fills), ("second", takes_full), ("reader", reader)],
    ..GIVEN_BACK
};

/// The row of reservation `number`.
fn row(t: &mut Thread<'_>, number: u64) -> Option<()> {
    t.store("", "version", 4 * number + 3, Relaxed)?;
    t.fence("E3", Release)?;
    t.store("", "start", 10 * number, Relaxed)?;
    t.store("", "amount", 10 * number, Relaxed)?;
    t.store("E4", "version", 4 * number + 4, Release)
}

fn gives_back(t: &mut Thread<'_>) -> Saw {
    row(t, 1)?;
    t.store("H2", "chunk", 0, Release)?;
    Some("")
}

fn takes_given_back(t: &mut Thread<'_>) -> Saw {
    if t.compare_exchange("H1", "chunk", 0, 1, Acquire)?.is_err() {
        return Some("lost");
    }
    row(t, 2)?;
    Some("")
}

fn fills(t: &mut Thread<'_>) -> Saw {
    row(t, 1)?;
    Some("")
}

fn takes_full(t: &mut Thread<'_>) -> Saw {
    if t.load("H3", "version", Acquire)? != 8 || t.compare_exchange("H1", "chunk", 1, 2, Acquire)?.is_err() {
        return Some("lost");
    }
    row(t, 2)?;
    Some("")
}

fn reader(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("E5", "version", Acquire)?;
    if seen == 0 {
        return Some("free");
    }
    if !seen.is_multiple_of(2) {
        return Some("changed");
    }
    let start = t.load("", "start", Relaxed)?;
    let amount = t.load("", "amount", Relaxed)?;
    t.fence("E6", Acquire)?;
    Some(if t.load("", "version", Relaxed)? == seen { row_seen(seen, start, amount) } else { "changed" })
}

fn row_seen(version: u64, start: u64, amount: u64) -> &'static str {
    match (version, start, amount) {
        (8, 10, 10) => "first",
        (12, 20, 20) => "second",
        _ => "torn",
    }
}

fn finally(last: &Last<'_>) -> &'static str {
    row_seen(last.get("version"), last.get("start"), last.get("amount"))
}

/// A chunk is taken whose row another thread has written, while somebody reads whose the row is. The numbers of the two are 1 and 3: the second
/// writes where the first has said who it is.
pub(super) const OWNER: Program = Program {
    name: "long history, whose a row is",
    words: &[("version", 8), ("number", 2), ("thread", 10), ("base", 10)],
    threads: &[("taker", taker), ("reader", reader_of_owner)],
    finally: None,
    wanted: &["changed", "first", "second", "unknown"],
    forbidden: &["torn"],
    wrong: &[],
};

fn taker(t: &mut Thread<'_>) -> Saw {
    t.store("", "number", 4, Relaxed)?;
    t.fence("H4", Release)?;
    t.store("", "thread", 30, Relaxed)?;
    t.store("", "base", 30, Relaxed)?;
    t.store("", "version", 15, Relaxed)?;
    t.fence("E3", Release)?;
    t.store("E4", "version", 16, Release)?;
    Some("")
}

fn reader_of_owner(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("E5", "version", Acquire)?;
    t.fence("E6", Acquire)?;
    if !seen.is_multiple_of(2) || t.load("", "version", Relaxed)? != seen {
        return Some("changed");
    }
    let number = seen / 4;
    if t.load("", "number", Relaxed)? != number {
        return Some("unknown");
    }
    let owner = (t.load("", "thread", Relaxed)?, t.load("", "base", Relaxed)?);
    t.fence("H5", Acquire)?;
    if t.load("", "number", Relaxed)? != number {
        return Some("unknown");
    }
    Some(match (number, owner) {
        (2, (10, 10)) => "first",
        (4, (30, 30)) => "second",
        _ => "torn",
    })
}
