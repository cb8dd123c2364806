//! The enumerator against programs whose outcomes under RC11 are known: those of the paper and of the textbooks.
#![cfg(not(perfschema_loom))]

use perfschema_loom_tests::rc11::{Change, Program, Thread};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

const SAY: &str = "reached";

/// Nothing is wanted or forbidden as written; each test says what it changes and whether [`SAY`] is reached then.
const NOTHING: Program = Program { name: "", words: &[], threads: &[], finally: None, wanted: &[], forbidden: &[], wrong: &[] };

fn check(program: &Program, cases: &[(&[Change], bool)]) {
    for (changes, allowed) in cases {
        let explored = program.explore(changes);
        assert!(explored.executions > 0, "{}", program.name);
        assert_eq!(explored.reaches(&[SAY]), *allowed, "{} with {changes:?}: {:?}", program.name, explored.example(&[SAY]));
    }
}

fn write(t: &mut Thread<'_>, site: &'static str, word: &str, value: u64) -> Option<&'static str> {
    t.store(site, word, value, Relaxed)?;
    Some("")
}

/// Loads a word, and keeps what it read in another one, of which nobody else knows.
fn read(t: &mut Thread<'_>, site: &'static str, word: &str, into: &str) -> Option<&'static str> {
    let value = t.load(site, word, Relaxed)?;
    write(t, "", into, value)
}

fn say(reached: bool) -> &'static str {
    if reached { SAY } else { "" }
}

const fn to(site: &'static str, ordering: Ordering) -> Change {
    (site, Some(ordering))
}

#[test]
fn store_buffering() {
    fn thread(t: &mut Thread<'_>, mine: &str, other: &str, into: &str) -> Option<&'static str> {
        write(t, "store", mine, 1)?;
        t.fence("fence", SeqCst)?;
        read(t, "load", other, into)
    }
    let program = Program {
        name: "store buffering",
        words: &[("x", 0), ("y", 0), ("a", 9), ("b", 9)],
        threads: &[("P", |t| thread(t, "x", "y", "a")), ("Q", |t| thread(t, "y", "x", "b"))],
        finally: Some(|last| say(last.get("a") == 0 && last.get("b") == 0)),
        ..NOTHING
    };
    check(
        &program,
        &[
            (&[], false),
            (&[to("fence", AcqRel)], true),
            (&[("fence", None)], true),
            (&[("fence", None), to("store", SeqCst), to("load", SeqCst)], false),
            (&[("fence", None), to("store", SeqCst), to("load", Acquire)], true),
            (&[("fence", None), to("store", Release), to("load", SeqCst)], true),
        ],
    );
}

#[test]
fn message_passing() {
    let program = Program {
        name: "message passing",
        words: &[("data", 0), ("flag", 0)],
        threads: &[
            ("P", |t| {
                write(t, "", "data", 1)?;
                t.fence("fence P", Release)?;
                write(t, "store", "flag", 1)
            }),
            ("Q", |t| {
                if t.load("load", "flag", Relaxed)? == 0 {
                    return Some("");
                }
                t.fence("fence Q", Acquire)?;
                Some(say(t.load("", "data", Relaxed)? == 0))
            }),
        ],
        ..NOTHING
    };
    check(
        &program,
        &[
            (&[], false),
            (&[("fence P", None)], true),
            (&[("fence Q", None)], true),
            (&[("fence P", None), to("store", Release)], false),
            (&[("fence Q", None), to("load", Acquire)], false),
            (&[("fence P", None), ("fence Q", None), to("store", Release), to("load", Acquire)], false),
            // A fence of the wrong kind.
            (&[to("fence P", Acquire)], true),
            (&[to("fence Q", Release)], true),
        ],
    );
}

#[test]
fn load_buffering_is_thin_air() {
    fn thread(t: &mut Thread<'_>, from: &str, to: &str, into: &str) -> Option<&'static str> {
        read(t, "", from, into)?;
        write(t, "", to, 1)
    }
    let program = Program {
        name: "load buffering",
        words: &[("x", 0), ("y", 0), ("a", 9), ("b", 9)],
        threads: &[("P", |t| thread(t, "x", "y", "a")), ("Q", |t| thread(t, "y", "x", "b"))],
        finally: Some(|last| say(last.get("a") == 1 && last.get("b") == 1)),
        ..NOTHING
    };
    check(&program, &[(&[], false)]);
}

#[test]
fn one_word_is_coherent() {
    let program = Program {
        name: "coherence",
        words: &[("x", 0)],
        threads: &[
            ("P", |t| {
                write(t, "", "x", 1)?;
                write(t, "", "x", 2)
            }),
            ("Q", |t| {
                let before = t.load("", "x", Relaxed)?;
                Some(say(t.load("", "x", Relaxed)? < before))
            }),
        ],
        finally: Some(|last| say(last.get("x") != 2)),
        ..NOTHING
    };
    check(&program, &[(&[], false)]);
}

#[test]
fn two_words_written_crosswise() {
    fn thread(t: &mut Thread<'_>, first: &str, second: &str) -> Option<&'static str> {
        write(t, "store", first, 1)?;
        t.fence("fence", SeqCst)?;
        write(t, "store", second, 2)
    }
    let program = Program {
        name: "2+2W",
        words: &[("x", 0), ("y", 0)],
        threads: &[("P", |t| thread(t, "x", "y")), ("Q", |t| thread(t, "y", "x"))],
        finally: Some(|last| say(last.get("x") == 1 && last.get("y") == 1)),
        ..NOTHING
    };
    check(
        &program,
        &[
            (&[], false),
            (&[("fence", None)], true),
            (&[("fence", None), to("store", Release)], true),
            (&[("fence", None), to("store", SeqCst)], false),
        ],
    );
}

#[test]
fn writes_seen_in_two_orders() {
    fn reader(t: &mut Thread<'_>, first: &str, second: &str, into: [&str; 2]) -> Option<&'static str> {
        read(t, "first", first, into[0])?;
        t.fence("fence", SeqCst)?;
        read(t, "second", second, into[1])
    }
    let program = Program {
        name: "IRIW",
        words: &[("x", 0), ("y", 0), ("a", 9), ("b", 9), ("c", 9), ("d", 9)],
        threads: &[
            ("P", |t| write(t, "store", "x", 1)),
            ("Q", |t| reader(t, "x", "y", ["a", "b"])),
            ("R", |t| reader(t, "y", "x", ["c", "d"])),
            ("S", |t| write(t, "store", "y", 1)),
        ],
        finally: Some(|last| say(["a", "b", "c", "d"].map(|word| last.get(word)) == [1, 0, 1, 0])),
        ..NOTHING
    };
    let no_fence = ("fence", None);
    check(
        &program,
        &[
            (&[], false),
            (&[no_fence], true),
            (&[no_fence, to("store", Release), to("first", Acquire), to("second", Acquire)], true),
            (&[no_fence, to("store", SeqCst), to("first", SeqCst), to("second", SeqCst)], false),
            // The paper's first example, IRIW-acq-sc: C11 forbids it, POWER does it, RC11 allows it.
            (&[no_fence, to("store", SeqCst), to("first", Acquire), to("second", SeqCst)], true),
        ],
    );
    assert_eq!(program.explore(&[no_fence]).executions, 16, "four loads of two values each; none is met twice");
}

#[test]
fn a_write_passed_on() {
    let program = Program {
        name: "WRC",
        words: &[("x", 0), ("y", 0)],
        threads: &[
            ("P", |t| write(t, "", "x", 1)),
            ("Q", |t| if t.load("", "x", Relaxed)? == 1 { write(t, "store", "y", 1) } else { Some("") }),
            ("R", |t| Some(say(t.load("load", "y", Relaxed)? == 1 && t.load("", "x", Relaxed)? == 0))),
        ],
        ..NOTHING
    };
    check(
        &program,
        &[(&[to("store", Release), to("load", Acquire)], false), (&[to("load", Acquire)], true), (&[to("store", Release)], true)],
    );
}

/// RC11's SeqCst fences are stronger than C11's, which allow this.
#[test]
fn fences_order_a_read_that_was_passed_on() {
    let program = Program {
        name: "RWC+syncs",
        words: &[("x", 0), ("y", 0), ("a", 9), ("b", 9), ("c", 9)],
        threads: &[
            ("P", |t| write(t, "", "x", 1)),
            ("Q", |t| {
                read(t, "", "x", "a")?;
                t.fence("fence", SeqCst)?;
                read(t, "", "y", "b")
            }),
            ("R", |t| {
                write(t, "", "y", 1)?;
                t.fence("fence", SeqCst)?;
                read(t, "", "x", "c")
            }),
        ],
        finally: Some(|last| say(["a", "b", "c"].map(|word| last.get(word)) == [1, 0, 0])),
        ..NOTHING
    };
    check(&program, &[(&[], false), (&[to("fence", AcqRel)], true)]);
}

/// RC11's SeqCst accesses are weaker than C11's, which forbid this; POWER does it.
#[test]
fn sequential_consistency_is_no_stronger_than_processors() {
    let program = Program {
        name: "Z6.U",
        words: &[("x", 0), ("y", 0), ("a", 9), ("b", 9), ("c", 9)],
        threads: &[
            ("P", |t| {
                t.store("", "x", 1, SeqCst)?;
                t.store("release", "y", 1, Release)?;
                Some("")
            }),
            ("Q", |t| {
                let before = t.fetch_add("", "y", 1, SeqCst)?;
                write(t, "", "b", before)?;
                read(t, "", "y", "c")
            }),
            ("R", |t| {
                t.store("", "y", 3, SeqCst)?;
                let x = t.load("", "x", SeqCst)?;
                write(t, "", "a", x)
            }),
        ],
        finally: Some(|last| say(["a", "b", "c"].map(|word| last.get(word)) == [0, 1, 3])),
        ..NOTHING
    };
    check(&program, &[(&[], true), (&[to("release", SeqCst)], false)]);
}

/// What happens before an access of another thread, over other words, comes before it in the order of SeqCst accesses, too.
#[test]
fn sequential_consistency_goes_on_through_other_threads() {
    let program = Program {
        name: "W+RWC",
        words: &[("x", 0), ("y", 0), ("z", 0), ("a", 9), ("b", 9), ("c", 9)],
        threads: &[
            ("P", |t| {
                t.store("", "x", 1, SeqCst)?;
                write(t, "release", "z", 1)
            }),
            ("Q", |t| {
                read(t, "acquire", "z", "a")?;
                read(t, "last", "y", "b")
            }),
            ("R", |t| {
                t.store("", "y", 1, SeqCst)?;
                let x = t.load("", "x", SeqCst)?;
                write(t, "", "c", x)
            }),
        ],
        finally: Some(|last| say(["a", "b", "c"].map(|word| last.get(word)) == [1, 0, 0])),
        ..NOTHING
    };
    let [release, acquire, last] = [to("release", Release), to("acquire", Acquire), to("last", SeqCst)];
    check(
        &program,
        &[(&[release, acquire, last], false), (&[acquire, last], true), (&[release, last], true), (&[release, acquire], true)],
    );
}

#[test]
fn additions_are_not_lost() {
    fn add(t: &mut Thread<'_>) -> Option<&'static str> {
        t.fetch_add("", "x", 1, Relaxed)?;
        Some("")
    }
    let program = Program {
        name: "atomicity",
        words: &[("x", 0)],
        threads: &[("P", add), ("Q", add), ("R", add)],
        finally: Some(|last| say(last.get("x") != 3)),
        ..NOTHING
    };
    check(&program, &[(&[], false)]);
    assert_eq!(program.explore(&[]).executions, 6, "three additions, in any order");
}

#[test]
fn only_one_takes_it() {
    fn take(t: &mut Thread<'_>, into: &str) -> Option<&'static str> {
        match t.compare_exchange("", "x", 0, 1, Relaxed)? {
            Ok(_) => write(t, "", into, 1),
            Err(_) => Some(""),
        }
    }
    let program = Program {
        name: "compare-and-swap",
        words: &[("x", 0), ("a", 0), ("b", 0)],
        threads: &[("P", |t| take(t, "a")), ("Q", |t| take(t, "b"))],
        finally: Some(|last| say(last.get("a") == last.get("b"))),
        ..NOTHING
    };
    check(&program, &[(&[], false)]);
    assert_eq!(program.explore(&[]).executions, 2);
}

/// A release sequence goes on through a relaxed read-modify-write of another thread, but not, since C++20, through a store of its own.
#[test]
fn release_sequences() {
    fn reader(t: &mut Thread<'_>) -> Option<&'static str> {
        Some(say(t.load("", "flag", Acquire)? == 2 && t.load("", "data", Relaxed)? == 0))
    }
    let through_update = Program {
        name: "release sequence: update",
        words: &[("data", 0), ("flag", 0)],
        threads: &[
            ("P", |t| {
                write(t, "", "data", 1)?;
                t.store("release", "flag", 1, Release)?;
                Some("")
            }),
            ("Q", |t| {
                let _ = t.compare_exchange("", "flag", 1, 2, Relaxed)?;
                Some("")
            }),
            ("R", reader),
        ],
        ..NOTHING
    };
    check(&through_update, &[(&[], false), (&[to("release", Relaxed)], true)]);
    let through_store = Program {
        name: "release sequence: store",
        words: &[("data", 0), ("flag", 0)],
        threads: &[
            ("P", |t| {
                write(t, "", "data", 1)?;
                t.store("", "flag", 1, Release)?;
                write(t, "second", "flag", 2)
            }),
            ("R", reader),
        ],
        ..NOTHING
    };
    check(&through_store, &[(&[], true), (&[to("second", Release)], false)]);
}
