//! Tables by event name: of each instrument one row, or a run of rows.

use crate::Class;
use crate::region::{Region, Text};
use crate::table::Sweep;

/// Delivers each of the classes that is registered, and its name; of each come `rows` rows.
pub(super) fn sweep(
    region: &Region<'_>,
    classes: impl ExactSizeIterator<Item = Class>,
    rows: usize,
    mut each: impl FnMut(Class, Text<128>),
) -> Sweep {
    let mut sweep = Sweep::of(classes.len() * rows);
    for class in classes {
        let name = region.class_name(class);
        if name == "" {
            sweep.free(rows);
            continue;
        }
        each(class, name);
        (0..rows).for_each(|_| sweep.row());
    }
    sweep
}
