//! What tests need that tell the same story with a module and with the one that mirrors it, and those that have one region in common.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(missing_docs, reason = "a test's own helpers")]
#![allow(unreachable_pub, reason = "shared by several test crates")]
#![allow(missing_debug_implementations, reason = "a test's own helpers")]

#[cfg(feature = "instrument")]
use perfschema::Region;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "instrument")]
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// When a story is told: before the start, when nobody records, and with everything on.
pub const ROUNDS: &[&str] = if cfg!(feature = "instrument") { &["without", "with"] } else { &["without"] };

/// The region that `start` gives the first time, and that no other test uses it meanwhile.
#[cfg(feature = "instrument")]
pub fn alone(start: impl FnOnce() -> &'static Region<'static>) -> (&'static Region<'static>, MutexGuard<'static, ()>) {
    static ALONE: Mutex<()> = Mutex::new(());
    static REGION: OnceLock<&Region<'static>> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (REGION.get_or_init(start), alone)
}

/// Where this panics, by file and line.
pub fn place_of_panic<T>(run: impl FnOnce() -> T) -> (String, u32) {
    let (me, before) = (std::thread::current().id(), Arc::new(std::panic::take_hook()));
    let (place, other) = (Arc::new(std::sync::OnceLock::new()), Arc::clone(&before));
    let found = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |info| match info.location() {
        Some(location) if std::thread::current().id() == me => drop(found.set((location.file().to_owned(), location.line()))),
        _ => other(info),
    }));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    std::panic::set_hook(Box::new(move |info| before(info)));
    assert!(result.is_err(), "no panic");
    place.get().expect("it has a place").clone()
}

/// An empty folder at this place.
pub fn empty_folder(folder: PathBuf) -> PathBuf {
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What happened, a line each. What is another every time, such as ports, descriptors and times, is left out.
#[derive(Default)]
pub struct Story(pub Vec<String>);

impl Story {
    pub fn tell(&mut self, what: impl Debug) {
        self.0.push(format!("{what:?}"));
    }

    pub fn result<T: Debug>(&mut self, result: std::io::Result<T>) -> Option<T> {
        match &result {
            Ok(value) => self.tell(value),
            Err(error) => self.tell((error.kind(), error.raw_os_error(), error.to_string())),
        }
        result.ok()
    }

    /// Looks where this is not the other's story, of which there must be more than so many lines.
    #[track_caller]
    pub fn is_that_of(&self, expected: &Story, more_than: usize, round: &str) {
        let (told, expected) = (&self.0, &expected.0);
        assert!(expected.len() > more_than, "{}", expected.len());
        for number in 0..expected.len() {
            let before = &expected[number.saturating_sub(3)..number];
            assert_eq!(told.get(number), expected.get(number), "line {number}, {round}, after {before:?}");
        }
        assert_eq!(told.len(), expected.len());
    }
}

/// Whether the kernel has IPv6; says so loudly if not.
pub fn has_ipv6() -> bool {
    let has = std::net::UdpSocket::bind("[::1]:0").is_ok();
    if !has {
        eprintln!("IPv6 IS NOT TESTED: this kernel has no [::1]");
    }
    has
}
