//! Memory that all sessions of a database take together: for rows and results, and for tables of schema `test`.

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

    /// Takes up to so many bytes more: what is left of what all together may have. Returns how many.
    pub(crate) fn grow_by_what_is_left(&mut self, budget: &Arc<Budget>, bytes: usize, most: usize) -> usize {
        let budget = self.budget.get_or_insert_with(|| Arc::clone(budget));
        let more = |taken: usize| bytes.min(most.saturating_sub(taken));
        let before = budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| Some(taken + more(taken)));
        let granted = more(before.unwrap_or(most));
        self.bytes += granted;
        granted
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
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
