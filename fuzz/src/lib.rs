//! Fuzz bodies: ordinary functions that take bytes, so that the stored corpus replays in the normal test run and libFuzzer can drive them.

pub mod names;
pub mod options;
pub mod patterns;
