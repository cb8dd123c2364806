//! `perfschema export`

use super::signals::hang_up;
use super::{Error, target};
use crate::arguments::number;
use crate::output;
use perfschema_server::Metrics;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Uri};

/// Send another program's metrics to a collector of OpenTelemetry's, again and again, until the program ends.
///
/// What cannot be delivered is tried again with the next values; counters lose nothing by that. Stop it with Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: String,
    /// The collector, like http://localhost:4318; without a path, /v1/metrics is meant.
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    otlp: Uri,
    /// Time from one sending to the next: 500ms, 10s, 1m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = interval, allow_negative_numbers = true)]
    interval: Duration,
    /// Send once; the exit status says whether it was taken.
    #[arg(long)]
    once: bool,
    /// Lines `Name: value` to send as headers, a token say: a command line can be seen by others.
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
    /// How many files, or the like, have metrics of their own.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = number::<usize>, allow_negative_numbers = true)]
    instances: usize,
}

/// Why nothing is sent.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// The collector did not take it.
    Sending(Uri, Box<ureq::Error>),
    /// The file of headers cannot be read.
    File(PathBuf, std::io::Error),
    /// A line of it is no header.
    Header(PathBuf, usize),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Sending(url, error) => write!(f, "{}: {error}", without_password(url)),
            ExportError::File(path, error) => write!(f, "{}: {error}", output::path(path)),
            ExportError::Header(path, line) => write!(f, "{}: line {line} is no header `Name: value`", output::path(path)),
        }
    }
}

impl std::error::Error for ExportError {}

/// Of `http://user:password@host/path`, what may stand in a log.
fn without_password(url: &Uri) -> String {
    let (text, at) = (url.to_string(), url.authority().and_then(|authority| authority.as_str().rfind('@')));
    match (text.split_once("://"), at) {
        (Some((scheme, rest)), Some(at)) => format!("{scheme}://{}", &rest[at + 1..]),
        _ => text,
    }
}

fn endpoint(text: &str) -> Result<Uri, String> {
    const EXPECTED: &str = "expected http://… or https://…";
    // Of nothing behind the scheme, or of nothing at all, `Uri` says "empty string".
    if text.split_once("://").map_or(text, |(_, rest)| rest).is_empty() {
        return Err(EXPECTED.to_owned());
    }
    let url: Uri = text.parse().map_err(|error| format!("{error}"))?;
    if !matches!(url.scheme_str(), Some("http" | "https")) || url.authority().is_none() {
        return Err(EXPECTED.to_owned());
    }
    // What is no port, `Uri` has none of, and the request would go to the usual one.
    let host = url.authority().map_or("", |authority| authority.as_str().rsplit('@').next().unwrap_or_default());
    if host.len() > url.host().unwrap_or_default().len() && url.port().is_none() {
        return Err("expected a port from 0 to 65535".to_owned());
    }
    if url.path() != "/" {
        return Ok(url);
    }
    let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
    let path = format!("/v1/metrics{query}").parse().map_err(|error| format!("{error}"))?;
    let mut parts = url.into_parts();
    parts.path_and_query = Some(path);
    Uri::from_parts(parts).map_err(|error| format!("{error}"))
}

fn interval(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" | "" => 1000,
        "m" => 60_000,
        _ => return Err("expected ms, s or m after the number".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number, then ms, s or m".to_owned())?;
    match number.checked_mul(milliseconds).filter(|time| (100..=86_400_000).contains(time)) {
        Some(time) => Ok(Duration::from_millis(time)),
        None => Err("expected 100 milliseconds to a day".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let headers = headers(args)?;
    let program = Arc::new(target::find(&args.target).map_err(Error::Target)?);
    let metrics = Metrics::new(Arc::clone(&program)).instances(args.instances);
    let config = Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).max_redirects(0);
    let agent: Agent = config.user_agent(concat!("perfschema/", env!("CARGO_PKG_VERSION"))).build().into();
    let send = || send(&agent, args, &headers, &metrics.otlp());
    if args.once {
        return send().map_err(Error::Export);
    }
    let mut signals = Signals::new(hang_up().chain([SIGINT, SIGQUIT, SIGTERM]))?;
    let (stop, stopped) = mpsc::channel();
    let wait = move || {
        signals.forever().next();
        // It may have ended for another reason.
        let _ = stop.send(());
        // Nor does a collector that does not answer keep it.
        std::thread::sleep(Duration::from_secs(1));
        std::process::exit(0);
    };
    std::thread::Builder::new().name("perfschema-signals".to_owned()).spawn(wait)?;
    let mut fails = false;
    loop {
        // Asked before the values are read, so that the last ones are sent.
        let is_last = !program.is_in_use();
        let result = send();
        if is_last {
            return result.map_err(Error::Export);
        }
        match &result {
            Ok(()) if fails => note!("perfschema: {} takes the metrics again", without_password(&args.otlp)),
            // Once, and not every ten seconds.
            Err(error) if !fails => note!("perfschema: {error}; trying again every {:?}", args.interval),
            Ok(()) | Err(_) => {}
        }
        fails = result.is_err();
        if stopped.recv_timeout(args.interval) != Err(RecvTimeoutError::Timeout) {
            return Ok(());
        }
    }
}

fn headers(args: &Args) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
    let Some(path) = &args.headers else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path).map_err(|error| Error::Export(ExportError::File(path.clone(), error)))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| header(line).ok_or(Error::Export(ExportError::Header(path.clone(), number)))).collect()
}

/// `Name: value`, of the characters that each may have.
fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().parse().ok()?, value.trim().parse().ok()?))
}

fn send(agent: &Agent, args: &Args, headers: &[(HeaderName, HeaderValue)], body: &str) -> Result<(), ExportError> {
    let mut request = agent.post(&args.otlp).content_type("application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    // What the answer says besides its status is of no use to anybody. One that leads elsewhere is no success: it is not followed.
    let sent = request.send(body).and_then(|answer| match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(ureq::Error::StatusCode(status.as_u16())),
    });
    sent.map_err(|error| ExportError::Sending(args.otlp.clone(), Box::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_stay_out_of_messages() {
        let check = |text: &str, expected: &str| assert_eq!(without_password(&text.parse().expect("a URL")), expected);
        check("http://x:1/v1/metrics", "http://x:1/v1/metrics");
        check("https://user:secret@x:1/v1?a=b@c", "https://x:1/v1?a=b@c");
    }

    #[test]
    fn headers_are_looked_at_before_they_are_sent() {
        let (name, value) = header(" Authorization : Bearer a b: c ").expect("a header");
        assert_eq!((name.as_str(), value.to_str().ok()), ("authorization", Some("Bearer a b: c")));
        for line in ["Authorization", ": x", "a b: c", "\u{e9}: x", "a: \u{1}"] {
            assert!(header(line).is_none(), "{line:?}");
        }
    }

    #[test]
    fn arguments() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(interval(text).ok().map(|time| time.as_millis()), expected.map(u128::from), "{text}");
        };
        check("10s", Some(10_000));
        check("10", Some(10_000));
        check("100ms", Some(100));
        check("24m", Some(1_440_000));
        for text in ["", "s", "1h", "-1s", "1.5s", "99ms", "2000m", "99999999999999999999s", "18446744073709551615m"] {
            check(text, None);
        }
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(endpoint(text).ok().map(|url| url.to_string()).as_deref(), expected, "{text}");
        };
        check("http://localhost:4318", Some("http://localhost:4318/v1/metrics"));
        check("https://x/", Some("https://x/v1/metrics"));
        check("http://x/?k=v", Some("http://x/v1/metrics?k=v"));
        check("http://x:1?k=v/", Some("http://x:1/v1/metrics?k=v/"));
        check("http://x/otlp?k=v", Some("http://x/otlp?k=v"));
        check("http://x/otlp/v1/metrics", Some("http://x/otlp/v1/metrics"));
        check("http://u:p@[::1]:65535", Some("http://u:p@[::1]:65535/v1/metrics"));
        for text in ["http://x:65536", "http://u:p@127.0.0.1:99999/otlp", "https://[::1]:"] {
            assert!(endpoint(text).is_err_and(|error| error == "expected a port from 0 to 65535"), "{text}");
        }
        for text in ["localhost:4318", "ftp://x", "http://", "/v1/metrics", ""] {
            check(text, None);
            assert!(endpoint(text).is_err_and(|error| error == "expected http://… or https://…"), "{text}");
        }
    }
}
