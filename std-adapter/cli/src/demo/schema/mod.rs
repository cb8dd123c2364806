//! What the demo reads from its performance schema: while it runs, and at the end.

mod live;
mod overhead;
mod report;

use super::waiting::ThreadNow;
use super::{Args, DemoError, Effort};
use crate::output::Format;
use perfschema::{Region, Size};
use std::collections::HashMap;
use std::io::{self, Write};

/// As many files as most folders have: each takes about a kilobyte of address space, and of memory once it is opened.
const FILES_MAX: u32 = 16_384;

/// The demo's own performance schema.
#[derive(Debug)]
pub(crate) struct Schema {
    region: &'static Region<'static>,
}

impl Schema {
    /// Starts it, with everything on unless `--off` or an `--option` says otherwise.
    pub(crate) fn start(args: &Args) -> Result<Schema, DemoError> {
        let builder = perfschema::builder().everything(!args.off).size(Size::MaxFileInstances, FILES_MAX);
        let builder = if args.off { builder.monitor_disable("all") } else { builder };
        let builder = args.options.iter().fold(builder, |builder, options| builder.options(options));
        let process = builder.start().map_err(DemoError::Start)?;
        #[cfg(target_os = "linux")]
        if let Some(Err(error)) = process.shared_file() {
            note!("perfschema: the tables are not shared: {error}");
        }
        Ok(Schema { region: process.region() })
    }

    /// What each thread does right now; without the calling one, which only looks.
    pub(crate) fn threads(&self) -> Vec<ThreadNow> {
        live::threads(self.region, perfschema::thread::thread_id())
    }

    /// Everything that the tables say at the end.
    pub(crate) fn report(&self, out: &mut dyn Write, format: Format, width: usize, effort: &Effort) -> io::Result<()> {
        report::write(out, self.region, format, width, effort)
    }
}

/// The names of all threads, by THREAD_ID: of `thread/perfschema/worker-1` the last part.
fn thread_names(region: &Region<'_>) -> HashMap<u64, String> {
    let mut names = HashMap::new();
    region.scan(&perfschema::tables::Threads, |row| {
        let name = row.name.as_str();
        names.insert(row.thread_id, name.rsplit('/').next().unwrap_or(name).to_owned());
    });
    names
}

/// An instrument's name for people: all of them here begin alike.
fn short_name(instrument: &str) -> &str {
    let prefixes = ["wait/synch/", "wait/io/", "stage/", "statement/"];
    prefixes.iter().find_map(|prefix| instrument.strip_prefix(prefix)).unwrap_or(instrument)
}

/// The object that an instrument is for, where the operation beside it tells of which kind it is: `demo/dictionary`.
fn object_name(instrument: &str) -> &str {
    let object = instrument.match_indices('/').nth(2).map(|(at, _)| &instrument[at + 1..]);
    object.unwrap_or(instrument)
}
