//! Metrics: what HTTP answers, what the bounds leave out, what a file holds. ci/exporters.py compares values with the tables.

mod common;

use perfschema::core::timer::{MockClock, TimerName};
use perfschema::core::{
    AccessMode, Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, Size, TransactionStart,
    TransactionState, WaitStart, Word,
};
use perfschema::metric::MonitorCommand;
use perfschema_server::metrics::{Kind, Value};
use perfschema_server::{Accounts, Metrics, account_line};
use perfschema_sql::Right;
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::net::TcpStream;
use std::path::Path;

fn metrics() -> Metrics {
    Metrics::new(common::process())
}

/// A client whose bytes all come at once, and what it hears.
struct Client(Cursor<Vec<u8>>, Vec<u8>);

impl Read for Client {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Client {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn answer(metrics: &Metrics, request: &[u8]) -> String {
    let mut client = Client(Cursor::new(request.to_vec()), Vec::new());
    metrics.converse(&mut client).expect("nothing fails here");
    String::from_utf8(client.1).expect("UTF-8")
}

/// Both kinds add up to all transactions, as a label does, so that no metric of all of them is beside these.
#[test]
fn transactions_by_what_they_may_do() {
    let (clock, sizes) = (MockClock::new(), Config::SMALL.with(Size::MaxTransactionClasses, 1));
    let words: &'static [Word] = (0..sizes.words()).map(|_| Word::new(0)).collect::<Vec<Word>>().leak();
    let region = Region::create(words, &sizes, &Identity::default(), &clock.timers()).expect("it fits");
    let region: &'static Region<'static> = Box::leak(Box::new(region));
    let class = region.register(InstrumentName::literal("transaction"), Setting::ON).expect("there is room");
    region.enable_everything();
    let actor = Actor::attach(region, &ActorIdentity { name: "thread/test/main", ..ActorIdentity::default() });
    for (access_mode, seconds) in [(AccessMode::ReadWrite, 5), (AccessMode::ReadOnly, 100), (AccessMode::ReadOnly, 1)] {
        let start = TransactionStart { access_mode, ..TransactionStart::default() };
        let transaction = actor.begin_transaction(&clock, region.switches(class), &start);
        clock.advance(TimerName::Nanosecond, seconds * 1_000_000_000);
        actor.end_transaction(&clock, transaction, TransactionState::Committed);
    }
    let text = Metrics::new(region).prometheus();
    let found: Vec<&str> = text.lines().filter(|line| line.starts_with("perfschema_events_transactions_")).collect();
    assert_eq!(
        found,
        [
            "perfschema_events_transactions_total{event_name=\"transaction\",access_mode=\"read_write\"} 1",
            "perfschema_events_transactions_total{event_name=\"transaction\",access_mode=\"read_only\"} 2",
            "perfschema_events_transactions_seconds_total{event_name=\"transaction\",access_mode=\"read_write\"} 5",
            "perfschema_events_transactions_seconds_total{event_name=\"transaction\",access_mode=\"read_only\"} 101",
            "perfschema_events_transactions_timed_total{event_name=\"transaction\",access_mode=\"read_write\"} 1",
            "perfschema_events_transactions_timed_total{event_name=\"transaction\",access_mode=\"read_only\"} 2",
        ]
    );
}

/// Whoever divides seconds by events divides by those that were timed, here one in 16.
#[test]
fn the_average_is_that_of_the_timed_events() {
    let (clock, sizes) = (MockClock::new(), Config::SMALL);
    let words: &'static [Word] = (0..sizes.words()).map(|_| Word::new(0)).collect::<Vec<Word>>().leak();
    let region = Region::create(words, &sizes, &Identity::default(), &clock.timers()).expect("it fits");
    let region: &'static Region<'static> = Box::leak(Box::new(region));
    region.set_wait_timer(TimerName::Nanosecond);
    let class = region.register(InstrumentName::literal("wait/synch/mutex/app/lock"), Setting::ON).expect("there is room");
    region.enable_everything();
    region.set_setting(class, Setting { timed_one_in: 16, ..Setting::ON });
    let actor = Actor::attach(region, &ActorIdentity { name: "thread/test/main", ..ActorIdentity::default() });
    for _ in 0..32 {
        let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
        clock.advance(TimerName::Nanosecond, 1_000_000_000);
        actor.end(&clock, wait, Held::None);
    }
    let text = Metrics::new(region).prometheus();
    let of =
        |name: &str| text.lines().filter(|line| line.contains(&format!("perfschema_events_waits_{name}"))).collect::<Vec<_>>();
    let about = "Waits of each instrument, summed over all threads.";
    let table = "events_waits_summary_global_by_event_name";
    let lock = "{event_name=\"wait/synch/mutex/app/lock\"}";
    assert_eq!(of("total")[0], format!("# HELP perfschema_events_waits_total {about} COUNT_STAR of {table}, timed or not."));
    assert_eq!(of("total")[2..], [format!("perfschema_events_waits_total{lock} 32")]);
    // One second each.
    let timed = region.summary_by_event_name(class).count_timed;
    assert!((1..=4).contains(&timed), "{timed}");
    assert_eq!(of("seconds_total")[2..], [format!("perfschema_events_waits_seconds_total{lock} {timed}")]);
    let help = format!(
        "# HELP perfschema_events_waits_timed_total {about} COUNT_TIMER_WAIT of {table}: the events whose seconds are summed."
    );
    assert_eq!(of("timed_total")[0], help);
    assert_eq!(of("timed_total")[2..], [format!("perfschema_events_waits_timed_total{lock} {timed}")]);
}

/// Who it is and since when; how long waits were, in two buckets a decade; what there was no room for.
#[test]
fn a_program_its_waits_and_what_was_lost() {
    let (clock, sizes) = (MockClock::new(), Config::SMALL.with(Size::MaxWaitHistograms, 8).with(Size::MaxMutexClasses, 1));
    let words: &'static [Word] = (0..sizes.words()).map(|_| Word::new(0)).collect::<Vec<Word>>().leak();
    let identity = Identity { program: "shop", pid: 7, start_unix_ns: 1_700_000_000_250_000_000, ..Identity::default() };
    let region = Region::create(words, &sizes, &identity, &clock.timers()).expect("it fits");
    let region: &'static Region<'static> = Box::leak(Box::new(region));
    region.set_wait_timer(TimerName::Nanosecond);
    let class = region.register(InstrumentName::literal("wait/synch/mutex/app/lock"), Setting::ON).expect("there is room");
    for other in ["wait/synch/mutex/app/one", "wait/synch/mutex/app/two"] {
        assert!(region.register(InstrumentName::literal(other), Setting::ON).is_err());
    }
    region.enable_everything();
    let actor = Actor::attach(region, &ActorIdentity { name: "thread/test/main", ..ActorIdentity::default() });
    for nanoseconds in [0, 9, 20, 90, 500, 2_000_000_000, 1_000_000_000_000] {
        let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
        clock.advance(TimerName::Nanosecond, nanoseconds);
        actor.end(&clock, wait, Held::None);
    }
    let metrics = Metrics::new(region);
    let text = metrics.prometheus();
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        &format!("perfschema_program_info{{program=\"shop\",pid=\"7\",version=\"{version}\"}} 1"),
        "perfschema_program_start_time_seconds 1700000000.25",
        "perfschema_lost_total{what=\"mutex_classes\"} 2",
        "perfschema_lost_total{what=\"thread_instances\"} 0",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    let buckets = "perfschema_events_waits_duration_seconds_bucket{event_name=\"wait/synch/mutex/app/lock\",le=\"";
    let found: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(buckets)).collect();
    let expected = [
        "1e-08\"} 2",
        "3.1622e-08\"} 3",
        "1e-07\"} 4",
        "3.16227e-07\"} 4",
        "1e-06\"} 5",
        "3.16228e-06\"} 5",
        "1e-05\"} 5",
        "3.16228e-05\"} 5",
        "0.0001\"} 5",
        "0.000316228\"} 5",
        "0.001\"} 5",
        "0.00316228\"} 5",
        "0.01\"} 5",
        "0.0316228\"} 5",
        "0.1\"} 5",
        "0.316228\"} 5",
        "1.0\"} 5",
        "3.16228\"} 6",
        "10.0\"} 6",
        "31.6228\"} 6",
        "100.0\"} 6",
        "316.228\"} 6",
        "+Inf\"} 7",
    ];
    assert_eq!(found, expected);
    // As OTLP: whose it is, since when, and no metric without a value.
    let otlp = metrics.otlp();
    for part in [
        "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}",
        "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"7\"}}",
        "{\"startTimeUnixNano\":\"1700000000250000000\",",
        "\"name\":\"perfschema_lost\",",
        "\"unit\":\"\",\"sum\":",
    ] {
        assert!(otlp.contains(part), "{part}: {otlp}");
    }
    assert!(!otlp.contains("\"dataPoints\":[]"), "{otlp}");
}

#[test]
fn requests() {
    let metrics = metrics();
    let check = |request: &str, expected: &str| {
        let answer = answer(&metrics, request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{request:?}: {answer}");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an empty line");
        assert!(head.ends_with("Connection: close"), "{head}");
        assert!(head.contains("\r\nDate: ") && head.contains(" GMT\r\n"), "{head}");
        assert!(request.starts_with("HEAD") || head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        body.to_owned()
    };
    let text = check("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK\r\nContent-Type: text/plain; version=0.0.4; ");
    assert!(text.contains("\nperfschema_program_running 1\n") && !text.contains("# EOF"), "{text}");
    let negotiated = "200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n";
    let kept_by_nobody = answer(&metrics, b"GET /metrics HTTP/1.0\r\n\r\n");
    assert!(kept_by_nobody.starts_with(&format!("HTTP/1.1 {negotiated}")), "{kept_by_nobody}");
    assert!(kept_by_nobody.contains("\r\nVary: Accept\r\nCache-Control: no-store\r\n"), "{kept_by_nobody}");
    let accept = "accept: application/openmetrics-text; version=1.0.0";
    let open = "200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";
    assert!(check(&format!("GET /metrics?x HTTP/1.1\r\nhost: x\r\n{accept}\r\n\r\n"), open).ends_with("\n# EOF\n"));
    assert_eq!(check("HEAD /metrics HTTP/1.0\r\n\r\n", "200 OK"), "");
    assert!(check("GET / HTTP/1.0\r\n\r\n", "200 OK\r\nContent-Type: text/html").contains("href=\"metrics\""));
    check("GET /../etc/passwd HTTP/1.0\r\n\r\n", "404");
    // As proxies are asked, which servers must understand (RFC 9112, 3.2.2).
    for absolute in ["http://x/metrics", "HTTPS://user@[::1]:80/metrics?x"] {
        assert!(check(&format!("GET {absolute} HTTP/1.1\r\nHost: x\r\n\r\n"), "200 OK\r\nContent-Type: text/plain").len() > 100);
        assert_eq!(check(&format!("HEAD {absolute} HTTP/1.1\r\nHost: x\r\n\r\n"), "200 OK\r\nContent-Type: text/plain"), "");
    }
    for root in ["http://x", "http://x/", "http://x?metrics"] {
        check(&format!("GET {root} HTTP/1.1\r\nHost: x\r\n\r\n"), "200 OK\r\nContent-Type: text/html");
    }
    for other in ["http://x/y", "http:/metrics", "http:///metrics", "ftp://x/metrics", "x/metrics", "*"] {
        check(&format!("GET {other} HTTP/1.1\r\nHost: x\r\n\r\n"), "404");
    }
    check("POST /metrics HTTP/1.0\r\nContent-Length: 9999999\r\n\r\n", "405 Method Not Allowed\r\n");
    check("GET /metrics HTTP/1.1\r\n\r\n", "400");
    check("GET /metrics HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400");
    check("GET /metrics\r\n\r\n", "400");
    check("\x16\x03\x01\x02\0\x01\r\n\r\n", "400");
    check(&format!("GET /{} HTTP/1.0\r\n\r\n", "x".repeat(9000)), "431");
    // Also before it has ended.
    check(&format!("GET /{}", "x".repeat(9000)), "431");
    check(&format!("GET / HTTP/1.0\r\n{}\r\n", "a: b\r\n".repeat(65)), "431");
    check(&format!("GET /metrics HTTP/1.0\r\n{}\r\n", "a: b\r\n".repeat(64)), "200");
    // What is wrong with a HEAD has no body either.
    for (head, expected) in [
        ("HEAD /metrics HTTP/1.1\r\n".to_owned(), "400"),
        (format!("\r\nHEAD / HTTP/1.0\r\n{}", "a: b\r\n".repeat(65)), "431"),
        (format!("HEAD /{} HTTP/1.0\r\n", "x".repeat(9000)), "431"),
        ("HEAD /x HTTP/1.0\r\n".to_owned(), "404"),
    ] {
        let answer = answer(&metrics, format!("{head}\r\n").as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")) && answer.ends_with("\r\n\r\n"), "{head}: {answer}");
    }
    // By hand, with line feeds alone, as every server takes them.
    check("GET / HTTP/1.0\n\n", "200 OK");
    check("GET / HTTP/1.1\r\nHost: x\n\r\n", "200 OK");
    // What ends before the request does has asked nothing.
    for request in ["", "GET /metrics HTTP/1.1\r\nHost: x\r\n", "\r\n\r"] {
        assert_eq!(answer(&metrics, request.as_bytes()), "", "{request:?}");
    }
}

/// Wherever a request is cut, its end is found.
#[test]
fn a_request_in_pieces() {
    struct Pieces(usize, Client);
    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(self.0);
            self.1.read(&mut buffer[..length])
        }
    }
    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for request in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\n\n"] {
        for length in 1..=request.len() {
            let mut client = Pieces(length, Client(Cursor::new(request.as_bytes().to_vec()), Vec::new()));
            metrics().converse(&mut client).expect("it is served");
            assert!(client.1.1.starts_with(b"HTTP/1.1 200"), "{length}");
        }
    }
}

/// A signal that comes while a client is waited for, as on Linux it ends every read that has a time limit.
#[test]
fn a_signal_is_no_end() {
    struct Interrupted(bool, Client);
    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 = !self.0;
            if self.0 { Err(std::io::ErrorKind::Interrupted.into()) } else { self.1.read(buffer) }
        }
    }
    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut client = Interrupted(false, Client(Cursor::new(b"GET / HTTP/1.0\r\n\r\n".to_vec()), Vec::new()));
    metrics().converse(&mut client).expect("it is served");
    assert!(client.1.1.starts_with(b"HTTP/1.1 200"));
}

fn scrapers() -> Accounts {
    let line = account_line("scraper", Right::Read, "secret", true).expect("a name");
    format!("{line}\nopen reader no-password").parse().expect("lines of accounts")
}

#[test]
fn clients_at_once() {
    let line = account_line("scraper", Right::Read, "secret", true).expect("a name");
    let accounts = scrapers();
    let listener = metrics().listen(common::LOOPBACK, accounts).expect("it listens");
    let connect = || TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
    let ask_as = |who: &str, mut stream: TcpStream| {
        let mut answer = String::new();
        // Who is turned away may find the connection closed before its request has gone out.
        let _ = stream.write_all(format!("GET /metrics HTTP/1.0\r\n{who}\r\n").as_bytes());
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let ask = |stream| ask_as("Authorization: Basic c2NyYXBlcjpzZWNyZXQ=\r\n", stream);
    assert!(ask(connect()).starts_with("HTTP/1.1 200"));
    // Nobody, and `open`, who has no password.
    for who in ["", "Authorization: Basic b3Blbjo=\r\n"] {
        let answer = ask_as(who, connect());
        assert!(answer.starts_with("HTTP/1.1 401"), "{who}");
        assert!(answer.contains("\r\nWWW-Authenticate: Basic realm=\"perfschema\", charset=\"UTF-8\"\r\n"), "{answer}");
    }
    // Whoever only keeps connections open keeps nobody out, but loses the oldest.
    let mut silent: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    let started = std::time::Instant::now();
    assert!(ask(connect()).starts_with("HTTP/1.1 200"));
    assert!(ask(silent.pop().expect("a hundred")).starts_with("HTTP/1.1 200"));
    assert_eq!(silent[0].read(&mut [0]).expect("it is closed"), 0);
    // None of it because their time was over.
    assert!(started.elapsed() < std::time::Duration::from_secs(8));
    drop(silent);
    assert!(matches!(
        metrics().listen("0.0.0.0:0".parse().expect("an address"), common::accounts()),
        Err(perfschema_server::ListenError::BeyondLoopback(_))
    ));
    // By HTTP nobody could prove what these accounts have.
    let native = line.split(' ').filter(|word| !word.starts_with("caching_sha2")).collect::<Vec<_>>().join(" ");
    for accounts in [common::accounts(), native.parse().expect("a line")] {
        let refused = metrics().listen(common::LOOPBACK, accounts).expect_err("nobody could come in");
        assert!(refused.to_string().starts_with("no account has a password for caching_sha2_password"), "{refused}");
    }
}

/// A connection that is closed with bytes unread is reset, and the client may lose the answer.
#[test]
fn an_answer_is_heard_whatever_was_sent_with_the_request() {
    let listener = metrics().listen(common::LOOPBACK, scrapers()).expect("it listens");
    let connect = || TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
    let hears = |mut stream: TcpStream, request: &str, expected: &str| {
        stream.write_all(request.as_bytes()).expect("it is taken");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it ends in good order");
        assert!(answer.starts_with(expected), "{answer}");
        stream
    };
    // As much as a connection takes at once.
    let much = "x".repeat(60_000);
    let posted = format!("POST /metrics HTTP/1.0\r\nContent-Length: 60000\r\n\r\n{much}");
    hears(connect(), &posted, "HTTP/1.1 405");
    hears(connect(), &format!("GET /{much} HTTP/1.0\r\n\r\n"), "HTTP/1.1 431");
    hears(connect(), &format!("GET /metrics HTTP/1.0\r\n\r\n{much}"), "HTTP/1.1 401");
    // Who stays after the answer takes nobody's place.
    let stay: Vec<TcpStream> = (0..40).map(|_| hears(connect(), &posted, "HTTP/1.1 405")).collect();
    hears(connect(), "GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.1 401");
    drop(stay);
}

/// As many as are answered at once, each of which asks again when it has its whole answer, which it knows by its length.
#[test]
fn who_comes_again_does_not_stand_in_its_own_way() {
    let listener = metrics().listen(common::LOOPBACK, scrapers()).expect("it listens");
    let address = listener.address().expect("TCP");
    let ask = || {
        let mut stream = BufReader::new(TcpStream::connect(address).expect("it listens"));
        let request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic c2NyYXBlcjpzZWNyZXQ=\r\n\r\n";
        stream.get_mut().write_all(request).expect("it is taken");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).expect("a line"), 0, "{head}");
        }
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).and_then(|length| length.parse().ok());
        stream.read_exact(&mut vec![0; length.expect("a length")]).expect("a body");
        head.lines().next().expect("a status").to_owned()
    };
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (0..100).for_each(|_| assert_eq!(ask(), "HTTP/1.1 200 OK")));
        }
    });
}

/// What the digests of the other metrics stand for, as much of it as is of use on a screen.
#[test]
fn digests_say_their_texts() {
    static ASKED: perfschema::statement::Statement = perfschema::statement!("statement/test/asked");
    let metrics = metrics();
    let long = format!("{}ä", "x".repeat(200));
    for text in ["GET /orders/7", "GET /orders/8", &long] {
        drop(ASKED.begin_in("shop", text));
    }
    let families = metrics.collect();
    let family = families.iter().find(|family| family.name == "perfschema_events_statements_digest_text").expect("it is there");
    assert_eq!((family.kind, family.help.ends_with(" DIGEST_TEXT of events_statements_summary_by_digest.")), (Kind::Info, true));
    let of_shop = family.points.iter().filter(|point| point.labels[0].1 == "shop");
    let mut texts: Vec<&str> = of_shop.map(|point| &*point.labels[2].1).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["GET /orders/?", &"x".repeat(120)]);
    let names: Vec<&str> = family.points[0].labels.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["schema_name", "digest", "digest_text"]);
    // A digest is there as often as its number of events.
    let events = families.iter().find(|family| family.name == "perfschema_events_statements_digest").expect("it is there");
    assert_eq!(events.points.len(), family.points.len());
}

#[test]
fn files_are_bounded_and_their_names_any() {
    // Recording begins before there is something to record.
    let metrics = metrics();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("metrics-files");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    for name in ["a", "b \"quoted\" \\", "c\nperfschema_program_running 7\n"] {
        perfschema::fs::write(folder.join(name), b"12345").expect("a file");
    }
    let number = |metrics: &Metrics, name: &str, label: &str| -> Vec<i128> {
        let families = metrics.collect();
        let family = families.iter().find(|family| family.name == name).expect(name);
        let chosen = family.points.iter().filter(|point| point.labels.iter().any(|(_, value)| value.ends_with(label)));
        let value = |value: &Value| if let Value::Number(number) = value { *number } else { panic!("{value:?}") };
        chosen.map(|point| value(&point.value)).collect()
    };
    let bytes = "perfschema_file_instance_bytes";
    assert_eq!(number(&metrics, bytes, "\\"), [0, 5], "read and written");
    assert_eq!(number(&metrics, bytes, "/a"), [0, 5]);
    assert!(metrics.prometheus().contains("/b \\\"quoted\\\" \\\\\",event_name="));
    assert_eq!(metrics.prometheus().lines().filter(|line| line.starts_with("perfschema_program_running")).count(), 1);
    let bounded = metrics.instances(1);
    assert_eq!(number(&bounded, bytes, "/a"), [0, 5], "the first of those with as many events");
    assert_eq!(number(&bounded, bytes, "\\"), []);
    perfschema::fs::read(folder.join("b \"quoted\" \\")).expect("it is there");
    assert_eq!((number(&bounded, bytes, "/a"), number(&bounded, bytes, "\\")), (vec![], vec![5, 5]), "the one with most");
    assert_eq!(number(&bounded, "perfschema_instances_left_out", "file_summary_by_instance"), [2]);

    let path = folder.join("metrics.prom");
    std::fs::write(&path, "old").expect("a file");
    bounded.write_file(&path).expect("it is written");
    assert!(std::fs::read_to_string(&path).expect("it is there").contains("\nperfschema_program_running 1\n"));
    assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 4, "nothing beside it");
    assert!(bounded.write_file(&folder.join("none/metrics.prom")).is_err());
    // What somebody has put where it would write, or has left there, is not written through.
    #[cfg(unix)]
    {
        let pid = std::process::id();
        let plant = |name: String| std::os::unix::fs::symlink(folder.join("a"), folder.join(name)).expect("a link");
        let planted = (0..9).map(|n| format!(".metrics.prom.{pid}.{n}")).chain([format!(".metrics.prom.{pid}")]);
        planted.clone().for_each(plant);
        bounded.write_file(&path).expect("it is written");
        assert!(std::fs::read(folder.join("a")).expect("it is there") == b"12345");
        assert!(!path.is_symlink());
        planted.for_each(|name| std::fs::remove_file(folder.join(name)).expect("it is left as it was"));
    }
    std::fs::create_dir(folder.join("directory")).expect("a folder");
    assert!(bounded.write_file(&folder.join("directory")).is_err());
    assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 5, "nothing beside it");
}

/// What the program counts by name, as soon as it is enabled: what only grows as counters, what goes up and down as gauges.
#[test]
fn metrics_of_the_program_by_their_names() {
    static SERVED: perfschema::metric::Counter = perfschema::counter!("served", "server", "Served");
    static OPEN: perfschema::metric::Level = perfschema::level!("open", "server", "Open");
    let metrics = metrics();
    SERVED.inc();
    OPEN.sub(2);
    assert!(!metrics.prometheus().contains("subsystem=\"server\""));
    let region = common::process().region();
    region.monitor(MonitorCommand::Enable, "module_server", perfschema::metric::now(), |_| ()).expect("they are there");
    SERVED.add(41);
    let text = metrics.prometheus();
    assert!(text.contains("# TYPE perfschema_metrics_total counter\n"), "{text}");
    assert!(text.contains("\nperfschema_metrics_total{name=\"served\",subsystem=\"server\"} 41\n"), "{text}");
    assert!(text.contains("\nperfschema_metrics_value{name=\"open\",subsystem=\"server\"} -2\n"), "{text}");
}
