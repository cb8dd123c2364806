//! `perfschema demo`: a small search server, and what it waits for.
//!
//! ```text
//!  corpus ─ jobs ─→ queue ─→ worker-1 … worker-N ─ batches ─→ index: dictionary + postings ─→ search ─→ server ←─ load
//!                     main: progress, who waits for whom (schema::live), at the end the index on disk (store), schema::report
//! ```
//! `corpus` finds the files, `queue` hands them out, `worker` reads and divides them into terms (the crate in `terms`), `index` keeps
//! the terms (`dictionary`) and where they are (`postings`). Then `server` answers queries, if it shall, and `load` is who asks. None
//! of them knows the performance schema beyond naming its locks, files and sockets, and counting (`metrics`). All that reads the tables is in `schema`; a
//! build without the feature `instrument` has `uninstrumented` in its place.

mod corpus;
mod dictionary;
mod index;
mod indexer;
#[cfg(unix)]
mod load;
mod metrics;
mod postings;
mod progress;
mod queue;
#[cfg(feature = "instrument")]
mod schema;
#[cfg(not(feature = "instrument"))]
#[path = "uninstrumented.rs"]
mod schema;
#[cfg(unix)]
mod search;
#[cfg(unix)]
mod server;
mod store;
#[cfg(unix)]
mod stream;
mod waiting;
mod worker;

#[cfg(unix)]
use crate::arguments::address;
use crate::arguments::positive;
use crate::output::{self, Format};
use corpus::Corpus;
use indexer::{Figures, Indexer};
#[cfg(unix)]
use perfschema::render::text::escape;
use perfschema::thread;
use progress::Progress;
use schema::Schema;
use std::fmt;
use std::io::{self, Write};
#[cfg(unix)]
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the main thread looks who waits.
const TICK: Duration = Duration::from_millis(20);

/// Index all text files below a folder with several threads, serve queries, and show what all that waits for.
///
/// While it runs: who waits for whom right now. At the end: the waits summed, the longest ones with their source lines, and what
/// recording them cost.
///
/// With --listen or --socket it answers queries once the index is there, until Ctrl-C or for --seconds: a line of words in, out
/// how many documents have all of them, the best ones, and an empty line. --load is a client that asks such a server as fast as
/// it can.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder. Binary files, symbolic links, and folders named .git or target are skipped.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// How many threads index [default: one a core, at least 4].
    #[arg(long, value_name = "N", value_parser = positive::<NonZero<u16>>, allow_negative_numbers = true)]
    threads: Option<NonZero<u16>>,
    /// Serve, or ask, for so long; without either repeat the work for so long, for measuring, and finish the last run.
    #[arg(long, value_name = "N", value_parser = seconds, allow_negative_numbers = true)]
    seconds: Option<Duration>,
    /// Where the index is written at the end [default: a file of the system's folder for such, which is removed again].
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// Answer queries over TCP at this address, such as 127.0.0.1:7878; port 0 is one that is free.
    #[cfg(unix)]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Answer queries on a Unix socket of this path.
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Do nothing but ask a server: an address, or the path of a Unix socket, with a slash in it.
    #[cfg(unix)]
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["dir", "listen", "socket", "index", "off", "threads", "options", "format"])]
    load: Option<String>,
    /// Over how many connections --load asks.
    #[cfg(unix)]
    #[arg(long, value_name = "N", default_value = "4", requires = "load",
          value_parser = positive::<NonZero<u16>>, allow_negative_numbers = true)]
    connections: NonZero<u16>,
    /// Start with everything off.
    #[arg(long)]
    off: bool,
    /// An option of the performance schema, such as 'performance-schema-instrument=wait/%=COUNTED', or '…=memory/%=ON' to
    /// count memory, too; can be repeated.
    #[arg(long = "option", value_name = "OPTION")]
    options: Vec<String>,
    /// How to print the tables at the end.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds above 0, such as 10 or 0.5".into())
}

/// Why there is nothing to show.
#[derive(Debug)]
pub(crate) enum DemoError {
    /// The folder cannot be looked at.
    Folder { dir: PathBuf, error: io::Error },
    /// What was given is not a folder.
    NotAFolder { dir: PathBuf },
    /// Nothing below the folder is text.
    NoText { dir: PathBuf, skipped: String },
    /// The index cannot be written.
    Index { path: PathBuf, error: io::Error },
    /// It cannot listen there.
    #[cfg(unix)]
    Listen { place: String, error: io::Error },
    /// It would not notice that it should end.
    #[cfg(unix)]
    Signals { error: io::Error },
    /// Nobody serves there.
    #[cfg(unix)]
    Connect { place: String, error: io::Error },
    /// Who serves there answered none of the connections to the end.
    #[cfg(unix)]
    Broken { place: String, error: io::Error },
    /// The system gave no thread.
    Thread { error: io::Error },
    /// The performance schema did not start.
    #[cfg(feature = "instrument")]
    Start(perfschema::StartError),
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DemoError::Folder { dir, error } => write!(f, "cannot look into {}: {error}", output::path(dir)),
            DemoError::NotAFolder { dir } => {
                write!(f, "{} is not a folder; the demo indexes all text files below one", output::path(dir))
            }
            DemoError::NoText { dir, skipped } => write!(f, "no text files below {} ({skipped})", output::path(dir)),
            DemoError::Index { path, error } => write!(f, "cannot write the index to {}: {error}", output::path(path)),
            #[cfg(unix)]
            DemoError::Listen { place, error } => write!(f, "cannot listen on {place}: {error}"),
            #[cfg(unix)]
            DemoError::Signals { error } => write!(f, "cannot wait for signals: {error}"),
            #[cfg(unix)]
            DemoError::Connect { place, error } => {
                // As `connect` tells them apart.
                let option = if place.contains('/') { "--socket" } else { "--listen" };
                write!(f, "cannot connect to {}: {error}; perfschema demo {option} starts a server", escape(place))
            }
            #[cfg(unix)]
            DemoError::Broken { place, error } => write!(f, "all connections to {} broke: {error}", escape(place)),
            DemoError::Thread { error } => {
                write!(f, "cannot start a thread: {error}; fewer --threads, or --connections, may help")
            }
            #[cfg(feature = "instrument")]
            DemoError::Start(error) => write!(f, "the performance schema does not start: {error}"),
        }
    }
}

impl std::error::Error for DemoError {}

/// How long the runs took.
#[derive(Debug)]
struct Effort {
    runs: u32,
    wall: Duration,
    /// The time that all threads spent computing, where the system is asked for it.
    cpu: Option<Duration>,
    threads: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), crate::Error> {
    #[cfg(unix)]
    if let Some(to) = &args.load {
        return load::run(args, to, &mut output::stdout());
    }
    // First, so that every lock registers at its first use.
    let schema = Schema::start(args)?;
    match std::fs::metadata(&args.dir) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(DemoError::NotAFolder { dir: args.dir.clone() }.into()),
        Err(error) => return Err(DemoError::Folder { dir: args.dir.clone(), error }.into()),
    }
    let threads = args.threads.map_or_else(default_threads, |threads| threads.get().into());
    let indexer = &Indexer::new(progress::searching(&args.dir, || Corpus::below(&args.dir)));
    // Made once the index is there, and used by threads of the scope.
    let service = &Service::new();
    let mut result = Ok(());
    thread::scope(|scope| {
        // Also where the report panics: the scope waits for the threads, and they for what is closed then.
        let _closes = queue::CloseOnDrop(&indexer.queue);
        for number in 0..threads {
            let worker = thread::Builder::new().name(format!("worker-{}", number + 1));
            if let Err(error) = worker.spawn_scoped(scope, move || worker::work(indexer, number)) {
                result = Err(DemoError::Thread { error }.into());
                break;
            }
        }
        if result.is_ok() {
            // The threads live on until the report is written: of those that are gone there are no rows by thread.
            result = index(args, indexer, &schema, threads, |args| service.run(args, indexer, scope));
            service.stop();
        }
    });
    result
}

/// Runs as often as it shall, serves, and reports.
fn index(
    args: &Args,
    indexer: &Indexer,
    schema: &Schema,
    threads: usize,
    serve: impl FnOnce(&Args) -> Result<Option<String>, DemoError>,
) -> Result<(), crate::Error> {
    let mut progress = Progress::new(indexer.corpus.size_bytes());
    let (begin, cpu_begin) = (Instant::now(), cpu_time());
    let mut runs = 0;
    loop {
        runs += 1;
        progress.begin_run(runs);
        indexer.run(TICK, |done_bytes| progress.look(done_bytes, || schema.threads()));
        if indexer.has_failed() || args.serves() || args.seconds.is_none_or(|seconds| begin.elapsed() >= seconds) {
            break;
        }
    }
    let effort = Effort { runs, wall: begin.elapsed(), cpu: cpu_since(cpu_begin), threads };
    progress.finish();
    let figures = indexer.figures();
    if figures.files == 0 {
        return Err(DemoError::NoText { dir: args.dir.clone(), skipped: skipped(&figures) }.into());
    }
    let stored = store_index(args, indexer)?;
    let served = serve(args)?;
    let mut out = output::stdout();
    if args.format.is_for_programs() {
        // Whoever reads the tables gets them, though nobody may read this.
        let _ = write_figures(&mut io::stderr().lock(), &figures, &effort, &stored, served.as_deref());
    } else {
        write_figures(&mut out, &figures, &effort, &stored, served.as_deref())?;
    }
    // What the waits cost is compared with all that was computed.
    let effort = Effort { cpu: cpu_since(cpu_begin), ..effort };
    schema.report(&mut out, args.format, output::width(), &effort)?;
    Ok(out.flush()?)
}

/// Writes the index to disk, and says what became of it.
fn store_index(args: &Args, indexer: &Indexer) -> Result<String, DemoError> {
    let temporary = || std::env::temp_dir().join(format!("perfschema-demo-{}.index", std::process::id()));
    let path = args.index.clone().unwrap_or_else(temporary);
    let remove = |bytes| if args.index.is_none() { store::remove(&path).map(|()| bytes) } else { Ok(bytes) };
    let bytes = store::write(&indexer.index, &path).and_then(remove);
    let bytes = bytes.map_err(|error| DemoError::Index { path: path.clone(), error })?;
    let place = args.index.as_ref().map_or("a temporary file, removed".into(), |path| output::path(path));
    Ok(format!("{} to {place}", indicatif::DecimalBytes(bytes)))
}

impl Args {
    /// Whether queries are answered.
    fn serves(&self) -> bool {
        #[cfg(unix)]
        return self.listen.is_some() || self.socket.is_some();
        #[cfg(not(unix))]
        return false;
    }
}

/// The server, if there is to be one.
#[cfg(unix)]
struct Service<'i>(std::sync::OnceLock<server::Server<'i>>);

#[cfg(unix)]
impl<'i> Service<'i> {
    fn new() -> Service<'i> {
        Service(std::sync::OnceLock::new())
    }

    /// Serves until Ctrl-C or for as long as it shall, and says what came of it. The connections stay until [`stop`](Self::stop).
    fn run<'s>(
        &'s self,
        args: &Args,
        indexer: &'i Indexer,
        scope: &'s thread::Scope<'s, '_>,
    ) -> Result<Option<String>, DemoError> {
        use indicatif::HumanCount;
        use std::sync::atomic::{AtomicBool, Ordering};
        if !args.serves() {
            return Ok(None);
        }
        // The first Ctrl-C ends the serving, the second one all.
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let second = signal_hook::flag::register_conditional_shutdown(signal, 1, std::sync::Arc::clone(&stop));
            let first = second.and_then(|_| signal_hook::flag::register(signal, std::sync::Arc::clone(&stop)));
            first.map_err(|error| DemoError::Signals { error })?;
        }
        let server = server::Server::bind(indexer, args.listen, args.socket.as_deref())?;
        let server = self.0.get_or_init(|| server);
        server.start(scope)?;
        let begin = Instant::now();
        let progress = progress::serving();
        while !stop.load(Ordering::Relaxed) && args.seconds.is_none_or(|seconds| begin.elapsed() < seconds) {
            thread::sleep(TICK);
            let (open, queries) = server.figures();
            progress.set_message(format!("{open} connections, {} queries", HumanCount(queries)));
        }
        progress.finish_and_clear();
        let ((_, queries), connections) = (server.figures(), HumanCount(server.connections()));
        Ok(Some(format!(
            "{} queries over {connections} connections in {:.2} s",
            HumanCount(queries),
            begin.elapsed().as_secs_f64()
        )))
    }

    fn stop(&self) {
        self.0.get().into_iter().for_each(server::Server::stop);
    }
}

/// There is none.
#[cfg(not(unix))]
struct Service;

#[cfg(not(unix))]
impl Service {
    fn new() -> Service {
        Service
    }

    fn run(&self, _: &Args, _: &Indexer, _: &thread::Scope<'_, '_>) -> Result<Option<String>, DemoError> {
        Ok(None)
    }

    fn stop(&self) {}
}

fn default_threads() -> usize {
    thread::available_parallelism().map_or(4, NonZero::get).max(4)
}

/// The time that all threads of the process spent computing.
fn cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    return Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime)).ok();
    #[cfg(not(unix))]
    return None;
}

fn cpu_since(begin: Option<Duration>) -> Option<Duration> {
    Some(cpu_time()?.saturating_sub(begin?))
}

fn write_figures(out: &mut dyn Write, figures: &Figures, effort: &Effort, stored: &str, served: Option<&str>) -> io::Result<()> {
    use indicatif::{DecimalBytes, HumanCount};
    let Figures { files, bytes, words, terms, postings, .. } = *figures;
    let Effort { runs, wall, cpu, threads } = *effort;
    let per_second = DecimalBytes((bytes as f64 * f64::from(runs) / wall.as_secs_f64()) as u64);
    let (wall, cpu) = (wall.as_secs_f64(), cpu.map_or(String::new(), |cpu| format!(", {:.2} s of CPU", cpu.as_secs_f64())));
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{} runs", HumanCount(runs.into())) };
    writeln!(out, "indexed   {} files, {}, {} words", HumanCount(files), DecimalBytes(bytes), HumanCount(words))?;
    writeln!(out, "skipped   {}", skipped(figures))?;
    writeln!(out, "index     {} different terms, {} postings", HumanCount(terms), HumanCount(postings))?;
    writeln!(out, "took      {wall:.2} s{cpu}: {runs} with {threads} threads, {per_second}/s")?;
    writeln!(out, "written   {stored}")?;
    served.map_or(Ok(()), |served| writeln!(out, "served    {served}"))
}

fn skipped(figures: &Figures) -> String {
    format!("{} binary, {} unreadable, {} too large", figures.binary, figures.unreadable, figures.too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_above_zero() {
        assert_eq!(seconds("10"), Ok(Duration::from_secs(10)));
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["", "0", "-1", "NaN", "inf", "1e300", "ten"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
