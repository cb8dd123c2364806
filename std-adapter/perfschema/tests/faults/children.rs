//! What a program with a shared region does with its children, and with its limits: it is as without one.

use crate::fork::{forked, wait};
use crate::{argument, command, small, succeeds};
use perfschema::sync::{Mutex, RwLock};
use perfschema::{Process, ShareError, tables};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicI32, Ordering};

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
        "prints" => prints_where_nobody_reads(),
        "errno" => keeps_errno(),
        "limit" => has_a_limit(),
        "no memory" => has_no_memory(),
        "handlers" => has_handlers(),
        "goes on" => goes_on(),
        #[cfg(target_arch = "x86_64")]
        "first record" => first_record::program(false),
        #[cfg(target_arch = "x86_64")]
        "shared first record" => first_record::program(true),
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

/// What is closed is not where the child's file is open, which has no name yet.
fn prints_where_nobody_reads() {
    shared(|process| {
        // SAFETY: nobody uses these below but to find that they are closed.
        (0..3).for_each(|descriptor| assert_eq!(unsafe { libc::close(descriptor) }, 0));
        wait(forked(|| {
            // SAFETY: the text is as long as that.
            let write = |descriptor| unsafe { libc::write(descriptor, c"a word".as_ptr().cast(), 6) };
            assert_eq!([0, 1, 2].map(write), [-1; 3]);
            locks(1);
            let file = process.shared_file().unwrap().unwrap();
            let pid = perfschema::attach(&file).unwrap().region().pid();
            std::fs::remove_file(file).unwrap();
            assert_eq!(pid, std::process::id());
        }));
    });
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
            wait(forked(|| {
                locks(1);
                std::fs::remove_file(process.shared_file().unwrap().unwrap()).unwrap();
            }));
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

/// Where the child waits until its parent has gone on, before anything is done for it there.
static GONE_ON: AtomicI32 = AtomicI32::new(-1);

/// What a parent does behind the fork is not its child's, however long that takes to begin.
fn goes_on() {
    extern "C" fn wait_for_parent() {
        let mut byte = 0_u8;
        // SAFETY: a descriptor, or none, and a place for a byte.
        unsafe { libc::read(GONE_ON.load(Ordering::Relaxed), (&raw mut byte).cast(), 1) };
    }
    // Before the start, so that it comes first in the child.
    // SAFETY: a function of the type that is asked for.
    assert_eq!(unsafe { libc::pthread_atfork(None, None, Some(wait_for_parent)) }, 0);
    shared(|process| {
        let (gone_on, mut go_on) = std::io::pipe().unwrap();
        GONE_ON.store(gone_on.as_raw_fd(), Ordering::Relaxed);
        let make = || {
            let lock = Box::new(perfschema::mutex!("wait/synch/mutex/test/made", ()));
            drop(lock.lock().unwrap());
            lock
        };
        let path = std::env::temp_dir().join(format!("perfschema-goes-on-{}", std::process::id()));
        let found = || {
            let (mut locks, mut readers, mut files) = (Vec::new(), 0, Vec::new());
            process
                .region()
                .scan(&tables::MutexInstances, |row| locks.push((row.object_instance_begin, row.name.as_str().to_owned())));
            process.region().scan(&tables::RwlockInstances, |row| readers += row.read_locked_by_count);
            process.region().scan(&tables::FileInstances, |row| files.push((row.file_name.as_str().to_owned(), row.open_count)));
            (locks, readers, files)
        };
        let (lock, file) = (make(), perfschema::fs::File::create(&path).unwrap());
        drop(READ.read().unwrap());
        let before = found();
        let child = forked(AssertUnwindSafe(|| {
            assert_eq!(found(), before);
            // The same lock, and then one of the child's own.
            drop(lock.lock().unwrap());
            assert_eq!(found(), before);
            let _made = make();
            assert_eq!(found().0.len(), before.0.len() + 1);
            std::fs::remove_file(process.shared_file().unwrap().unwrap()).unwrap();
        }));
        drop((lock, file));
        perfschema::fs::remove_file(&path).unwrap();
        let _made = [make(), make()];
        let _read = READ.read().unwrap();
        go_on.write_all(b"!").unwrap();
        wait(child);
    });
}

#[test]
fn a_program_without_outputs_does_not_print_into_its_childs_file() {
    succeeds(&mut command("children", "prints"));
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
fn a_child_has_the_locks_and_files_of_the_moment_of_its_fork() {
    succeeds(&mut command("children", "goes on"));
}

#[test]
fn other_handlers_of_a_fork_do_not_write_into_the_parents_region() {
    succeeds(&mut command("children", "handlers"));
}

/// Forks, in a handler, while a thread takes its slot at its first record, or registers an instrument; who goes on in the child writes where nobody
/// else does, and the instrument has its name.
#[cfg(target_arch = "x86_64")]
mod first_record {
    use super::{LOCK, Process, counted};
    use crate::fork::wait;
    use crate::{ends_in_time, small};
    use perfschema::sync::Mutex;
    use perfschema::{Instrument, Size, tables, thread};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// What the names of instruments begin with that are registered step by step, and how many there are.
    // Long, so that it is written for most of that time.
    const NEW_LOCKS: &str =
        "wait/synch/mutex/test/registered_step_by_step_while_a_handler_of_the_same_thread_forks_after_one_of_the_steps_";
    static NEW: AtomicU64 = AtomicU64::new(0);
    static HANDLER: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/handler", ());
    /// Instructions until now, and after which of them it forks.
    static STEPS: AtomicU64 = AtomicU64::new(0);
    static AT: AtomicU64 = AtomicU64::new(u64::MAX);
    /// After how many of them the instrument of each lock was seen that there is.
    static REGISTERED: AtomicU64 = AtomicU64::new(0);
    static STEPPING: AtomicBool = AtomicBool::new(false);
    static IN_CHILD: AtomicBool = AtomicBool::new(false);

    extern "C" fn after_an_instruction(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // The processor's flag: a trap after the next instruction.
        const TRAP: i64 = 0x100;
        let steps = STEPS.fetch_add(1, Ordering::Relaxed);
        // Now and then: each look is more than a step.
        if steps.is_multiple_of(64) && perfschema::process().map(registered) == Some(NEW.load(Ordering::Relaxed)) {
            let _ = REGISTERED.compare_exchange(0, steps, Ordering::Relaxed, Ordering::Relaxed);
        }
        if steps == AT.load(Ordering::Relaxed) {
            STEPPING.store(false, Ordering::Relaxed);
            // SAFETY: the child does what a handler may, and goes on.
            match unsafe { libc::fork() } {
                0 => {
                    ends_in_time();
                    IN_CHILD.store(true, Ordering::Relaxed);
                    drop(HANDLER.lock().unwrap());
                }
                pid => wait(pid),
            }
        }
        if !STEPPING.load(Ordering::Relaxed) {
            // SAFETY: the kernel gives the handler what it interrupted.
            let flags = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] };
            *flags &= !TRAP;
        }
    }

    /// A thread's first record, of this lock, step by step; in the child it checks, and ends the process. Returns how many steps that were.
    fn first_record(process: &'static Process, lock: &'static Mutex<()>, forks_at: u64) -> u64 {
        STEPS.store(0, Ordering::Relaxed);
        REGISTERED.store(0, Ordering::Relaxed);
        AT.store(forks_at, Ordering::Relaxed);
        let record = move || {
            STEPPING.store(true, Ordering::Relaxed);
            // SAFETY: it sets the flag, by way of the stack, and nothing else.
            unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
            drop(lock.lock().unwrap());
            STEPPING.store(false, Ordering::Relaxed);
            if IN_CHILD.load(Ordering::Relaxed) {
                let failed = catch_unwind(AssertUnwindSafe(|| goes_on(process))).is_err();
                // SAFETY: it only ends the process.
                unsafe { libc::_exit(i32::from(failed)) }
            }
        };
        std::thread::spawn(record).join().unwrap();
        STEPS.load(Ordering::Relaxed)
    }

    /// In the child.
    fn goes_on(process: &'static Process) {
        drop(LOCK.lock().unwrap());
        let before = counted(process);
        let (own, region) = (thread::thread_id().unwrap(), process.region());
        // As many as there are, and each found by its name.
        region.classes().for_each(|class| assert_eq!(region.find_class(region.class_name(class).as_str()), Some(class)));
        assert_eq!(registered(process), NEW.load(Ordering::Relaxed));
        let rows = || {
            let mut rows = Vec::new();
            process.region().scan(&tables::Threads, |row| rows.push((row.thread_id, row.name.as_str().ends_with("/signal"))));
            rows
        };
        let found = rows();
        let handlers = found.iter().filter(|(_, signal)| *signal).count();
        assert!(found.contains(&(own, false)) && found.len() == 1 + handlers && handlers <= 1, "{own} {found:?}");
        let at_once = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    drop(LOCK.lock().unwrap());
                    at_once.wait();
                    drop(LOCK.lock().unwrap());
                    at_once.wait();
                });
            }
            at_once.wait();
            drop(LOCK.lock().unwrap());
            assert_eq!(rows().len(), found.len() + 2);
            at_once.wait();
        });
        while rows() != found {
            // The destructors of a thread may run after it was joined.
            std::thread::yield_now();
        }
        assert_eq!(counted(process) - before, 5);
        let mut last = 0;
        process.region().scan(&tables::EventsWaitsHistory, |row| {
            last = if row.thread_id == own { row.event_id.max(last) } else { last };
        });
        let mut events = 0;
        process.region().scan(&tables::EventsWaitsSummaryByThreadByEventName, |row| {
            events += if row.thread_id == own { row.count_star } else { 0 };
        });
        // What was recorded at that moment may count for the parent alone.
        assert!((last - 1..=last).contains(&events) && events >= 2, "{events} events, the last of which is {last}");
        if let Some(file) = process.shared_file() {
            std::fs::remove_file(file.unwrap()).unwrap();
        }
    }

    /// The locks that [`new_lock`] made whose instruments are registered.
    fn registered(process: &Process) -> u64 {
        let names = process.region().classes().map(|class| process.region().class_name(class));
        names.filter(|name| name.as_str().starts_with(NEW_LOCKS)).count() as u64
    }

    /// A lock whose instrument is not registered yet.
    fn new_lock() -> &'static Mutex<()> {
        let name = format!("{NEW_LOCKS}{}", NEW.fetch_add(1, Ordering::Relaxed));
        let instrument: &'static Instrument = Box::leak(Box::new(Instrument::new(Box::leak(name.into_boxed_str()))));
        Box::leak(Box::new(Mutex::with_instrument(instrument, ())))
    }

    pub(super) fn program(shared: bool) {
        let process = small().size(Size::SetupActorsSize, 1).size(Size::MaxMutexClasses, 8).share(shared).start().unwrap();
        // SAFETY: zeros are a value of this plain structure, and what is set is a handler of its type. It takes a lock that no other code takes.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = after_an_instruction as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()), 0);
        }
        drop((LOCK.lock().unwrap(), HANDLER.lock().unwrap()));
        let steps = first_record(process, &LOCK, u64::MAX);
        let phases = std::env::var("PERFSCHEMA_PHASES").map_or(8, |phases| 8 * phases.parse::<u64>().unwrap());
        (0..phases).for_each(|phase| _ = first_record(process, &LOCK, (2 * phase + 1) * steps / (2 * phases)));
        first_record(process, new_lock(), u64::MAX);
        let registered = REGISTERED.load(Ordering::Relaxed);
        // At or shortly before the step at which the name was seen: the instrument is taken, and not whole yet, at one of them at least.
        for before in [1000, 300, 65, 20] {
            first_record(process, new_lock(), registered - before);
        }
        if let Some(file) = process.shared_file() {
            std::fs::remove_file(file.unwrap()).unwrap();
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_handler_that_forks_while_its_thread_takes_a_slot_or_registers() {
    succeeds(&mut command("children", "first record"));
    succeeds(&mut command("children", "shared first record"));
}
