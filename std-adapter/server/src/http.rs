//! HTTP for those who collect metrics: GET and HEAD of `/metrics`, one request a connection, within bounds of bytes, time and
//! clients.
//!
//! The request's bytes are parsed by `httparse`; what little remains of a server is here. Bodies of requests are never read.

use crate::accounts::Accounts;
use crate::listener::{self, ListenError, Listener};
use crate::metrics::Metrics;
use crate::mysql::packet::Stream;
use crate::socket::{self, Socket, Timed};
use crate::tls::{Securable, Tls};
use base64::prelude::{BASE64_STANDARD, Engine};
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use zeroize::Zeroizing;

/// Clients that are answered at once. Each costs a thread and the metrics, twice while they are sent.
const CLIENTS: usize = 16;
/// Clients that have not asked yet. If one more comes, the one that came first goes: whoever only keeps connections open keeps nobody out who
/// asks at once.
const ASKING: usize = 64;
/// Clients that have their answer and are about to go: of more than that, some may not hear it.
const LEAVING: usize = 64;
/// The most bytes that a request line and its headers may have, and the most headers.
const HEAD_BYTES: usize = 8192;
const HEADERS: usize = 64;
/// How much is read at once.
const PIECE_BYTES: usize = 1024;
/// How much of an answer is sent once its client's place is given back.
const LAST_BYTES: usize = 16 << 10;
/// Time from the connection to the end of the request, and time that a client may take nothing of the answer.
const READ_TIME: Duration = Duration::from_secs(10);
const WRITE_TIME: Duration = Duration::from_secs(10);

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is served, and to whom.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) metrics: Metrics,
    /// To those who have an account; None: to everybody.
    pub(crate) accounts: Option<Arc<Accounts>>,
    /// Encrypted, and not otherwise.
    pub(crate) tls: Option<Tls>,
}

/// Listens, with a thread for each client.
pub(crate) fn listen(service: Service, address: SocketAddr) -> Result<Listener, ListenError> {
    let clients = Clients::default();
    listener::tcp(address, move |socket| socket.into_iter().for_each(|socket| take(&service, &clients, socket)))
}

/// The clients that there are.
#[derive(Clone, Default)]
struct Clients {
    /// In the order in which they came.
    asking: Arc<Mutex<VecDeque<Arc<Socket>>>>,
    served: Arc<AtomicUsize>,
    leaving: Arc<AtomicUsize>,
}

impl Clients {
    fn asking(&self) -> MutexGuard<'_, VecDeque<Arc<Socket>>> {
        // Every change is one call: what a panic leaves is whole.
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client has come.
    fn begin(&self, socket: &Arc<Socket>) -> Asking {
        let mut asking = self.asking();
        if asking.len() >= ASKING
            && let Some(first) = asking.pop_front()
        {
            first.shut(Shutdown::Both);
        }
        asking.push_back(Arc::clone(socket));
        Asking { clients: self.clone(), socket: Arc::clone(socket) }
    }

    /// Sees a client out that has its answer, in this thread.
    fn see_out(&self, socket: Arc<Socket>) {
        if let Some(_place) = Permit::of(&self.leaving, LEAVING) {
            socket::leave(socket);
        }
    }
}

/// A client that has not asked yet.
struct Asking {
    clients: Clients,
    socket: Arc<Socket>,
}

impl Asking {
    /// It has: a place for it, if there is room.
    fn has_asked(self) -> Option<Permit> {
        Permit::of(&self.clients.served, CLIENTS)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.clients.asking().retain(|other| !Arc::ptr_eq(other, &self.socket));
    }
}

/// One of the clients at once.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    /// None if there is no room.
    fn of(taken: &Arc<AtomicUsize>, limit: usize) -> Option<Permit> {
        // Relaxed: the number is all that there is to it.
        let add = |count| (count < limit).then_some(count + 1);
        taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(Permit(Arc::clone(taken)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn take(service: &Service, clients: &Clients, socket: Socket) {
    if socket.prepare().is_err() {
        return;
    }
    let socket = Arc::new(socket);
    let mut stream = Timed::new(Arc::clone(&socket), WRITE_TIME);
    stream.set_deadline(Instant::now().checked_add(READ_TIME));
    let (asking, service, clients) = (clients.begin(&socket), service.clone(), clients.clone());
    let body = move || {
        // Who goes away, or is too slow, needs not know.
        let _ = serve(stream, &service, asking);
        clients.see_out(socket);
    };
    // Without a thread the socket is dropped, and the client sees that.
    let _ = thread::Builder::new().name("perfschema-http".to_owned()).spawn(body);
}

/// Serves a client, and says goodbye if it is encrypted.
fn serve(stream: Timed, service: &Service, asking: Asking) -> io::Result<()> {
    let plain = Securable::Plain(stream);
    let mut stream = match &service.tls {
        Some(tls) => plain.encrypt(tls)?,
        None => plain,
    };
    answer(&mut stream, service, || asking.has_asked())
}

/// Reads a request and answers it. `enter`: what the client has while it is answered, None if there is no room for it.
pub(crate) fn answer<S: Stream, P>(stream: &mut S, service: &Service, enter: impl FnOnce() -> Option<P>) -> io::Result<()> {
    let mut place = None;
    let (head, answer) = match read_head(stream)? {
        Head::Whole(head) => {
            let answer = respond(&head, service, || {
                place = enter();
                place.is_some()
            });
            (head, answer)
        }
        Head::TooLong(head) => (head, Answer::error("431 Request Header Fields Too Large", "the request is too long")),
        // Nothing was asked.
        Head::Ended => return Ok(()),
    };
    // Whatever is answered: who asks for the head waits for no body. The parser skips empty lines in front of a request, too.
    send(stream, answer, !head.trim_ascii_start().starts_with(b"HEAD "), place)
}

/// What was read.
#[derive(Debug)]
enum Head {
    Whole(Zeroizing<Vec<u8>>),
    /// As much of it as was read.
    TooLong(Zeroizing<Vec<u8>>),
    Ended,
}

/// Reads to the empty line that ends the headers.
fn read_head<S: Stream>(stream: &mut S) -> io::Result<Head> {
    // It may have a password: room for all from the start, so that no copy is left behind.
    let mut head = Zeroizing::new(Vec::with_capacity(HEAD_BYTES + PIECE_BYTES));
    let mut piece = Zeroizing::new([0; PIECE_BYTES]);
    loop {
        let read = stream.read(&mut *piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(Head::Ended) };
        // The empty line may have come in two pieces.
        let from = head.len().saturating_sub(2);
        head.extend_from_slice(bytes);
        if head.get(from..).is_some_and(has_empty_line) {
            return Ok(if head.len() > HEAD_BYTES { Head::TooLong(head) } else { Head::Whole(head) });
        }
        if head.len() > HEAD_BYTES {
            return Ok(Head::TooLong(head));
        }
    }
}

/// Lines end with CR LF, of requests that are typed also with LF alone.
fn has_empty_line(head: &[u8]) -> bool {
    head.windows(2).any(|end| end == b"\n\n") || head.windows(3).any(|end| end == b"\n\r\n")
}

struct Answer {
    status: &'static str,
    content_type: &'static str,
    more: &'static str,
    body: String,
}

impl Answer {
    fn error(status: &'static str, what: &str) -> Answer {
        Answer { status, content_type: "text/plain; charset=utf-8", more: "", body: format!("{what}\n") }
    }

    fn of(content_type: &'static str, body: String) -> Answer {
        // What is sent depends on what was asked for: nobody on the way may keep it for others.
        Answer { status: "200 OK", content_type, more: "Vary: Accept\r\nCache-Control: no-store\r\n", body }
    }
}

fn respond(head: &[u8], service: &Service, is_room: impl FnOnce() -> bool) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Answer::error("431 Request Header Fields Too Large", "too many headers");
        }
        _ => return Answer::error("400 Bad Request", "this is no request of HTTP/1.1"),
    }
    let header = |name: &'static str| {
        let is_it = move |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(name);
        request.headers.iter().filter(is_it).map(|header| header.value)
    };
    if request.version == Some(1) && header("Host").count() != 1 {
        return Answer::error("400 Bad Request", "HTTP/1.1 wants one Host");
    }
    if !matches!(request.method, Some("GET" | "HEAD")) {
        let more = "Allow: GET, HEAD\r\n";
        return Answer { more, ..Answer::error("405 Method Not Allowed", "only GET and HEAD") };
    }
    if service.accounts.as_ref().is_some_and(|accounts| !may_enter(accounts, header("Authorization"))) {
        let more = "WWW-Authenticate: Basic realm=\"perfschema\", charset=\"UTF-8\"\r\n";
        return Answer { more, ..Answer::error("401 Unauthorized", "an account and its password, please") };
    }
    // Who has no account takes the place of nobody who has one.
    if !is_room() {
        return Answer::error("503 Service Unavailable", "too many clients");
    }
    match path(request.path.unwrap_or_default()) {
        "/metrics" if wants_open_metrics(header("Accept")) => Answer::of(OPEN_METRICS, service.metrics.open_metrics()),
        "/metrics" => Answer::of(TEXT, service.metrics.prometheus()),
        "/" => Answer::of(
            "text/html; charset=utf-8",
            "<!doctype html><title>perfschema</title><a href=\"metrics\">metrics</a>\n".to_owned(),
        ),
        _ => Answer::error("404 Not Found", "there is /metrics"),
    }
}

/// The path of what is asked for, which may be a whole address, as proxies are asked: servers must understand that, too (RFC 9112,
/// 3.2.2).
fn path(target: &str) -> &str {
    let without_scheme = ["http://", "https://"].into_iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let path_and_query = match without_scheme.map(|rest| rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()))) {
        // An address without a host is none.
        Some(("", _)) | None => target,
        Some((_, "")) => "/",
        Some((_, rest)) if rest.starts_with('?') => "/",
        Some((_, rest)) => rest,
    };
    path_and_query.split('?').next().unwrap_or_default()
}

/// Whether somebody has proven to have an account, by the only way that HTTP and all collectors have: the password itself.
fn may_enter<'a>(accounts: &Accounts, mut authorization: impl Iterator<Item = &'a [u8]>) -> bool {
    let (Some(value), None) = (authorization.next(), authorization.next()) else { return false };
    let Some((scheme, credentials)) = value.split_at_checked(6) else { return false };
    // Room for all from the start, so that no copy is left behind.
    let mut decoded = Zeroizing::new(Vec::with_capacity(credentials.len() + 4));
    if BASE64_STANDARD.decode_vec(credentials.trim_ascii(), &mut decoded).is_err() {
        return false;
    }
    let Some(colon) = decoded.iter().position(|&byte| byte == b':') else { return false };
    let (user, password) = (decoded.get(..colon).unwrap_or_default(), decoded.get(colon + 1..).unwrap_or_default());
    let measure = accounts.measure(&String::from_utf8_lossy(user));
    // The same work whether there is such a user or not.
    let is_password = measure.stored.is_password(password);
    scheme.eq_ignore_ascii_case(b"Basic ") && is_password && measure.right.is_some()
}

/// Whether OpenMetrics is named, and no other text is liked more.
fn wants_open_metrics<'a>(accept: impl Iterator<Item = &'a [u8]>) -> bool {
    // Of this text, of any, of anything: the first that is named counts (RFC 9110, 12.5.1).
    let (mut open, mut plain, mut text, mut any) = (0.0_f32, None, None, None);
    for value in accept {
        for range in String::from_utf8_lossy(value).to_ascii_lowercase().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default();
            let mut quality = 1.0_f32;
            let mut version = "1.0.0";
            for part in parts {
                match part.split_once('=').map(|(name, value)| (name.trim(), value.trim().trim_matches('"'))) {
                    Some(("q", value)) => quality = value.parse().ok().filter(|q| (0.0..=1.0).contains(q)).unwrap_or(0.0),
                    Some(("version", value)) => version = if value == "1.0.0" { "1.0.0" } else { "other" },
                    _ => {}
                }
            }
            let named = match kind {
                "application/openmetrics-text" if version == "1.0.0" => {
                    open = open.max(quality);
                    continue;
                }
                "text/plain" => &mut plain,
                "text/*" => &mut text,
                "*/*" => &mut any,
                _ => continue,
            };
            *named = Some(named.unwrap_or(0.0_f32).max(quality));
        }
    }
    open > 0.0 && open >= plain.or(text).or(any).unwrap_or(0.0)
}

/// `place`: given back, and what takes the room of it, before the client has all of the answer: if it comes again, it must not stand in its
/// own way.
fn send<S: Stream, P>(stream: &mut S, answer: Answer, has_body: bool, place: Option<P>) -> io::Result<()> {
    let Answer { status, content_type, more, body } = answer;
    let length = body.len();
    // Who has a clock must say what it shows (RFC 9110, 6.6.1).
    let date = httpdate::HttpDate::from(SystemTime::now().max(SystemTime::UNIX_EPOCH));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{more}Date: {date}\r\nConnection: close\r\n\r\n"
    );
    // As one piece, if it fits.
    let mut bytes = head.into_bytes();
    if has_body {
        bytes.extend_from_slice(body.as_bytes());
    }
    let end = bytes.split_off(bytes.len().saturating_sub(LAST_BYTES));
    stream.write_all(&bytes)?;
    drop((bytes, body, place));
    stream.write_all(&end)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account_line;
    use perfschema::core::timer::MockClock;
    use perfschema::core::{Config, Identity, Region, StaticRegion};

    #[test]
    fn passwords() {
        let accounts: Accounts = account_line("a", perfschema_sql::Right::Read, "b:c", true).unwrap().parse().unwrap();
        let check = |values: &[&str], expected| {
            assert_eq!(may_enter(&accounts, values.iter().map(|value| value.as_bytes())), expected, "{values:?}");
        };
        check(&["Basic YTpiOmM="], true);
        check(&["basic  YTpiOmM= "], true);
        check(&["Basic YTpiOmM=", "Basic YTpiOmM="], false);
        check(&["Bearer YTpiOmM="], false);
        // "a:", "a:b", "x:b:c", "a", nothing, no base64.
        for credentials in ["YTo=", "YTpi", "eDpiOmM=", "YQ==", "", "YTpiOmM", "YT*iOmM="] {
            check(&[&format!("Basic {credentials}")], false);
        }
        check(&[], false);
    }

    /// What has a password is wiped where it is, and must have been nowhere else.
    #[test]
    fn a_request_has_room_from_the_start() {
        let mut request = vec![b'x'; HEAD_BYTES - 4];
        request.extend_from_slice(b"\r\n\r\n");
        let Ok(Head::Whole(head)) = read_head(&mut crate::Untimed(io::Cursor::new(request))) else { panic!("it is whole") };
        assert_eq!((head.len(), head.capacity()), (HEAD_BYTES, HEAD_BYTES + PIECE_BYTES));
    }

    #[test]
    fn who_finds_no_room_is_told_so() {
        let clients = Clients::default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = || Arc::new(Socket::Tcp(std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap()));
        let places: Vec<Permit> = (0..CLIENTS).map(|_| clients.begin(&connected()).has_asked().unwrap()).collect();
        assert!(clients.begin(&connected()).has_asked().is_none() && clients.asking().is_empty());
        drop(places);
        assert!(clients.begin(&connected()).has_asked().is_some());

        const SIZES: Config = Config::SMALL;
        static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
        let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &MockClock::new().timers()).unwrap();
        let service = Service { metrics: Metrics::new(region), accounts: None, tls: None };
        for (request, has_body) in [("GET / HTTP/1.0\r\n\r\n", true), ("HEAD / HTTP/1.0\r\n\r\n", false)] {
            let mut stream = crate::Untimed(io::Cursor::new(request.as_bytes().to_vec()));
            answer(&mut stream, &service, || None::<()>).unwrap();
            let answer = String::from_utf8(stream.0.into_inner().split_off(request.len())).unwrap();
            assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("too many clients\n") == has_body, "{answer}");
        }
    }

    #[test]
    fn formats_are_negotiated() {
        let check = |accept: &[&str], expected| {
            assert_eq!(wants_open_metrics(accept.iter().map(|accept| accept.as_bytes())), expected, "{accept:?}");
        };
        check(&[], false);
        check(&["*/*"], false);
        check(&["text/plain"], false);
        // Prometheus 2.42.
        let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                          text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        check(&[prometheus], true);
        check(&["text/plain;q=0.5", "APPLICATION/OpenMetrics-Text; version=\"1.0.0\"; Q=0.6"], true);
        check(&["application/openmetrics-text;q=0.4,text/*;q=0.5"], false);
        check(&["application/openmetrics-text;version=2.0.0"], false);
        check(&["application/openmetrics-text;q=nan", "application/openmetrics-text;q=0"], false);
        check(&["application/openmetrics-text;q=1.5"], false);
        check(&["text/plain, application/openmetrics-text"], true);
        check(&["application/openmetrics-text, */*"], true);
        check(&["application/openmetrics-text;q=0.1, */*;q=0.9"], false);
        // What is named more closely counts.
        check(&["application/openmetrics-text;q=0.5, text/plain;q=0.1, text/*", "*/*"], true);
    }
}
