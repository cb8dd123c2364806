//! SQL `LIKE`, as MySQL's `setup_instruments` updates and start-up options use it.
//!
//! A pattern must match the whole name, from its first to its last character:
//!
//! | in the pattern | matches |
//! |---|---|
//! | `%` | any run of characters, also an empty one |
//! | `_` | exactly one character |
//! | `\x` | the character `x` itself, so `\%`, `\_` and `\\` |
//! | anything else | itself; the letters A–Z and a–z match in either case |
//!
//! Only ASCII letters are folded. Instrument names are ASCII nearly always, and MySQL's full folding needs
//! tables of several kilobytes that a microcontroller should not carry.
//!
//! Start-up options (`performance-schema-instrument='wait/%=ON'`) use a second dialect in shipped MySQL:
//! `?` is the one character and `_` is an ordinary letter, because names are full of underscores.
//! [`LikePattern::start_up`] makes such a pattern.

use core::fmt;
use core::str::Chars;

/// A `LIKE` pattern, borrowed from the statement or option it stands in.
///
/// ```
/// use perfschema_core::pattern::LikePattern;
///
/// let pattern = LikePattern::new(r"wait/synch/%/LOCK\_open");
/// assert!(pattern.matches("wait/synch/mutex/sql/lock_open"));
/// assert!(!pattern.matches("wait/synch/mutex/sql/LOCK_open_files"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LikePattern<'a> {
    pattern: &'a str,
    /// The wildcard for one character: `_` in SQL, `?` in start-up options.
    one: char,
    /// Whether letters match in their own case only.
    binary: bool,
}

impl<'a> LikePattern<'a> {
    /// A pattern with the wildcards of SQL, `%` and `_`.
    ///
    /// Every string is a pattern. A backslash at the very end escapes nothing and stands for itself, as in MySQL.
    #[must_use]
    pub const fn new(pattern: &'a str) -> Self {
        LikePattern { pattern, one: '_', binary: false }
    }

    /// A pattern with the wildcards of start-up options, `%` and `?`; here `_` stands for itself.
    ///
    /// ```
    /// use perfschema_core::pattern::LikePattern;
    ///
    /// assert!(LikePattern::start_up("%/LOCK_?").matches("wait/synch/mutex/sql/LOCK_a"));
    /// assert!(!LikePattern::start_up("%/LOCK_?").matches("wait/synch/mutex/sql/LOCKxa"));
    /// ```
    #[must_use]
    pub const fn start_up(pattern: &'a str) -> Self {
        LikePattern { pattern, one: '?', binary: false }
    }

    /// The same, with letters that match in their own case only: `LIKE BINARY`.
    ///
    /// ```
    /// use perfschema_core::pattern::LikePattern;
    ///
    /// assert!(LikePattern::new("a%").matches("ABC"));
    /// assert!(!LikePattern::new("a%").binary().matches("ABC"));
    /// ```
    #[must_use]
    pub const fn binary(self) -> Self {
        LikePattern { binary: true, ..self }
    }

    /// The pattern as it was written.
    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.pattern
    }

    /// Whether the pattern matches all of `text`.
    ///
    /// Takes at most `pattern length × text length` steps and constant memory, whatever the input.
    ///
    /// ```
    /// use perfschema_core::pattern::LikePattern;
    ///
    /// assert!(LikePattern::new("wait/%").matches("wait/io/file/sql/FRM"));
    /// assert!(!LikePattern::new("wait").matches("wait/io/file/sql/FRM"));
    /// ```
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut tokens = Tokens { chars: self.pattern.chars(), one: self.one };
        let mut text = text.chars();
        // Where to go on after a mismatch: behind the last `%`, with one character more swallowed by it.
        // Earlier `%` need no second try: whatever they could give up, the last one can swallow as well.
        let mut retry: Option<(Tokens<'_>, Chars<'_>)> = None;
        loop {
            let advanced = match tokens.next() {
                Some(Token::AnyRun) => {
                    retry = Some((tokens.clone(), text.clone()));
                    true
                }
                Some(Token::AnyChar) => text.next().is_some(),
                Some(Token::Literal(wanted)) => {
                    text.next().is_some_and(|found| found == wanted || (!self.binary && found.eq_ignore_ascii_case(&wanted)))
                }
                None if text.as_str().is_empty() => return true,
                None => false,
            };
            if advanced {
                continue;
            }
            let Some((behind_run, swallowed)) = &mut retry else {
                return false;
            };
            if swallowed.next().is_none() {
                return false;
            }
            (tokens, text) = (behind_run.clone(), swallowed.clone());
        }
    }
}

impl fmt::Display for LikePattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.pattern)
    }
}

/// What one step of a pattern asks for.
enum Token {
    AnyRun,
    AnyChar,
    Literal(char),
}

#[derive(Clone)]
struct Tokens<'a> {
    chars: Chars<'a>,
    one: char,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        Some(match self.chars.next()? {
            '%' => Token::AnyRun,
            '\\' => Token::Literal(self.chars.next().unwrap_or('\\')),
            c if c == self.one => Token::AnyChar,
            c => Token::Literal(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LikePattern;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(LikePattern::new(pattern).matches(text), expected, "{text:?} LIKE {pattern:?}");
    }

    #[test]
    fn cases() {
        check("", "", true);
        check("", "a", false);
        check("%", "", true);
        check("%%", "anything", true);
        check("_", "", false);
        check("_", "a", true);
        check("_", "ab", false);
        check("abc", "ABC", true);
        check("ABC", "abc", true);
        check("bc", "abc", false);
        check("ab", "abc", false);
        check("%/RWLOCK/%", "wait/synch/rwlock/sql/LOCK_grant", true);
        check("%/rwlock/%", "wait/synch/mutex/sql/LOCK_open", false);
        check("a%b%c", "a-b-b-c", true);
        check("a%b%c", "a-b-b-c-", false);
        check("%aab", "aaaab", true);
        check("%_a", "a", false);
        check("%_a", "ba", true);
        check("_%_", "a", false);
        check(r"a\_b", "a_b", true);
        check(r"a\_b", "axb", false);
        check(r"100\%", "100%", true);
        check(r"100\%", "1000", false);
        check(r"a\\b", r"a\b", true);
        check(r"\q", "Q", true);
        // A trailing backslash stands for itself.
        check(r"a\", r"a\", true);
        check(r"a\", "a", false);
        // One character, not one byte; letters outside ASCII match in their own case only.
        check("_", "é", true);
        check("__", "é", false);
        check("É", "é", false);
        check("a%\u{1f600}", "a--\u{1f600}", true);
        // The wildcards of the other dialect are letters here.
        check("?", "a", false);
        check("?", "?", true);
    }

    #[test]
    fn start_up_dialect() {
        let check = |pattern, text, expected| {
            assert_eq!(LikePattern::start_up(pattern).matches(text), expected, "{text:?} against {pattern:?}");
        };
        check("?", "x", true);
        check("?", "", false);
        check("_", "x", false);
        check("_", "_", true);
        check(r"\?", "?", true);
        check(r"\?", "x", false);
        check("wait/synch/%=", "wait/synch/x=", true);
    }

    /// The definition, read aloud.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'%', rest @ ..] => (0..=text.len()).any(|run| naive(rest, &text[run..])),
            [b'_', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
            [b'\\', c, rest @ ..] | [c, rest @ ..] => {
                text.first().is_some_and(|t| t.eq_ignore_ascii_case(c)) && naive(rest, &text[1..])
            }
        }
    }

    fn agree(pattern: &[u8], text: &[u8]) {
        let (pattern, text) = (str::from_utf8(pattern).unwrap(), str::from_utf8(text).unwrap());
        check(pattern, text, naive(pattern.as_bytes(), text.as_bytes()));
    }

    /// The `number`-th word over `alphabet`, in `buffer`: all words of length 0, then 1, then 2, …
    fn word<'a>(mut number: usize, alphabet: &[u8], buffer: &'a mut [u8]) -> &'a [u8] {
        let mut len = 0;
        while number > 0 {
            number -= 1;
            buffer[len] = alphabet[number % alphabet.len()];
            number /= alphabet.len();
            len += 1;
        }
        &buffer[..len]
    }

    #[test]
    fn agrees_with_the_definition_on_all_short_words() {
        // Patterns of up to 5 characters over 5, texts of up to 4 over 4: a few hundred thousand pairs.
        let (patterns, texts) = if cfg!(miri) { (31, 21) } else { (3906, 341) };
        let (mut pattern_buffer, mut text_buffer) = ([0; 8], [0; 8]);
        for p in 0..patterns {
            let pattern = word(p, b"%_\\aB", &mut pattern_buffer);
            for t in 0..texts {
                agree(pattern, word(t, b"ab_%", &mut text_buffer));
            }
        }
    }

    #[test]
    fn agrees_with_the_definition_on_random_words() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % below
        };
        for _ in 0..if cfg!(miri) { 50 } else { 50_000 } {
            let (mut pattern, mut text) = ([0; 12], [0; 16]);
            let (pattern_len, text_len) = (random(13), random(17));
            pattern.fill_with(|| b"%_\\aAb"[random(6)]);
            text.fill_with(|| b"abAB"[random(4)]);
            agree(&pattern[..pattern_len], &text[..text_len]);
        }
    }

    #[test]
    fn the_worst_pattern_takes_no_exponential_time() {
        // A recursive matcher needs longer than the universe has for this.
        let mut pattern = [b'%'; 128];
        pattern.iter_mut().step_by(2).for_each(|c| *c = b'a');
        pattern[126] = b'b';
        let text = [b'a'; 128];
        check(str::from_utf8(&pattern).unwrap(), str::from_utf8(&text).unwrap(), false);
    }
}
