//! Of a region only the pages that something was written to are in memory, as the kernel counts them.

use crate::{argument, command, succeeds};
use perfschema::Size;
use perfschema::sync::Mutex;

static LOCK: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/test/lock", 0);

/// Bytes of the process that are in memory, also those that others see.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

pub(crate) fn program() {
    let builder = perfschema::builder().everything(true).environment(false).size(Size::MaxThreadInstances, 1000);
    let before = resident_bytes();
    let process = builder.share(argument() == "shared").start().unwrap();
    *LOCK.lock().unwrap() += 1;
    let (taken, size) = (resident_bytes() - before, process.region().config().size_bytes() as u64);
    // What the program has of itself in memory by now is among it.
    if let Some(file) = process.shared_file() {
        std::fs::remove_file(file.unwrap()).unwrap();
    }
    assert!(size > 64 << 20 && taken < 4 << 20, "{taken} bytes of {size} are in memory");
}

#[test]
fn what_is_not_written_takes_no_memory() {
    for memory in ["private", "shared"] {
        succeeds(&mut command("pages", memory));
    }
}
