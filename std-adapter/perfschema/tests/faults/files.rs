//! Files of a program that has a process of its own: what the kernel says of them, beside what the tables say; and bad days.

use crate::{argument, command, succeeds};
use perfschema::fs::{self, File, Fs};
use perfschema::tables::{FileInstances, FileSummaryByEventName, FileSummaryByInstance};
use perfschema::{Lost, Region, Size, builder};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

static OWN: Fs = perfschema::fs!("wait/io/file/test/own");

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults-files").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn program() {
    let (what, dir) = argument().split_once(' ').map(|(what, dir)| (what.to_owned(), PathBuf::from(dir))).unwrap();
    match &*what {
        "kernel" => kernel(&dir),
        "traced" => {
            builder().everything(true).start().unwrap();
            work(&dir);
            write_sums(&dir);
        }
        "descriptors" => descriptors(&dir),
        "full" => full(&dir),
        "forks" => forks(&dir),
        _ => panic!("no program {what}"),
    }
}

/// Something of every kind, short reads and failures among them.
fn work(dir: &Path) {
    let [a, b, c] = ["a", "b", "c"].map(|name| dir.join(name));
    fs::write(&a, vec![b'x'; 300_001]).unwrap();
    assert_eq!(fs::read(&a).unwrap().len(), 300_001);
    let mut file = OWN.options().read(true).write(true).open(&a).unwrap();
    for round in 0..100_u64 {
        file.read_at(&mut [0; 4096], round * 4096).unwrap();
        (&file).write_all(&[0; 13]).unwrap();
    }
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_exact(&mut [0; 777]).unwrap();
    let read = file.read_vectored(&mut [std::io::IoSliceMut::new(&mut [0; 3]), std::io::IoSliceMut::new(&mut [0; 4])]);
    let written = file.write_vectored(&[std::io::IoSlice::new(b"ab"), std::io::IoSlice::new(b"cde")]);
    assert_eq!((read.unwrap(), written.unwrap()), (7, 5));
    file.set_len(5_000).unwrap();
    file.sync_all().unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    assert_eq!(file.read(&mut [0; 10]).unwrap(), 0);
    assert_eq!(fs::copy(&a, &b).unwrap(), 5_000);
    fs::write(&c, "größe").unwrap();
    assert_eq!(fs::read_to_string(&c).unwrap().len(), 7);
    let mut clone = file.try_clone().unwrap();
    clone.write_all(b"end").unwrap();
    std::io::copy(&mut OWN.open(&a).unwrap(), &mut OWN.create(dir.join("d")).unwrap()).unwrap();
    let mut full = OWN.options().write(true).open("/dev/full").unwrap();
    assert_eq!(full.write(b"lost").unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(full.read(&mut [0; 9]).unwrap_err().raw_os_error(), Some(libc::EBADF));
    fs::rename(&b, dir.join("e")).unwrap();
    for name in ["a", "c", "d", "e"] {
        fs::remove_file(dir.join(name)).unwrap();
    }
}

/// Bytes read and written, over all instruments.
fn bytes(region: &Region<'_>) -> [i64; 2] {
    let mut bytes = [0; 2];
    region.scan(&FileSummaryByEventName, |row| {
        bytes[0] += row.sum_number_of_bytes_read;
        bytes[1] += row.sum_number_of_bytes_write;
    });
    bytes
}

/// rchar and wchar: what the process's calls read and wrote, and how long the answer was, which the next one counts, too.
fn kernels_bytes() -> ([i64; 2], i64) {
    let text = std::fs::read_to_string("/proc/self/io").unwrap();
    let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap();
    ([number("rchar:"), number("wchar:")], text.len() as i64)
}

fn kernel(dir: &Path) {
    let region = builder().everything(true).start().unwrap().region();
    let (before, answer) = kernels_bytes();
    work(dir);
    let (after, _) = kernels_bytes();
    assert_eq!(bytes(region), [after[0] - before[0] - answer, after[1] - before[1]], "/proc/self/io: rchar, wchar");
    // A deleted file has no row; what was never deleted has all its bytes there.
    let mut rows = Vec::new();
    region.scan(&FileSummaryByInstance, |row| rows.push((row.file_name.to_string(), row.count_star)));
    assert_eq!(rows, [("/dev/full".to_owned(), 4)]);
}

#[test]
fn bytes_are_those_of_the_kernel() {
    succeeds(&mut command("files", &format!("kernel {}", folder("kernel").display())));
}

fn write_sums(dir: &Path) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    // The long history has them all.
    perfschema::process().unwrap().region().scan(&perfschema::tables::EventsWaitsHistoryLong, |row| {
        if row.event_name.as_str().starts_with("wait/io/file/") {
            *counts.entry(row.operation.into()).or_default() += 1;
        }
    });
    let lines: Vec<_> = counts.iter().map(|(operation, count)| format!("{operation} {count}\n")).collect();
    std::fs::write(dir.join("sums"), lines.concat()).unwrap();
}

/// What the system was called for with a file of the folder, as strace writes it: `openat(AT_FDCWD, "…/a", …) = 3`, `read(3<…/a>, …`.
#[test]
fn operations_are_those_that_strace_sees() {
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        // ci/unit installs it.
        assert!(std::env::var_os("PERFSCHEMA_STRACE").is_none(), "strace is not there");
        return;
    }
    let dir = folder("strace");
    let program = command("files", &format!("traced {}", dir.display()));
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-y", "-s", "0", "-e", "trace=file,desc", "-o"]).arg(dir.join("trace")).arg(program.get_program());
    strace.args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    succeeds(&mut strace);
    let trace = std::fs::read_to_string(dir.join("trace")).unwrap();
    let sums = std::fs::read_to_string(dir.join("sums")).unwrap();
    let recorded = |operation: &str| {
        let line = sums.lines().find_map(|line| line.strip_prefix(operation)?.strip_prefix(' '));
        line.map_or(0, |count| count.parse::<usize>().unwrap())
    };
    let place = dir.to_str().unwrap();
    let seen = |calls: &[&str]| {
        let of_ours = |line: &&str| {
            (line.contains(place) || line.contains("/dev/full")) && !line.contains("/sums") && !line.contains(") = -1 ENOENT")
        };
        let call = |line: &&str| {
            line.split_once(' ')
                .is_some_and(|(_, call)| calls.iter().any(|name| call.trim_start().starts_with(&format!("{name}("))))
        };
        trace.lines().filter(of_ours).filter(call).count()
    };
    // fs::copy opens and closes two files in one call; read_to_end reads until there is nothing, in one call.
    let inner = 2;
    assert_eq!(recorded("open") + recorded("create") + inner, seen(&["open", "openat"]), "{sums}");
    assert_eq!(recorded("close") + inner, seen(&["close"]), "{sums}");
    assert_eq!(recorded("rename"), seen(&["rename", "renameat", "renameat2"]), "{sums}");
    assert_eq!(recorded("delete"), seen(&["unlink", "unlinkat"]), "{sums}");
    assert_eq!(recorded("sync"), seen(&["fsync"]), "{sums}");
    assert_eq!(recorded("chsize"), seen(&["ftruncate"]), "{sums}");
    assert_eq!(recorded("write") - 1, seen(&["write", "pwrite64", "writev"]), "one is fs::copy's: {sums}");
    assert!(recorded("read") <= seen(&["read", "pread64", "readv"]) + 1, "{sums}");
}

/// No descriptor is left.
fn descriptors(dir: &Path) {
    let region = builder().everything(true).start().unwrap().region();
    let limit = libc::rlimit { rlim_cur: 20, rlim_max: 20 };
    // SAFETY: the limit is a struct of the type that is asked for.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    let path = dir.join("file");
    std::fs::write(&path, "x").unwrap();
    let mut files = Vec::new();
    let error = loop {
        match OWN.open(&path) {
            Ok(file) => files.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
    assert_eq!(files[0].try_clone().unwrap_err().raw_os_error(), Some(libc::EMFILE));
    let open_count = || {
        let mut count = 0;
        region.scan(&FileInstances, |row| count += row.open_count);
        count as usize
    };
    assert_eq!(open_count(), files.len());
    files.truncate(3);
    assert_eq!(open_count(), 3);
    // The failed one was a wait, too.
    let mut waits = 0;
    region.scan(&FileSummaryByEventName, |row| waits += row.count_misc);
    assert!(waits > 10, "{waits}");
}

#[test]
fn no_descriptor_is_left() {
    succeeds(&mut command("files", &format!("descriptors {}", folder("descriptors").display())));
}

/// The region has room for two files and for one instrument: the program sees nothing of that.
fn full(dir: &Path) {
    static LATE: Fs = perfschema::fs!("wait/io/file/test/late");
    let small = builder().everything(true).size(Size::MaxFileInstances, 2).size(Size::MaxFileClasses, 1);
    let region = small.size(Size::MaxThreadInstances, 1).start().unwrap().region();
    let paths: Vec<_> = (0..6).map(|number| dir.join(number.to_string())).collect();
    let files: Vec<_> = paths.iter().map(|path| OWN.create(path).unwrap()).collect();
    for (mut file, path) in std::iter::zip(&files, &paths) {
        file.write_all(b"12345").unwrap();
        assert_eq!(LATE.read(path).unwrap(), b"12345");
        // Nor has this thread a slot.
        std::thread::scope(|scope| {
            scope.spawn(|| (&*file).write_all(b"67").unwrap());
        });
        assert_eq!(std::fs::read(path).unwrap(), b"1234567");
    }
    assert_eq!(bytes(region), [0, 6 * 7]);
    assert!(region.lost(Lost::FileInstances) >= 4 && region.lost(Lost::FileClasses) == 1);
    let mut rows = Vec::new();
    region.scan(&FileSummaryByInstance, |row| rows.push(row.sum_number_of_bytes_write));
    assert_eq!(rows, [7, 7]);
    drop(files);
    fs::remove_file(&paths[0]).unwrap();
    OWN.write(&paths[5], "again").unwrap();
    let mut names = Vec::new();
    region.scan(&FileInstances, |row| names.push(row.file_name.to_string()));
    names.sort();
    assert_eq!(names, [paths[1].to_str().unwrap(), paths[5].to_str().unwrap()]);
}

#[test]
fn a_full_region_is_not_the_programs_business() {
    succeeds(&mut command("files", &format!("full {}", folder("full").display())));
}

/// A child has the handles, and nothing that the parent counted.
fn forks(dir: &Path) {
    let region = builder().everything(true).start().unwrap().region();
    let path = dir.join("file");
    let mut file = OWN.create(&path).unwrap();
    file.write_all(b"parent").unwrap();
    // SAFETY: the child does nothing that a child of one thread may not do, and ends at once.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // Of a private region, the fork made it a copy of its own at the next record.
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            file.write_all(b"and child").unwrap();
            assert_eq!(bytes(region), [0, 9]);
            let mut rows = Vec::new();
            region.scan(&FileInstances, |row| rows.push((row.file_name.to_string(), row.open_count)));
            assert_eq!(rows, [(path.to_str().unwrap().to_owned(), 1)]);
            drop(file);
            fs::remove_file(&path).unwrap();
            region.scan(&FileInstances, |row| panic!("{} is deleted", row.file_name));
        }));
        // SAFETY: ends the child without what the parent does at its end.
        unsafe { libc::_exit(i32::from(told.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is a place to write to.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0);
    assert_eq!(bytes(region), [0, 6]);
    let mut count = 0;
    region.scan(&FileInstances, |row| count += row.open_count);
    assert_eq!(count, 1, "the parent's handle is open, whatever the child deleted");
    let _: File = file;
}

#[test]
fn a_forked_child_has_the_handles() {
    succeeds(&mut command("files", &format!("forks {}", folder("forks").display())));
}
