//! Digests: which statements are alike (`events_statements_summary_by_digest`).
//!
//! Two statements are alike if their texts are, but for literals, comments and how much space is between two words:
//! ```text
//! SELECT name  FROM parts WHERE id = -17         SELECT name FROM parts WHERE id = ?
//! INSERT INTO parts VALUES (1, 'a'), (?, ?);     INSERT INTO parts VALUES (...) /* , ... */
//! SELECT name FROM parts WHERE id IN (1)         SELECT name FROM parts WHERE id IN (...)
//! GET /parts/17?name='bolt'                      GET /parts/??name=?
//! ```
//! Of a long statement only the first bytes are kept, and it has the digest of those. Where they end in the middle of a list, that is one all the
//! same, so a list has one digest however long it is, as long as nothing stands behind it.
//!
//! As MySQL does it, without knowing a language: words stay as they are written, none is quoted, and there is space only where there was.

use crate::region::{Text, little_endian, what_fits};

/// Bytes of a digest's text that count, and that are kept: MySQL's `max_digest_length`. Literals are what makes texts long, and do not count; but of
/// a statement that is recorded only [`Size::MaxSqlTextLength`](crate::Size::MaxSqlTextLength) bytes are there to be digested.
pub const MAX_DIGEST_LENGTH: usize = 1024;

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
        let mut hash = Hash::new();
        pieces(text, |piece| hash.write(piece));
        Digest(hash.finish())
    }

    /// DIGEST: 32 hexadecimal digits.
    ///
    /// ```
    /// use perfschema_core::digest::Digest;
    /// let text = Digest::of("find 17").text();
    /// assert_eq!(text.as_str().len(), 32);
    /// assert!(text.as_str().bytes().all(|digit| digit.is_ascii_hexdigit()));
    /// assert_eq!(text.as_str(), Digest::of("find 18").text().as_str());
    /// ```
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

/// A hash of bytes, in whatever pieces they come: eight at a time, in two ways that have nothing to do with each other.
struct Hash {
    state: [u64; 2],
    /// Less than eight bytes, and how many bits they are.
    rest: u64,
    bits: u32,
    len: u64,
}

impl Hash {
    fn new() -> Hash {
        // The first bits of the golden ratio, and of the square root of two.
        Hash { state: [0x9e37_79b9_7f4a_7c15, 0xb504_f333_f9de_6484], rest: 0, bits: 0, len: 0 }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.len = self.len.wrapping_add(bytes.len() as u64);
        let (whole, rest) = bytes.as_chunks();
        for eight in whole {
            self.add(u64::from_le_bytes(*eight), 64);
        }
        self.add(little_endian(rest), 8 * rest.len() as u32);
    }

    /// So many bits of `value`, which has no others.
    fn add(&mut self, value: u64, bits: u32) {
        let all = self.bits + bits;
        self.rest |= value << self.bits;
        if all >= 64 {
            self.mix(self.rest);
            self.rest = value.unbounded_shr(64 - self.bits);
        }
        self.bits = all % 64;
    }

    /// For each eight bytes that come, each state becomes another one: so nothing of what came before is lost.
    fn mix(&mut self, eight: u64) {
        let [a, b] = self.state;
        let [a, b] = [(a ^ eight).wrapping_mul(0xff51_afd7_ed55_8ccd), (b ^ eight).wrapping_mul(0xc4ce_b9fe_1a85_ec53)];
        self.state = [a ^ a >> 32, b ^ b >> 29];
    }

    fn finish(mut self) -> [u64; 2] {
        self.mix(self.rest);
        let [a, b] = self.state.map(|state| spread(state ^ self.len));
        [spread(a.wrapping_add(b)), spread(a ^ b.rotate_left(32))]
    }
}

/// DIGEST_TEXT: the text without what does not count; its first [`MAX_DIGEST_LENGTH`] bytes.
///
/// ```
/// use perfschema_core::digest::digest_text;
/// assert_eq!(digest_text("SELECT *\n  FROM t -- all\n WHERE id IN (1, 2, 3)"), "SELECT * FROM t WHERE id IN (...)");
/// ```
pub fn digest_text(text: &str) -> Text<MAX_DIGEST_LENGTH> {
    let mut digest = Text::EMPTY;
    pieces(text, |piece| digest.push_str(core::str::from_utf8(piece).unwrap_or_default()));
    digest
}

/// Hands out the pieces of a digest's text, one after the other, up to its length.
pub(crate) fn pieces(text: &str, mut each: impl FnMut(&[u8])) {
    let mut room = MAX_DIGEST_LENGTH;
    for piece in Pieces::of(text) {
        let Some(left) = room.checked_sub(piece.len()) else {
            // Whole characters, and nothing of what follows.
            each(what_fits(core::str::from_utf8(piece).unwrap_or_default(), room).as_bytes());
            return;
        };
        each(piece);
        room = left;
    }
}

/// What the next piece stands behind.
#[derive(Clone, Copy)]
enum Before<'t> {
    Word(&'t [u8]),
    /// A sign of any kind that an expression may follow, as one follows `=`, `(` or a comma.
    Operator,
    /// A literal, a quoted name, what closes something, or nothing.
    Other,
}

impl Before<'_> {
    fn is_one_of(self, words: &[&[u8]]) -> bool {
        matches!(self, Before::Word(word) if words.iter().any(|one| one.eq_ignore_ascii_case(word)))
    }

    /// Whether a sign is part of the number behind it: "a = -1" and "SELECT -1", but not "a - 1".
    fn begins_expression(self) -> bool {
        // Those that MySQL has in gen_lex_token.cc.
        const WORDS: &[&[u8]] = &[
            b"and",
            b"at",
            b"between",
            b"case",
            b"default",
            b"div",
            b"elseif",
            b"ends",
            b"every",
            b"if",
            b"interval",
            b"like",
            b"mod",
            b"not",
            b"or",
            b"regexp",
            b"return",
            b"rlike",
            b"select",
            b"starts",
            b"until",
            b"when",
            b"while",
            b"xor",
        ];
        matches!(self, Before::Operator) || self.is_one_of(WORDS)
    }
}

/// A text on its way to a digest's. All that is looked for is ASCII, so each piece is whole characters.
struct Pieces<'t> {
    /// Not yet looked at; nothing, or no space.
    rest: &'t [u8],
    before: Before<'t>,
    /// Whether there is space before the rest; and whether that is still to be handed out.
    is_apart: bool,
    owes_space: bool,
    /// How much was left behind signs that belong to no number, so that each is looked at once.
    signs_end: usize,
    /// The same behind semicolons that something follows.
    semicolons_end: usize,
}

impl<'t> Pieces<'t> {
    fn of(text: &'t str) -> Pieces<'t> {
        // As MySQL's server does before it looks at a statement.
        let text = text.trim_end_matches(|last: char| last == ';' || last.is_ascii_whitespace());
        let (signs_end, semicolons_end) = (usize::MAX, usize::MAX);
        let mut pieces =
            Pieces { rest: &[], before: Before::Other, is_apart: true, owes_space: false, signs_end, semicolons_end };
        pieces.go_on(text.as_bytes());
        pieces
    }

    /// To what is behind space, or to the end, if there are only semicolons and comments.
    fn go_on(&mut self, text: &'t [u8]) {
        self.rest = without_space(text);
        if self.rest.first() == Some(&b';') && self.rest.len() < self.semicolons_end {
            self.end_at_semicolons();
        }
    }

    #[cold]
    fn end_at_semicolons(&mut self) {
        let mut behind = self.rest;
        while let Some(next) = after(behind, b';') {
            behind = without_space(next);
        }
        if behind.is_empty() {
            self.rest = &[];
        } else {
            self.semicolons_end = behind.len() + 1;
        }
    }

    /// What the text begins with, what is behind that, and what that is for what follows.
    fn piece(&mut self) -> Option<(&'t [u8], &'t [u8], Before<'t>)> {
        let text = self.rest;
        let (&first, others) = text.split_first()?;
        if is_of_word(first) && !first.is_ascii_digit() && !matches!(first, b'$' | b'n' | b'N' | b'x' | b'X' | b'b' | b'B') {
            let (piece, behind) = split(text, word(text));
            return Some((piece, behind, Before::Word(piece)));
        }
        if first == b'('
            && let Some((values, behind)) = group(text)
        {
            // MySQL has one digest for IN, however many there are.
            if self.before.is_one_of(&[b"in"]) {
                return Some((MANY, behind, Before::Other));
            }
            let others = several(behind, |text| match closed_group(text) {
                Some((others, behind)) => (others == values).then_some(behind),
                // Of one that is cut nobody knows how many there are.
                None => is_cut_group(text).then_some(&[]),
            });
            let piece = match others {
                None => values,
                Some(_) if values == ONE => b"(?) /* , ... */",
                Some(_) => b"(...) /* , ... */",
            };
            return Some((piece, others.unwrap_or(behind), Before::Other));
        }
        if let Some((value, behind)) = self.values() {
            return Some((value, behind, Before::Other));
        }
        let (len, before) = match first {
            // A quoted name, to its end, or the text's.
            b'`' => (position(others, |byte| byte == b'`').map_or(text.len(), |end| end + 2), Before::Other),
            b')' | b']' | b'}' | b'.' | b'@' => (1, Before::Other),
            _ => match word(text) {
                0 => (1, Before::Operator),
                len => (len, Before::Word(split(text, len).0)),
            },
        };
        let (piece, behind) = split(text, len);
        Some((piece, behind, before))
    }

    /// A literal, or several with commas between them.
    fn values(&mut self) -> Option<(&'static [u8], &'t [u8])> {
        let text = self.rest;
        let behind = match text.first()? {
            // Part of a number only where a number may stand, and not part of a name.
            b'.' if !self.is_apart && !matches!(self.before, Before::Operator) => None,
            b'+' | b'-' if text.len() >= self.signs_end || !self.before.begins_expression() => None,
            b'+' | b'-' => signed_number(text).map_err(|end| self.signs_end = end.len() + 1).ok(),
            // IS NULL is no literal, nor is NOT NULL.
            b'n' | b'N' if text.get(1) != Some(&b'\'') && self.before.is_one_of(&[b"is", b"not"]) => None,
            _ => literal(text),
        }?;
        Some(values(behind))
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        if core::mem::take(&mut self.owes_space) {
            return Some(b" ");
        }
        let (piece, behind, before) = self.piece()?;
        self.go_on(behind);
        self.before = before;
        self.is_apart = self.rest.len() != behind.len();
        // Not at the end, nor twice where a comment was.
        self.owes_space = self.is_apart && !self.rest.is_empty();
        Some(piece)
    }
}

fn position(text: &[u8], is_it: impl Fn(u8) -> bool) -> Option<usize> {
    text.iter().position(|byte| is_it(*byte))
}

fn behind(text: &[u8], len: usize) -> &[u8] {
    text.get(len..).unwrap_or_default()
}

fn split(text: &[u8], len: usize) -> (&[u8], &[u8]) {
    text.split_at_checked(len).unwrap_or((text, &[]))
}

/// The length of the word that the text begins with.
fn word(text: &[u8]) -> usize {
    position(text, |byte| !is_of_word(byte)).unwrap_or(text.len())
}

/// Whether it is part of a word. What is not ASCII is.
fn is_of_word(byte: u8) -> bool {
    /// Looked up, because each byte of a text is.
    const IS_OF_WORD: [bool; 256] = {
        let mut all = [false; 256];
        let mut byte = 0;
        while byte < all.len() {
            all[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'$' | 0x80..);
            byte += 1;
        }
        all
    };
    IS_OF_WORD[usize::from(byte)]
}

/// One value in parentheses, and several.
const ONE: &[u8] = b"(?)";
const MANY: &[u8] = b"(...)";

/// Values in parentheses, and nothing else: what they are replaced by, and what is behind them. Where the text ends in the middle of them, they
/// are taken for several.
fn group(text: &[u8]) -> Option<(&'static [u8], &[u8])> {
    closed_group(text).or_else(|| is_cut_group(text).then_some((MANY, &[])))
}

fn closed_group(text: &[u8]) -> Option<(&'static [u8], &[u8])> {
    let (value, behind) = values(value(without_space(after(text, b'(')?))?);
    let behind = after(without_space(behind), b')')?;
    Some((if value == b"?" { ONE } else { MANY }, behind))
}

/// Whether the text ends in the middle of values in parentheses.
#[cold]
#[inline(never)]
fn is_cut_group(text: &[u8]) -> bool {
    let Some(inside) = after(text, b'(') else { return false };
    let first = without_space(inside);
    is_cut_value(first)
        || value(first).is_some_and(|behind| match without_space(values(behind).1) {
            [b',', last @ ..] => is_cut_value(without_space(last)),
            rest => rest.is_empty(),
        })
}

/// Whether the text ends before a value, or in the middle of one that is none yet: signs, .5, NULL, N'…', X'…', B'…', $1.
fn is_cut_value(text: &[u8]) -> bool {
    let is_null = b"nul".get(..text.len()).is_some_and(|null| null.eq_ignore_ascii_case(text));
    is_null
        || matches!(text, [b'x' | b'X' | b'b' | b'B' | b'$'])
        || text.iter().all(|byte| matches!(byte, b'+' | b'-' | b' ' | b'.'))
}

fn after(text: &[u8], first: u8) -> Option<&[u8]> {
    text.split_first().filter(|(found, _)| **found == first).map(|(_, behind)| behind)
}

/// What one value, or several with commas between them, are replaced by, and what is behind them: `text` is behind the first.
fn values(text: &[u8]) -> (&'static [u8], &[u8]) {
    several(text, value).map_or((b"?", text), |behind| (b"?, ...", behind))
}

/// What is behind more of the same, each after a comma; None if there are none. Where the text ends behind a comma, there is one.
fn several<'t>(text: &'t [u8], one: impl Fn(&'t [u8]) -> Option<&'t [u8]>) -> Option<&'t [u8]> {
    let mut last = None;
    let next = |text: &'t [u8]| match without_space(after(without_space(text), b',')?) {
        [] => Some(&[][..]),
        text => one(text),
    };
    while let Some(behind) = next(last.unwrap_or(text)) {
        last = Some(behind);
    }
    last
}

/// What is behind a literal that stands alone between commas or parentheses.
fn value(text: &[u8]) -> Option<&[u8]> {
    match text.first()? {
        b'+' | b'-' => signed_number(text).ok(),
        _ => literal(text),
    }
}

/// What is behind signs and a number; if there is none, what is behind the signs.
fn signed_number(mut text: &[u8]) -> Result<&[u8], &[u8]> {
    while let [b'+' | b'-', behind @ ..] = text {
        text = without_space(behind);
    }
    number(text).ok_or(text)
}

/// What is behind a number without a sign.
fn number(text: &[u8]) -> Option<&[u8]> {
    let ([b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..]) = text else { return None };
    // With what follows without a space, be it hexadecimal digits or a fraction; and the sign of an exponent.
    let is_hexadecimal = text.starts_with(b"0x");
    let mut before = 0;
    let end = text.iter().position(|&byte| {
        let sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E') && !is_hexadecimal;
        before = byte;
        !(byte == b'.' || sign || is_of_word(byte))
    });
    Some(end.map_or(&[], |end| behind(text, end)))
}

/// What is behind a literal: a number, a text in quotes, NULL, or what stands for a value that is bound later (`?`, `?1`, `$1`).
fn literal(text: &[u8]) -> Option<&[u8]> {
    let (&first, rest) = text.split_first()?;
    let digits = |text: &[u8]| position(text, |byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    match first {
        b'?' => Some(behind(rest, digits(rest))),
        b'$' => Some(behind(rest, digits(rest))).filter(|behind| behind.len() < rest.len() && word(behind) == 0),
        b'\'' | b'"' => Some(quoted(first, rest)),
        // N'…', X'…', B'…'.
        b'n' | b'N' | b'x' | b'X' | b'b' | b'B' if rest.first() == Some(&b'\'') => Some(quoted(b'\'', behind(rest, 1))),
        b'n' | b'N' => {
            let (null, behind) = text.split_at_checked(4)?;
            (null.eq_ignore_ascii_case(b"null") && word(behind) == 0).then_some(behind)
        }
        _ => number(text),
    }
}

/// What is behind the rest of a text in quotes. Doubled, a quote is part of the text, as is one behind a backslash. One that nobody closes
/// goes to the end.
fn quoted(quote: u8, mut text: &[u8]) -> &[u8] {
    while let Some(at) = position(text, |byte| byte == quote || byte == b'\\') {
        let next = behind(text, at + 1);
        if text.get(at) == Some(&quote) && next.first() != Some(&quote) {
            return next;
        }
        text = behind(next, 1);
    }
    &[]
}

/// The text behind space and comments: `/* … */`, and `-- …` and `# …` to the end of the line.
fn without_space(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        text = match text {
            [b'/', b'*', comment @ ..] => {
                comment.windows(2).position(|end| end == b"*/").map_or(&[][..], |end| behind(comment, end + 2))
            }
            [b'-', b'-'] => &[],
            [b'-', b'-', comment @ ..] if comment.first().is_some_and(u8::is_ascii_whitespace) => next_line(comment),
            // PostgreSQL has operators that begin so.
            [b'#', b'>' | b'-', ..] => return text,
            [b'#', comment @ ..] => next_line(comment),
            _ => return text,
        };
    }
}

fn next_line(text: &[u8]) -> &[u8] {
    position(text, |byte| byte == b'\n').map_or(&[], |end| behind(text, end + 1))
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
        check("a IS NULL OR b is not null AND c = NULL", "a IS NULL OR b is not null AND c = ?");
        check("GET /parts/17?name=bolt", "GET /parts/??name=bolt");
        check("N'a' x'1F' B'01' n x'", "? ? ? n ?");
    }

    #[test]
    fn what_is_bound_later_is_a_literal() {
        check("a = ? AND b = ?1 AND c = $1", "a = ? AND b = ? AND c = ?");
        check("f(?, ?) IN ($1, $2) $a $1a a$1", "f(...) IN (...) $a $1a a$1");
    }

    #[test]
    fn a_sign_is_part_of_a_number_where_an_expression_begins() {
        check("a = -5, b=+ 5, c > - - 5", "a = ?, b=?, c > ?");
        check("a - 5 a-5 a - -5 (a) - 5 5 - 5 `a` -5", "a - ? a-? a - ? (a) - ? ? - ? `a` -?");
        check("SELECT -1, -2 AND +3 limit -4", "SELECT ?, ... AND ? limit -?");
        check("(-1, +2, - /* one */ 3), (4)", "(...), (?)");
        check("= -'a' = -a = --a = -", "= -? = -a = --a = -");
        check("-1", "-?");
    }

    #[test]
    fn a_fraction_needs_no_digit_before_its_point() {
        check("a > .5 AND b > -.5 AND c IN (.5, .25)", "a > ? AND b > ? AND c IN (...)");
        check("t.5 .5 v1.5 `a`.5 a. .5", "t.? ? v1.? `a`.? a. ?");
    }

    #[test]
    fn lists_are_one_whatever_their_length() {
        check("IN (1)", "IN (...)");
        check("in (1,2)", "in (...)");
        check("IN (1), (2)", "IN (...), (?)");
        check("IN ((1, 2), (3, 4))", "IN ((...) /* , ... */)");
        check("inn (1) `in` (1)", "inn (?) `in` (?)");
        check("IN ( 1 , 'b' , NULL )", "IN (...)");
        check("VALUES (1, 2), (3, 4)", "VALUES (...) /* , ... */");
        check("VALUES (1),(3) , (4) ON", "VALUES (?) /* , ... */ ON");
        check("VALUES (1), (2, 3), (4, 5), (6)", "VALUES (?), (...) /* , ... */, (?)");
        check("LIMIT 5, 10", "LIMIT ?, ...");
        check("f(1, x)", "f(?, x)");
        check("f(1, 2, x)", "f(?, ..., x)");
        check("(1, (2, 3), 4", "(?, (...), ?");
        check("((1))", "((?))");
    }

    /// Wherever behind the first parenthesis it is cut.
    #[test]
    fn a_list_that_is_cut_is_a_list() {
        for list in [
            "INSERT INTO t VALUES (1, 'a''b', - -2, NULL,x'1F', 1.5e-3 /* c */ ), (n'a', ?, $1, .5, null, \"x\"),(1,2,3,4,5,6)",
            "SELECT name FROM t WHERE id IN (1, -2,'c', NULL)",
            "INSERT INTO t VALUES (1, 2);",
        ] {
            let begin = list.find('(').expect("it has one") + 1;
            let whole = digest_text(list);
            // In the middle of a comment it is not known to be one, nor of what two signs are.
            let ends = (begin..=list.len()).filter(|end| !list[..*end].ends_with('/'));
            for end in ends.step_by(if cfg!(miri) { 11 } else { 1 }) {
                let text = &list[..end];
                let expected = match whole.as_str().strip_suffix(" /* , ... */") {
                    Some(of_one) if !text.contains("),") => of_one,
                    _ => whole.as_str(),
                };
                assert_eq!(digest_text(text).as_str(), expected, "{text}");
            }
        }
        check("f(1, x), (1, 2", "f(?, x), (...)");
        check("SELECT (1), (2", "SELECT (?) /* , ... */");
        check("SELECT 1, 2,", "SELECT ?, ...");
        check("(a, ", "(a,");
        check("(1 2", "(? ?");
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
        check("a # b\nc #d", "a c");
        check("a #> b #- c", "a #> b #- c");
    }

    #[test]
    fn semicolons_at_the_end_do_not_count() {
        check("a;", "a");
        check("a ; ;\n", "a");
        check(";", "");
        check("a; b;", "a; b");
        check("a; -- b", "a");
        check("a /* b */ ; # c\n ;/* d */; ", "a");
        check("; /* a */ b; -- c", "; b");
        check("; -- a", "");
    }

    /// Also where something shorter would fit.
    #[test]
    fn what_is_too_long_is_cut_and_does_not_count() {
        let mut ends = ["日本=x", "本", "日 'a'", "日=a"].into_iter().cycle();
        let texts = [("x".repeat(1020), ""), ("x".repeat(1020), "日"), ("x ".repeat(511), ""), ("x".repeat(1019), "")];
        // Under Miri two, and an end of its own each.
        let (texts_tried, ends_tried) = if cfg!(miri) { (2, 1) } else { (4, 4) };
        for (fits, is_cut) in texts.into_iter().take(texts_tried) {
            let kept = std::format!("{fits} {is_cut}");
            for end in ends.by_ref().take(ends_tried) {
                let text = std::format!("{kept}{end}{}", "y".repeat(20));
                let digest = digest_text(&text);
                assert!(text.starts_with(digest.as_str()) && digest.as_str().len() > 1020, "{digest}");
                assert_eq!(Digest::of(&text), Digest::of(&(text + " and more")));
            }
        }
        let list = std::format!("{} IN ({}1) AND a", "x".repeat(1000), "1, ".repeat(if cfg!(miri) { 100 } else { 10_000 }));
        assert_eq!(digest_text(&list).as_str(), std::format!("{} IN (...) AND a", "x".repeat(1000)));
    }

    /// Work grows with the text, not with its square.
    #[test]
    #[cfg(not(miri))]
    fn no_piece_is_looked_at_again_and_again() {
        let pieces =
            ["(", "(1,", "((1),", "'", "`", "/*", "1,", "(1),", "(1", "--", "null,", "\\'", "( /* */ ", "1 /* */ ", "(1, 2), (x"];
        for piece in pieces.iter().chain(&["n", "- ", "= - ", ";", "; ", "1,-", "(-", "#", "# \n", "?", ".", "IN ("]) {
            for end in ["", "x", ")", "'"] {
                let text = piece.repeat(400_000 / piece.len()) + end;
                let start = std::time::Instant::now();
                let _ = Pieces::of(&text).count();
                assert!(start.elapsed().as_secs() < 20, "{piece} {end}: {:?}", start.elapsed());
            }
        }
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
