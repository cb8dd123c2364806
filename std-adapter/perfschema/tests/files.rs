//! `perfschema::fs` beside `std::fs`: the same story told with each must go the same way, byte by byte and error by error. And what it
//! leaves in the tables. On Unix; `tests/windows.rs` does so there.
#![cfg(unix)]

mod common;

use common::Story;
use std::path::{Path, PathBuf};

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    common::empty_folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(name))
}

/// Every mirrored item, as a program uses it: the module is all that differs.
macro_rules! story {
    ($name:ident, $fs:path) => {
        mod $name {
            use super::Story;
            use fs::{File, OpenOptions};
            use std::io::{BufRead, BufReader, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
            use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
            use std::os::unix::ffi::OsStrExt;
            use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
            use std::path::Path;
            use $fs as fs;

            pub(crate) fn tell(dir: &Path) -> Story {
                let mut story = Story::default();
                folders(&mut story, dir);
                whole_files(&mut story, dir);
                one_file(&mut story, dir);
                positions(&mut story, dir);
                descriptors(&mut story, dir);
                locks(&mut story, dir);
                errors(&mut story, dir);
                odd_names(&mut story, dir);
                story
            }

            fn folders(story: &mut Story, dir: &Path) {
                let deep = dir.join("x/y/z");
                story.result(fs::create_dir(&deep).map_err(|error| error.kind().into()));
                story.result(fs::create_dir_all(&deep));
                story.result(fs::exists(&deep));
                story.result(fs::metadata(&deep).map(|metadata| metadata.is_dir()));
                story.result(fs::remove_dir(&deep));
                story.result(fs::remove_dir_all(dir.join("x")));
                story.result(fs::exists(&deep));
                story.result(fs::read_dir(dir).map(|entries| entries.count()));
                let _: fs::DirBuilder = fs::DirBuilder::new();
            }

            fn whole_files(story: &mut Story, dir: &Path) {
                let (a, b, c) = (dir.join("a"), dir.join("b"), dir.join("c"));
                story.result(fs::write(&a, "one two"));
                story.result(fs::read(&a));
                story.result(fs::read_to_string(&a));
                story.result(fs::copy(&a, &b));
                story.result(fs::rename(&b, &c));
                story.result(fs::exists(&b));
                story.result(fs::hard_link(&c, &b));
                story.result(fs::metadata(&b).map(|metadata| (metadata.len(), metadata.nlink())));
                story.result(fs::set_permissions(&b, fs::Permissions::from_mode(0o600)));
                story.result(fs::metadata(&b).map(|metadata| metadata.mode()));
                std::os::unix::fs::symlink("a", dir.join("s")).unwrap();
                story.result(fs::read_link(dir.join("s")));
                story.result(fs::symlink_metadata(dir.join("s")).map(|metadata| metadata.is_symlink()));
                story.result(fs::canonicalize(dir.join("s")).map(|path| path == std::fs::canonicalize(&a).unwrap()));
                for path in [a, b, c, dir.join("s")] {
                    story.result(fs::remove_file(path));
                }
                story.result(fs::write(dir.join("large"), vec![7; 1 << 20]));
                story.result(fs::read(dir.join("large")).map(|bytes| (bytes.len(), bytes.capacity())));
                story.result(fs::write(dir.join("bad"), b"\xff"));
                story.result(fs::read_to_string(dir.join("bad")));
                // Read from a file whose size says 0.
                story.result(fs::read_to_string("/proc/self/comm").map(|text| text.len() > 1));
            }

            fn one_file(story: &mut Story, dir: &Path) {
                let path = dir.join("file");
                let mut options = File::options();
                options.read(true).write(true).create(true).truncate(true).mode(0o640).custom_flags(0);
                let mut file = options.open(&path).unwrap();
                story.result(file.write(b"hello "));
                story.result(file.write_all(b"world\n"));
                story.result(file.write_vectored(&[IoSlice::new(b"two"), IoSlice::new(b" lines\n")]));
                story.result(write!(file, "{}", 3));
                story.result(file.flush());
                story.result(file.sync_all());
                story.result(file.sync_data());
                story.result(file.metadata().map(|metadata| (metadata.len(), metadata.mode())));
                story.result(file.set_permissions(fs::Permissions::from_mode(0o644)));
                story.result(file.set_times(fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH)));
                story.result(file.metadata().and_then(|metadata| metadata.modified()));
                story.result(file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(7)));
                story.result(file.metadata().and_then(|metadata| metadata.modified()));
                story.result(file.rewind());
                let mut text = String::new();
                story.result(file.read_to_string(&mut text));
                story.tell(&text);
                // At the end there are no bytes.
                let mut buf = [0; 4];
                story.result(file.read(&mut buf));
                story.result(file.read(&mut []));
                story.result(file.seek(SeekFrom::Start(6)));
                story.result(file.read_exact(&mut buf));
                story.tell(buf);
                story.result(file.read_vectored(&mut [IoSliceMut::new(&mut [0; 1]), IoSliceMut::new(&mut [0; 2])]));
                let mut rest = vec![1];
                story.result((&file).read_to_end(&mut rest));
                story.tell(rest);
                story.result(file.set_len(3));
                story.result((&file).seek(SeekFrom::End(-3)));
                story.result((&file).write(b"HE"));
                story.result(fs::read(&path));
                drop(file);
                let mut appended = OpenOptions::new().append(true).open(&path).unwrap();
                story.result(appended.write_all(b"!"));
                story.result(BufReader::new(File::open(&path).unwrap()).lines().collect::<Result<Vec<_>, _>>());
                story.result(File::create_new(dir.join("new")).map(|_| ()));
                story.result(File::create_new(dir.join("new")).map(|_| ()));
                story.result(File::create(dir.join("new")).and_then(|mut file| file.write(b"x")));
                story.tell(options.clone().read(false).open(&path).is_ok());
            }

            fn positions(story: &mut Story, dir: &Path) {
                let path = dir.join("positions");
                fs::write(&path, "0123456789").unwrap();
                let mut file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
                let mut buf = [0; 4];
                story.result(file.read_at(&mut buf, 8));
                story.tell(buf);
                story.result(file.read_exact_at(&mut buf, 8).map_err(|error| error.kind().into()));
                story.result(file.write_at(b"ab", 2));
                story.result(file.write_all_at(b"cd", 20));
                story.result(file.stream_position());
                for from in [SeekFrom::Start(3), SeekFrom::Current(2), SeekFrom::Current(-9), SeekFrom::End(1)] {
                    story.result(file.seek(from));
                }
                story.result(fs::read(&path));
            }

            fn descriptors(story: &mut Story, dir: &Path) {
                let path = dir.join("descriptors");
                fs::write(&path, "0123456789").unwrap();
                let file = File::open(&path).unwrap();
                let mut clone = file.try_clone().unwrap();
                let mut buf = [0; 4];
                story.result(clone.read(&mut buf));
                story.tell(file.as_fd().as_raw_fd() == file.as_raw_fd() && file.as_raw_fd() != clone.as_raw_fd());
                story.result((&file).read(&mut buf));
                story.tell(buf);
                let raw = file.into_raw_fd();
                // SAFETY: the descriptor was given up the line before.
                let mut file = unsafe { File::from_raw_fd(raw) };
                story.result(file.read(&mut buf));
                let mut file = File::from(OwnedFd::from(file));
                story.result(file.read(&mut buf));
                drop(file);
                // SAFETY: a look at a number that is no descriptor any more.
                story.tell(unsafe { libc::fcntl(raw, libc::F_GETFD) });
                let output = File::create(dir.join("output")).unwrap();
                std::process::Command::new("echo").arg("hi").stdout(output).status().unwrap();
                story.result(fs::read(dir.join("output")));
                story.tell(format!("{clone:?}").starts_with("File { fd: "));
            }

            fn locks(story: &mut Story, dir: &Path) {
                let path = dir.join("lock");
                let [one, two] = [(); 2].map(|()| File::create(&path).unwrap());
                story.result(one.lock_shared());
                story.tell(two.try_lock_shared());
                story.tell(matches!(two.try_lock(), Err(fs::TryLockError::WouldBlock)));
                story.result(one.unlock());
                story.result(two.unlock());
                story.result(one.lock());
                story.tell(matches!(two.try_lock_shared(), Err(fs::TryLockError::WouldBlock)));
                drop(one);
                story.tell(two.try_lock());
            }

            fn errors(story: &mut Story, dir: &Path) {
                let missing = dir.join("missing");
                story.result(File::open(&missing).map(|_| ()));
                story.result(fs::read(&missing));
                story.result(fs::read_to_string(&missing));
                std::fs::write(dir.join("no_text"), b"a\xff").unwrap();
                story.result(fs::read_to_string(dir.join("no_text")));
                for bytes in [&b"bc"[..], b"bc\xff"] {
                    std::fs::write(dir.join("text"), bytes).unwrap();
                    let mut text = String::from("a");
                    story.result(File::open(dir.join("text")).and_then(|mut file| file.read_to_string(&mut text)));
                    story.tell(text);
                }
                story.result(fs::rename(&missing, dir.join("other")));
                story.result(fs::remove_file(&missing));
                story.result(fs::copy(&missing, dir.join("other")));
                story.result(fs::metadata(&missing).map(|_| ()));
                story.result(fs::hard_link(&missing, dir.join("other")));
                story.result(fs::set_permissions(&missing, fs::Permissions::from_mode(0o600)));
                story.result(fs::canonicalize(&missing));
                story.result(fs::read_link(&missing));
                story.result(fs::remove_dir(&missing));
                story.result(fs::create_dir(dir));
                story.result(fs::write(dir, "a folder"));
                story.result(File::open("a\0b").map(|_| ()));
                story.result(OpenOptions::new().open(dir).map(|_| ()));
                // No room, and no right to read or write.
                let mut full = OpenOptions::new().write(true).open("/dev/full").unwrap();
                story.result(full.write(b"x"));
                story.result((&full).write_at(b"x", 5).map_err(|error| error.kind().into()));
                story.result(full.read(&mut [0]));
                story.result(full.read_to_end(&mut Vec::new()));
                story.result(File::open("/dev/null").unwrap().write(b"x"));
                story.result(File::open(dir).unwrap().read(&mut [0]));
                story.result(File::open(dir).unwrap().seek(SeekFrom::Current(-1)));
            }

            fn odd_names(story: &mut Story, dir: &Path) {
                let bytes = |name: &[u8]| dir.join(std::ffi::OsStr::from_bytes(name));
                for name in [&b"\xff\xfe"[..], &[b'n'; 255], &[b'n'; 256], b"new\nline", "größe".as_bytes()] {
                    story.result(fs::write(bytes(name), "x"));
                    story.result(fs::read(bytes(name)));
                }
                // Longer than what is kept of a path, and longer than the system takes.
                let deep = (0..4).fold(dir.to_owned(), |path, _| path.join("d".repeat(200)));
                story.result(fs::create_dir_all(&deep));
                story.result(fs::write(deep.join("1"), "1"));
                story.result(fs::write(deep.join("2"), "22"));
                story.result(fs::read(deep.join("1")));
                story.result(fs::write(dir.join("x/".repeat(3000)), ""));
                story.result(fs::write("", ""));
            }
        }
    };
}

story!(as_std, std::fs);
story!(as_ours, perfschema::fs);

#[cfg(target_os = "linux")]
#[test]
fn the_story_is_the_same() {
    for &round in common::ROUNDS {
        #[cfg(feature = "instrument")]
        if round == "with" {
            tables::start();
        }
        let (ours, stds) = (folder(&format!("ours-{round}")), folder(&format!("std-{round}")));
        let mut told = as_ours::tell(&ours);
        told.0.iter_mut().for_each(|line| *line = line.replace("ours-", "std-"));
        told.is_that_of(&as_std::tell(&stds), 130, round);
        let names = |dir: &Path| {
            let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&ours), names(&stds));
    }
}

#[cfg(feature = "instrument")]
mod tables {
    use super::folder;
    use perfschema::Process;
    use perfschema::fs::{File, Fs, OpenOptions};
    use perfschema::tables::{
        EventsWaitsHistory, EventsWaitsRow, FileInstances, FileSummaryByInstance, FileSummaryByInstanceRow,
    };
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    use std::panic::Location;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    pub(crate) fn start() -> &'static Process {
        static STARTED: OnceLock<&'static Process> = OnceLock::new();
        STARTED.get_or_init(|| perfschema::builder().everything(true).environment(false).start().unwrap())
    }

    /// The calling thread's last events of the instrument, oldest first.
    fn events(name: &str) -> Vec<EventsWaitsRow> {
        let me = perfschema::thread::thread_id().unwrap();
        let mut rows = Vec::new();
        start().region().scan(&EventsWaitsHistory, |row| {
            if row.thread_id == me && row.event_name == name {
                rows.push(row.clone());
            }
        });
        rows.sort_by_key(|row| row.event_id);
        rows
    }

    /// Operation, offset, bytes and FLAGS of each event.
    fn told(name: &str) -> Vec<String> {
        let number = |number: Option<i64>| number.map_or("NULL".into(), |number| number.to_string());
        let told = |row: &EventsWaitsRow| {
            format!(
                "{} {} {} {}",
                row.operation,
                row.object_instance_begin,
                number(row.number_of_bytes),
                number(row.flags.map(i64::from))
            )
        };
        events(name).iter().map(told).collect()
    }

    fn open_count(path: &Path) -> Option<u32> {
        let mut found = None;
        start().region().scan(&FileInstances, |row| {
            if row.file_name == path.to_str().unwrap() {
                assert_eq!(found.replace(row.open_count), None, "one path, two rows");
            }
        });
        found
    }

    fn summary(path: &Path) -> Option<FileSummaryByInstanceRow> {
        let mut found = None;
        start().region().scan(&FileSummaryByInstance, |row| {
            if row.file_name == path.to_str().unwrap() {
                found = Some(row.clone());
            }
        });
        found
    }

    #[test]
    fn each_call_is_one_event() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/events");
        start();
        let path = folder("events").join("file");
        let mut file = FILES.options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let written = file.write(b"0123456789").unwrap();
        file.seek(SeekFrom::Start(4)).unwrap();
        file.seek(SeekFrom::Current(1)).unwrap();
        let (line, _) = (Location::caller().line(), file.read(&mut [0; 100]).unwrap());
        file.read_at(&mut [0; 2], 7).unwrap();
        file.write_at(b"x", 3).unwrap();
        file.stream_position().unwrap();
        file.sync_all().unwrap();
        assert_eq!(written, 10);
        let events = events("wait/io/file/test/events");
        assert_eq!(
            told("wait/io/file/test/events"),
            [
                "create 0 NULL 0",
                "write 0 10 0",
                "seek 4 NULL 0",
                "seek 0 NULL 0",
                "read 0 5 0",
                "read 7 2 0",
                "write 3 1 0",
                "tell 0 NULL 0",
                "sync 0 NULL 0",
            ]
        );
        for event in &events {
            assert_eq!(event.object_name.unwrap(), path.to_str().unwrap());
            assert_eq!(event.object_type.unwrap(), "FILE");
        }
        assert_eq!(events[4].source.unwrap(), *format!("files.rs:{line}"));
        // Whether it may be made, not whether it was.
        for (create, create_new, operation) in [(true, false, "create"), (false, true, "create"), (false, false, "open")] {
            let path = if create_new { path.with_extension("new") } else { path.clone() };
            let file = FILES.options().write(true).create(create).create_new(create_new).open(path).unwrap();
            assert_eq!(*told("wait/io/file/test/events").last().unwrap(), format!("{operation} 0 NULL 0"));
            drop(file);
        }
        // No more than there is: a read at the end is one of no bytes.
        file.read_at(&mut [0; 2], 100).unwrap();
        let direct = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&path);
        drop(file);
        let last = told("wait/io/file/test/events");
        assert_eq!(last[last.len() - 2..], ["read 100 0 0", "close 0 NULL 0"]);
        // Not every file system has O_DIRECT; what was asked for is told all the same.
        assert_eq!(told("wait/io/file/std/File")[0], format!("open 0 NULL {}", libc::O_DIRECT), "{direct:?}");
    }

    /// Not that of std's loop.
    #[test]
    fn what_std_makes_of_several_operations_has_the_source_of_its_call() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/sources");
        start();
        let path = folder("sources").join("file");
        let mut file = FILES.options().read(true).write(true).create_new(true).open(&path).unwrap();
        let before = Location::caller().line();
        file.write_all(b"01234").unwrap();
        write!(file, "{}", 56).unwrap();
        file.rewind().unwrap();
        file.seek_relative(1).unwrap();
        file.read_exact(&mut [0; 2]).unwrap();
        file.read_exact_at(&mut [0; 2], 3).unwrap();
        file.write_all_at(b"ab", 3).unwrap();
        FILES.write(&path, "7").unwrap();
        let events = events("wait/io/file/test/sources");
        let lines: Vec<_> = events.iter().filter_map(|event| event.source.map(|source| source.to_string())).collect();
        // The last line is a create and a write; a close has none.
        let expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 8].map(|line| format!("files.rs:{}", before + line));
        assert_eq!(lines, expected[expected.len() - lines.len()..]);
        assert_eq!(lines.len(), 9);
    }

    #[test]
    fn folders_take_their_files_along() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/folders");
        start();
        let dir = folder("folders");
        let [old, new] = ["old", "new"].map(|name| dir.join(name));
        FILES.create_dir_all(old.join("deep")).unwrap();
        FILES.write(old.join("deep/a"), "123").unwrap();
        let file = FILES.create(old.join("b")).unwrap();
        FILES.write(dir.join("older"), "1").unwrap();
        FILES.rename(&old, &new).unwrap();
        file.write_at(b"12", 0).unwrap();
        let rows = |paths: [PathBuf; 5]| paths.map(|path| open_count(&path));
        let paths = || [old.join("deep/a"), old.join("b"), new.join("deep/a"), new.join("b"), dir.join("older")];
        assert_eq!(rows(paths()), [None, None, Some(0), Some(1), Some(0)]);
        assert_eq!(summary(&new.join("deep/a")).unwrap().sum_number_of_bytes_write, 3);
        assert_eq!(summary(&new.join("b")).unwrap().sum_number_of_bytes_write, 2);
        assert!(FILES.remove_dir_all(&old).is_err(), "it is not there any more");
        FILES.remove_dir_all(&new).unwrap();
        assert_eq!(rows(paths()), [None, None, None, None, Some(0)]);
        // What was open counts on, by instrument.
        file.write_at(b"12", 0).unwrap();
    }

    /// Of their paths only the first 512 bytes are kept, which are the same.
    #[test]
    fn folders_with_long_paths_take_their_files_along() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/long-paths");
        start();
        let top = folder("long-paths");
        let dir = top.join("x".repeat(250)).join("y".repeat(250));
        let written = || {
            let mut written = Vec::new();
            start().region().scan(&FileSummaryByInstance, |row| {
                if row.event_name == "wait/io/file/test/long-paths" {
                    written.push(row.sum_number_of_bytes_write);
                }
            });
            written.sort_unstable();
            written
        };
        let [gone, stays, moved] = ["gone", "stays", "moved"].map(|name| dir.join(name));
        FILES.create_dir_all(gone.join("deep")).unwrap();
        FILES.create_dir_all(stays.join("deep")).unwrap();
        for (bytes, path) in (1..).zip([gone.join("a"), gone.join("deep/b"), stays.join("a"), stays.join("deep/b")]) {
            FILES.write(path, vec![0; bytes]).unwrap();
        }
        assert_eq!(written(), [1, 2, 3, 4]);
        assert!(FILES.remove_dir_all(dir.join("nothing")).is_err());
        FILES.remove_dir_all(gone.join("")).unwrap();
        assert_eq!(written(), [3, 4]);
        FILES.rename(&stays, moved.join("")).unwrap();
        FILES.write(moved.join("deep/b"), vec![0; 10]).unwrap();
        assert_eq!(written(), [3, 14]);
        FILES.rename(moved, top.join("short")).unwrap();
        assert_eq!(summary(&top.join("short/a")).map(|row| row.sum_number_of_bytes_write), Some(3));
        assert_eq!(summary(&top.join("short/deep/b")).map(|row| row.sum_number_of_bytes_write), Some(14));
    }

    #[test]
    fn rows_come_and_go_with_the_files() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/rows");
        start();
        let dir = folder("rows");
        let [a, b] = ["a", "b"].map(|name| dir.join(name));
        assert!(FILES.open(&a).is_err());
        assert!(FILES.metadata(&a).is_err());
        assert_eq!(open_count(&a), None, "a file that is not there has no row");
        let file = FILES.create(&a).unwrap();
        let clone = file.try_clone().unwrap();
        let again = File::open(&a).unwrap();
        assert_eq!(open_count(&a), Some(3));
        (&clone).write_all(b"12345").unwrap();
        drop(file);
        drop(clone);
        assert_eq!(open_count(&a), Some(1));
        FILES.rename(&a, &b).unwrap();
        assert_eq!((open_count(&a), open_count(&b)), (None, Some(1)));
        (&again).read_exact(&mut [0; 3]).unwrap();
        let row = summary(&b).unwrap();
        assert_eq!(row.event_name, "wait/io/file/test/rows");
        assert_eq!((row.sum_number_of_bytes_write, row.sum_number_of_bytes_read), (5, 3));
        // create, open, write, close, close, rename, read; and a clone is no operation.
        assert_eq!((row.count_write, row.count_read, row.count_misc), (1, 1, 5));
        assert_eq!(row.count_star, 7);
        assert!(row.sum_timer_wait > 0 && row.sum_timer_wait == row.sum_timer_read + row.sum_timer_write + row.sum_timer_misc);
        // Given away as a descriptor, it is no handle here any more.
        let fd = std::os::fd::OwnedFd::from(again);
        assert_eq!(open_count(&b), Some(0));
        drop(fd);
        FILES.copy(&b, &a).unwrap();
        let copied = |path: &Path| summary(path).map(|row| (row.sum_number_of_bytes_read, row.sum_number_of_bytes_write));
        assert_eq!((copied(&b), copied(&a)), (Some((3 + 5, 5)), Some((0, 5))));
        assert!(FILES.rename(dir.join("none"), &a).is_err());
        assert_eq!(open_count(&a), Some(0), "a rename that failed has changed nothing");
        FILES.remove_file(&a).unwrap();
        FILES.remove_file(&b).unwrap();
        assert_eq!((open_count(&a), open_count(&b)), (None, None));
    }

    /// rename(2): of two names of one file it does nothing, and says that all is well.
    #[test]
    fn a_rename_that_does_nothing_changes_no_row() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/links");
        start();
        let dir = folder("links");
        let [a, b] = ["a", "b"].map(|name| dir.join(name));
        let same = dir.join("./a");
        FILES.write(&a, "123").unwrap();
        FILES.hard_link(&a, &b).unwrap();
        let file = FILES.options().write(true).open(&b).unwrap();
        file.write_at(b"12345", 0).unwrap();
        for new in [&b, &same] {
            FILES.rename(&a, new).unwrap();
            let written = |path: &Path| summary(path).map(|row| row.sum_number_of_bytes_write);
            assert_eq!([written(&a), written(&b)], [Some(3), Some(5)], "{new:?}");
            assert_eq!([open_count(&a), open_count(&b), open_count(&same)], [Some(0), Some(1), None]);
        }
    }

    /// What is there already stays, and only what comes to it is counted.
    #[test]
    fn text_is_appended_to_text() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/appended");
        start();
        let path = folder("appended").join("text");
        std::fs::write(&path, "é").unwrap();
        let mut text = String::new();
        for _ in 0..3 {
            assert_eq!(FILES.open(&path).unwrap().read_to_string(&mut text).unwrap(), 2);
        }
        assert_eq!((text.as_str(), summary(&path).map(|row| row.sum_number_of_bytes_read)), ("ééé", Some(6)));
    }

    /// It counts, as it does for the kernel.
    #[test]
    fn what_was_read_before_an_error() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/failing");
        start();
        let path = folder("failing").join("latin1");
        std::fs::write(&path, b"caf\xe9".repeat(1000)).unwrap();
        let read = |path: &Path| summary(path).map_or(0, |row| row.sum_number_of_bytes_read);
        assert_eq!(FILES.read_to_string(&path).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
        assert_eq!(read(&path), 4000);
        let mut text = String::from("before ");
        FILES.open(&path).unwrap().read_to_string(&mut text).unwrap_err();
        assert_eq!((read(&path), text.as_str()), (8000, "before "));
        // Memory as far as it is mapped.
        // SAFETY: it only asks.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // SAFETY: two new pages, of which the second is given back.
        let mapped = unsafe {
            let memory =
                libc::mmap(std::ptr::null_mut(), 2 * page, libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            assert_eq!(libc::munmap(memory.byte_add(page), page), 0);
            memory as u64
        };
        let memory = Path::new("/proc/self/mem");
        let mut file = FILES.open(memory).unwrap();
        file.seek(SeekFrom::Start(mapped)).unwrap();
        let mut bytes = Vec::new();
        let error = file.read_to_end(&mut bytes).unwrap_err();
        assert_eq!((error.raw_os_error(), bytes.len(), read(memory)), (Some(libc::EIO), page, page as i64));
    }

    /// What nobody waits for long enough to see: the name of a file that is being opened, and how much is asked for.
    #[test]
    fn a_wait_is_seen_while_it_lasts() {
        static PIPE: Fs = perfschema::fs!("wait/io/file/test/pipe");
        start();
        let path = folder("pipe").join("fifo");
        let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the path is a C string.
        assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
        let running = |operation: &str| {
            loop {
                let mut found = None;
                start().region().scan(&perfschema::tables::EventsWaitsCurrent, |row| {
                    if row.event_name == "wait/io/file/test/pipe" && row.operation == operation && row.timer_end.is_none() {
                        found = Some(row.clone());
                    }
                });
                match found {
                    Some(row) => return row,
                    None => std::thread::yield_now(),
                }
            }
        };
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut file = PIPE.open(&path).unwrap();
                let mut buf = [0; 100];
                file.read(&mut buf).unwrap()
            });
            let row = running("open");
            assert_eq!(row.object_name.unwrap(), path.to_str().unwrap());
            assert_eq!((open_count(&path), row.number_of_bytes), (None, None));
            let mut writer = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            let row = running("read");
            assert_eq!((open_count(&path), row.number_of_bytes), (Some(1), Some(100)));
            writer.write_all(b"short").unwrap();
            assert_eq!(reader.join().unwrap(), 5);
        });
        assert_eq!(summary(&path).unwrap().sum_number_of_bytes_read, 5);
    }

    /// Handles are sent between threads, and used by several.
    #[test]
    fn what_threads_read_together_adds_up() {
        static FILES: Fs = perfschema::fs!("wait/io/file/test/together");
        start();
        let path = folder("together").join("file");
        FILES.write(&path, [1; 4096]).unwrap();
        let file = FILES.open(&path).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| assert_eq!(file.read_at(&mut [0; 4096], 96).unwrap(), 4000)));
            }
        });
        let row = summary(&path).unwrap();
        assert_eq!((row.count_read, row.sum_number_of_bytes_read), (4000, 16_000_000));
        assert_eq!(open_count(&path), Some(1));
    }
}

/// A program may write what it has once as often as it likes.
// A sanitizer has not so much room for addresses.
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri), not(perfschema_sanitizer)))]
#[test]
fn buffers_may_be_more_than_memory_together() {
    use std::io::{IoSlice, Write};
    let bytes: usize = 1 << 44;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, of zeros, which nobody writes.
    let zeros = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, flags, -1, 0) };
    assert!(zeros != libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    // SAFETY: the mapping is as long, and never unmapped.
    let zeros: &[u8] = unsafe { std::slice::from_raw_parts(zeros.cast(), bytes) };
    let many = vec![IoSlice::new(zeros); usize::MAX / bytes + 1];
    let theirs = std::fs::File::create("/dev/null").unwrap().write_vectored(&many).unwrap();
    assert_eq!(perfschema::fs::File::create("/dev/null").unwrap().write_vectored(&many).unwrap(), theirs);
}
