//! `perfschema export`

use super::signals::hang_up;
use super::{Error, target};
use crate::arguments::number;
use crate::{input, output};
use base64::prelude::{BASE64_STANDARD, Engine};
use percent_encoding::percent_decode_str;
use perfschema::render::text::escape;
use perfschema_server::Metrics;
use serde_json::Value as Json;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::fmt;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ureq::http::{HeaderName, HeaderValue, StatusCode, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Send another program's metrics to a collector of OpenTelemetry's, again and again, until the program ends.
///
/// What cannot be delivered is tried again with the next values; counters lose nothing by that. Stop it with Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program: its pid, its name, or the path of a file: its region, or a core dump of it.
    target: OsString,
    /// The collector, like http://localhost:4318; without a path, /v1/metrics is meant.
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    otlp: Uri,
    /// Time from one sending to the next: 500ms, 10s, 1m; longer where a collector asks for it, by Retry-After.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = interval, allow_negative_numbers = true)]
    interval: Duration,
    /// Send once; the exit status says whether it was taken.
    #[arg(long)]
    once: bool,
    /// Lines `Name: value` to send as headers, a token say: a command line can be seen by others.
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
    /// Certificates in PEM format: believe only who they vouch for that it is the collector. Without it, whom Mozilla believes.
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// How many files, or the like, have metrics of their own.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = number::<usize>, allow_negative_numbers = true)]
    instances: usize,
}

/// Why nothing is sent.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// It did not come to a collector.
    Sending(Box<Uri>, Box<ureq::Error>),
    /// The collector did not take it: its status, what it says of that, and for how long it wants no more.
    Status(Box<Uri>, StatusCode, String, Option<Duration>),
    /// The collector did not take so many values, and what it says of that.
    Rejected(Box<Uri>, u64, String),
    /// A file of headers or of certificates cannot be read.
    File(PathBuf, std::io::Error),
    /// There is no certificate in a file that is to have some, or not the whole of one.
    NoCertificates(PathBuf),
    /// A line of it is no header.
    Header(PathBuf, usize),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Sending(url, error) => write!(f, "{}: {error}", without_password(url)),
            ExportError::Status(url, status, said, _) => {
                write!(f, "{}: http status: {}{}", without_password(url), status.as_u16(), Said(said))
            }
            ExportError::Rejected(url, count, said) => {
                write!(f, "{}: {count} values were not taken{}", without_password(url), Said(said))
            }
            ExportError::File(path, error) => write!(f, "{}: {error}", output::path(path)),
            ExportError::NoCertificates(path) => write!(f, "{}: expected certificates in PEM format", output::path(path)),
            ExportError::Header(path, line) => write!(f, "{}: line {line} is no header `Name: value`", output::path(path)),
        }
    }
}

impl std::error::Error for ExportError {}

impl ExportError {
    /// Whether it says the same, apart from numbers and words that change each time.
    fn is_like(&self, other: &ExportError) -> bool {
        match (self, other) {
            (ExportError::Status(_, status, ..), ExportError::Status(_, other, ..)) => status == other,
            _ => mem::discriminant(self) == mem::discriminant(other),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        if let ExportError::Status(.., time) = self { *time } else { None }
    }
}

/// The first line of what a collector says, behind what is said of it here.
struct Said<'t>(&'t str);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 200;
        let line = self.0.trim().lines().next().unwrap_or_default();
        let line = line.char_indices().nth(MOST).map_or(line, |(end, _)| &line[..end]);
        if line.is_empty() { Ok(()) } else { write!(f, ": {}", escape(line)) }
    }
}

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
    let mut headers = headers(args)?;
    if !headers.iter().any(|(name, _)| name == AUTHORIZATION) {
        headers.extend(credentials(&args.otlp).map(|value| (AUTHORIZATION, value)));
    }
    let program = Arc::new(target::find(&args.target).map_err(Error::Target)?);
    let metrics = Metrics::new(Arc::clone(&program)).instances(args.instances);
    let config =
        Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).max_redirects(0).http_status_as_error(false);
    let config = config.tls_config(TlsConfig::builder().root_certs(root_certificates(args)?).build());
    let agent: Agent = config.user_agent(concat!("perfschema/", env!("CARGO_PKG_VERSION"))).build().into();
    let send = || send(&agent, &args.otlp, &headers, &metrics.otlp());
    if args.once {
        return send().map_err(Error::Export);
    }
    let mut signals = Signals::new(hang_up().chain([SIGINT, SIGQUIT, SIGTERM])).map_err(Error::Signals)?;
    let (stop, stopped) = mpsc::channel();
    let wait = move || {
        signals.forever().next();
        // It may have ended for another reason.
        let _ = stop.send(());
        // Nor does a collector that does not answer keep it.
        std::thread::sleep(Duration::from_secs(1));
        std::process::exit(0);
    };
    std::thread::Builder::new().name("perfschema-signals".to_owned()).spawn(wait).map_err(Error::Thread)?;
    let mut failure: Option<ExportError> = None;
    loop {
        // Asked before the values are read, so that the last ones are sent.
        let is_last = !program.is_in_use();
        let sent = Instant::now();
        let result = send();
        if is_last {
            return result.map_err(Error::Export);
        }
        let asked_for = result.as_ref().err().and_then(ExportError::retry_after).unwrap_or_default();
        // A collector means from its answer on.
        let (when, time, from) =
            if asked_for > args.interval { ("in", asked_for, Instant::now()) } else { ("every", args.interval, sent) };
        match (&result, &failure) {
            (Ok(()), Some(_)) => note!("perfschema: {} takes the metrics again", without_password(&args.otlp)),
            // Once, and not every ten seconds.
            (Err(error), Some(last)) if error.is_like(last) => {}
            (Err(error), _) => note!("perfschema: {error}; trying again {when} {time:?}"),
            (Ok(()), None) => {}
        }
        failure = result.err();
        if stopped.recv_timeout(time.saturating_sub(from.elapsed())) != Err(RecvTimeoutError::Timeout) {
            return Ok(());
        }
    }
}

fn headers(args: &Args) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
    let Some(path) = &args.headers else { return Ok(Vec::new()) };
    let text = settings(path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| header(line).ok_or(Error::Export(ExportError::Header(path.clone(), number)))).collect()
}

/// Who vouches for the collector.
fn root_certificates(args: &Args) -> Result<RootCerts, Error> {
    let Some(path) = &args.tls_ca else { return Ok(RootCerts::WebPki) };
    let text = settings(path)?;
    let items = parse_pem(text.as_bytes()).collect::<Result<Vec<_>, _>>().unwrap_or_default().into_iter();
    let certificates: Vec<_> =
        items.filter_map(|item| if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None }).collect();
    if certificates.is_empty() {
        return Err(Error::Export(ExportError::NoCertificates(path.clone())));
    }
    Ok(certificates.into())
}

/// A file that an option names.
fn settings(path: &Path) -> Result<String, Error> {
    let text = std::fs::File::open(path).and_then(|file| input::text(file, input::MAX_SETTINGS));
    text.map_err(|error| Error::Export(ExportError::File(path.to_owned(), error)))
}

/// User and password of `http://user:p%40ss@host/path`, for basic authentication.
fn credentials(url: &Uri) -> Option<HeaderValue> {
    let (userinfo, _) = url.authority()?.as_str().rsplit_once('@')?;
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    // What `%40` and its like stand for.
    let [user, password] = [user, password].map(|text| percent_decode_str(text).collect::<Vec<u8>>());
    let mut value: HeaderValue = format!("Basic {}", BASE64_STANDARD.encode([user, password].join(&b':'))).parse().ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// `Name: value`, of the characters that each may have.
fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().parse().ok()?, value.trim().parse().ok()?))
}

fn send(agent: &Agent, url: &Uri, headers: &[(HeaderName, HeaderValue)], body: &str) -> Result<(), ExportError> {
    /// Bytes of an answer that are read.
    const MOST: u64 = 64 << 10;
    let mut request = agent.post(url);
    if !headers.iter().any(|(name, _)| name == CONTENT_TYPE) {
        request = request.content_type("application/json");
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let at = || Box::new(url.clone());
    let mut answer = request.send(body).map_err(|error| ExportError::Sending(at(), Box::new(error)))?;
    let retry_after = answer.headers().get("Retry-After").and_then(|value| retry_after(value.to_str().ok()?));
    // What cannot be read says nothing.
    let said = answer.body_mut().with_config().limit(MOST).read_to_string().unwrap_or_default();
    match answer.status() {
        status if status.is_success() => match rejected(&said) {
            None => Ok(()),
            Some((count, said)) => Err(ExportError::Rejected(at(), count, said)),
        },
        // One that leads elsewhere is no success: it is not followed.
        status => Err(ExportError::Status(at(), status, message(&said), retry_after)),
    }
}

/// In seconds, as OTLP has it, and not as a date; up to a day, as any interval.
fn retry_after(value: &str) -> Option<Duration> {
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.min(86_400)))
}

/// How many values a collector has not taken, and why, of what it answers with success: OTLP's `partialSuccess`.
fn rejected(answer: &str) -> Option<(u64, String)> {
    let answer: Json = serde_json::from_str(answer).ok()?;
    let partial = answer.get("partialSuccess")?;
    let count = partial.get("rejectedDataPoints")?;
    // Numbers of 64 bits are texts there.
    let count = count.as_u64().or_else(|| count.as_str()?.parse().ok()).filter(|count| *count > 0)?;
    let said = partial.get("errorMessage").and_then(Json::as_str).unwrap_or_default();
    Some((count, said.to_owned()))
}

/// What a collector says that takes nothing: the `message` of OTLP's `Status`, or as it is.
fn message(answer: &str) -> String {
    let status = serde_json::from_str(answer).ok();
    let message = status.as_ref().and_then(|status: &Json| status.get("message")?.as_str());
    message.unwrap_or(answer).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// What is wrong with an answer, if anything.
    fn error_of(status: &str, body: &str) -> Option<ExportError> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it has one");
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        let collector = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("it is asked");
            // The request is shorter than that.
            let _ = stream.read(&mut [0; 4096]);
            stream.write_all(answer.as_bytes()).expect("it is read");
        });
        let agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        let url = format!("http://{address}/v1/metrics").parse().expect("a URL");
        let sent = send(&agent, &url, &[], "{}");
        collector.join().expect("it answers");
        sent.err()
    }

    /// What is said of it.
    fn said_of(status: &str, body: &str) -> Option<String> {
        let said = error_of(status, body)?.to_string();
        // The port is another one each time.
        let (_, rest) = said.split_once("/v1/metrics")?;
        Some(format!("URL{rest}"))
    }

    /// OTLP/HTTP Throttling: the client should honour it.
    #[test]
    fn a_collector_says_how_long_it_wants_no_more() {
        let check = |status: &str, expected: Option<u64>| {
            let time = error_of(status, "").and_then(|error| error.retry_after());
            assert_eq!(time, expected.map(Duration::from_secs), "{status}");
        };
        check("503 Unavailable\r\nRetry-After: 30", Some(30));
        check("429 Too Many\r\nretry-after: 99999999", Some(86_400));
        for status in ["503 Unavailable", "503 Unavailable\r\nRetry-After: -1", "200 OK\r\nRetry-After: 30"] {
            check(status, None);
        }
        check("503 Unavailable\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT", None);
    }

    #[test]
    fn what_a_collector_does_not_take_is_no_success() {
        let check = |status: &str, body: &str, expected: &str| {
            assert_eq!(said_of(status, body).unwrap_or_default(), expected, "{status}: {body}");
        };
        for body in ["", "{}", "no JSON", r#"{"partialSuccess":{}}"#, r#"{"partialSuccess":{"rejectedDataPoints":"0"}}"#] {
            check("200 OK", body, "");
        }
        let quota = r#"{"partialSuccess":{"rejectedDataPoints":"28080","errorMessage":"over\u001b quota"}}"#;
        check("200 OK", quota, "URL: 28080 values were not taken: over\\u{1b} quota");
        check("200 OK", r#"{"partialSuccess":{"rejectedDataPoints":5}}"#, "URL: 5 values were not taken");
        check("400 Bad Request", r#"{"code":3,"message":"no metric"}"#, "URL: http status: 400: no metric");
        check("401 Unauthorized", " bad token\nmore", "URL: http status: 401: bad token");
        check("503 Unavailable", "", "URL: http status: 503");
        check("307 Elsewhere", "", "URL: http status: 307");
        check("500 Broken", &"\u{e4}".repeat(300), &format!("URL: http status: 500: {}", "\u{e4}".repeat(200)));
    }

    /// Whoever starts before the collector is told once that nobody listens, and then that it wants a token.
    #[test]
    fn another_failure_is_told_too() {
        let of = |status: &str, body: &str| error_of(status, body).expect("it fails");
        let rejected = |count: u64| of("200 OK", &format!(r#"{{"partialSuccess":{{"rejectedDataPoints":"{count}"}}}}"#));
        let url: Uri = "http://x/".parse().expect("a URL");
        let sending = || ExportError::Sending(Box::new(url.clone()), Box::new(ureq::Error::HostNotFound));
        assert!(sending().is_like(&sending()));
        assert!(of("503 Busy", "1").is_like(&of("503 Busy", "2")) && rejected(1).is_like(&rejected(2)));
        assert!(!of("503 Busy", "").is_like(&of("401 Unauthorized", "")) && !sending().is_like(&rejected(1)));
    }

    #[test]
    fn passwords_stay_out_of_messages() {
        let check = |text: &str, expected: &str| assert_eq!(without_password(&text.parse().expect("a URL")), expected);
        check("http://x:1/v1/metrics", "http://x:1/v1/metrics");
        check("https://user:secret@x:1/v1?a=b@c", "https://x:1/v1?a=b@c");
    }

    /// As RFC 3986, 2.4, has it: what means something in a URL is written with `%` in a password.
    #[test]
    fn a_password_is_what_is_meant_by_it() {
        let check = |url: &str, expected: Option<&str>| {
            let value = credentials(&url.parse().expect("a URL"));
            let basic = expected.map(|expected| format!("Basic {}", BASE64_STANDARD.encode(expected)));
            assert_eq!(value.as_ref().map(|value| value.to_str().expect("ASCII")), basic.as_deref(), "{url}");
        };
        check("http://x:1/v1", None);
        check("http://user@x/v1", Some("user:"));
        check("http://us%40er:p%2Fw%3a1@x/v1", Some("us@er:p/w:1"));
        check("http://u:%c3%a9%@x/v1", Some("u:\u{e9}%"));
        check("http://u:100%+%4@x/v1", Some("u:100%+%4"));
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
    fn who_names_a_content_type_has_the_only_one() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("it has one")).parse().expect("a URL");
        let collector = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("it is asked");
            let mut request = Vec::new();
            while !request.ends_with(b"{}") {
                let mut part = [0; 4096];
                let length = stream.read(&mut part).expect("there is more");
                request.extend_from_slice(&part[..length]);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").expect("it is read");
            String::from_utf8(request).expect("a text").to_ascii_lowercase()
        });
        let given = header("Content-Type: application/json; charset=utf-8").expect("a header");
        send(&Agent::new_with_defaults(), &url, &[given], "{}").expect("it is taken");
        let request = collector.join().expect("it answers");
        let types: Vec<_> = request.lines().filter(|line| line.starts_with("content-type:")).collect();
        assert_eq!(types, ["content-type: application/json; charset=utf-8"]);
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
