//! The lock-free protocols of the core as litmus programs. The labels are those of the code and of `docs/memory-model.md`.
//!
//! Each has as few words as show every tear: two words of payload behind a version. A version says which event, owner or row it is; the
//! payload does so, too, so that a mixture shows.

mod long_history;

use super::{Last, Program, Thread, Wrong};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// All of them.
pub const PROGRAMS: &[Program] = &[
    RECORD,
    RECORD_END,
    SUMMARY,
    TRUNCATION,
    TRUNCATED_COUNT,
    SLOT,
    SUCCESSION,
    END,
    long_history::GIVEN_BACK,
    long_history::FULL,
    long_history::OWNER,
    POOL_FULL,
    FILE_LINKED,
    FILE_REUSED,
    FILE_RELEASED,
    ACTOR_INSERTED,
    FOLD,
    FOLD_ONE_SETTING,
    FOLD_KEPT,
    FOLD_PASSED_ON,
    FOLD_BETWEEN,
    CLASS,
    SOURCE,
    REGION,
];

type Saw = Option<&'static str>;

/// Records: event 1 has ended; event 2 starts and ends in the same place, while somebody reads.
const RECORD: Program = Program {
    name: "record",
    words: &[("version", 8), ("start", 10), ("amount", 101)],
    threads: &[("owner", record_owner), ("reader", record_reader)],
    finally: None,
    wanted: &["1 ended", "2 running", "2 ended", "changed"],
    forbidden: &["torn"],
    wrong: &[
        Wrong {
            labels: "E1",
            form: "Release store instead of the fence",
            changes: &[("E1", None), ("odd start", Some(Release))],
        },
        Wrong { labels: "E3", form: "Release store instead of the fence", changes: &[("E3", None), ("odd end", Some(Release))] },
        Wrong { labels: "E6", form: "Acquire load instead of the fence", changes: &[("E6", None), ("again", Some(Acquire))] },
        Wrong { labels: "E6", form: "SeqCst load instead of the fence", changes: &[("E6", None), ("again", Some(SeqCst))] },
        Wrong {
            labels: "E1 E3",
            form: "SeqCst stores instead of the fences",
            changes: &[("E1", None), ("E3", None), ("odd start", Some(SeqCst)), ("odd end", Some(SeqCst))],
        },
        // The lock that MySQL 8 has for its own records.
        Wrong {
            labels: "E1 E3 E6",
            form: "SeqCst on every version instead of the fences",
            changes: &[
                ("E1", None),
                ("E3", None),
                ("E6", None),
                ("odd start", Some(SeqCst)),
                ("E2", Some(SeqCst)),
                ("odd end", Some(SeqCst)),
                ("E4", Some(SeqCst)),
                ("E5", Some(SeqCst)),
                ("again", Some(SeqCst)),
            ],
        },
    ],
};

fn record_owner(t: &mut Thread<'_>) -> Saw {
    t.store("odd start", "version", 9, Relaxed)?;
    t.fence("E1", Release)?;
    t.store("", "start", 20, Relaxed)?;
    t.store("", "amount", 200, Relaxed)?;
    t.store("E2", "version", 10, Release)?;
    t.store("odd end", "version", 11, Relaxed)?;
    t.fence("E3", Release)?;
    t.store("", "amount", 201, Relaxed)?;
    t.store("E4", "version", 12, Release)?;
    Some("")
}

fn record_reader(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("E5", "version", Acquire)?;
    if !seen.is_multiple_of(2) {
        return Some("changed");
    }
    let start = t.load("", "start", Relaxed)?;
    let amount = t.load("", "amount", Relaxed)?;
    t.fence("E6", Acquire)?;
    if t.load("again", "version", Relaxed)? != seen {
        return Some("changed");
    }
    Some(match (seen, start, amount) {
        (8, 10, 101) => "1 ended",
        (10, 20, 200) => "2 running",
        (12, 20, 201) => "2 ended",
        _ => "torn",
    })
}

/// The same where the end changes no word that is shown before: what is only there when the event has ended needs no odd version.
const RECORD_END: Program = Program {
    name: "record, its end alone",
    words: &[("version", 8), ("start", 10), ("end", 11)],
    threads: &[("owner", record_end_owner), ("reader", record_end_reader)],
    finally: None,
    wanted: &["1 ended", "2 running", "2 ended", "changed"],
    forbidden: &["torn"],
    wrong: &[],
};

fn record_end_owner(t: &mut Thread<'_>) -> Saw {
    t.store("", "version", 9, Relaxed)?;
    t.fence("E1", Release)?;
    t.store("", "start", 20, Relaxed)?;
    t.store("E2", "version", 10, Release)?;
    t.store("", "end", 21, Relaxed)?;
    t.store("E4", "version", 12, Release)?;
    Some("")
}

fn record_end_reader(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("E5", "version", Acquire)?;
    if !seen.is_multiple_of(2) {
        return Some("changed");
    }
    let start = t.load("", "start", Relaxed)?;
    let end = t.load("", "end", Relaxed)?;
    t.fence("E6", Acquire)?;
    if t.load("", "version", Relaxed)? != seen {
        return Some("changed");
    }
    Some(match (seen, start, end) {
        (8, 10, 11) => "1 ended",
        (10, 20, _) => "2 running",
        (12, 20, 21) => "2 ended",
        _ => "torn",
    })
}

/// Sums: one wait of 10 is counted; the owner counts one of 100.
const SUMMARY: Program = Program {
    name: "summary",
    words: &[("version", 2), ("count", 1), ("sum", 10)],
    threads: &[("owner", summary_owner), ("reader", summary_reader)],
    finally: None,
    wanted: &["one", "two", "changed"],
    forbidden: &["torn"],
    wrong: &[],
};

fn summary_owner(t: &mut Thread<'_>) -> Saw {
    t.store("", "version", 3, Relaxed)?;
    t.fence("A1", Release)?;
    t.store("", "count", 2, Relaxed)?;
    t.store("", "sum", 110, Relaxed)?;
    t.store("A2", "version", 4, Release)?;
    Some("")
}

fn summary_reader(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("A3", "version", Acquire)?;
    let count = t.load("", "count", Relaxed)?;
    let sum = t.load("", "sum", Relaxed)?;
    t.fence("A4", Acquire)?;
    if !seen.is_multiple_of(2) || t.load("", "version", Relaxed)? != seen {
        return Some("changed");
    }
    Some(match (count, sum) {
        (1, 10) => "one",
        (2, 110) => "two",
        _ => "torn",
    })
}

/// Truncation: a wait of 10 is counted; somebody truncates and looks, while the owner counts one of 100. What was counted before does
/// not come back. The epoch itself needs no ordering.
const TRUNCATION: Program = Program {
    name: "truncation",
    words: &[("epoch", 0), ("version", 2), ("noted", 0), ("sum", 10)],
    threads: &[("owner", count_100), ("truncator", truncate_and_look)],
    finally: None,
    wanted: &["empty", "later wait", "changed"],
    forbidden: &["torn"],
    wrong: &[],
};

/// The owner counts a wait of 100, and honours a truncation that it sees.
fn count_100(t: &mut Thread<'_>) -> Saw {
    let epoch = t.load("", "epoch", Relaxed)?;
    t.store("", "version", 3, Relaxed)?;
    t.fence("A1", Release)?;
    if t.load("", "noted", Relaxed)? != epoch {
        t.store("", "sum", 0, Relaxed)?;
        t.store("", "noted", epoch, Relaxed)?;
    }
    let sum = t.load("", "sum", Relaxed)?;
    t.store("", "sum", sum + 100, Relaxed)?;
    t.store("A2", "version", 4, Release)?;
    Some("")
}

fn truncate_and_look(t: &mut Thread<'_>) -> Saw {
    t.fetch_add("", "epoch", 1, Relaxed)?;
    Some(match look_at_sum(t)? {
        None => "changed",
        Some(0) => "empty",
        Some(100) => "later wait",
        Some(_) => "torn",
    })
}

/// The same where the owner counts events that are not timed, a hundred in one word, which has a version only where a truncation is honoured.
const TRUNCATED_COUNT: Program = Program {
    name: "truncation of a count",
    words: &[("epoch", 0), ("version", 2), ("noted", 0), ("sum", 10)],
    threads: &[("owner", count_twice), ("truncator", truncate_and_look_at_count)],
    finally: None,
    wanted: &["empty", "later events", "changed"],
    forbidden: &["torn"],
    wrong: &[],
};

fn count_twice(t: &mut Thread<'_>) -> Saw {
    for version in [3, 5] {
        let epoch = t.load("", "epoch", Relaxed)?;
        if t.load("", "noted", Relaxed)? != epoch {
            t.store("", "version", version, Relaxed)?;
            t.fence("A1", Release)?;
            t.store("", "sum", 100, Relaxed)?;
            t.store("", "noted", epoch, Relaxed)?;
            t.store("A2", "version", version + 1, Release)?;
        } else {
            let sum = t.load("", "sum", Relaxed)?;
            t.store("", "sum", sum + 100, Relaxed)?;
        }
    }
    Some("")
}

fn truncate_and_look_at_count(t: &mut Thread<'_>) -> Saw {
    t.fetch_add("", "epoch", 1, Relaxed)?;
    Some(match look_at_sum(t)? {
        None => "changed",
        Some(0) => "empty",
        Some(100 | 200) => "later events",
        Some(_) => "torn",
    })
}

/// The sum since the last truncation; None if it changes.
fn look_at_sum(t: &mut Thread<'_>) -> Option<Option<u64>> {
    let seen = t.load("A3", "version", Acquire)?;
    let noted = t.load("", "noted", Relaxed)?;
    let sum = t.load("", "sum", Relaxed)?;
    let epoch = t.load("", "epoch", Relaxed)?;
    t.fence("A4", Acquire)?;
    let settled = seen.is_multiple_of(2) && t.load("", "version", Relaxed)? == seen;
    Some(settled.then_some(if noted == epoch { sum } else { 0 }))
}

/// States of a place in a pool: its owner's number and what it is, as in the code.
const LIVE_1: u64 = 6;
const FREE_1: u64 = 4;
const CLAIMED_2: u64 = 9;
const LIVE_2: u64 = 10;

/// A place in a pool: its first owner gives it back, a second one takes it, and a third thread asks who lives there.
const SLOT: Program = Program {
    name: "slot",
    words: &[("state", LIVE_1), ("name", 1), ("id", 1)],
    threads: &[("first", give_back), ("second", slot_second), ("reader", slot_reader)],
    finally: None,
    wanted: &["free", "changed", "first", "second", "full"],
    forbidden: &["mixed"],
    wrong: &[Wrong {
        labels: "P2",
        form: "SeqCst compare-and-swap instead of the fence",
        changes: &[("P2", None), ("P1", Some(SeqCst))],
    }],
};

fn give_back(t: &mut Thread<'_>) -> Saw {
    let _ = t.compare_exchange("P4", "state", LIVE_1, FREE_1, Release)?;
    Some("")
}

fn slot_second(t: &mut Thread<'_>) -> Saw {
    if t.compare_exchange("P1", "state", FREE_1, CLAIMED_2, Acquire)?.is_err() {
        return Some("full");
    }
    t.fence("P2", Release)?;
    t.store("", "name", 2, Relaxed)?;
    t.store("", "id", 2, Relaxed)?;
    t.store("P3", "state", LIVE_2, Release)?;
    Some("")
}

fn slot_reader(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("P5", "state", Acquire)?;
    match seen {
        FREE_1 => return Some("free"),
        CLAIMED_2 => return Some("changed"),
        _ => {}
    }
    let name = t.load("", "name", Relaxed)?;
    let id = t.load("", "id", Relaxed)?;
    t.fence("P6", Acquire)?;
    if t.load("", "state", Relaxed)? != seen {
        return Some("changed");
    }
    Some(match (seen, name, id) {
        (LIVE_1, 1, 1) => "first",
        (LIVE_2, 2, 2) => "second",
        _ => "mixed",
    })
}

/// What the second owner of a place goes on from: sums and sequence numbers of the first.
const SUCCESSION: Program = Program {
    name: "succession",
    words: &[("state", LIVE_1), ("sum", 0), ("base", 0)],
    threads: &[("first", succession_first), ("second", succession_second)],
    finally: None,
    wanted: &["full", "goes on"],
    forbidden: &["counts again"],
    wrong: &[],
};

fn succession_first(t: &mut Thread<'_>) -> Saw {
    t.store("", "sum", 10, Relaxed)?;
    t.store("", "base", 1, Relaxed)?;
    give_back(t)
}

fn succession_second(t: &mut Thread<'_>) -> Saw {
    if t.compare_exchange("P1", "state", FREE_1, CLAIMED_2, Acquire)?.is_err() {
        return Some("full");
    }
    let seen = (t.load("", "base", Relaxed)?, t.load("", "sum", Relaxed)?);
    Some(if seen == (1, 10) { "goes on" } else { "counts again" })
}

/// The sum by thread at the end of a thread that counted 10: the next owner of its slot counts 100, and neither is shown with the
/// other's.
const END: Program = Program {
    name: "end",
    words: &[("state", LIVE_1), ("thread", 1), ("epoch", 0), ("version", 2), ("noted", 0), ("sum", 10)],
    threads: &[("first", give_back), ("second", end_second), ("reader", end_reader)],
    finally: None,
    wanted: &["no row", "changed", "1 with its wait", "2 at zero", "2 with its wait", "full"],
    forbidden: &["another's"],
    wrong: &[],
};

fn end_second(t: &mut Thread<'_>) -> Saw {
    if t.compare_exchange("P1", "state", FREE_1, CLAIMED_2, Acquire)?.is_err() {
        return Some("full");
    }
    t.fence("P2", Release)?;
    t.store("", "thread", 2, Relaxed)?;
    t.fetch_add("", "epoch", 1, Relaxed)?;
    t.store("P3", "state", LIVE_2, Release)?;
    count_100(t)
}

fn end_reader(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("P5", "state", Acquire)?;
    if seen != LIVE_1 && seen != LIVE_2 {
        return Some("no row");
    }
    let thread = t.load("", "thread", Relaxed)?;
    let sum = look_at_sum(t)?;
    t.fence("P6", Acquire)?;
    if t.load("", "state", Relaxed)? != seen {
        return Some("changed");
    }
    Some(match (thread, sum) {
        (_, None) => "changed",
        (1, Some(10)) => "1 with its wait",
        (2, Some(0)) => "2 at zero",
        (2, Some(100)) => "2 with its wait",
        _ => "another's",
    })
}

/// A pool that is full: one thread gives back the only place and says where it is; another finds nothing, says so, and looks again.
const POOL_FULL: Program = Program {
    name: "pool full",
    words: &[("state", LIVE_1), ("hint", HERE)],
    threads: &[("destroyer", full_destroyer), ("creator", full_creator)],
    finally: Some(full_finally),
    wanted: &["taken", "found by the next search"],
    forbidden: &["free and not looked for"],
    wrong: &[],
};

const HERE: u64 = 0;
/// The same, and once more a place was given back.
const HERE_AGAIN: u64 = 1;
const FULL: u64 = 99;

fn full_destroyer(t: &mut Thread<'_>) -> Saw {
    give_back(t)?;
    let mut seen = t.load("", "hint", Relaxed)?;
    while let Err(now) = t.compare_exchange("I2", "hint", seen, HERE_AGAIN, Release)? {
        seen = now;
    }
    Some("")
}

fn full_creator(t: &mut Thread<'_>) -> Saw {
    let seen = t.load("", "hint", Relaxed)?;
    t.fence("I1", Acquire)?;
    if t.load("", "state", Relaxed)? == FREE_1 {
        let _ = t.compare_exchange("P1", "state", FREE_1, CLAIMED_2, Acquire)?;
    } else {
        let _ = t.compare_exchange("", "hint", seen, FULL, Relaxed)?;
    }
    Some("")
}

fn full_finally(last: &Last<'_>) -> &'static str {
    match (last.get("state"), last.get("hint")) {
        (CLAIMED_2, _) => "taken",
        (_, HERE | HERE_AGAIN) => "found by the next search",
        _ => "free and not looked for",
    }
}

/// Rows of `setup_actors`: one inserts a key that another one is about to insert, too.
const ACTOR_INSERTED: Program = Program {
    name: "setup_actors",
    words: &[("last", 0), ("key", 0)],
    threads: &[("inserts", actor_inserter), ("inserts the same", actor_refused)],
    finally: None,
    wanted: &["nothing there", "refused"],
    forbidden: &["inserted twice"],
    wrong: &[],
};

fn actor_inserter(t: &mut Thread<'_>) -> Saw {
    t.store("", "key", 7, Relaxed)?;
    let _ = t.compare_exchange("U1", "last", 0, 1, Release)?;
    Some("")
}

fn actor_refused(t: &mut Thread<'_>) -> Saw {
    if t.fetch_add("U2", "last", 0, Acquire)? == 0 {
        return Some("nothing there");
    }
    Some(if t.load("", "key", Relaxed)? == 7 { "refused" } else { "inserted twice" })
}

/// Files: one thread puts a place with a path into a bucket, another one looks for the path there.
const FILE_LINKED: Program = Program {
    name: "file linked",
    words: &[("bucket", 0), ("hash", 0)],
    threads: &[("makes it", file_maker), ("looks for it", file_looker)],
    finally: None,
    wanted: &["nothing there", "found"],
    forbidden: &["not found, and made twice"],
    wrong: &[],
};

fn file_maker(t: &mut Thread<'_>) -> Saw {
    t.store("", "hash", 7, Relaxed)?;
    let _ = t.compare_exchange("N1", "bucket", 0, 1, Release)?;
    Some("")
}

fn file_looker(t: &mut Thread<'_>) -> Saw {
    if t.load("N2", "bucket", Acquire)? == 0 {
        return Some("nothing there");
    }
    Some(if t.load("", "hash", Relaxed)? == 7 { "found" } else { "not found, and made twice" })
}

/// Files: a place that path 7 had goes to path 8, while somebody who saw it in the bucket of path 7 refers to it.
const FILE_REUSED: Program = Program {
    name: "file reused",
    words: &[("references", 0), ("hash", 7)],
    threads: &[("next file", file_claimer), ("looks for path 7", file_referrer)],
    finally: None,
    wanted: &["gone", "another file"],
    forbidden: &["taken for the file before"],
    wrong: &[],
};

fn file_claimer(t: &mut Thread<'_>) -> Saw {
    t.store("", "hash", 8, Relaxed)?;
    t.store("N3", "references", 1, Release)?;
    Some("")
}

fn file_referrer(t: &mut Thread<'_>) -> Saw {
    if t.compare_exchange("N4", "references", 1, 2, Acquire)?.is_err() {
        return Some("gone");
    }
    Some(if t.load("", "hash", Relaxed)? == 7 { "taken for the file before" } else { "another file" })
}

/// Files: two refer to a deleted file; one counts there and lets it go, the other one, if it is the last, gives the place to the next.
const FILE_RELEASED: Program = Program {
    name: "file released",
    words: &[("references", 2), ("version", 2)],
    threads: &[("counts", file_user), ("deletes", file_deleter)],
    finally: None,
    wanted: &["still open", "goes on from there"],
    forbidden: &["uses a version twice"],
    wrong: &[],
};

fn file_user(t: &mut Thread<'_>) -> Saw {
    t.store("", "version", 4, Relaxed)?;
    t.fetch_add("N5", "references", u64::MAX, Release)?;
    Some("")
}

fn file_deleter(t: &mut Thread<'_>) -> Saw {
    if t.fetch_add("", "references", u64::MAX, Relaxed)? != 1 {
        return Some("still open");
    }
    t.fence("N6", Acquire)?;
    Some(if t.load("", "version", Relaxed)? == 4 { "goes on from there" } else { "uses a version twice" })
}

/// Folding: one thread enables an instrument, another one a consumer; the switch is on if both are.
const FOLD: Program = Program {
    name: "fold",
    words: &[("instrument", 0), ("consumer", 0), ("generation", 0), ("switch", 0)],
    threads: &[("A", |t| fold(t, Some(("instrument", 1)), BOTH)), ("B", |t| fold(t, Some(("consumer", 1)), BOTH))],
    finally: Some(|last| if last.get("switch") == 1 { "on" } else { "enabled, and off" }),
    wanted: &["on"],
    forbidden: &["enabled, and off"],
    wrong: &[],
};

/// Folding: one thread enables a consumer, another one disables it.
const FOLD_ONE_SETTING: Program = Program {
    name: "fold one setting",
    words: &[("consumer", 0), ("generation", 0), ("switch", 0)],
    threads: &[("A", |t| fold(t, Some(("consumer", 1)), ONE)), ("B", |t| fold(t, Some(("consumer", 0)), ONE))],
    finally: Some(|last| match (last.get("consumer"), last.get("switch")) {
        (1, 1) => "on",
        (0, 0) => "off",
        _ => "not what is set",
    }),
    wanted: &["on", "off"],
    forbidden: &["not what is set"],
    wrong: &[],
};

/// Folding: one thread enables a consumer, while another one folds for a reason of its own; who has enabled it finds the switch on.
const FOLD_KEPT: Program = Program {
    name: "fold is kept",
    words: &[("consumer", 0), ("generation", 0), ("switch", 0)],
    threads: &[("A", fold_and_look), ("B", |t| fold(t, None, ONE))],
    finally: None,
    wanted: &["found on"],
    forbidden: &["found off"],
    wrong: &[],
};

/// Folding: one thread disables what another one enables, and a third folds for a reason of its own: a switch may be what it was when that one
/// looked, and not have stayed so. (The first one has not got so far that it folds.)
const FOLD_BETWEEN: Program = Program {
    name: "fold between",
    words: &[("consumer", 1), ("generation", 0), ("switch", 1)],
    threads: &[
        ("A", |t| t.store("", "consumer", 0, Relaxed).map(|()| "")),
        ("B", |t| fold(t, Some(("consumer", 1)), ONE)),
        ("C", |t| fold(t, None, ONE)),
    ],
    finally: Some(|last| match (last.get("consumer"), last.get("switch")) {
        (0, _) => "not folded",
        (_, 1) => "on",
        _ => "enabled, and off",
    }),
    wanted: &["not folded", "on"],
    forbidden: &["enabled, and off"],
    wrong: &[],
};

fn fold_and_look(t: &mut Thread<'_>) -> Saw {
    fold(t, Some(("consumer", 1)), ONE)?;
    Some(if t.load("", "switch", Relaxed)? == 1 { "found on" } else { "found off" })
}

/// Folding: a consumer was enabled; two threads fold for reasons of their own, of whom one passes on what it has seen to the other.
const FOLD_PASSED_ON: Program = Program {
    name: "fold is passed on",
    words: &[("consumer", 0), ("switch", 0)],
    threads: &[("A", fold_passed_on), ("B", |t| fold_one(t, ONE)), ("C", |t| fold_one(t, ONE))],
    finally: None,
    wanted: &["off, off", "off, on", "on, on"],
    forbidden: &["on, off"],
    wrong: &[],
};

fn fold_passed_on(t: &mut Thread<'_>) -> Saw {
    t.store("", "consumer", 1, Relaxed)?;
    Some(match (t.load("", "switch", Relaxed)?, t.load("", "switch", Relaxed)?) {
        (0, 0) => "off, off",
        (0, _) => "off, on",
        (_, 0) => "on, off",
        (..) => "on, on",
    })
}

/// What a switch is made of.
const BOTH: &[&str] = &["instrument", "consumer"];
const ONE: &[&str] = &["consumer"];

fn fold(t: &mut Thread<'_>, changed: Option<(&str, u64)>, settings: &[&str]) -> Saw {
    if let Some((setting, value)) = changed {
        t.store("", setting, value, Relaxed)?;
    }
    let mut generation = t.fetch_add("F1", "generation", 1, Release)? + 1;
    t.fence("F2", SeqCst)?;
    loop {
        fold_one(t, settings)?;
        t.fence("F3", SeqCst)?;
        let now = t.load("", "generation", Relaxed)?;
        if now == generation {
            return Some("");
        }
        generation = now;
    }
}

fn fold_one(t: &mut Thread<'_>, settings: &[&str]) -> Saw {
    loop {
        let before = t.load("", "switch", Relaxed)?;
        t.fence("F4", Acquire)?;
        let switch = settings.iter().try_fold(1, |switch, setting| Some(switch & t.load("", setting, Relaxed)?))?;
        if switch == before || t.compare_exchange("F5", "switch", before, switch, Release)?.is_ok() {
            return Some("");
        }
    }
}

/// A class is registered, while somebody goes through the classes.
const CLASS: Program = Program {
    name: "class",
    words: &[("state", 0), ("name", 0), ("setting", 0)],
    threads: &[("registers", class_registers), ("reader", class_reader), ("child", class_adder)],
    finally: None,
    wanted: &["none", "found"],
    forbidden: &["without its name"],
    wrong: &[],
};

fn class_registers(t: &mut Thread<'_>) -> Saw {
    let _ = t.compare_exchange("C1", "state", 0, 1, Relaxed)?;
    t.store("", "name", 7, Relaxed)?;
    t.store("", "setting", 7, Relaxed)?;
    t.store("C2", "state", 2, Release)?;
    Some("")
}

fn class_reader(t: &mut Thread<'_>) -> Saw {
    if t.load("C3", "state", Acquire)? != 2 {
        return Some("none");
    }
    let seen = (t.load("", "name", Relaxed)?, t.load("", "setting", Relaxed)?);
    Some(if seen == (7, 7) { "found" } else { "without its name" })
}

fn class_adder(t: &mut Thread<'_>) -> Saw {
    if t.load("K2", "state", Acquire)? != 2 {
        return Some("");
    }
    let copy = (t.load("", "name", Relaxed)?, t.load("", "setting", Relaxed)?);
    Some(if copy == (7, 7) { "" } else { "without its name" })
}

/// A source line is put into the table, while somebody asks for its text, or copies the words as they are for a child.
const SOURCE: Program = Program {
    name: "source line",
    words: &[("key", 0), ("length", 0), ("text", 0)],
    threads: &[("recorder", source_recorder), ("reader", source_reader), ("who forks", source_copier)],
    finally: None,
    wanted: &["none", "whole"],
    forbidden: &["length without text"],
    wrong: &[],
};

fn source_recorder(t: &mut Thread<'_>) -> Saw {
    let _ = t.compare_exchange("", "key", 0, 7, Relaxed)?;
    t.store("", "text", 7, Relaxed)?;
    t.store("S1", "length", 7, Release)?;
    Some("")
}

fn source_reader(t: &mut Thread<'_>) -> Saw {
    if t.load("S2", "length", Acquire)? == 0 {
        return Some("none");
    }
    Some(if t.load("", "text", Relaxed)? == 7 { "whole" } else { "length without text" })
}

fn source_copier(t: &mut Thread<'_>) -> Saw {
    let copy = (t.load("K1", "length", Acquire)?, t.load("K1", "text", Acquire)?);
    Some(if copy == (7, 0) { "length without text" } else { "" })
}

/// A region is made, while another process opens it.
const REGION: Program = Program {
    name: "region",
    words: &[("magic", 0), ("directory", 0), ("sizes", 0), ("ready", 0)],
    threads: &[("maker", region_maker), ("other process", region_other)],
    finally: None,
    wanted: &["no region", "not ready", "open"],
    forbidden: &["without its header"],
    wrong: &[],
};

fn region_maker(t: &mut Thread<'_>) -> Saw {
    let _ = t.compare_exchange("", "magic", 0, 7, Relaxed)?;
    t.store("", "directory", 7, Relaxed)?;
    t.store("", "sizes", 7, Relaxed)?;
    t.store("R1", "ready", 7, Release)?;
    Some("")
}

fn region_other(t: &mut Thread<'_>) -> Saw {
    if t.load("", "magic", Relaxed)? == 0 {
        return Some("no region");
    }
    if t.load("R2", "ready", Acquire)? == 0 {
        return Some("not ready");
    }
    let seen = (t.load("", "directory", Relaxed)?, t.load("", "sizes", Relaxed)?);
    Some(if seen == (7, 7) { "open" } else { "without its header" })
}
