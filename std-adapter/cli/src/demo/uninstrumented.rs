//! In place of `schema` in a build without the feature `instrument`: the locks are std's, and there is nothing to read.

use super::waiting::ThreadNow;
use super::{Args, DemoError, Effort};
use crate::output::Format;
use std::io::{self, Write};

/// Nothing.
#[derive(Debug)]
pub(crate) struct Schema;

impl Schema {
    pub(crate) fn start(args: &Args) -> Result<Schema, DemoError> {
        if args.off || !args.options.is_empty() {
            note!("perfschema: --off and --option do nothing in a build without the feature 'instrument'");
        }
        Ok(Schema)
    }

    pub(crate) fn threads(&self) -> Vec<ThreadNow> {
        Vec::new()
    }

    pub(crate) fn report(&self, out: &mut dyn Write, format: Format, _width: usize, _effort: &Effort) -> io::Result<()> {
        if format.is_for_programs() {
            return Ok(());
        }
        writeln!(out, "\nBuilt without the feature 'instrument': the locks are std's, and no waits were recorded.")
    }
}
