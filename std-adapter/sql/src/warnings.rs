//! What a statement warns of: all of it is counted, and as much is kept as `max_error_count` says.

use crate::Error;
use crate::session::Warning;
use crate::state::{State, lock};

/// As long as MySQL's messages, in bytes.
const MAX_MESSAGE: usize = 511;

/// Those of one statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    kept: Vec<Warning>,
    count: usize,
    errors: usize,
}

impl Warnings {
    /// A warning more, of which so many are kept.
    fn add(&mut self, level: &'static str, mut error: Error, most: u64) {
        self.count += 1;
        self.errors += usize::from(level == "Error");
        if (self.kept.len() as u64) < most {
            error.message.truncate(error.message.floor_char_boundary(MAX_MESSAGE));
            self.kept.push(Warning { level, error });
        }
    }

    pub(crate) fn kept(&self) -> &[Warning] {
        &self.kept
    }

    /// How many there were, errors among them.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn errors(&self) -> usize {
        self.errors
    }
}

impl State {
    /// The statement warns of this: `Note`, `Warning` or `Error`.
    pub(crate) fn warn(&self, level: &'static str, error: Error) {
        let most = self.number("max_error_count");
        lock(&self.settings).warnings.add(level, error, most);
    }

    /// What was warned of is no longer.
    pub(crate) fn forget_warnings(&self) {
        lock(&self.settings).warnings = Warnings::default();
    }

    /// Those of the last statement.
    pub(crate) fn warnings(&self) -> Warnings {
        lock(&self.settings).warnings.clone()
    }
}
