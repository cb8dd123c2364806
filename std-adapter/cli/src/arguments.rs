//! Numbers and addresses as they are typed, and what is said of such that are none.

#[cfg(unix)]
use std::net::SocketAddr;
use std::str::FromStr;

/// A number of things, or of seconds.
pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "expected a whole number that is not too large")
}

/// The same, where none at all would make no sense.
pub(crate) fn positive<T: FromStr>(text: &str) -> Result<T, &'static str> {
    let is_zero = text.parse() == Ok(0_u64);
    number(text).ok().filter(|_| !is_zero).ok_or("expected a whole number above 0 that is not too large")
}

/// Where to listen.
#[cfg(unix)]
pub(crate) fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an IP address and a port, like 127.0.0.1:3307 or [::1]:3307")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for text in ["", "x", "-1", "1.5", "10s", "256"] {
            assert!(number::<u8>(text).is_err() && positive::<u8>(text).is_err(), "{text}");
        }
        assert_eq!((number::<u8>("0"), number::<u8>("255")), (Ok(0), Ok(255)));
        assert!(positive::<u8>("0").is_err() && positive::<u8>("00").is_err());
        assert_eq!(positive::<u8>("255"), Ok(255));
        assert_eq!(positive::<u64>("18446744073709551615"), Ok(u64::MAX));
    }
}
