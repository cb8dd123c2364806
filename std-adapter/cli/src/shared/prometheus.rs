//! `perfschema prometheus`

use super::{Error, target};
use crate::arguments::number;
use crate::output;
use perfschema_server::Metrics;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

/// Print another program's metrics once, in Prometheus' text format: waits, io, what was lost.
///
/// With --output they go to a file that is replaced as a whole, as the textfile collector of Prometheus' node_exporter wants it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  perfschema prometheus 17694 --output /var/lib/prometheus/node-exporter/app.prom")]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// The file to write; - is standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form that OpenMetrics has made of the format.
    #[arg(long, conflicts_with = "output")]
    open_metrics: bool,
    /// How many files, or the like, have metrics of their own.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = number::<usize>, allow_negative_numbers = true)]
    instances: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let metrics = Metrics::new(target::find(&args.target).map_err(Error::Target)?).instances(args.instances);
    if let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", output::path(path)));
        return Ok(metrics.write_file(path).map_err(named)?);
    }
    let mut out = output::stdout();
    let text = if args.open_metrics { metrics.open_metrics() } else { metrics.prometheus() };
    output::write_data(&mut out, text)?;
    out.flush()?;
    Ok(())
}
