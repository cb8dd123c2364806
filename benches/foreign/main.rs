//! A program around a crate that nobody here wrote: messages through flume's channels, as its own benchmark sends them.
//!
//! `benches/whole-programs` builds it twice: with flume as it is, and with flume's mutexes exchanged for perfschema's.

use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, recording] = arguments.as_slice() else { panic!("expected a workload, and on or off") };
    start(recording == "on");
    match workload.as_str() {
        "inout" => inout(4_000_000),
        "mpsc" => mpsc(2_000_000, |message| message),
        "mpsc-work" => mpsc(200_000, hash),
        other => panic!("no workload {other}; there are inout, mpsc, mpsc-work"),
    }
}

#[cfg(feature = "perfschema")]
fn start(on: bool) {
    let started = perfschema::builder().environment(false).everything(on).start();
    started.expect("nothing started it before");
}

#[cfg(not(feature = "perfschema"))]
fn start(_on: bool) {}

/// One thread, nobody else: every message is two locks that nobody holds, and hardly anything else. The worst case.
fn inout(messages: u64) {
    let (sender, receiver) = flume::unbounded();
    for message in 0..messages {
        sender.send(message).expect("the receiver is there");
        black_box(receiver.recv().expect("the sender is there"));
    }
}

/// Two threads send, one receives and works.
fn mpsc(messages: u64, work: fn(u64) -> u64) {
    let (sender, receiver) = flume::bounded(256);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (0..messages / 2).for_each(|message| sender.send(message).expect("the receiver is there")));
        }
        drop(sender);
        receiver.iter().for_each(|message| _ = black_box(work(message)));
    });
}

/// Some microseconds of work: what a request is at least.
fn hash(message: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (0..1_000).for_each(|word: u64| hasher.write_u64(word ^ message));
    hasher.finish()
}
