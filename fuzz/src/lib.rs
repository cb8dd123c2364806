//! Fuzz bodies: ordinary functions that take bytes, so that the stored corpus replays in the normal test run and libFuzzer can drive them.
//!
//! A body panics when what it looks at is wrong. To add one: a function here, a line in [`TARGETS`], a file in
//! `fuzz/targets/fuzz_targets` and its `[[bin]]`, and inputs in `fuzz/corpus/NAME`; `tests/corpus.rs` says what is missing.

pub mod calibration;
pub mod names;
pub mod options;
pub mod patterns;
pub mod region;

/// A fuzz body: it takes any bytes.
pub type Body = fn(&[u8]);

/// Each target and its body.
pub const TARGETS: &[(&str, Body)] = &[
    ("calibration", calibration::calibration),
    ("names", names::names),
    ("options", options::options),
    ("patterns", patterns::patterns),
    ("region_bytes", region::region_bytes),
    ("region_live", region::region_live),
    ("region_mutated", region::region_mutated),
];
