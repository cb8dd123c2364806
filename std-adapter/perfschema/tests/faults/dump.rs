//! Regions that are in no file of their own: what a debugger or the kernel wrote of a program's memory; and those that may not be written.

use crate::{Running, argument, scratch, small, start_shared};
use perfschema::sync::Mutex;
use perfschema::{AttachError, Attached, attach, tables};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

static LOCKED: Mutex<()> = perfschema::mutex!("wait/synch/mutex/test/dumped", ());
const LOCKED_NAME: &str = "wait/synch/mutex/test/dumped";
const WAITS: u64 = 41;

/// Its region is its own memory. It dies as soon as it is told to.
pub(crate) fn program() {
    let own = argument() == "own";
    let process = if own { small().start().unwrap() } else { start_shared() };
    for _ in 0..WAITS {
        drop(LOCKED.lock().unwrap());
    }
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is what the call wants. If it may not be, no core is written.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) };
    if own {
        println!("\nfile none");
    }
    println!("\nbytes {}", process.region().size_bytes());
    std::thread::park();
}

/// Reads as that of the program.
fn check(attached: &Attached, pid: u32) {
    let region = attached.region();
    assert_eq!(region.pid(), pid);
    let mut counts = Vec::new();
    region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| counts.push((row.event_name.to_string(), row.count_star)));
    assert!(counts.contains(&(LOCKED_NAME.into(), WAITS)), "{counts:?}");
    let mut history = 0;
    region.scan(&tables::EventsWaitsHistory, |_| history += 1);
    assert_eq!(history, 10);
}

fn timers_measured(attached: &Attached) -> u32 {
    let mut measured = 0;
    attached.region().scan(&tables::PerformanceTimers, |row| {
        measured += u32::from(row.timer_resolution.is_some() && row.timer_overhead.is_some());
    });
    measured
}

/// All memory of a process that it may write, one mapping after the other, as `gcore` copies it, behind what is no memory.
fn dump(pid: u32, to: &Path) {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let mut memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut file = std::fs::File::create(to).unwrap();
    file.write_all(&[0x7f; 4096]).unwrap();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let range = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [from, end] = [range.0, range.1].map(|address| u64::from_str_radix(address, 16).unwrap());
        memory.seek(SeekFrom::Start(from)).unwrap();
        let mut bytes = vec![0; (end - from) as usize];
        // What the kernel keeps for itself cannot be read.
        if memory.read_exact(&mut bytes).is_ok() {
            file.write_all(&bytes).unwrap();
        }
    }
}

#[test]
fn a_region_in_a_copy_of_memory() {
    let mut running = Running::start("dump", "own");
    let bytes: usize = running.says("bytes ").parse().unwrap();
    let file = scratch("memory");
    dump(running.process.id(), &file);
    let attached = attach(&file).unwrap();
    check(&attached, running.process.id());
    assert!(attached.is_read_only() && !attached.is_in_use());
    assert_eq!(timers_measured(&attached), 0, "whatever machine it is of");

    // Of a machine of the other byte order: turned round for the reader, and left as it is in the file.
    let mut turned = std::fs::read(&file).unwrap();
    turned.as_chunks_mut::<8>().0.iter_mut().for_each(|word| word.reverse());
    std::fs::write(&file, &turned).unwrap();
    check(&attach(&file).unwrap(), running.process.id());
    assert!(std::fs::read(&file).unwrap() == turned);

    // Cut within the region.
    let magic = turned.windows(8).enumerate().filter(|(at, word)| at % 8 == 0 && *word == b"MHCSFREP");
    let longest = magic.map(|(at, _)| at).rfind(|at| turned.len() - at > bytes).unwrap();
    turned.truncate(longest + bytes - 8);
    std::fs::write(&file, &turned).unwrap();
    let error = attach(&file).unwrap_err();
    assert!(error.to_string().contains("too few for a region"), "{error}");
    std::fs::remove_file(&file).unwrap();
}

/// Pages that are zero are left out, behind nothing at all.
fn write_with_holes(to: &Path, nothing: u64, bytes: &[u8]) -> std::fs::File {
    let file = std::fs::OpenOptions::new().read(true).write(true).create_new(true).open(to).unwrap();
    file.set_len(nothing + bytes.len() as u64).unwrap();
    for (number, page) in bytes.chunks(4096).enumerate().filter(|(_, page)| page.iter().any(|byte| *byte != 0)) {
        file.write_all_at(page, nothing + 4096 * number as u64).unwrap();
    }
    file
}

/// A copy with holes may lie among the files of programs, which are looked at when they are listed.
#[test]
fn holes_in_a_shared_file_stay_holes() {
    let mut running = Running::start("dump", "shared");
    running.says("bytes ");
    // No process has such a number.
    let file = running.file.with_file_name(format!("{}-1", u32::MAX - std::process::id()));
    let written = write_with_holes(&file, 0, &std::fs::read(&running.file).unwrap());
    let blocks = || written.metadata().unwrap().blocks();
    let before = blocks();
    let found = perfschema::shared_files().unwrap().into_iter().find(|found| found.path() == file).unwrap();
    let attached = found.attach();
    std::fs::remove_file(&file).unwrap();
    let attached = attached.unwrap();
    check(&attached, running.process.id());
    attached.region().scan(&tables::Threads, |_| ());
    assert_eq!(blocks(), before);
}

/// A file in memory (tmpfs) has no pages for its holes, and gets none by being read: there may be no memory left for them.
#[test]
fn holes_in_a_dump_stay_holes() {
    let mut running = Running::start("dump", "own");
    let bytes: usize = running.says("bytes ").parse().unwrap();
    let (dumped, file) = (scratch("whole"), Path::new("/dev/shm").join(format!("perfschema-test-holes-{}", std::process::id())));
    dump(running.process.id(), &dumped);
    let whole = std::fs::read(&dumped).unwrap();
    let magic = whole.windows(8).enumerate().filter(|(at, word)| at % 8 == 0 && *word == b"PERFSCHM");
    let region = magic.map(|(at, _)| at).rfind(|at| whole.len() - at > bytes).unwrap();
    let mut turned = whole.clone();
    turned.as_chunks_mut::<8>().0.iter_mut().for_each(|word| word.reverse());
    let only = &whole[region..region + bytes];
    for (nothing, bytes) in [(1 << 24, &whole[..]), (1 << 24, &turned), (4096 + 8, only), (0, only)] {
        let written = write_with_holes(&file, nothing, bytes);
        let blocks = || written.metadata().unwrap().blocks();
        let before = blocks();
        let attached = attach(&file).unwrap();
        check(&attached, running.process.id());
        assert!(attached.is_read_only() && before < written.metadata().unwrap().len() / 512);
        assert_eq!(blocks(), before, "behind {nothing} bytes");
        std::fs::remove_file(&file).unwrap();
    }
    let nothing = write_with_holes(&file, 1 << 26, &[]);
    assert!(matches!(attach(&file), Err(AttachError::NoRegion)));
    assert_eq!(nothing.metadata().unwrap().blocks(), 0);
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(&dumped).unwrap();
}

/// A file may be full of what all regions begin with.
#[test]
fn what_only_begins_like_regions_is_none() {
    let file = scratch("begins");
    let words = |word: &[u8; 8]| word.repeat(1 << 12);
    std::fs::write(&file, [vec![0; 8], words(b"PERFSCHM"), words(b"MHCSFREP")].concat()).unwrap();
    assert!(matches!(attach(&file), Err(AttachError::NoRegion)));
    std::fs::remove_file(&file).unwrap();
}

/// systemd keeps cores so.
#[test]
fn what_has_to_be_unpacked_first() {
    let file = scratch("packed");
    for (begin, format) in [
        (&b"\x1f\x8b\x08"[..], "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh9", "bzip2"),
    ] {
        std::fs::write(&file, [begin, &[7; 100]].concat()).unwrap();
        let error = attach(&file).unwrap_err();
        assert_eq!(error.to_string(), format!("it is compressed by {format}: unpack it first"));
    }
    std::fs::remove_file(&file).unwrap();
}

/// The kernel's own, where it writes them into the directory of who dies; elsewhere who dies leaves none, and `a_region_in_a_copy_of_memory`
/// has to do.
#[test]
fn a_region_in_a_core() {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let directory = scratch("core");
    std::fs::create_dir(&directory).unwrap();
    let mut running = Running::start_in(&directory, "dump", "own");
    running.says("bytes ");
    running.signal(libc::SIGABRT);
    running.process.wait().unwrap();
    let cores: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    if !pattern.contains(['/', '|']) {
        let [core] = cores.as_slice() else { panic!("{cores:?} of {pattern}") };
        check(&attach(core).unwrap(), running.process.id());
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A program runs, and its file is not for this reader to write: it is read live, and what the reader changes is the reader's own.
#[test]
fn a_region_that_may_not_be_written() {
    let mut running = Running::start("dump", "shared");
    running.says("bytes ");
    std::fs::set_permissions(&running.file, std::fs::Permissions::from_mode(0o400)).unwrap();
    let attached = std::thread::scope(|scope| {
        let attaches = scope.spawn(|| {
            may_only_what_files_allow();
            attach(&running.file)
        });
        attaches.join().unwrap().unwrap()
    });
    check(&attached, running.process.id());
    assert!(attached.is_read_only() && attached.is_in_use());
    assert_eq!(timers_measured(&attached), 5, "it runs here");
    let summary = tables::find("events_waits_summary_global_by_event_name").unwrap();
    summary.truncate(attached.region()).unwrap();
    check(&attach(&running.file).unwrap(), running.process.id());
}

/// This thread alone, also if root's.
fn may_only_what_files_allow() {
    let header = [0x2008_0522_u32, 0];
    let none = [0_u32; 6];
    // SAFETY: both are as large as that version of the call wants them; it reads them.
    assert_eq!(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) }, 0);
}
