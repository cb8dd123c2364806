//! The tables as metrics: counters in seconds, bytes and plain numbers, for whatever collects them over time.
//!
//! Which table and column becomes which metric is decided here and nowhere else; the formats only write it down. It follows from
//! the declarations, so that a summary declared later has its metrics without a change here:
//!
//! | table | metrics |
//! |---|---|
//! | `X_summary_by_event_name`, `X_summary_global_by_event_name` | `perfschema_X…`, labelled by its columns of text |
//! | `X_summary_by_Y`, if a column of text besides EVENT_NAME names the rows | `perfschema_X_Y…`, of the rows with most events only: see [`Metrics::instances`] |
//! | `X_histogram_by_event_name` | histogram `perfschema_X_duration_seconds`, two buckets a decade |
//! | `global_status` | `perfschema_lost_total`, labelled by what was lost |
//! | `innodb_metrics` | of what is enabled `perfschema_metrics_total`, or of a value `perfschema_metrics_value`, labelled by name and subsystem |
//!
//! | column | metric |
//! |---|---|
//! | COUNT_STAR, SUM_TIMER_WAIT | `…_total`, `…_seconds_total`; left out where the operations or access modes below add up to it |
//! | COUNT_READ, SUM_TIMER_READ, SUM_NUMBER_OF_BYTES_READ | `…_operations_total`, `…_seconds_total`, `…_bytes_total` with `operation="read"`; likewise of every other operation |
//! | COUNT_READ_WRITE, SUM_TIMER_READ_WRITE | `…_total`, `…_seconds_total` with `access_mode="read_write"`; likewise READ_ONLY |
//! | COUNT_TIMER_WAIT, COUNT_TIMER_READ and so on | `…_timed_total`, with the same labels |
//! | other COUNT_X, SUM_X | `…_x_total`; `…_x_seconds_total` if X is a time |
//! | a long text, as DIGEST_TEXT | `perfschema_X_digest_text_info`, which is 1: its first 120 characters are a label there, beside the row's others |
//! | CURRENT_X, LOW_X, HIGH_X | gauges `…_current_x`, in bytes `…_current_x_bytes` |
//!
//! All events are counted in `…_total` and `…_operations_total`, and only those that are timed in `…_timed_total`: so the average is
//! `…_seconds_total / …_timed_total`.
//!
//! Least, greatest and average values are no counters and are left to the tables, as is what belongs to a thread: its number
//! means nothing to the next start of the program. Rows with the same labels are added up. TRUNCATE sets counters back, which
//! collectors know to handle.
//!
//! ```
//! use perfschema_server::{Metrics, account_line};
//! use perfschema_sql::Right;
//!
//! static LOCK: perfschema::sync::Mutex<u64> = perfschema::mutex!("wait/synch/mutex/app/LOCK", 0);
//!
//! let metrics = Metrics::new(perfschema::start()?);
//! *LOCK.lock().unwrap() += 1;
//! let text = metrics.prometheus();
//! assert!(text.contains("perfschema_events_waits_total{event_name=\"wait/synch/mutex/app/LOCK\"} 1\n"));
//!
//! let accounts = account_line("prometheus", Right::Read, "correct horse", true)?.parse()?;
//! let listener = metrics.listen("127.0.0.1:0".parse()?, accounts)?;
//! println!("Prometheus: scrape http://{}/metrics", listener.address().expect("TCP"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod otlp;
mod plan;
mod text;

use crate::accounts::Accounts;
use crate::files;
use crate::http::{self, Service};
use crate::listener::{self, ListenError, Listener};
use crate::tls::Tls;
pub use otlp::{Resource, otlp};
use perfschema::Region;
use perfschema_sql::Program;
use plan::Plan;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;
pub use text::{open_metrics, prometheus};

/// Of all tables.
static PLAN: LazyLock<Plan> = LazyLock::new(|| Plan::of(perfschema::tables::ALL));

/// The metrics of a program. Cloning it is cheap, and gives the same.
///
/// ```
/// use perfschema_server::Metrics;
///
/// let metrics = Metrics::new(perfschema::start()?);
/// assert!(metrics.prometheus().contains("\nperfschema_program_running 1\n"));
/// let text = metrics.open_metrics();
/// assert!(text.contains("\n# TYPE perfschema_program info\nperfschema_program_info{program=\"") && text.ends_with("\n# EOF\n"));
/// let json = metrics.otlp();
/// assert!(json.starts_with("{\"resourceMetrics\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Metrics {
    program: Arc<dyn Program>,
    instances: usize,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("instances", &self.instances).finish_non_exhaustive()
    }
}

/// How a metric behaves over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, until it begins anew.
    Counter,
    /// It goes up and down.
    Gauge,
    /// It counts by size.
    Histogram,
    /// It is 1; what it says is in its labels.
    Info,
}

/// What its values are numbers of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    None,
    /// Bytes.
    Bytes,
    /// Picoseconds; they are written as seconds.
    Seconds,
}

/// A metric with all its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its name: with its unit, without `_total`, `_bucket` or `_info`.
    pub name: String,
    /// What it says.
    pub help: String,
    /// How it behaves.
    pub kind: Kind,
    /// What it is a number of.
    pub unit: Unit,
    /// Its values, each with other labels.
    pub points: Vec<Point>,
}

/// One value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Names and values, always the same names in the same order.
    pub labels: Labels,
    /// The value.
    pub value: Value,
}

/// Names and values of labels. A value is any text; in Prometheus' formats its zero bytes are written `␀0`, and so `␀` is `␀␀`.
pub type Labels = Vec<(&'static str, String)>;

/// The value of a metric.
///
/// ```
/// use perfschema_server::metrics::{Family, Kind, Point, Unit, Value, prometheus};
///
/// let value = Value::Buckets { bounds_ps: vec![10_000, 31_622], counts: vec![2, 0, 1] };
/// let (name, help) = ("app_duration_seconds".to_owned(), "How long it takes.".to_owned());
/// let points = vec![Point { labels: vec![], value }];
/// let text = prometheus(&[Family { name, help, kind: Kind::Histogram, unit: Unit::Seconds, points }]);
/// let buckets: Vec<&str> = text.lines().filter(|line| line.contains("_bucket")).collect();
/// assert_eq!(buckets[0], "app_duration_seconds_bucket{le=\"1e-08\"} 2");
/// assert_eq!(buckets[1], "app_duration_seconds_bucket{le=\"3.1622e-08\"} 2"); // With those below.
/// assert_eq!(buckets[2], "app_duration_seconds_bucket{le=\"+Inf\"} 3");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a counter, gauge or info, in the metric's unit; of seconds, in picoseconds.
    Number(i128),
    /// Of a histogram: upper bounds in picoseconds, and how many are in each bucket, not counting those below. The last has no
    /// bound.
    Buckets {
        /// The bounds, rising.
        bounds_ps: Vec<u64>,
        /// One more than there are bounds.
        counts: Vec<u64>,
    },
}

impl Metrics {
    /// The metrics of this program.
    pub fn new(program: impl Program) -> Metrics {
        Metrics { program: Arc::new(program), instances: 256 }
    }

    /// The same with other bounds for tables with a row for each file or the like: so many rows of each have metrics, those
    /// with most events; that others are left out, `perfschema_instances_left_out` says. 256, unless said otherwise.
    ///
    /// ```
    /// # use perfschema_server::Metrics;
    /// # let process = perfschema::start()?;
    /// # let path = |name: &str| std::env::temp_dir().join(format!("perfschema-{}-{name}", std::process::id()));
    /// # let (first, second) = (path("first"), path("second"));
    /// perfschema::fs::write(&first, "some bytes")?;
    /// perfschema::fs::write(&second, "more bytes")?;
    /// let text = Metrics::new(process).instances(1).prometheus();
    /// assert!(text.contains("-first\",event_name=\"wait/io/file/std/File\",operation=\"write\"} 10\n"));
    /// assert!(!text.contains("-second"));
    /// assert!(text.contains("perfschema_instances_left_out{table=\"file_summary_by_instance\"} 1\n"));
    /// # std::fs::remove_file(first)?;
    /// # std::fs::remove_file(second)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn instances(self, instances: usize) -> Metrics {
        Metrics { instances, ..self }
    }

    /// The values as they are now.
    ///
    /// ```
    /// use perfschema_server::metrics::{Kind, Metrics, Point, Unit, Value};
    /// static QUEUE: perfschema::sync::Mutex<u64> = perfschema::mutex!("wait/synch/mutex/app/queue", 0);
    ///
    /// let metrics = Metrics::new(perfschema::start()?);
    /// *QUEUE.lock().unwrap() += 1;
    /// let families = metrics.collect();
    /// let waits = families.iter().find(|family| family.name == "perfschema_events_waits").expect("there are waits");
    /// assert_eq!((waits.kind, waits.unit), (Kind::Counter, Unit::None));
    /// let labels = vec![("event_name", "wait/synch/mutex/app/queue".to_owned())];
    /// assert!(waits.points.contains(&Point { labels, value: Value::Number(1) }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn collect(&self) -> Vec<Family> {
        let mut families = collect(self.program.region(), self.instances);
        let runs = i128::from(!self.program.has_ended());
        families.push(number("program_running", "1 as long as the program runs, then 0.", Kind::Gauge, Unit::None, vec![], runs));
        families
    }

    /// The values as they are now, for a collector of OpenTelemetry's: see [`otlp()`].
    pub fn otlp(&self) -> String {
        let region = self.program.region();
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let resource = Resource {
            service: region.program().as_str().to_owned(),
            pid: region.pid(),
            start_unix_ns: region.start_unix_ns(),
            now_unix_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX),
        };
        otlp(&self.collect(), &resource)
    }

    /// The values as they are now, in Prometheus' text format 0.0.4.
    pub fn prometheus(&self) -> String {
        prometheus(&self.collect())
    }

    /// The values as they are now, as OpenMetrics 1.0.
    pub fn open_metrics(&self) -> String {
        open_metrics(&self.collect())
    }

    /// Writes the values to a file, in Prometheus' text format: for the textfile collector of its node_exporter. A reader of the
    /// file sees the old values or the new ones, never a part.
    ///
    /// ```
    /// # use perfschema_server::Metrics;
    /// # let path = std::env::temp_dir().join(format!("perfschema-{}.prom", std::process::id()));
    /// let metrics = Metrics::new(perfschema::start()?);
    /// metrics.write_file(&path)?; // As often as there are to be new values.
    /// assert!(std::fs::read_to_string(&path)?.contains("\n# TYPE perfschema_program_running gauge\n"));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The file, or the one beside it that becomes it, cannot be written.
    pub fn write_file(&self, path: &Path) -> io::Result<()> {
        // The collector takes what ends in `.prom`, and what is not whole yet does not.
        files::write_whole(path, self.prometheus().as_bytes())
    }

    /// Listens on an address of the loopback interface, for Prometheus: `/metrics` has the values, in the format that it asks
    /// for, for those who have an account and its password, as `basic_auth` in Prometheus' settings says them: other users of the
    /// machine can connect, too.
    ///
    /// The password is not encrypted on its way, which nobody but the machine's kernel sees: see [`listen_encrypted`] for more
    /// than that.
    ///
    /// ```
    /// # use perfschema_server::{ListenError, Metrics, account_line};
    /// # use perfschema_sql::Right;
    /// # use std::io::{Read, Write};
    /// # let get = |address: Option<std::net::SocketAddr>, header: &str| {
    /// #     let mut client = std::net::TcpStream::connect(address.expect("TCP"))?;
    /// #     write!(client, "GET /metrics HTTP/1.0\r\n{header}\r\n")?;
    /// #     let mut answer = String::new();
    /// #     client.read_to_string(&mut answer)?;
    /// #     std::io::Result::Ok(answer)
    /// # };
    /// # let metrics = Metrics::new(perfschema::start()?);
    /// # let here = "127.0.0.1:0".parse()?;
    /// let open = metrics.listen(here, "prometheus reader no-password".parse()?);
    /// assert!(matches!(open, Err(ListenError::NoPasswordForHttp)));
    /// let listener = metrics.listen(here, account_line("prometheus", Right::Read, "correct horse", false)?.parse()?)?;
    /// // `get` sends a request for `/metrics` with this header.
    /// assert!(get(listener.address(), "")?.starts_with("HTTP/1.1 401 "));
    /// let header = "Authorization: Basic cHJvbWV0aGV1czpjb3JyZWN0IGhvcnNl\r\n"; // `prometheus:correct horse`
    /// assert!(get(listener.address(), header)?.starts_with("HTTP/1.1 200 "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The address is another one; no account has a password for caching_sha2_password, which is the only kind that counts here;
    /// the address cannot be had.
    ///
    /// [`listen_encrypted`]: Self::listen_encrypted
    pub fn listen(&self, address: SocketAddr, accounts: Accounts) -> Result<Listener, ListenError> {
        self.listen_for(listener::loopback(address)?, accounts, None)
    }

    /// The same, encrypted: `scheme: https` in Prometheus' settings.
    ///
    /// # Errors
    /// As [`listen`](Self::listen).
    pub fn listen_encrypted(&self, address: SocketAddr, accounts: Accounts, tls: Tls) -> Result<Listener, ListenError> {
        self.listen_for(listener::loopback(address)?, accounts, Some(tls))
    }

    /// Listens on any address, encrypted.
    ///
    /// ```
    /// # use perfschema_server::{ListenError, Metrics, Tls};
    /// # let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    /// # let path = |ending: &str| std::env::temp_dir().join(format!("perfschema-tls-{}.{ending}", std::process::id()));
    /// # let (certificate, key) = (path("crt"), path("key"));
    /// # std::fs::write(&certificate, made.cert.pem())?;
    /// # std::fs::write(&key, made.signing_key.serialize_pem())?;
    /// # #[cfg(unix)]
    /// # std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    /// # let metrics = Metrics::new(perfschema::start()?);
    /// let tls = Tls::from_files(&certificate, &key)?;
    /// let listener = metrics.listen_beyond_loopback("0.0.0.0:0".parse()?, "ada reader no-password".parse()?, tls);
    /// assert!(matches!(listener, Err(ListenError::NoPassword)));
    /// # let _ = (std::fs::remove_file(certificate), std::fs::remove_file(key));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An account has no password of any kind; no account has one for caching_sha2_password, without which an account cannot come
    /// in here; the address cannot be had.
    pub fn listen_beyond_loopback(&self, address: SocketAddr, accounts: Accounts, tls: Tls) -> Result<Listener, ListenError> {
        if !accounts.all_have_passwords() {
            return Err(ListenError::NoPassword);
        }
        self.listen_for(address, accounts, Some(tls))
    }

    fn listen_for(&self, address: SocketAddr, accounts: Accounts, tls: Option<Tls>) -> Result<Listener, ListenError> {
        if !accounts.some_prove_by_password() {
            return Err(ListenError::NoPasswordForHttp);
        }
        http::listen(Service { accounts: Some(Arc::new(accounts)), tls, ..self.service() }, address)
    }

    /// Serves one client over any stream, in this thread, whoever it is. Of the limits in time, the stream has to see to its own.
    ///
    /// ```
    /// # use perfschema_server::Metrics;
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # let metrics = Metrics::new(perfschema::start()?);
    /// let place = TcpListener::bind("127.0.0.1:0")?;
    /// let mut client = TcpStream::connect(place.local_addr()?)?;
    /// client.write_all(b"GET /metrics HTTP/1.1\r\nHost: app\r\nAccept: application/openmetrics-text\r\n\r\n")?;
    /// metrics.converse(place.accept()?.0)?; // One request, and no password.
    /// let mut answer = String::new();
    /// client.read_to_string(&mut answer)?;
    /// assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text;") && answer.ends_with("\n# EOF\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The stream's own.
    pub fn converse(&self, stream: impl io::Read + io::Write) -> io::Result<()> {
        http::answer(&mut crate::Untimed(stream), &self.service(), || Some(()))
    }

    fn service(&self) -> Service {
        Service { metrics: self.clone(), accounts: None, tls: None }
    }
}

/// All metrics of a region, also of one that a dead program left, or that is damaged. `instances`: see [`Metrics::instances`].
///
/// ```
/// use perfschema_server::metrics::collect;
///
/// let process = perfschema::start()?;
/// let families = collect(process.region(), 256);
/// let program = families.iter().find(|family| family.name == "perfschema_program").expect("a region says that");
/// assert_eq!(program.points[0].labels[1], ("pid", std::process::id().to_string()));
/// // A region does not know whether its program still runs; `Metrics` asks.
/// assert!(families.iter().all(|family| family.name != "perfschema_program_running"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn collect(region: &Region<'_>, instances: usize) -> Vec<Family> {
    let mut families = PLAN.collect(region, instances);
    let start = i128::from(region.start_unix_ns()) * 1000;
    let about = vec![
        ("program", region.program().as_str().to_owned()),
        ("pid", region.pid().to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    families.extend([
        number(PROGRAM, "The program that the metrics are of.", Kind::Info, Unit::None, about, 1),
        number("program_start_time_seconds", "When recording began, since 1970.", Kind::Gauge, Unit::Seconds, vec![], start),
    ]);
    families
}

/// The info that is about all metrics.
const PROGRAM: &str = "program";

fn number(name: &str, help: &str, kind: Kind, unit: Unit, labels: Labels, value: i128) -> Family {
    let points = vec![Point { labels, value: Value::Number(value) }];
    Family { name: format!("perfschema_{name}"), help: help.to_owned(), kind, unit, points }
}
