//! `perfschema demo --load`: clients that ask a demo's server one query after the other, and how long the answers take.
//!
//! A client begins with a common word, and goes on with words out of the names of the documents that it is shown.

use super::stream::Stream;
use super::{Args, DemoError};
use indicatif::{DecimalBytes, HumanCount, ProgressBar, ProgressStyle};
use perfschema::core::histogram;
use perfschema::core::picotime::format_pico_time;
use perfschema::net::TcpStream;
use perfschema::os::unix::net::UnixStream;
use perfschema_demo::for_each_term;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Words that most texts have.
const FIRST: [&str; 4] = ["the", "is", "a", "1"];
/// How often the progress is told.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long it takes if nobody says.
const SECONDS: Duration = Duration::from_secs(10);

/// A longer line is none of a demo's server: a path and a number.
const LINE_BYTES_MAX: u64 = 1 << 16;

/// What all clients came to. Relaxed: they are read when the clients have ended, and until then only shown.
#[derive(Debug)]
struct Tally {
    queries: AtomicU64,
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    failed: AtomicU64,
    /// Why the first of them did.
    first_error: Mutex<Option<io::Error>>,
    stopping: AtomicBool,
    /// How many answers took how long.
    latencies: Mutex<Latencies>,
}

#[derive(Debug)]
struct Latencies {
    buckets: Vec<u64>,
    sum_ns: u64,
    longest_ns: u64,
}

impl Latencies {
    fn new() -> Latencies {
        Latencies { buckets: vec![0; histogram::BUCKET_COUNT], sum_ns: 0, longest_ns: 0 }
    }

    fn note(&mut self, latency: Duration) {
        let ns = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[histogram::bucket(ns.saturating_mul(1000))] += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }

    fn add(&mut self, other: &Latencies) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, count)| *sum += count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

fn connect(to: &str) -> io::Result<Stream> {
    // A path has a slash, an address has none.
    if to.contains('/') {
        return UnixStream::connect(to).map(Stream::Unix);
    }
    let stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    Ok(Stream::Tcp(stream))
}

pub(crate) fn run(args: &Args, to: &str, out: &mut dyn Write) -> Result<(), crate::Error> {
    let connections: u64 = args.connections.get().into();
    let cannot = |error| DemoError::Connect { place: to.to_owned(), error };
    let streams = (0..connections).map(|_| connect(to)).collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    let tally = &Tally {
        queries: AtomicU64::new(0),
        bytes_sent: AtomicU64::new(0),
        bytes_received: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        first_error: Mutex::new(None),
        stopping: AtomicBool::new(false),
        latencies: Mutex::new(Latencies::new()),
    };
    let begin = Instant::now();
    let mut failed = None;
    thread::scope(|scope| {
        for (number, stream) in streams.iter().enumerate() {
            let client = thread::Builder::new().name(format!("client-{}", number + 1));
            if let Err(error) = client.spawn_scoped(scope, move || ask_all(stream, number, tally)) {
                failed = Some(DemoError::Thread { error });
                break;
            }
        }
        if failed.is_none() {
            watch(args.seconds.unwrap_or(SECONDS), begin, connections, tally);
        }
        tally.stopping.store(true, Ordering::Relaxed);
        streams.iter().for_each(Stream::shutdown);
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    write(out, connections, begin.elapsed(), tally)?;
    if tally.failed.load(Ordering::Relaxed) < connections {
        return Ok(());
    }
    let first = tally.first_error.lock().ok().and_then(|mut first| first.take());
    let error = first.unwrap_or_else(|| io::ErrorKind::ConnectionAborted.into());
    Err(DemoError::Broken { place: to.to_owned(), error }.into())
}

/// Shows how it goes, until the time is over or no client is left.
fn watch(limit: Duration, begin: Instant, connections: u64, tally: &Tally) {
    let bar = std::io::stderr().is_terminal().then(|| {
        let style = ProgressStyle::with_template("Asking {wide_bar:.green} {msg}").expect("the template is a constant");
        ProgressBar::new(limit.as_millis() as u64).with_style(style.progress_chars("━━─"))
    });
    let (mut before, mut next) = ((begin, 0), begin + INTERVAL);
    while begin.elapsed() < limit && tally.failed.load(Ordering::Relaxed) < connections {
        thread::sleep(INTERVAL.min(limit.saturating_sub(begin.elapsed())).min(Duration::from_millis(50)));
        let now = Instant::now();
        if now < next {
            continue;
        }
        let queries = tally.queries.load(Ordering::Relaxed);
        let per_second = (queries - before.1) as f64 / (now - before.0).as_secs_f64();
        let message = format!("{} queries, {}/s", HumanCount(queries), HumanCount(per_second as u64));
        match &bar {
            Some(bar) => {
                bar.set_position(begin.elapsed().as_millis() as u64);
                bar.set_message(message);
            }
            None => note!("{message}"),
        }
        before = (now, queries);
        // Lines ever more seldom.
        next = now + if bar.is_some() { INTERVAL } else { INTERVAL.max(begin.elapsed() / 2) };
    }
    bar.into_iter().for_each(|bar| bar.finish_and_clear());
}

/// A client.
fn ask_all(stream: &Stream, number: usize, tally: &Tally) {
    let mut latencies = Latencies::new();
    let result = ask_until_stopped(stream, number, tally, &mut latencies);
    if let Err(error) = result
        && !tally.stopping.load(Ordering::Relaxed)
    {
        if let Ok(mut first) = tally.first_error.lock() {
            first.get_or_insert(error);
        }
        tally.failed.fetch_add(1, Ordering::Relaxed);
    }
    if let Ok(mut all) = tally.latencies.lock() {
        all.add(&latencies);
    }
}

fn ask_until_stopped(mut stream: &Stream, number: usize, tally: &Tally, latencies: &mut Latencies) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut words: Vec<String> = FIRST.map(String::from).into();
    let (mut query, mut line) = (String::new(), Vec::new());
    // A small generator: each client asks something else.
    let mut random = number as u64;
    while !tally.stopping.load(Ordering::Relaxed) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        query.clear();
        query.push_str(&words[(random >> 33) as usize % words.len()]);
        query.push('\n');
        let begin = Instant::now();
        stream.write_all(query.as_bytes())?;
        let mut received = 0;
        loop {
            line.clear();
            let bytes = (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Err(if (bytes as u64) < LINE_BYTES_MAX {
                    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle of an answer")
                } else {
                    io::Error::new(io::ErrorKind::InvalidData, "a line that is longer than any of a demo's server")
                });
            }
            received += bytes as u64;
            if line == b"\n" {
                break;
            }
            for_each_term(&line, |term| learn(&mut words, term, random));
        }
        latencies.note(begin.elapsed());
        tally.queries.fetch_add(1, Ordering::Relaxed);
        tally.bytes_sent.fetch_add(query.len() as u64, Ordering::Relaxed);
        tally.bytes_received.fetch_add(received, Ordering::Relaxed);
    }
    Ok(())
}

/// Some words, and now and then another one for one of them.
fn learn(words: &mut Vec<String>, term: &str, random: u64) {
    const WORDS: usize = 64;
    if words.len() < WORDS {
        words.push(term.to_owned());
    } else if random.is_multiple_of(7) {
        let place = (random >> 20) as usize % WORDS;
        term.clone_into(&mut words[place]);
    }
}

fn write(out: &mut dyn Write, connections: u64, wall: Duration, tally: &Tally) -> io::Result<()> {
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let latencies = tally.latencies.lock().map_err(|_| io::Error::other("a client has panicked"))?;
    let answers: u64 = latencies.buckets.iter().sum();
    let time = |ps: u64| format_pico_time(ps).to_string().trim_start().to_owned();
    let quantile = |per_mille| time(histogram::quantile(latencies.buckets.iter().copied(), answers, per_mille));
    let per_second = answers as f64 / wall.as_secs_f64();
    let (failed, average_ns) = (load(&tally.failed), latencies.sum_ns.checked_div(answers).unwrap_or(0));
    writeln!(out, "asked     {} queries over {connections} connections, {failed} broken", HumanCount(load(&tally.queries)))?;
    writeln!(out, "took      {:.2} s: {} queries/s", wall.as_secs_f64(), HumanCount(per_second as u64))?;
    let (average, longest) = (time(average_ns.saturating_mul(1000)), time(latencies.longest_ns.saturating_mul(1000)));
    writeln!(
        out,
        "latency   average {average}, 50 % {}, 95 % {}, 99 % {}, longest {longest}",
        quantile(500),
        quantile(950),
        quantile(990)
    )?;
    let (sent, received) = (load(&tally.bytes_sent), load(&tally.bytes_received));
    writeln!(out, "bytes     {} sent, {} received", DecimalBytes(sent), DecimalBytes(received))?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_add_up() {
        let mut all = Latencies::new();
        let mut one = Latencies::new();
        [1, 2, 30].into_iter().for_each(|us| one.note(Duration::from_micros(us)));
        all.add(&one);
        all.add(&one);
        assert_eq!((all.buckets.iter().sum::<u64>(), all.sum_ns, all.longest_ns), (6, 66_000, 30_000));
    }

    #[test]
    fn words_are_learnt_and_forgotten() {
        let mut words = vec!["the".to_owned()];
        (0..100).for_each(|_| learn(&mut words, "a", 1));
        assert_eq!(words.len(), 64);
        learn(&mut words, "new", 7 << 20);
        assert!(words.contains(&"new".to_owned()));
    }
}
