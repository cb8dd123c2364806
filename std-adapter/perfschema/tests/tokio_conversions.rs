//! What becomes tokio's, or is made of what is not.
#![cfg(all(feature = "tokio", feature = "instrument", target_os = "linux", not(miri)))]

use perfschema::tokio::sync::{broadcast, mpsc, oneshot, watch};
use perfschema::{Instrument, Process, fs, tables, tokio as twins};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::AsyncReadExt;

fn process() -> &'static Process {
    static PROCESS: OnceLock<&Process> = OnceLock::new();
    PROCESS.get_or_init(|| perfschema::builder().everything(true).environment(false).start().unwrap())
}

/// It waits for room no longer than that, and is a wait either way.
#[test]
fn a_send_with_a_time_limit_is_a_wait() {
    static CHANNEL: Instrument = Instrument::new("wait/synch/mpsc/test/limited");
    let region = process().region();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let (sender, mut receiver) = mpsc::channel_with_instrument(&CHANNEL, 1);
        sender.send_timeout(1, Duration::from_secs(3600)).await.unwrap();
        let error = sender.send_timeout(2, Duration::ZERO).await.unwrap_err();
        assert_eq!(error, mpsc::error::SendTimeoutError::Timeout(2));
        assert_eq!(receiver.recv().await, Some(1));
    });
    let mut waits = Vec::new();
    region.scan(&tables::EventsWaitsHistoryLong, |row| {
        if row.event_name == CHANNEL.name() {
            waits.push(row.operation);
        }
    });
    assert_eq!(waits, ["send", "send", "recv"]);
}

/// A stream of messages wants tokio's own receiver.
#[test]
fn the_ends_of_a_channel_become_tokios() {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let (sender, receiver) = mpsc::channel(1);
        let (weak, permit) = (sender.downgrade(), sender.clone().reserve_owned().await.unwrap());
        let mut receiver = tokio::sync::mpsc::Receiver::from(receiver);
        drop(tokio::sync::mpsc::OwnedPermit::from(permit).send(1));
        assert_eq!(receiver.recv().await, Some(1));
        tokio::sync::mpsc::Sender::from(sender).send(2).await.unwrap();
        assert_eq!((receiver.recv().await, receiver.recv().await), (Some(2), None));
        assert!(tokio::sync::mpsc::WeakSender::from(weak).upgrade().is_none());
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(3).unwrap();
        assert_eq!(tokio::sync::mpsc::UnboundedReceiver::from(receiver).recv().await, Some(3));
        let (sender, receiver) = watch::channel(4);
        let (sender, mut receiver) = (tokio::sync::watch::Sender::from(sender), tokio::sync::watch::Receiver::from(receiver));
        sender.send(5).unwrap();
        assert_eq!((receiver.changed().await.is_ok(), *receiver.borrow()), (true, 5));
        let (sender, receiver) = oneshot::channel();
        sender.send(4).unwrap();
        assert_eq!(tokio::sync::oneshot::Receiver::from(receiver).await, Ok(4));
        let (sender, receiver) = broadcast::channel(1);
        let weak = tokio::sync::broadcast::WeakSender::from(sender.downgrade());
        let mut receiver = tokio::sync::broadcast::Receiver::from(receiver);
        tokio::sync::broadcast::Sender::from(sender).send(5).unwrap();
        assert_eq!((receiver.recv().await, weak.upgrade().is_none()), (Ok(5), true));
    });
}

/// What a program has opened before its runtime was there goes on under its name.
#[test]
fn a_file_stays_the_one_that_it_is() {
    let process = process();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("converted-{}", std::process::id()));
    fs::write(&path, "abc").unwrap();
    let row = || {
        let mut rows = Vec::new();
        process.region().scan(&tables::FileInstances, |row| {
            if row.file_name.as_str().ends_with(path.file_name().unwrap().to_str().unwrap()) {
                rows.push((row.event_name.to_string(), row.open_count));
            }
        });
        rows
    };
    let mut file = twins::fs::File::from(fs::File::open(&path).unwrap());
    assert_eq!(row(), [("wait/io/file/std/File".into(), 1)]);
    let mut text = String::new();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(file.read_to_string(&mut text)).unwrap();
    assert_eq!(text, "abc");
    let mut read = 0;
    process.region().scan(&tables::FileSummaryByInstance, |row| {
        read += if row.file_name.as_str().contains("converted-") { row.sum_number_of_bytes_read } else { 0 };
    });
    assert_eq!(read, 3);
    drop(file);
    assert_eq!(row(), [("wait/io/file/std/File".into(), 0)]);
    fs::remove_file(&path).unwrap();
}

/// Both options are ours where a program has swapped both `use` lines.
#[test]
fn options_stay_those_that_they_are() {
    let process = process();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("options-{}", std::process::id()));
    let mut options = perfschema::fs!("wait/io/file/test/options").options();
    options.write(true).create_new(true);
    let options = twins::fs::OpenOptions::from(options);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        drop(options.open(&path).await.unwrap());
        assert_eq!(options.open(&path).await.unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    });
    let mut waits = Vec::new();
    process.region().scan(&tables::EventsWaitsHistoryLong, |row| {
        if row.event_name == "wait/io/file/test/options" {
            waits.push(row.operation);
        }
    });
    assert_eq!(waits, ["create", "close", "create"]);
    fs::remove_file(&path).unwrap();
}
