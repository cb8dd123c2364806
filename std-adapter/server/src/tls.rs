//! Encryption: a certificate with its key, and a stream that can begin to be encrypted in the middle.

use crate::files::{self, PrivateError};
use crate::mysql::packet::Stream;
use perfschema_sql::Encryption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ProtocolVersion, ServerConfig, ServerConnection, StreamOwned};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Of the header of a private key that is encrypted, and of the lines below it as older programs write them.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

/// A server's certificate and key: TLS 1.2 and 1.3, with the cipher suites that rustls holds to be safe.
///
/// ```
/// # #[cfg(unix)] {
/// # use perfschema_server::{Tls, TlsError};
/// # use std::{fs, os::unix::fs::PermissionsExt};
/// # let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
/// # let path = |ending: &str| std::env::temp_dir().join(format!("perfschema-tls-{}.{ending}", std::process::id()));
/// # let (certificate, key) = (path("crt"), path("key"));
/// # fs::write(&certificate, made.cert.pem())?;
/// # fs::write(&key, made.signing_key.serialize_pem())?;
/// fs::set_permissions(&key, fs::Permissions::from_mode(0o644))?;
/// let error = Tls::from_files(&certificate, &key).unwrap_err();
/// assert!(matches!(&error, TlsError::File(path, _) if *path == key));
/// assert!(error.to_string().ends_with(": others than its owner may read it: chmod 600"));
/// fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
/// let tls = Tls::from_files(&certificate, &key)?; // For `Server::with_tls`, `Metrics::listen_encrypted`.
/// # let _ = (tls, fs::remove_file(certificate), fs::remove_file(key));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ServerConfig>,
    is_required: bool,
}

impl Tls {
    /// Reads both from PEM files. The certificate comes first in its file; those that vouch for it may follow.
    ///
    /// # Errors
    /// A file cannot be read or holds something else; others than its owner can read that of the key; the key is not that of the
    /// certificate.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Tls, TlsError> {
        let pem = |path: &Path, error: rustls::pki_types::pem::Error| TlsError::File(path.to_owned(), error.to_string());
        let public =
            files::read_public(certificate).map_err(|error| TlsError::File(certificate.to_owned(), error.to_string()))?;
        let chain = CertificateDer::pem_slice_iter(&public).collect::<Result<_, _>>();
        let chain: Vec<CertificateDer<'static>> = chain.map_err(|error| pem(certificate, error))?;
        if chain.is_empty() {
            return Err(TlsError::File(certificate.to_owned(), "it has no certificate".to_owned()));
        }
        let private = files::read_private(key).map_err(|error| match error {
            PrivateError::Io(error) => TlsError::File(key.to_owned(), error.to_string()),
            PrivateError::Readable => TlsError::File(key.to_owned(), files::READABLE.to_owned()),
        })?;
        let private = PrivateKeyDer::from_pem_slice(&private).map_err(|error| match error {
            rustls::pki_types::pem::Error::NoItemsFound => {
                let is_encrypted = private.windows(ENCRYPTED.len()).any(|text| text == ENCRYPTED);
                let problem = if is_encrypted {
                    "its private key is encrypted; `openssl pkey` writes it without a passphrase"
                } else {
                    "it has no private key"
                };
                TlsError::File(key.to_owned(), problem.to_owned())
            }
            error => pem(key, error),
        })?;
        // Named, so that it is this one whatever else the program links and installs.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| TlsError::Pair(error.to_string()))?;
        Ok(Tls { config: Arc::new(config), is_required: false })
    }

    /// The same, and clients that come by TCP must use it (error 3159).
    ///
    /// ```
    /// # use perfschema_server::{Limits, Server, Tls};
    /// # use perfschema_sql::Database;
    /// # use std::io::{Read, Write};
    /// # use std::net::TcpStream;
    /// # let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    /// # let path = |ending: &str| std::env::temp_dir().join(format!("perfschema-tls-{}.{ending}", std::process::id()));
    /// # let (certificate, key) = (path("crt"), path("key"));
    /// # std::fs::write(&certificate, made.cert.pem())?;
    /// # std::fs::write(&key, made.signing_key.serialize_pem())?;
    /// # #[cfg(unix)]
    /// # std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    /// # let (database, accounts) = (Database::new(perfschema::start()?), "ada reader no-password".parse()?);
    /// # // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH.
    /// # let mut login = (1_u32 << 9 | 1 << 15 | 1 << 19).to_le_bytes().to_vec();
    /// # login.extend([&[0, 0, 0, 1, 255][..], &[0; 23], b"ada\0\0caching_sha2_password\0"].concat());
    /// # login.splice(..0, [login.len() as u8, 0, 0, 1]);
    /// let tls = Tls::from_files(&certificate, &key)?.required();
    /// let server = Server::with_tls(database, accounts, Limits::default(), tls)?;
    /// let listener = server.listen("127.0.0.1:0".parse()?)?;
    /// let mut client = TcpStream::connect(listener.address().expect("TCP"))?;
    /// client.write_all(&login)?; // By an account that there is, in plain text.
    /// let mut heard = Vec::new();
    /// client.read_to_end(&mut heard)?;
    /// assert!(String::from_utf8_lossy(&heard).contains("Connections using insecure transport are prohibited"));
    /// # let _ = (std::fs::remove_file(certificate), std::fs::remove_file(key));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn required(self) -> Tls {
        Tls { is_required: true, ..self }
    }

    pub(crate) fn is_required(&self) -> bool {
        self.is_required
    }
}

/// Why there is no encryption.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, is no PEM file of what it should hold, or can be read by others.
    File(PathBuf, String),
    /// Certificate and key cannot be used, or not together.
    Pair(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::File(path, what) => write!(f, "{}: {what}", path.display()),
            TlsError::Pair(what) => write!(f, "certificate and key cannot be used: {what}"),
        }
    }
}

impl std::error::Error for TlsError {}

/// A stream as it comes, or encrypted.
#[derive(Debug)]
pub(crate) enum Securable<S: Stream> {
    Plain(S),
    Encrypted(Box<Encrypted<S>>),
}

/// Says goodbye when it is dropped: without that, the other side cannot tell an end from a cut.
#[derive(Debug)]
pub(crate) struct Encrypted<S: Stream>(StreamOwned<ServerConnection, S>);

impl<S: Stream> Securable<S> {
    /// From here on everything is encrypted; the next read or write does the handshake. One that is encrypted stays as it is.
    pub(crate) fn encrypt(self, tls: &Tls) -> io::Result<Securable<S>> {
        let Securable::Plain(stream) = self else { return Ok(self) };
        let mut connection = ServerConnection::new(Arc::clone(&tls.config)).map_err(io::Error::other)?;
        // What is written waits here until it is sent; rows are gathered before.
        connection.set_buffer_limit(Some(256 * 1024));
        Ok(Securable::Encrypted(Box::new(Encrypted(StreamOwned::new(connection, stream)))))
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self, Securable::Encrypted(_))
    }

    /// What clients are told about it. `is_offered`: whether the server has a certificate.
    pub(crate) fn describe(&self, is_offered: bool) -> Encryption {
        let Securable::Encrypted(encrypted) = self else { return Encryption { is_offered, ..Encryption::default() } };
        let connection = &encrypted.0.conn;
        let suite = connection.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "",
        };
        Encryption { is_offered, cipher: suite.map(|suite| cipher_name(&suite)).unwrap_or_default(), version: version.to_owned() }
    }
}

/// OpenSSL's name of a cipher suite, which is what clients show, from that of the standard.
fn cipher_name(suite: &str) -> String {
    if let Some(name) = suite.strip_prefix("TLS13_") {
        return format!("TLS_{name}");
    }
    let name = suite.trim_start_matches("TLS_").replace("_WITH_", "-").replace("AES_", "AES").replace('_', "-");
    if name.contains("CHACHA20") { name.trim_end_matches("-SHA256").to_owned() } else { name }
}

impl<S: Stream> Read for Securable<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Securable::Plain(stream) => stream.read(buffer),
            Securable::Encrypted(encrypted) => encrypted.0.read(buffer),
        }
    }
}

impl<S: Stream> Write for Securable<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Securable::Plain(stream) => stream.write(bytes),
            Securable::Encrypted(encrypted) => encrypted.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Securable::Plain(stream) => stream.flush(),
            Securable::Encrypted(encrypted) => encrypted.0.flush(),
        }
    }
}

impl<S: Stream> Stream for Securable<S> {
    fn set_deadline(&mut self, deadline: Option<Instant>) {
        match self {
            Securable::Plain(stream) => stream.set_deadline(deadline),
            Securable::Encrypted(encrypted) => encrypted.0.sock.set_deadline(deadline),
        }
    }
}

impl<S: Stream> Drop for Encrypted<S> {
    fn drop(&mut self) {
        if !self.0.conn.is_handshaking() {
            self.0.conn.send_close_notify();
            // Who is gone needs not know.
            let _ = self.0.conn.write_tls(&mut self.0.sock);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_ciphers() {
        let check = |suite, expected| assert_eq!(super::cipher_name(suite), expected);
        check("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384");
        check("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256");
        check("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305");
    }
}
