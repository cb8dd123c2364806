//! Digests: which statements are alike (`events_statements_summary_by_digest`).
//!
//! Two statements are alike if their texts are, but for literals, comments and how much space is between two words:
//! ```text
//! SELECT name  FROM parts WHERE id = 17          SELECT name FROM parts WHERE id = ?
//! INSERT INTO parts VALUES (1, 'a'), (2, 'b')    INSERT INTO parts VALUES (...) /* , ... */
//! GET /parts/17?name='bolt'                      GET /parts/??name=?
//! ```
//! As MySQL does it, without knowing a language: words stay as they are written, none is quoted, and there is space only where there was.

use crate::region::Text;

/// The digest of a text: 128 bits that are the same for texts which are alike. Not a cryptographic one: who wants to can make two texts
/// that have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub(crate) [u64; 2]);

impl Digest {
    /// That of a text.
    ///
    /// ```
    /// use perfschema_core::digest::Digest;
    /// assert_eq!(Digest::of("find 17"), Digest::of("find  'bolts'"));
    /// assert_ne!(Digest::of("find 17"), Digest::of("lose 17"));
    /// ```
    pub fn of(text: &str) -> Digest {
        // FNV-1a twice, each with a start and a prime of its own, and the bits of both spread over each.
        let (mut a, mut b) = (0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15_u64);
        pieces(text, &mut |piece| {
            (a, b) = piece.iter().copied().map(u64::from).fold((a, b), |(a, b), byte| {
                ((a ^ byte).wrapping_mul(0x0100_0000_01b3), (b ^ byte).wrapping_mul(0x9fb2_1c65_1e98_df25))
            });
        });
        let (a, b) = (spread(a), spread(b));
        Digest([spread(a.wrapping_add(b)), spread(a ^ b.rotate_left(32))])
    }

    /// DIGEST: 32 hexadecimal digits.
    pub fn text(self) -> Text<32> {
        let mut text = Text::EMPTY;
        let [high, low] = self.0;
        let _ = core::fmt::Write::write_fmt(&mut text, format_args!("{high:016x}{low:016x}"));
        text
    }
}

/// The last step of MurmurHash3: each bit that goes in changes half of those that come out.
pub(crate) fn spread(mut bits: u64) -> u64 {
    for prime in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        bits = (bits ^ bits >> 33).wrapping_mul(prime);
    }
    bits ^ bits >> 33
}

/// DIGEST_TEXT: the text without what does not count. 1024 bytes of it are kept.
///
/// ```
/// use perfschema_core::digest::digest_text;
/// assert_eq!(digest_text("SELECT *\n  FROM t -- all\n WHERE id IN (1, 2, 3)"), "SELECT * FROM t WHERE id IN (...)");
/// ```
pub fn digest_text(text: &str) -> Text<1024> {
    let mut digest = Text::EMPTY;
    pieces(text, &mut |piece| digest.push_str(core::str::from_utf8(piece).unwrap_or_default()));
    digest
}

/// Hands out the pieces of a digest's text, one after the other. All that is looked for is ASCII, so each of them is whole characters.
fn pieces(text: &str, each: &mut dyn FnMut(&[u8])) {
    let mut rest = without_space(text.as_bytes());
    while !rest.is_empty() {
        rest = piece(rest, each);
        let behind = without_space(rest);
        // Not at the end, nor twice where a comment was.
        if behind.len() != rest.len() && !behind.is_empty() {
            each(b" ");
        }
        rest = behind;
    }
}

/// Hands out what the text begins with, and returns what is behind it: less than there was.
fn piece<'t>(text: &'t [u8], each: &mut dyn FnMut(&[u8])) -> &'t [u8] {
    let first = text.first().copied().unwrap_or_default();
    if first == b'('
        && let Some((first, behind)) = group(text)
    {
        each(first);
        let others = several(behind, |text| group(text).map(|(_, behind)| behind));
        if others.is_some() {
            each(b" /* , ... */");
        }
        return others.unwrap_or(behind);
    }
    if let Some((value, behind)) = values(text) {
        each(value);
        return behind;
    }
    let len = match text.split_first() {
        // A quoted name, to its end, or the text's.
        Some((b'`', name)) => position(name, |byte| byte == b'`').map_or(text.len(), |end| end + 2),
        _ => word(text).max(1),
    };
    let (piece, behind) = text.split_at_checked(len).unwrap_or((text, &[]));
    each(piece);
    behind
}

fn position(text: &[u8], is_it: impl Fn(u8) -> bool) -> Option<usize> {
    text.iter().position(|byte| is_it(*byte))
}

fn behind(text: &[u8], len: usize) -> &[u8] {
    text.get(len..).unwrap_or_default()
}

/// The length of the word that the text begins with. What is not ASCII is part of one.
fn word(text: &[u8]) -> usize {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    position(text, |byte| !part(byte)).unwrap_or(text.len())
}

/// Values in parentheses, and nothing else: what they are replaced by, and what is behind them.
fn group(text: &[u8]) -> Option<(&'static [u8], &[u8])> {
    let (value, behind) = values(without_space(after(text, b'(')?))?;
    let behind = after(without_space(behind), b')')?;
    Some((if value == b"?" { b"(?)" } else { b"(...)" }, behind))
}

fn after(text: &[u8], first: u8) -> Option<&[u8]> {
    text.split_first().filter(|(found, _)| **found == first).map(|(_, behind)| behind)
}

/// One value, or several with commas between them: what they are replaced by, and what is behind them.
fn values(text: &[u8]) -> Option<(&'static [u8], &[u8])> {
    let behind = literal(text)?;
    Some(several(behind, literal).map_or((b"?", behind), |behind| (b"...", behind)))
}

/// What is behind more of the same, each after a comma; None if there are none.
fn several<'t>(text: &'t [u8], one: impl Fn(&'t [u8]) -> Option<&'t [u8]>) -> Option<&'t [u8]> {
    let mut last = None;
    let next = |text: &'t [u8]| one(without_space(after(without_space(text), b',')?));
    while let Some(behind) = next(last.unwrap_or(text)) {
        last = Some(behind);
    }
    last
}

/// What is behind a literal: a number, a text in quotes, or NULL.
fn literal(text: &[u8]) -> Option<&[u8]> {
    let (&first, rest) = text.split_first()?;
    match first {
        b'0'..=b'9' => {
            // With what follows without a space, be it hexadecimal digits or a fraction; and the sign of an exponent.
            let is_hexadecimal = text.starts_with(b"0x");
            let mut before = first;
            let end = text.iter().position(|&byte| {
                let sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E') && !is_hexadecimal;
                before = byte;
                !(byte == b'.' || sign || word(&[byte]) == 1)
            });
            Some(end.map_or(&[], |end| behind(text, end)))
        }
        b'\'' | b'"' => {
            // Doubled, a quote is part of the text, as is one behind a backslash. One that nobody closes goes to the end.
            let mut rest = rest;
            while let Some(at) = position(rest, |byte| byte == first || byte == b'\\') {
                let next = behind(rest, at + 1);
                if rest.get(at) == Some(&first) && next.first() != Some(&first) {
                    return Some(next);
                }
                rest = behind(next, 1);
            }
            Some(&[])
        }
        b'n' | b'N' => {
            let (null, behind) = text.split_at_checked(4)?;
            (null.eq_ignore_ascii_case(b"null") && word(behind) == 0).then_some(behind)
        }
        _ => None,
    }
}

/// The text behind space and comments: `/* … */`, and `-- …` to the end of the line.
fn without_space(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let comment = match text {
            [b'/', b'*', comment @ ..] => {
                comment.windows(2).position(|end| end == b"*/").map_or(&[][..], |end| behind(comment, end + 2))
            }
            [b'-', b'-'] => &[],
            [b'-', b'-', space, comment @ ..] if space.is_ascii_whitespace() => match space {
                b'\n' => comment,
                _ => position(comment, |byte| byte == b'\n').map_or(&[][..], |end| behind(comment, end + 1)),
            },
            _ => return text,
        };
        text = comment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, digest: &str) {
        assert_eq!(digest_text(text).as_str(), digest, "{text}");
        // Where nothing is repeated, which is said in a comment, as MySQL does.
        if !digest.contains("/*") {
            assert_eq!(Digest::of(text), Digest::of(digest), "a digest's text has the same digest: {digest}");
        }
    }

    #[test]
    fn literals_do_not_count() {
        check("", "");
        check(" \n ", "");
        check("SELECT name  FROM parts WHERE id = 17", "SELECT name FROM parts WHERE id = ?");
        check("a=1 AND b='x' AND c=\"y\"", "a=? AND b=? AND c=?");
        check("'it''s' 'a\\'b' \"a\"\"b\" 'open", "? ? ? ?");
        check("1 1.5 1e-3 0xff 7_000 12ab 1E+5x", "? ? ? ? ? ? ?");
        check("0xe-1", "?-?");
        check("t1 _2 a$3 ä4", "t1 _2 a$3 ä4");
        check("null NULL nullable Null_", "? ? nullable Null_");
        check("GET /parts/17?name=bolt", "GET /parts/??name=bolt");
    }

    #[test]
    fn lists_are_one_whatever_their_length() {
        check("IN (1)", "IN (?)");
        check("IN (1,2)", "IN (...)");
        check("IN ( 1 , 'b' , NULL )", "IN (...)");
        check("VALUES (1, 2), (3, 4)", "VALUES (...) /* , ... */");
        check("VALUES (1),(3) , (4) ON", "VALUES (?) /* , ... */ ON");
        check("LIMIT 5, 10", "LIMIT ...");
        check("f(1, x)", "f(?, x)");
        check("f(1, 2, x)", "f(..., x)");
        check("(1, (2, 3), 4", "(?, (...), ?");
        check("((1))", "((?))");
        check("(1, 2", "(...");
    }

    #[test]
    fn space_and_comments_do_not_count() {
        check("a /* b */ c", "a c");
        check("/* b */a -- c\nd", "a d");
        check("a--b", "a--b");
        check("a -- ", "a");
        check("a /* never closed", "a");
        check("a\t\r\nb", "a b");
        check("a --\nb", "a b");
        check("`a  b` `c", "`a  b` `c");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let long: std::string::String = "word ".repeat(1000);
        assert_eq!(digest_text(&long).as_str().len(), 1024);
        assert_ne!(Digest::of(&long), Digest::of("word "));
    }

    #[test]
    fn digests_differ() {
        let texts = ["", "a", "b", "ab", "ba", "a b", "A", "a?", "select x from t", "select y from t", "select x from u"];
        for (index, text) in texts.iter().enumerate() {
            for other in &texts[index + 1..] {
                let ([a, b], [c, d]) = (Digest::of(text).0, Digest::of(other).0);
                assert!(a != c && b != d, "{text} {other}");
            }
        }
        assert_eq!(Digest::of("SELECT 1").text().as_str().len(), 32);
    }
}
