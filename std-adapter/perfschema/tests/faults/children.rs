//! What a program with a shared region does with its children, and with its limits: it is as without one.

use crate::fork::{forked, wait};
use crate::{argument, command, small, succeeds};
use perfschema::sync::{Mutex, RwLock};
use perfschema::{Process, ShareError, tables};
use std::io::Write;
use std::panic::AssertUnwindSafe;

static LOCK: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/lock", ());
static READ: RwLock<()> = perfschema::rwlock!("wait/synch/rwlock/test/read", ());

fn locks(count: u64) {
    (0..count).for_each(|_| drop(LOCK.lock().unwrap()));
}

fn counted(process: &Process) -> u64 {
    let mut count = 0;
    process.region().scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
        count += if row.event_name == "wait/synch/mutex/test/lock" { row.count_star } else { 0 };
    });
    count
}

pub(crate) fn program() {
    match argument().as_str() {
        "closes" => closes_what_it_does_not_know(),
        "errno" => keeps_errno(),
        "limit" => has_a_limit(),
        "no memory" => has_no_memory(),
        "handlers" => has_handlers(),
        other => panic!("no program {other}"),
    }
}

/// A program whose region is shared, while `run` runs.
fn shared(run: impl FnOnce(&'static Process)) {
    let process = small().share(true).start().unwrap();
    let file = process.shared_file().unwrap().unwrap();
    locks(1);
    run(process);
    std::fs::remove_file(file).unwrap();
}

/// As daemons do: then other files are open by the same numbers.
fn closes_what_it_does_not_know() {
    shared(|process| {
        wait(forked(|| {
            // SAFETY: what is open is not used below.
            (3..64).for_each(|descriptor| assert!(unsafe { libc::close(descriptor) } <= 0));
            let mut files: Vec<_> = (0..8).map(|_| std::fs::File::create("/dev/null").unwrap()).collect();
            locks(1);
            files.iter_mut().for_each(|file| file.write_all(b"still open").unwrap());
            assert_eq!(counted(process), 1);
            let error = process.shared_file().unwrap().unwrap_err();
            assert_eq!(error, ShareError::System { call: "fork", errno: libc::EBADF });
            // Another child's child is not given it either.
            wait(forked(|| locks(1)));
            files.iter_mut().for_each(|file| file.write_all(b"still open").unwrap());
        }));
    });
}

fn keeps_errno() {
    shared(|process| {
        wait(forked(|| {
            // SAFETY: the path ends with a zero.
            assert_eq!(unsafe { libc::open(c"/nothing/here".as_ptr(), libc::O_RDONLY) }, -1);
            locks(1);
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOENT));
            let file = process.shared_file().unwrap().unwrap();
            std::fs::remove_file(file).unwrap();
        }));
    });
}

/// Beyond which the system sends a signal that ends the program.
fn has_a_limit() {
    let limit = libc::rlimit { rlim_cur: 100_000, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: it changes nothing but the limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
    let process = small().share(true).start().unwrap();
    let error = process.shared_file().unwrap().unwrap_err();
    assert_eq!(error, ShareError::System { call: "fallocate", errno: libc::EFBIG });
    locks(5);
    assert_eq!(counted(process), 5);
}

/// For the child's region: it drops the guards that it has of its parent, whose they are.
fn has_no_memory() {
    shared(|process| {
        let (lock, read) = (LOCK.lock().unwrap(), READ.read().unwrap());
        let held = || {
            let (mut locked, mut readers) = (0, 0);
            process.region().scan(&tables::MutexInstances, |row| locked += u32::from(row.locked_by_thread_id.is_some()));
            process.region().scan(&tables::RwlockInstances, |row| readers += row.read_locked_by_count);
            (locked, u64::from(readers))
        };
        assert_eq!(held(), (1, 1));
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
        let limit = |rlim_cur| {
            let limit = libc::rlimit { rlim_cur, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: it changes nothing but the limit.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        };
        limit(pages * 4096 + 8192);
        // SAFETY: as in `forked`, which would take memory here.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop((lock, read));
            // SAFETY: it only ends the process.
            unsafe { libc::_exit(i32::from(perfschema::process().is_some())) };
        }
        limit(libc::RLIM_INFINITY);
        wait(child);
        assert_eq!(held(), (1, 1));
        drop((lock, read));
        assert_eq!(held(), (0, 0));
    });
}

/// Of forks, some registered before ours: those run in the child while its memory is the parent's still.
fn has_handlers() {
    extern "C" fn records() {
        locks(100);
    }
    // SAFETY: functions of the type that is asked for.
    assert_eq!(unsafe { libc::pthread_atfork(Some(records), None, Some(records)) }, 0);
    shared(|process| {
        wait(forked(AssertUnwindSafe(|| {
            assert_eq!(counted(process), 0);
            locks(3);
            assert_eq!(counted(process), 3);
            std::fs::remove_file(process.shared_file().unwrap().unwrap()).unwrap();
        })));
        assert_eq!(counted(process), 1, "nothing of its own was recorded since, nor what the child recorded");
        locks(1);
        assert_eq!(counted(process), 2);
    });
}

#[test]
fn a_child_that_closes_all_descriptors_keeps_its_own_files() {
    succeeds(&mut command("children", "closes"));
}

#[test]
fn the_first_record_of_a_child_leaves_errno() {
    succeeds(&mut command("children", "errno"));
}

#[test]
fn a_limit_of_file_sizes_leaves_the_region_unshared() {
    succeeds(&mut command("children", "limit"));
}

#[test]
fn a_child_without_memory_leaves_its_parents_marks() {
    succeeds(&mut command("children", "no memory"));
}

#[test]
fn other_handlers_of_a_fork_do_not_write_into_the_parents_region() {
    succeeds(&mut command("children", "handlers"));
}
