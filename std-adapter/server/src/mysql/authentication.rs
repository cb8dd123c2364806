//! The two ways to prove a password without sending it.
//!
//! Both keep a double hash of the password, `stored`. The client knows the single hash, and sends it hidden by what only the two
//! can compute: the nonce that the server has just chosen, hashed with `stored`. The server uncovers the single hash and hashes
//! it once more.

use sha1::Sha1;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Bytes that the server chooses for one login.
pub(crate) const NONCE_LENGTH: usize = 20;
pub(crate) type Nonce = [u8; NONCE_LENGTH];

/// How a client proves its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plugin {
    CachingSha2,
    Native,
}

impl Plugin {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => "caching_sha2_password",
            Plugin::Native => "mysql_native_password",
        }
    }

    pub(crate) fn find(name: &[u8]) -> Option<Plugin> {
        [Plugin::CachingSha2, Plugin::Native].into_iter().find(|plugin| plugin.name().as_bytes() == name)
    }
}

/// How a client has proven its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// There is none.
    NoPassword,
    Native,
    CachingSha2,
    /// By caching_sha2_password, but for the order in which it hashes: so does Rust's `sqlx`, which hides as much. It relies on MySQL's asking
    /// for the password then, and knows no success before the OK packet.
    NonceFirst,
}

/// What is kept of a password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// SHA256(SHA256(password))
    pub(crate) sha256: Option<[u8; 32]>,
    /// SHA1(SHA1(password))
    pub(crate) sha1: Option<[u8; 20]>,
}

impl Stored {
    pub(crate) fn of(password: &[u8], native: bool) -> Stored {
        let sha1 = || Sha1::digest(Sha1::digest(password)).into();
        Stored { sha256: Some(Sha256::digest(Sha256::digest(password)).into()), sha1: native.then(sha1) }
    }

    pub(crate) fn has_password(&self) -> bool {
        self.sha256.is_some() || self.sha1.is_some()
    }

    pub(crate) fn accepts(&self, plugin: Plugin) -> bool {
        match plugin {
            Plugin::CachingSha2 => self.sha256.is_some() || self.sha1.is_none(),
            Plugin::Native => self.sha1.is_some() || self.sha256.is_none(),
        }
    }

    /// How the answer proves the password, if it does; without one, whether it is empty.
    pub(crate) fn proof(&self, plugin: Plugin, nonce: &Nonce, answer: &[u8]) -> Option<Proof> {
        match (plugin, self.sha256, self.sha1) {
            // An empty password is sent as nothing, or as its zero byte.
            (_, None, None) => matches!(answer, [] | [0]).then_some(Proof::NoPassword),
            (Plugin::CachingSha2, Some(stored), _) => proof_by_sha256(&stored, nonce, answer),
            (Plugin::Native, _, Some(stored)) => proves_sha1(&stored, nonce, answer).then_some(Proof::Native),
            _ => None,
        }
    }

    /// Whether it is the password itself, as it comes after [`PERFORM_FULL_AUTHENTICATION`], which only caching_sha2_password
    /// has.
    ///
    /// [`PERFORM_FULL_AUTHENTICATION`]: super::handshake::PERFORM_FULL_AUTHENTICATION
    pub(crate) fn is_password(&self, password: &[u8]) -> bool {
        // The same work for all accounts: who only has mysql_native_password is compared with a hash that nothing has.
        let is_same = Sha256::digest(Sha256::digest(password)).ct_eq(&self.sha256.unwrap_or_default());
        bool::from(is_same) && self.sha256.is_some()
    }
}

fn proof_by_sha256(stored: &[u8; 32], nonce: &Nonce, answer: &[u8]) -> Option<Proof> {
    // Both are tried, so that one takes as long as the other.
    let covers: [[&[u8]; 2]; 2] = [[stored, nonce], [nonce, stored]];
    let [usual, nonce_first] = covers.map(|[first, second]| {
        let cover = Sha256::new().chain_update(first).chain_update(second).finalize();
        bool::from(Sha256::digest(uncover(answer, &cover)).ct_eq(stored))
    });
    if usual { Some(Proof::CachingSha2) } else { nonce_first.then_some(Proof::NonceFirst) }
}

fn proves_sha1(stored: &[u8; 20], nonce: &Nonce, answer: &[u8]) -> bool {
    let cover = Sha1::new().chain_update(nonce).chain_update(stored).finalize();
    Sha1::digest(uncover(answer, &cover)).ct_eq(stored).into()
}

/// An answer of another length uncovers something of another length, whose hash is not the stored one.
fn uncover(answer: &[u8], cover: &[u8]) -> Vec<u8> {
    answer.iter().zip(cover).map(|(answer, cover)| answer ^ cover).collect()
}

/// Random bytes that are neither zero, which would end them, nor above 127.
pub(crate) fn nonce() -> std::io::Result<Nonce> {
    let mut bytes = [0; NONCE_LENGTH];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    // 64 values each: 120 bits together.
    Ok(bytes.map(|byte| b'0' + byte % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: Nonce = *b"abcdefghijklmnopqrst";

    /// What a client sends.
    fn answer(plugin: Plugin, password: &[u8]) -> Vec<u8> {
        match plugin {
            Plugin::CachingSha2 => {
                let once = Sha256::digest(password);
                uncover(&once, &Sha256::new().chain_update(Sha256::digest(once)).chain_update(NONCE).finalize())
            }
            Plugin::Native => {
                let once = Sha1::digest(password);
                uncover(&once, &Sha1::new().chain_update(NONCE).chain_update(Sha1::digest(once)).finalize())
            }
        }
    }

    #[test]
    fn only_the_password_proves_itself() {
        let stored = Stored::of(b"secret", true);
        for plugin in [Plugin::CachingSha2, Plugin::Native] {
            let right = answer(plugin, b"secret");
            assert!(stored.proof(plugin, &NONCE, &right).is_some());
            assert_eq!(stored.proof(plugin, b"abcdefghijklmnopqrsu", &right), None);
            assert_eq!(stored.proof(plugin, &NONCE, &answer(plugin, b"Secret")), None);
            for length in 0..right.len() {
                assert_eq!(stored.proof(plugin, &NONCE, &right[..length]), None);
            }
            assert_eq!(Stored::default().proof(plugin, &NONCE, &right), None);
            let hashed_twice = Sha256::digest(Sha256::digest(b"secret"));
            let other_order =
                uncover(&Sha256::digest(b"secret"), &Sha256::new().chain_update(NONCE).chain_update(hashed_twice).finalize());
            assert_eq!(stored.proof(plugin, &NONCE, &other_order), (plugin == Plugin::CachingSha2).then_some(Proof::NonceFirst));
            assert_eq!(stored.proof(plugin, b"abcdefghijklmnopqrsu", &other_order), None);
            assert!(Stored::default().proof(plugin, &NONCE, b"").is_some());
        }
        assert_eq!(Stored::of(b"secret", false).proof(Plugin::Native, &NONCE, &answer(Plugin::Native, b"secret")), None);
        assert_eq!(Stored::of(b"secret", false).proof(Plugin::Native, &NONCE, b""), None);
        // The password itself is for caching_sha2_password.
        assert!(stored.is_password(b"secret") && !stored.is_password(b"Secret"));
        for without in [Stored { sha256: None, ..stored }, Stored::default()] {
            assert!(!without.is_password(b"secret") && !without.is_password(b""));
        }
    }

    #[test]
    fn nonces_differ() {
        let (one, two) = (nonce().unwrap(), nonce().unwrap());
        assert_ne!(one, two);
        assert!(one.iter().all(|byte| (b'0'..b'0' + 64).contains(byte)));
    }
}
