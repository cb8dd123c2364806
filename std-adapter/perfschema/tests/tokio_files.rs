//! `perfschema::tokio::fs` beside tokio's own: the same story told with each must go the same way. And what it leaves in the tables.
#![cfg(all(feature = "tokio", feature = "instrument", target_os = "linux", not(miri)))]

mod common;

use common::Story;
use perfschema::task::attach;
use perfschema::tokio::fs::{self, Fs};
use perfschema::{Region, Setting, tables};
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::MutexGuard;
use std::task::Poll;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::runtime::Runtime;

static FILES: Fs = Fs::new(perfschema::fs!("wait/io/file/test/FILES"));

/// The region, and that no other test uses it meanwhile. The story is told before it is there, and after.
fn region() -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    common::alone(|| {
        same_story();
        perfschema::builder().everything(true).environment(false).start().unwrap().region()
    })
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    common::empty_folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tokio-files-{}-{name}", std::process::id())))
}

/// Every mirrored item, as a program uses it: the module is all that differs.
macro_rules! story {
    ($name:ident, $fs:path) => {
        mod $name {
            use super::Story;
            use fs::{File, OpenOptions};
            use std::io::{IoSlice, SeekFrom};
            use std::os::fd::{AsFd, AsRawFd, OwnedFd};
            use std::os::unix::fs::PermissionsExt;
            use std::path::Path;
            use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
            use $fs as fs;

            pub(crate) async fn tell(dir: &Path) -> Story {
                let mut story = Story::default();
                handles(&mut story, dir).await;
                options(&mut story, dir).await;
                paths(&mut story, dir).await;
                descriptors(&mut story, dir).await;
                story
            }

            async fn handles(story: &mut Story, dir: &Path) {
                let path = dir.join("handles");
                let mut file = File::create_new(&path).await.unwrap();
                story.result(File::create_new(path.clone()).await.map(|_| ()));
                story.result(file.write(b"hello ").await);
                story.result(file.write_all(b"world\n").await);
                story.result(file.write_vectored(&[IoSlice::new(b"two"), IoSlice::new(b" parts")]).await);
                story.tell(tokio::io::AsyncWrite::is_write_vectored(&file));
                story.result(file.flush().await);
                story.result(file.sync_all().await);
                story.result(file.sync_data().await);
                story.result(file.metadata().await.map(|data| data.len()));
                story.result(file.seek(SeekFrom::Start(6)).await);
                let mut buf = [0; 5];
                story.result(file.read_exact(&mut buf).await);
                story.tell(buf);
                story.result(file.stream_position().await);
                story.result(file.seek(SeekFrom::Current(-100)).await);
                story.result(file.seek(SeekFrom::End(-5)).await);
                let mut clone = file.try_clone().await.unwrap();
                let mut rest = String::new();
                story.result(clone.read_to_string(&mut rest).await);
                story.tell(rest);
                story.result(file.read(&mut buf).await);
                story.result(file.set_len(3).await);
                story.result(file.rewind().await);
                let mut all = Vec::new();
                story.result(file.read_to_end(&mut all).await);
                story.tell(all);
                story.result(file.set_permissions(std::fs::Permissions::from_mode(0o600)).await);
                story.result(file.set_modified(std::time::UNIX_EPOCH).await);
                story.result(file.metadata().await.map(|data| (data.permissions().mode() & 0o777, data.modified().unwrap())));
                file.set_max_buf_size(2);
                story.tell(file.max_buf_size());
                story.result(file.write(b"buffered").await);
                story.result(file.shutdown().await);
                let mut reader = File::open(&path).await.unwrap();
                story.result(reader.write(b"x").await);
                story.result(reader.flush().await);
                story.result(reader.read(&mut [0; 8]).await);
                story.result(File::open(dir.join("missing")).await.map(|_| ()));
                story.result(File::create(dir.join("missing/file")).await.map(|_| ()));
            }

            async fn options(story: &mut Story, dir: &Path) {
                let path = dir.join("options");
                story.result(OpenOptions::new().open(&path).await.map(|_| ()));
                story.result(OpenOptions::new().read(true).create(true).open(&path).await.map(|_| ()));
                let mut options = OpenOptions::default();
                let mut file =
                    options.append(true).create(true).mode(0o640).custom_flags(libc::O_NOFOLLOW).open(&path).await.unwrap();
                story.result(file.write_all(b"one").await);
                story.result(file.flush().await);
                let mut file = options.clone().read(true).open(&path).await.unwrap();
                story.result(file.write_all(b"two").await);
                story.result(file.seek(SeekFrom::Start(0)).await);
                let mut text = String::new();
                story.result(file.read_to_string(&mut text).await);
                story.tell(text);
                story.result(file.metadata().await.map(|data| data.permissions().mode() & 0o777));
                let mut std = std::fs::OpenOptions::new();
                std.write(true).truncate(true);
                story.result(OpenOptions::from(std).open(&path).await.map(|_| ()));
                story.result(fs::metadata(&path).await.map(|data| data.len()));
                story.result(File::options().write(true).create_new(true).open(&path).await.map(|_| ()));
            }

            async fn paths(story: &mut Story, dir: &Path) {
                let [one, two, three] = ["one", "two", "three"].map(|name| dir.join(name));
                story.result(fs::write(&one, "the text").await);
                story.result(fs::read(&one).await);
                story.result(fs::read_to_string(&one).await);
                story.result(fs::copy(&one, &two).await);
                story.result(fs::rename(&two, &three).await);
                story.result(fs::try_exists(&two).await);
                story.result(fs::hard_link(&one, &two).await);
                story.result(fs::symlink(&one, dir.join("link")).await);
                story.result(fs::read_link(dir.join("link")).await.map(|path| path == one));
                story.result(fs::canonicalize(dir.join("link")).await.map(|path| path.ends_with("one")));
                story.result(fs::symlink_metadata(dir.join("link")).await.map(|data| data.is_symlink()));
                story.result(fs::set_permissions(&one, std::fs::Permissions::from_mode(0o600)).await);
                for path in [one, two, three] {
                    story.result(fs::remove_file(path).await);
                }
                story.result(fs::remove_file(dir.join("link")).await);
                story.result(fs::create_dir(dir.join("a")).await);
                story.result(fs::create_dir(dir.join("a")).await);
                story.result(fs::create_dir_all(dir.join("a/b/c")).await);
                story.result(fs::write(dir.join("a/b/c/d"), [1, 2, 3]).await);
                story.result(fs::remove_dir(dir.join("a")).await);
                story.result(fs::remove_dir(dir.join("a/b/c")).await);
                story.result(fs::remove_dir_all(dir.join("a")).await);
                let mut left = Vec::new();
                let mut entries = fs::read_dir(dir).await.unwrap();
                while let Some(entry) = entries.next_entry().await.unwrap() {
                    left.push(entry.file_name());
                }
                left.sort_unstable();
                story.tell(left);
                story.result(fs::read(dir).await.map(|_| ()));
                story.result(fs::read_to_string(dir.join("missing")).await);
                story.result(fs::rename(dir.join("missing"), dir).await);
                story.result(fs::copy(dir.join("missing"), dir).await);
            }

            async fn descriptors(story: &mut Story, dir: &Path) {
                let path = dir.join("descriptors");
                let mut file = File::create(&path).await.unwrap();
                story.tell(file.as_fd().as_raw_fd() == file.as_raw_fd());
                story.tell(format!("{file:?}").starts_with("tokio::fs::File"));
                file.write_all(b"as before").await.unwrap();
                file.flush().await.unwrap();
                let raw = file.as_raw_fd();
                let file = match file.try_into_std() {
                    Ok(file) => file,
                    Err(file) => file.into_std().await,
                };
                let mut file = File::from_std(file);
                story.tell(file.as_raw_fd() == raw);
                story.result(file.write_all(b", and after").await);
                let std = file.into_std().await;
                let file = File::from(OwnedFd::from(std));
                story.result(file.sync_all().await);
                drop(file);
                story.result(fs::read_to_string(&path).await);
            }
        }
    };
}

story!(tokios, tokio::fs);
story!(ours, perfschema::tokio::fs);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn same_story() {
    let runtime = runtime();
    // In one and the same folder: errors name it.
    let expected = runtime.block_on(tokios::tell(&folder("story"))).0;
    let told = runtime.block_on(attach("task/test/story", ours::tell(&folder("story")))).0;
    std::fs::remove_dir_all(folder("story")).unwrap();
    assert!(expected.len() > 70, "{}", expected.len());
    assert_eq!(told, expected);
}

/// A file's row: OPEN_COUNT, COUNT_READ, bytes read, COUNT_WRITE, bytes written, COUNT_MISC.
type Row = (u64, u64, i64, u64, i64, u64);

/// The rows of files below the folder, by name.
fn rows(region: &Region<'_>, dir: &Path) -> Vec<(String, Row)> {
    let mut open = Vec::new();
    region.scan(&tables::FileInstances, |row| open.push((row.file_name, u64::from(row.open_count))));
    let mut rows = Vec::new();
    region.scan(&tables::FileSummaryByInstance, |row| {
        if let Ok(name) = Path::new(row.file_name.as_str()).strip_prefix(dir) {
            let open = open.iter().find(|(name, _)| *name == row.file_name).unwrap().1;
            let reads = (row.count_read, row.sum_number_of_bytes_read);
            let writes = (row.count_write, row.sum_number_of_bytes_write);
            rows.push((name.display().to_string(), (open, reads.0, reads.1, writes.0, writes.1, row.count_misc)));
        }
    });
    rows.sort_unstable();
    rows
}

/// The waits for files of the newest task: OPERATION, NUMBER_OF_BYTES.
fn waits(region: &Region<'_>, thread_id: u64) -> Vec<(u64, &'static str, Option<i64>)> {
    let mut waits = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        assert!(row.timer_end.is_some() && row.nesting_event_id.is_none(), "{row:?}");
        if row.thread_id == thread_id {
            waits.push((row.event_id, row.operation, row.number_of_bytes));
        }
    });
    waits.sort_unstable();
    waits
}

#[test]
fn the_same_story_as_tokios() {
    let (region, _alone) = region();
    same_story();
    let mut operations = std::collections::BTreeSet::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        operations.insert(row.operation);
    });
    let expected = [
        "chmod", "chsize", "close", "create", "delete", "flush", "link", "mkdir", "open", "read", "readlink", "realpath",
        "rename", "rmdir", "seek", "stat", "sync", "utime", "write",
    ];
    assert_eq!(operations, expected.into());
    let class = region.find_class("wait/io/file/std/File").unwrap();
    region.set_setting(class, Setting::OFF);
    same_story();
    region.set_setting(class, Setting::ON);
    let open = |each: &mut dyn FnMut(&tables::FileInstancesRow)| region.scan(&tables::FileInstances, |row| each(row));
    open(&mut |row| assert_eq!(row.open_count, 0, "{row:?}"));
    region.scan(&tables::EventsWaitsCurrent, |row| assert!(row.end_event_id.is_some(), "{row:?}"));
}

#[test]
fn a_file_is_followed_by_its_path_and_each_operation_is_one_wait() {
    let (region, _alone) = region();
    let dir = folder("followed");
    let path = dir.join("file");
    let of = |open, reads, read, writes, written, misc| (open, reads, read, writes, written, misc);
    let (id, events) = runtime().block_on(attach("task/test/files", async {
        let mut file = FILES.create_new(&path).await.unwrap();
        assert_eq!(rows(region, &dir), [("file".into(), of(1, 0, 0, 0, 0, 1))]);
        file.write_all(&[7; 1000]).await.unwrap();
        file.flush().await.unwrap();
        file.seek(std::io::SeekFrom::Start(990)).await.unwrap();
        let mut buf = [0; 64];
        assert_eq!(file.read(&mut buf).await.unwrap(), 10);
        let clone = file.try_clone().await.unwrap();
        assert_eq!(rows(region, &dir), [("file".into(), of(2, 1, 10, 1, 1000, 3))]);
        drop(clone);
        let moved = dir.join("moved");
        FILES.rename(&path, &moved).await.unwrap();
        assert_eq!(rows(region, &dir), [("moved".into(), of(1, 1, 10, 1, 1000, 5))]);
        drop(file);
        assert_eq!(FILES.read(&moved).await.unwrap().len(), 1000);
        assert_eq!(FILES.copy(&moved, dir.join("copy")).await.unwrap(), 1000);
        assert!(FILES.read(dir.join("missing")).await.is_err());
        let copied = [("copy".into(), of(0, 0, 0, 1, 1000, 0)), ("moved".into(), of(0, 3, 2010, 1, 1000, 6))];
        assert_eq!(rows(region, &dir), copied);
        FILES.remove_file(moved).await.unwrap();
        FILES.remove_dir_all(&dir).await.unwrap();
        assert_eq!(rows(region, &dir), []);
        let id = perfschema::thread::thread_id().unwrap();
        (id, waits(region, id))
    }));
    let expected = [
        ("create", None),
        ("write", Some(1000)),
        ("flush", None),
        ("seek", None),
        ("read", Some(10)),
        ("close", None),
        ("rename", None),
        ("close", None),
        ("read", Some(1000)),
        ("read", Some(1000)),
        ("write", Some(1000)),
        ("read", Some(0)),
        ("delete", None),
        ("rmdir", None),
    ];
    let events: Vec<_> = events.into_iter().map(|(_, operation, bytes)| (operation, bytes)).collect();
    assert_eq!(events, expected, "{id}");
}

/// A writer that waits: a pipe that is full, as a file. A flush waits for it, and a seek does before it begins, which a pipe has none of.
#[test]
fn a_pending_write_is_shown_and_goes_on_with_what_waits_for_it() {
    let (region, _alone) = region();
    pending_write(region, "task/test/flushes", async |file| file.flush().await.unwrap(), &[(2, "flush", None)]);
    let seeks = async |file: &mut fs::File| assert!(file.seek(std::io::SeekFrom::Start(0)).await.is_err());
    pending_write(region, "task/test/seeks-later", seeks, &[(2, "flush", None), (3, "seek", None)]);
}

fn pending_write(
    region: &Region<'_>,
    name: &'static str,
    next: impl AsyncFn(&mut fs::File),
    next_waits: &[(u64, &'static str, Option<i64>)],
) {
    // It waits for its threads when it goes: by then nobody reads.
    let runtime = runtime();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut task = Box::pin(attach(name, async move {
        let mut file = fs::File::from(std::os::fd::OwnedFd::from(writer));
        // More than fits: tokio's thread waits, this does not.
        file.write_all(&[7; 100_000]).await.unwrap();
        next(&mut file).await;
    }));
    assert!(runtime.block_on(once(task.as_mut())).is_pending());
    let mut id = 0;
    region.scan(&tables::Threads, |row| id = if row.name == name { row.thread_id } else { id });
    let running = || {
        let mut running = Vec::new();
        region.scan(&tables::EventsWaitsCurrent, |row| {
            if row.thread_id == id && row.end_event_id.is_none() {
                running.push((row.event_id, row.operation, row.object_type));
            }
        });
        running
    };
    assert_eq!(running(), [(2, "flush", Some("FILE".into()))]);
    assert!(runtime.block_on(once(task.as_mut())).is_pending());
    assert_eq!(running(), [(2, "flush", Some("FILE".into()))]);
    let drained = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()).unwrap());
    runtime.block_on(task);
    assert_eq!(drained.join().unwrap(), 100_000);
    let mut expected = vec![(1, "write", Some(100_000))];
    expected.extend_from_slice(next_waits);
    expected.push((expected.len() as u64 + 1, "close", None));
    assert_eq!(waits(region, id), expected);
}

/// One poll of a future.
fn once<'a, F: Future>(mut future: Pin<&'a mut F>) -> impl Future<Output = Poll<F::Output>> + use<'a, F> {
    poll_fn(move |cx| Poll::Ready(future.as_mut().poll(cx)))
}

/// What tokio's thread does it does to the end, and tells the tables.
#[test]
fn what_is_given_up_while_it_deletes_or_renames_does_so_in_the_tables_too() {
    let (region, _alone) = region();
    let dir = folder("given-up");
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(attach("task/test/given-up", async {
        for name in ["removed", "renamed", "new", "folder/a", "folder/b"] {
            FILES.create_dir_all(dir.join(name).parent().unwrap()).await.unwrap();
            FILES.write(dir.join(name), name).await.unwrap();
        }
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || wait.recv());
        assert!(once(pin!(FILES.remove_file(dir.join("removed")))).await.is_pending());
        assert!(once(pin!(FILES.rename(dir.join("renamed"), dir.join("new")))).await.is_pending());
        assert!(once(pin!(FILES.remove_dir_all(dir.join("folder")))).await.is_pending());
        drop(go);
        assert!(busy.await.unwrap().is_err());
        // There is one thread, and this comes after all of that.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    }));
    let names: Vec<String> = rows(region, &dir).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["new"]);
    assert_eq!(std::fs::read(dir.join("new")).unwrap(), b"renamed");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_is_given_up_ends_with_its_file() {
    let (region, _alone) = region();
    let dir = folder("dropped");
    let path = dir.join("file");
    std::fs::write(&path, [7; 10]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let id = runtime.block_on(attach("task/test/dropped", async {
        // Nothing happens before the first poll.
        drop(FILES.remove_file(&path));
        let mut file = FILES.open(&path).await.unwrap();
        // The only thread that could do anything does not.
        let busy = tokio::task::spawn_blocking(move || wait.recv());
        assert!(once(pin!(file.metadata())).await.is_pending());
        assert!(once(pin!(file.read(&mut [0; 4]))).await.is_pending());
        let id = perfschema::thread::thread_id().unwrap();
        let mut running = Vec::new();
        region.scan(&tables::EventsWaitsCurrent, |row| {
            if row.thread_id == id && row.end_event_id.is_none() {
                running.push((row.event_id, row.operation, row.number_of_bytes));
            }
        });
        assert_eq!(running, [(3, "read", Some(4))]);
        drop(file);
        drop(go);
        assert!(busy.await.unwrap().is_err());
        id
    }));
    let expected = [(1, "open", None), (2, "stat", None), (3, "read", Some(0)), (4, "close", None)];
    assert_eq!(waits(region, id), expected);
    assert_eq!(rows(region, &dir), [("file".into(), (0, 1, 0, 0, 0, 3))]);
    std::fs::remove_dir_all(dir).unwrap();
}

/// A program that is wrong is named where it is, as tokio does.
#[test]
fn a_buffer_of_no_size_panics_where_it_is_asked_for() {
    let (_region, _alone) = region();
    let mut file = fs::File::from_std(std::fs::File::open("Cargo.toml").unwrap());
    let (file, line) = common::place_of_panic(|| file.set_max_buf_size(0));
    assert!(file.ends_with("tokio_files.rs") && line == line!() - 1, "{file}:{line}");
}
