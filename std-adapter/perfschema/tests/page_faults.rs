//! What is recorded into memory for the first time costs one page fault a page. Memory that was read before it is written costs two, and
//! the second interrupts every processor that runs the program.
#![cfg(all(feature = "instrument", target_os = "linux", not(miri), not(perfschema_sanitizer)))]

use perfschema::Size;
use perfschema::core::Config;
use perfschema::fs::Fs;
use std::fs;

static FILES: Fs = perfschema::fs!("wait/io/file/test/files");

/// Of the calling thread, so far, without those that had to wait for a disk.
fn page_faults() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let behind_name = &stat[stat.rfind(')').unwrap() + 2..];
    behind_name.split(' ').nth(7).unwrap().parse().unwrap()
}

#[test]
fn a_file_that_is_new_is_written_before_it_is_read() {
    const COUNT: u32 = 1000;
    // One more for the folder. No page is smaller than that.
    let bytes = |files| Config::DEFAULT.with(Size::MaxFileInstances, files).size_bytes() as u64;
    let pages = (bytes(COUNT + 1) - bytes(0)) / 4096;

    let dir = std::env::temp_dir().join(format!("perfschema-page-faults-{}", std::process::id()));
    fs::create_dir(&dir).unwrap();
    let paths: Vec<_> = (0..COUNT).map(|number| dir.join(format!("file-{number}"))).collect();
    paths.iter().for_each(|path| fs::write(path, "").unwrap());
    perfschema::builder().environment(false).everything(true).size(Size::MaxFileInstances, COUNT + 1).start().unwrap();
    // The thread's own pages.
    drop(FILES.open(&dir).unwrap());

    let before = page_faults();
    paths.iter().for_each(|path| drop(FILES.open(path).unwrap()));
    let faults = page_faults() - before;
    fs::remove_dir_all(&dir).unwrap();
    // The buckets in which files are found are few pages, and looked at first.
    assert!(faults < pages * 3 / 2, "{faults} page faults for {pages} pages");
}
