//! Who may come in: a file with a line for each account.

use crate::files::{self, PrivateError};
use crate::mysql::authentication::{Plugin, Stored};
use perfschema_sql::Right;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

/// Says that an account has no password.
const NO_PASSWORD: &str = "no-password";

/// The accounts of a server.
///
/// A line has a name, a right, and what is kept of the password, for one or both ways to prove it; `#` begins a comment.
///
/// ```
/// # use perfschema_server::{Accounts, account_line};
/// # use perfschema_sql::Right;
/// let line = account_line("grafana", Right::Read, "correct horse", true)?;
/// assert_eq!(
///     line,
///     "grafana reader \
///      caching_sha2_password:bf7ffba958c798f80e3cf8ebea1cbc781495cadb8880a7f2bbc73d530712b52d \
///      mysql_native_password:*0e8f21e4240f5ad5a07d088f9c93890d13d78a4e"
/// );
/// let accounts: Accounts = format!("# who may look\n{line}\n").parse()?;
/// assert!(accounts.all_have_passwords());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Accounts {
    list: Vec<Account>,
    random: RandomState,
}

#[derive(Clone, Debug)]
struct Account {
    user: String,
    right: Right,
    stored: Stored,
}

/// What a login is measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) stored: Stored,
    /// None for a user that does not exist: whatever the answer, it is refused, after the same work as for an account that has a
    /// password.
    pub(crate) right: Option<Right>,
}

impl Measure {
    /// The way to prove the password that the account prefers.
    pub(crate) fn plugin(&self) -> Plugin {
        if self.stored.accepts(Plugin::CachingSha2) { Plugin::CachingSha2 } else { Plugin::Native }
    }
}

/// Why there are no accounts.
///
/// ```
/// # use perfschema_server::Accounts;
/// let error = "# who may look\nada reader\n".parse::<Accounts>().unwrap_err();
/// assert_eq!(error.to_string(), "line 2: it says nothing about a password; `perfschema account` writes such a line");
/// let error = "# who may look\n".parse::<Accounts>().unwrap_err();
/// assert_eq!(error.to_string(), "it has no account, nobody could come in");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum AccountsError {
    /// The file cannot be read.
    Io(io::Error),
    /// Others than its owner may read the file.
    Readable,
    /// A line is not one of an account.
    Line {
        /// Which, from 1.
        number: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is none, so nobody could come in.
    Empty,
}

impl fmt::Display for AccountsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccountsError::Io(error) => error.fmt(f),
            AccountsError::Readable => f.write_str(files::READABLE),
            AccountsError::Line { number, what } => write!(f, "line {number}: {what}"),
            AccountsError::Empty => f.write_str("it has no account, nobody could come in"),
        }
    }
}

impl std::error::Error for AccountsError {}

impl Accounts {
    /// Reads the file of accounts.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use perfschema_server::{Accounts, AccountsError};
    /// # use std::{fs, os::unix::fs::PermissionsExt};
    /// # let path = std::env::temp_dir().join(format!("perfschema-accounts-{}", std::process::id()));
    /// fs::write(&path, "ada controller no-password\n")?;
    /// fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    /// assert!(matches!(Accounts::read(&path), Err(AccountsError::Readable)));
    /// fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    /// assert!(!Accounts::read(&path)?.all_have_passwords());
    /// # fs::remove_file(&path)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// It cannot be read; others than its owner can read it; a line is wrong; there is no account.
    pub fn read(path: &Path) -> Result<Accounts, AccountsError> {
        let bytes = files::read_private(path).map_err(|error| match error {
            PrivateError::Io(error) => AccountsError::Io(error),
            PrivateError::Readable => AccountsError::Readable,
        })?;
        let text =
            String::from_utf8(bytes).map_err(|error| AccountsError::Io(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        text.parse()
    }

    /// Whether every account has one.
    pub fn all_have_passwords(&self) -> bool {
        self.list.iter().all(|account| account.stored.has_password())
    }

    /// Whether some account can come in where the password itself is what proves it.
    pub(crate) fn some_prove_by_password(&self) -> bool {
        self.list.iter().any(|account| account.stored.sha256.is_some())
    }

    /// What a login of this user is measured by; for a user that does not exist, by the same one each time, like those that
    /// exist.
    pub(crate) fn measure(&self, user: &str) -> Measure {
        let mut found = None;
        // To the end, also if it is found: it takes its time.
        for account in &self.list {
            if account.user == user {
                found = Some(account);
            }
        }
        // Also for a user that exists: it takes its time.
        let with_password: Vec<&Account> = self.list.iter().filter(|account| account.stored.has_password()).collect();
        let pick = self.random.hash_one(user) as usize;
        let stored = match with_password.as_slice() {
            [] => Stored { sha256: Some([0; 32]), sha1: Some([0; 20]) },
            some => some[pick % some.len()].stored,
        };
        match found {
            Some(account) => Measure { stored: account.stored, right: Some(account.right) },
            None => Measure { stored, right: None },
        }
    }
}

impl std::str::FromStr for Accounts {
    type Err = AccountsError;

    fn from_str(text: &str) -> Result<Accounts, AccountsError> {
        let mut list: Vec<Account> = Vec::new();
        // Some editors mark UTF-8, and the mark is none of a name.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            if line.trim().is_empty() {
                continue;
            }
            let account = account(line).map_err(|what| AccountsError::Line { number, what })?;
            if list.iter().any(|other| other.user == account.user) {
                return Err(AccountsError::Line { number, what: "there is an account of this name already" });
            }
            list.push(account);
        }
        if list.is_empty() { Err(AccountsError::Empty) } else { Ok(Accounts { list, random: RandomState::new() }) }
    }
}

fn account(line: &str) -> Result<Account, &'static str> {
    let mut words = line.split_whitespace();
    let user = words.next().unwrap_or_default();
    check_name(user)?;
    let right = match words.next() {
        Some("reader") => Right::Read,
        Some("controller") => Right::Control,
        _ => return Err("expected `reader` or `controller` after the name"),
    };
    let mut stored = Stored::default();
    let (mut count, mut says_none) = (0, false);
    for word in words {
        count += 1;
        let (name, hash) = word.split_once(':').unwrap_or((word, ""));
        match Plugin::find(name.as_bytes()) {
            Some(Plugin::CachingSha2) => {
                stored.sha256 = Some(bytes(hash).ok_or("expected 64 hexadecimal digits after caching_sha2_password:")?);
            }
            Some(Plugin::Native) => {
                let digits = hash.strip_prefix('*').and_then(bytes);
                stored.sha1 = Some(digits.ok_or("expected * and 40 hexadecimal digits after mysql_native_password:")?);
            }
            None if word == NO_PASSWORD => says_none = true,
            None => return Err("expected caching_sha2_password:…, mysql_native_password:*… or no-password"),
        }
    }
    match (count, says_none && stored.has_password()) {
        (0, _) => Err("it says nothing about a password; `perfschema account` writes such a line"),
        (_, true) => Err("it has a password, and says that it has none"),
        _ => Ok(Account { user: user.to_owned(), right, stored }),
    }
}

/// As MySQL bounds it; without what the file has a meaning for.
fn check_name(user: &str) -> Result<(), &'static str> {
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || c == '#';
    if user.is_empty() || user.chars().count() > 32 || user.contains(forbidden) {
        return Err("a name has 1 to 32 characters, without spaces and #");
    }
    Ok(())
}

fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digits: Option<Vec<u8>> = digits.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    let digits = digits.filter(|digits| digits.len() == 2 * N)?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok()
}

/// Why an account cannot be like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountError(&'static str);

impl fmt::Display for AccountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for AccountError {}

/// The line of an account.
///
/// `native`: also for clients that only know mysql_native_password, whose hash is the weaker one. See [`Accounts`] for a
/// line with both.
///
/// ```
/// # use perfschema_server::account_line;
/// # use perfschema_sql::Right;
/// let line = account_line("ada", Right::Control, "correct horse", false)?;
/// assert!(line.starts_with("ada controller caching_sha2_password:") && !line.contains("mysql_native_password"));
/// let error = account_line("ada lovelace", Right::Read, "correct horse", false).unwrap_err();
/// assert_eq!(error.to_string(), "a name has 1 to 32 characters, without spaces and #");
/// # Ok::<(), perfschema_server::AccountError>(())
/// ```
///
/// # Errors
/// The name is empty, too long, or has a space, a control character or `#`; the password is empty.
pub fn account_line(user: &str, right: Right, password: &str, native: bool) -> Result<String, AccountError> {
    check_name(user).map_err(AccountError)?;
    if password.is_empty() {
        return Err(AccountError("the password is empty"));
    }
    let right = match right {
        Right::Read => "reader",
        Right::Control => "controller",
    };
    let mut line = format!("{user} {right}");
    let stored = Stored::of(password.as_bytes(), native);
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if let Some(hash) = stored.sha256 {
        line += " caching_sha2_password:";
        line += &digits(&hash);
    }
    if let Some(hash) = stored.sha1 {
        line += " mysql_native_password:*";
        line += &digits(&hash);
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let check = |text: &str, expected: &str| {
            let result = text.parse::<Accounts>().map(|accounts| accounts.list.len());
            assert_eq!(result.map_or_else(|error| error.to_string(), |count| count.to_string()), expected, "{text:?}");
        };
        let line = account_line("a", Right::Control, "x", true).unwrap();
        check(&format!("{line} # why\n\n# b reader no-password\n"), "1");
        check("a reader no-password\nb controller no-password", "2");
        check(&account_line("no-password", Right::Read, "x", false).unwrap(), "1");
        check("\u{feff}a reader no-password\na reader no-password", "line 2: there is an account of this name already");
        check("", "it has no account, nobody could come in");
        check("\na reader", "line 2: it says nothing about a password; `perfschema account` writes such a line");
        check("a root no-password", "line 1: expected `reader` or `controller` after the name");
        check("a reader no-password\na reader no-password", "line 2: there is an account of this name already");
        check(&format!("{line} no-password"), "line 1: it has a password, and says that it has none");
        check("a reader caching_sha2_password:00", "line 1: expected 64 hexadecimal digits after caching_sha2_password:");
        check("a reader mysql_native_password:00", "line 1: expected * and 40 hexadecimal digits after mysql_native_password:");
        check("a reader secret", "line 1: expected caching_sha2_password:…, mysql_native_password:*… or no-password");
        for digits in [63, 64, 65, 66] {
            let is_one = format!("a reader caching_sha2_password:{}", "f".repeat(digits)).parse::<Accounts>().is_ok();
            assert_eq!(is_one, digits == 64, "{digits}");
        }
        let no_digit = format!("a reader caching_sha2_password:{}g", "0".repeat(63));
        check(&no_digit, "line 1: expected 64 hexadecimal digits after caching_sha2_password:");
        // Characters, whatever their bytes.
        assert!(account_line(&"é".repeat(32), Right::Read, "x", false).is_ok());
        assert!(account_line(&"x".repeat(33), Right::Read, "x", false).is_err());
        assert!(account_line("a#", Right::Read, "x", false).is_err() && account_line("", Right::Read, "x", false).is_err());
        assert!(account_line("a b", Right::Read, "x", false).is_err() && account_line("a", Right::Read, "", false).is_err());
    }

    #[test]
    fn unknown_users_look_like_known_ones() {
        let lines: Vec<String> = (0..8).map(|n| account_line(&format!("u{n}"), Right::Read, "x", n % 2 == 0).unwrap()).collect();
        let accounts: Accounts = lines.join("\n").parse().unwrap();
        let mut native = 0;
        for n in 0..200 {
            let measure = accounts.measure(&format!("nobody{n}"));
            assert!(measure.right.is_none() && measure.stored.has_password());
            assert_eq!(measure.stored, accounts.measure(&format!("nobody{n}")).stored);
            native += usize::from(measure.stored.accepts(Plugin::Native));
        }
        assert!((20..180).contains(&native), "{native}");
    }
}
