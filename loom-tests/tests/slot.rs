//! Slots: claimed, freed and used again while others look, [P1] to [P6].
#![cfg(perfschema_loom)]

use loom::cell::UnsafeCell;
use perfschema_core::model::{Claimed, Looked, Memory, Watch, claim, look};
use perfschema_core::{Config, Lost, Size};
use perfschema_loom_tests::{Model, Seen, either};
use std::sync::Arc;

const ONE_SLOT: Config = Config::EMPTY.with(Size::MaxThreadInstances, 1);

fn check(looked: Looked, seen: &Seen) {
    match looked {
        Looked::Free => seen.note("free"),
        Looked::Changed => seen.note("changed"),
        Looked::Live(os_id, parent) => {
            assert_eq!(parent, os_id + 1000, "one owner's identity mixed with another's");
            seen.note(match os_id {
                1 => "first",
                2 => "second",
                _ => panic!("an owner without identity"),
            });
        }
    }
}

#[test]
fn an_identity_is_that_of_one_owner() {
    Model { name: "slot: reuse", preemptions: None, least: 100, outcomes: &["free", "changed", "first", "second"] }.explore(
        |swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_SLOT, &[Watch::Slots]));
            let (owner, reader, seen) = (memory.clone(), memory, seen.clone());
            either(
                swap,
                move || {
                    let region = owner.region();
                    claim(&region, 1).expect("nobody else claims").release(0);
                    let _live = claim(&region, 2).expect("it is free again");
                },
                move || check(look(&reader.region()), &seen),
            );
        },
    );
}

#[test]
fn two_readers() {
    Model { name: "slot: two readers", preemptions: Some(2), least: 500, outcomes: &["free", "changed", "first", "second"] }
        .explore(|_, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_SLOT, &[Watch::Slots]));
            let region = memory.region();
            let first = claim(&region, 1).expect("nobody else claims");
            let readers = [(); 2].map(|()| {
                let (memory, seen) = (memory.clone(), seen.clone());
                loom::thread::spawn(move || check(look(&memory.region()), &seen))
            });
            first.release(0);
            let _live = claim(&region, 2).expect("it is free again");
            for reader in readers {
                reader.join().expect("a model's thread does not panic");
            }
        });
}

/// What only the owner may touch, as its ring and its sums. Loom fails if two touch it without one coming after the other.
struct Owned(UnsafeCell<u64>);

// SAFETY: that no two threads touch it at once is what the model checks.
unsafe impl Sync for Owned {}
// SAFETY: a number.
unsafe impl Send for Owned {}

impl Owned {
    fn touch(&self, by: u64) {
        // SAFETY: loom reports an access that does not come after the one before; the pointer is to a live number.
        self.0.with_mut(|owner| unsafe { *owner = by });
    }
}

#[test]
fn two_never_own_one_slot() {
    Model { name: "slot: two claim", preemptions: None, least: 10, outcomes: &["A alone", "B alone", "A, then B", "B, then A"] }
        .explore(|swap, seen| {
            let memory = Arc::new(Memory::with_region(&ONE_SLOT, &[Watch::SlotBases]));
            let owned = Arc::new(Owned(UnsafeCell::new(0)));
            let bases = [(); 2].map(|()| Arc::new(std::sync::Mutex::new(None)));
            let run = |by: u64| {
                let (memory, owned, base) = (memory.clone(), owned.clone(), bases[by as usize].clone());
                move || {
                    let region = memory.region();
                    let claimed: Option<Claimed<'_>> = claim(&region, by);
                    if let Some(claimed) = claimed {
                        *base.lock().unwrap() = Some(claimed.base());
                        owned.touch(by);
                        claimed.release(claimed.base() + 7 + by);
                    }
                }
            };
            either(swap, run(0), run(1));
            let bases = bases.map(|base| *base.lock().unwrap());
            seen.note(match bases {
                [Some(0), None] => "A alone",
                [None, Some(0)] => "B alone",
                [Some(0), Some(7)] => "A, then B",
                [Some(8), Some(0)] => "B, then A",
                other => panic!("sequence numbers used twice: the owners began after {other:?}"),
            });
            let lost = memory.region().lost(Lost::ThreadInstances);
            assert_eq!(lost, bases.iter().filter(|base| base.is_none()).count() as u64, "who found no slot is counted");
        });
}
