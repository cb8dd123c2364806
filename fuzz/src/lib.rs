//! Fuzz bodies: ordinary functions that take bytes, so that the stored corpus replays in the normal test run and libFuzzer can drive them.
//!
//! A body panics when what it looks at is wrong. To add one: a function here, a line in [`TARGETS`], a file in
//! `fuzz/targets/fuzz_targets` and its `[[bin]]`, and inputs in `fuzz/corpus/NAME`; `tests/corpus.rs` says what is missing.
//!
//! # Your own target
//! Code of yours that reads regions, an exporter say, meets whatever bytes another process or a file has. The core promises that reading
//! them ends, without a panic and without a value that its column forbids; your code can promise the same:
//! ```
//! use perfschema_core::{Region, Word, copy_from_bytes, tables};
//!
//! /// What is to be fuzzed.
//! fn export(region: &Region<'_>) -> String {
//!     let mut text = String::new();
//!     for table in tables::ALL {
//!         table.scan(region, &mut |row| text += &format!("{} {}\n", table.declaration().name, row.cell(0)));
//!     }
//!     text
//! }
//!
//! /// Any bytes; few of them are a region at all.
//! fn export_bytes(data: &[u8]) {
//!     let words: Vec<Word> = (0..data.len() / 8).map(|_| Word::new(0)).collect();
//!     copy_from_bytes(data, &words).expect("there is room");
//!     if let Ok(region) = Region::open(&words) {
//!         export(&region);
//!     }
//! }
//!
//! /// A region in use, in which the bytes change some words: most of these open, and are wrong further in.
//! fn export_mutated(data: &[u8]) {
//!     if let Ok(region) = Region::open(&perfschema_fuzz::region::mutated(data)) {
//!         assert!(!export(&region).is_empty());
//!     }
//! }
//! export_bytes(b"PERFSCHM");
//! export_mutated(&[0; 11]);
//! ```
//! With cargo-fuzz: `cargo fuzz init`, and in `fuzz_targets/` a file with `libfuzzer_sys::fuzz_target!(|data: &[u8]| export_mutated(data));`.

pub mod calibration;
pub mod dialect;
pub mod http;
pub mod metrics;
pub mod names;
pub mod options;
pub mod packets;
pub mod patterns;
pub mod region;
pub mod sql;

/// A fuzz body: it takes any bytes.
pub type Body = fn(&[u8]);

/// Each target and its body.
pub const TARGETS: &[(&str, Body)] = &[
    ("calibration", calibration::calibration),
    ("dialect", dialect::dialect),
    ("http", http::http),
    ("metrics", metrics::metrics),
    ("names", names::names),
    ("options", options::options),
    ("packets", packets::packets),
    ("patterns", patterns::patterns),
    ("region_bytes", region::region_bytes),
    ("region_live", region::region_live),
    ("region_mutated", region::region_mutated),
    ("sql", sql::sql),
];
