//! Memory for rows and results that all sessions of a database take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes of it are taken.
#[derive(Debug, Default)]
pub(crate) struct Budget(AtomicUsize);

/// What one statement has of it, which is given back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// None while there is nothing.
    budget: Option<Arc<Budget>>,
    bytes: usize,
}

impl Part {
    /// Takes more, if all together have no more than `most` then. Returns whether they have.
    pub(crate) fn grow(&mut self, budget: &Arc<Budget>, bytes: usize, most: usize) -> bool {
        let budget = self.budget.get_or_insert_with(|| Arc::clone(budget));
        // Relaxed, here and below: nothing else is published by it.
        let taken = budget.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.bytes += bytes;
        if taken > most {
            self.shrink(bytes);
        }
        taken <= most
    }

    /// Gives back so many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        if let Some(budget) = &self.budget {
            budget.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}
