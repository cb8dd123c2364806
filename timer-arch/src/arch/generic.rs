//! Any other processor: no counter that we know how to read.

use super::Probe;
use crate::Source;

pub(crate) const SOURCE: Source = Source::None;

pub(crate) const ALWAYS: bool = false;

pub(crate) fn read() -> u64 {
    0
}

pub(crate) fn read_ordered() -> u64 {
    0
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn prefetch_for_write<const OFFSET: usize>(_: usize) {}

pub(crate) fn probe() -> Probe {
    Probe::Absent
}
