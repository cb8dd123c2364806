//! Encryption, as a client sees it that says exactly what a test wants. ci/clients has MySQL's own.

mod common;

use common::{CAPABILITIES, LOOPBACK, Packet};
use perfschema_server::{Accounts, Limits, ListenError, Listener, Metrics, Server, Tls, TlsError, account_line};
use perfschema_sql::{Database, Right};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SSL: u32 = 1 << 11;

/// A certificate for `localhost`: its files, and what trusts it.
fn certificate(name: &str) -> (PathBuf, PathBuf, ClientConfig) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let path = |ending: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{ending}"));
    std::fs::write(path("crt"), made.cert.pem()).expect("a file");
    std::fs::write(path("key"), made.signing_key.serialize_pem()).expect("a file");
    set_mode(&path("key"), 0o600);
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("the defaults");
    (path("crt"), path("key"), builder.with_root_certificates(roots).with_no_client_auth())
}

fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("its owner");
    #[cfg(not(unix))]
    let _ = (path, mode);
}

fn server(name: &str, is_required: bool) -> (Server, ClientConfig) {
    let (certificate, key, client) = certificate(name);
    let tls = Tls::from_files(&certificate, &key).expect("they belong together");
    let tls = if is_required { tls.required() } else { tls };
    let database = Database::new(common::process());
    (Server::with_tls(database, accounts(), Limits::default(), tls).expect("a session"), client)
}

fn accounts() -> Accounts {
    account_line("boss", Right::Control, "secret", true).expect("an account").parse().expect("its line")
}

/// A packet, whatever its number.
fn read(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let mut packet = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut packet)?;
    Ok(packet)
}

fn write(stream: &mut impl Write, number: u8, bytes: &[u8]) {
    stream.write_all(&Packet { number, bytes }.framed()).expect("it reads");
    stream.flush().expect("it reads");
}

fn connect(listener: &Listener) -> TcpStream {
    let mut stream = TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a time");
    assert_eq!(read(&mut stream).expect("a greeting")[0], 10);
    stream
}

/// The beginning of a login, up to the user: what asks for encryption.
fn request() -> Vec<u8> {
    common::login("", CAPABILITIES | SSL)[..32].to_vec()
}

fn encrypted(listener: &Listener, client: &ClientConfig) -> StreamOwned<ClientConnection, TcpStream> {
    encrypt(connect(listener), client)
}

/// After the greeting.
fn encrypt(mut stream: TcpStream, client: &ClientConfig) -> StreamOwned<ClientConnection, TcpStream> {
    write(&mut stream, 1, &request());
    let name = ServerName::try_from("localhost").expect("a name");
    StreamOwned::new(ClientConnection::new(Arc::new(client.clone()), name).expect("a configuration"), stream)
}

/// A login with a proof that proves nothing.
fn login(answer: &[u8]) -> Vec<u8> {
    let empty = common::login("boss", CAPABILITIES | SSL);
    let name_ends = 32 + b"boss\0".len();
    [&empty[..name_ends], &[answer.len() as u8], answer, &empty[name_ends + 1..]].concat()
}

/// Who takes nothing is waited for once, and not again for each piece that would follow.
#[test]
fn who_takes_nothing_is_left_in_time() {
    let (certificate, key, client) = certificate("tls-slow");
    let tls = Tls::from_files(&certificate, &key).expect("they belong together");
    let limits = Limits { write_time: Duration::from_secs(2), packet_bytes: 1 << 24, ..Limits::default() };
    let server = Server::with_tls(Database::new(common::process()), accounts(), limits, tls).expect("a session");
    let listener = server.listen(LOOPBACK).expect("it listens");
    let mut stream = encrypted(&listener, &client);
    write(&mut stream, 2, &login(&[7; 32]));
    assert_eq!(read(&mut stream).expect("a packet"), [1, 4]);
    write(&mut stream, 4, b"secret\0");
    assert_eq!(read(&mut stream).expect("an answer")[0], 0);
    // As much as no socket keeps.
    let rows = "SELECT REPEAT('x', 100000) FROM information_schema.columns LIMIT 200";
    write(&mut stream, 0, &[b"\x03", rows.as_bytes()].concat());
    let begin = Instant::now();
    common::until(|| server.connections() == 0);
    // Once more for what is taken in part; for each piece it would be sixteen times as long.
    let waited = begin.elapsed();
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_secs(16), "{waited:?}");
}

/// A signal that comes while a client is waited for ends no connection: on Linux it ends every wait that has a time limit.
#[test]
fn a_signal_is_no_end() {
    struct Interrupted(TcpStream, u32);
    impl Interrupted {
        fn calls(&mut self) -> std::io::Result<()> {
            self.1 += 1;
            if self.1.is_multiple_of(3) { Ok(()) } else { Err(std::io::ErrorKind::Interrupted.into()) }
        }
    }
    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.calls()?;
            self.0.read(buffer)
        }
    }
    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.calls()?;
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            self.0.flush()
        }
    }
    let (server, client) = server("tls-signals", false);
    let listener = std::net::TcpListener::bind(LOOPBACK).expect("an address");
    let mut stream = TcpStream::connect(listener.local_addr().expect("TCP")).expect("it listens");
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        server.converse(Interrupted(stream, 0), "localhost");
    });
    assert_eq!(read(&mut stream).expect("a greeting")[0], 10);
    let mut stream = encrypt(stream, &client);
    write(&mut stream, 2, &login(&[7; 32]));
    assert_eq!(read(&mut stream).expect("a packet"), [1, 4]);
    write(&mut stream, 4, b"secret\0");
    assert_eq!(read(&mut stream).expect("an answer")[0], 0);
    write(&mut stream, 0, b"\x01");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("it says that it ends");
    serving.join().expect("it does not panic");
}

#[test]
fn a_password_may_travel_where_it_is_encrypted_only() {
    let (server, client) = server("tls-password", false);
    let listener = server.listen(LOOPBACK).expect("it listens");
    for (password, expected) in [
        (&b"secret\0"[..], &b"\0"[..]),
        (b"Secret\0", b"\xff\x15\x04#28000"),
        (b"secret", b"\xff\x15\x04#28000"),
        (b"secret\x01", b"\xff\x15\x04#28000"),
    ] {
        let mut stream = encrypted(&listener, &client);
        write(&mut stream, 2, &login(&[7; 32]));
        assert_eq!(read(&mut stream).expect("a packet"), [1, 4], "the password, please");
        write(&mut stream, 4, password);
        assert!(read(&mut stream).expect("an answer").starts_with(expected), "{password:?}");
        if expected == b"\0" {
            write(&mut stream, 0, b"\x03SHOW STATUS LIKE 'Ssl_cipher'");
            let packets: Vec<Vec<u8>> = (0..5).map(|_| read(&mut stream).expect("a packet")).collect();
            assert!(packets[4].starts_with(b"\x0aSsl_cipher\x16TLS_AES_256_GCM_SHA384"), "{packets:?}");
            read(&mut stream).expect("their end");
            write(&mut stream, 0, b"\x03SHOW STATUS LIKE 'Ssl_version'");
            let packets: Vec<Vec<u8>> = (0..5).map(|_| read(&mut stream).expect("a packet")).collect();
            assert_eq!(packets[4], b"\x0bSsl_version\x07TLSv1.3", "{packets:?}");
        }
    }
    // Whose proof is enough is not asked for it.
    let mut stream = TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
    let greeting = read(&mut stream).expect("a greeting");
    let id = 2 + greeting[1..].iter().position(|&byte| byte == 0).expect("it ends");
    let nonce = [&greeting[id + 4..id + 12], &greeting[id + 31..id + 43]].concat();
    let once = Sha256::digest(b"secret");
    let cover = Sha256::new().chain_update(Sha256::digest(once)).chain_update(nonce).finalize();
    let mut stream = encrypt(stream, &client);
    write(&mut stream, 2, &login(&once.iter().zip(cover).map(|(once, cover)| once ^ cover).collect::<Vec<u8>>()));
    assert_eq!(read(&mut stream).expect("a packet"), [1, 3]);
    assert_eq!(read(&mut stream).expect("an answer")[0], 0);
    let mut plain = connect(&listener);
    write(&mut plain, 1, &login(&[7; 32]));
    assert!(read(&mut plain).expect("an answer").starts_with(b"\xff\x15\x04#28000Access denied for user 'boss'"));
}

/// As clients have it that are some years old, by OpenSSL's names.
#[test]
fn the_version_before() {
    let (certificate, key, _) = certificate("tls-before-1-3");
    let tls = Tls::from_files(&certificate, &key).expect("they belong together");
    let server = Server::with_tls(Database::new(common::process()), accounts(), Limits::default(), tls).expect("a session");
    let listener = server.listen(LOOPBACK).expect("it listens");
    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from_pem_file(&certificate).expect("a certificate");
    roots.add(trusted).expect("a certificate");
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS12]).expect("it is known");
    let client = builder.with_root_certificates(roots).with_no_client_auth();
    let mut stream = encrypted(&listener, &client);
    write(&mut stream, 2, &login(&[7; 32]));
    assert_eq!(read(&mut stream).expect("a packet"), [1, 4], "the password, please");
    write(&mut stream, 4, b"secret\0");
    assert_eq!(read(&mut stream).expect("an answer")[0], 0);
    let statement = b"\x03SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME) FROM performance_schema.session_status \
                      WHERE VARIABLE_NAME IN ('Ssl_cipher', 'Ssl_version')";
    write(&mut stream, 0, statement);
    let packets: Vec<Vec<u8>> = (0..4).map(|_| read(&mut stream).expect("a packet")).collect();
    assert_eq!(String::from_utf8_lossy(&packets[3][1..]), "ECDHE-ECDSA-AES256-GCM-SHA384,TLSv1.2");
}

#[test]
fn what_is_said_before_the_encryption_does_not_count() {
    let (server, _) = server("tls-before", false);
    let listener = server.listen(LOOPBACK).expect("it listens");
    // A request and, in the same segment, a login that somebody on the way has put there.
    let mut stream = connect(&listener);
    let injected = [Packet { number: 1, bytes: &request() }.framed(), Packet { number: 2, bytes: &login(b"") }.framed()].concat();
    stream.write_all(&injected).expect("it reads");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    // An alert of TLS, or nothing: no packet.
    assert!(rest.is_empty() || rest[0] == 0x15, "{rest:?}");
    // A request that is longer than one is no login either way.
    let mut stream = connect(&listener);
    write(&mut stream, 1, &login(b"")[..33]);
    assert!(read(&mut stream).expect("an answer").starts_with(b"\xff\x13\x04#08S01Bad handshake"));
    common::until(|| server.connections() == 0);
}

#[cfg(unix)]
#[test]
fn encryption_may_be_required() {
    let (server, client) = server("tls-required", true);
    let listener = server.listen(LOOPBACK).expect("it listens");
    let mut plain = connect(&listener);
    write(&mut plain, 1, &login(b""));
    assert!(
        read(&mut plain)
            .expect("an answer")
            .starts_with(b"\xff\x57\x0c#HY000Connections using insecure transport are prohibited")
    );
    let mut stream = encrypted(&listener, &client);
    write(&mut stream, 2, &login(&[7; 32]));
    assert_eq!(read(&mut stream).expect("a packet"), [1, 4]);
    // Nobody listens in on a socket of the machine's own.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tls-socket");
    let _ = std::fs::remove_file(&path);
    let _listener = server.listen_unix(&path).expect("it listens");
    let mut socket = std::os::unix::net::UnixStream::connect(&path).expect("it listens");
    read(&mut socket).expect("a greeting");
    write(&mut socket, 1, &login(&[7; 32]));
    assert!(read(&mut socket).expect("an answer").starts_with(b"\xff\x15\x04#28000"));
}

#[test]
fn encrypted_metrics() {
    let (certificate, key, client) = certificate("tls-metrics");
    let tls = Tls::from_files(&certificate, &key).expect("they belong together");
    let metrics = Metrics::new(common::process());
    let open: Accounts = "open reader no-password".parse().expect("an account");
    assert!(metrics.listen_beyond_loopback(LOOPBACK, open, tls.clone()).is_err());
    // Also where others have one.
    let line = account_line("boss", Right::Control, "secret", true).expect("an account");
    let both: Accounts = format!("{line}\nopen reader no-password").parse().expect("accounts");
    assert!(matches!(metrics.listen_beyond_loopback(LOOPBACK, both, tls.clone()), Err(ListenError::NoPassword)));
    let everywhere = "0.0.0.0:0".parse().expect("an address");
    assert!(matches!(metrics.listen_encrypted(everywhere, accounts(), tls.clone()), Err(ListenError::BeyondLoopback(_))));
    answers_what_is_encrypted(&metrics.listen_encrypted(LOOPBACK, accounts(), tls.clone()).expect("it listens"), &client);
    answers_what_is_encrypted(&metrics.listen_beyond_loopback(LOOPBACK, accounts(), tls).expect("it listens"), &client);
}

fn answers_what_is_encrypted(listener: &Listener, client: &ClientConfig) {
    let ask = |more: &str| {
        let stream = TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let mut stream =
            StreamOwned::new(ClientConnection::new(Arc::new(client.clone()), name).expect("a configuration"), stream);
        stream.write_all(format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{more}\r\n").as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it says that it ends");
        answer
    };
    assert!(ask("").starts_with("HTTP/1.1 401 Unauthorized\r\n"));
    // boss:Secret, boss:secret
    assert!(ask("Authorization: Basic Ym9zczpTZWNyZXQ=\r\n").starts_with("HTTP/1.1 401 Unauthorized\r\n"));
    assert!(ask("Authorization: Basic Ym9zczpzZWNyZXQ=\r\n").contains("\nperfschema_program_running 1\n"));
    // In plain text there is nothing.
    let mut plain = TcpStream::connect(listener.address().expect("TCP")).expect("it listens");
    plain.write_all(b"GET /metrics HTTP/1.0\r\nAuthorization: Basic Ym9zczpzZWNyZXQ=\r\n\r\n").expect("it reads");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
}

#[test]
fn files_that_hold_something_else() {
    let (certificate, key, _) = certificate("tls-one");
    let (_, other, _) = certificate_of_another();
    let check = |certificate: &Path, key: &Path, expected: &str| {
        let error = Tls::from_files(certificate, key).expect_err("they cannot be used");
        assert!(error.to_string().contains(expected), "{error}");
        error
    };
    assert!(matches!(check(&certificate, &other, "cannot be used"), TlsError::Pair(_)));
    check(&key, &key, "tls-one.key: it has no certificate");
    set_mode(&certificate, 0o600);
    check(&certificate, &certificate, "tls-one.crt: it has no private key");
    let encrypted = key.with_extension("encrypted");
    let text = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n";
    std::fs::write(&encrypted, text).expect("a temporary file");
    set_mode(&encrypted, 0o600);
    check(&certificate, &encrypted, "tls-one.encrypted: its private key is encrypted; `openssl pkey` writes it without");
    check(Path::new("/no/such/file"), &key, "/no/such/file: ");
    check(&certificate, Path::new("/no/such/file"), "/no/such/file: ");
    #[cfg(unix)]
    for mode in [0o640, 0o604] {
        set_mode(&key, mode);
        check(&certificate, &key, "tls-one.key: others than its owner may read it: chmod 600");
    }
}

fn certificate_of_another() -> (PathBuf, PathBuf, ClientConfig) {
    certificate("tls-other")
}
