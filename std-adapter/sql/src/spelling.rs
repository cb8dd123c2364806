//! What MySQL writes and the parser does not know, or takes for something else: changed in the text or among the tokens, before there is
//! a tree.

use crate::variables::VERSION_NUMBER;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use std::borrow::Cow;

/// What of `sql_mode` says how a statement is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modes {
    /// `"x"` is a name.
    pub(crate) ansi_quotes: bool,
    /// `a || b` joins texts.
    pub(crate) pipes_as_concat: bool,
}

impl Modes {
    pub(crate) fn of(sql_mode: &str) -> Modes {
        let has =
            |mode: &str| sql_mode.split(',').any(|other| other.eq_ignore_ascii_case(mode) || other.eq_ignore_ascii_case("ANSI"));
        Modes { ansi_quotes: has("ANSI_QUOTES"), pipes_as_concat: has("PIPES_AS_CONCAT") }
    }
}

/// The text in which `/*!99999 … */`, for a later version, is a comment like any other. Nothing moves.
pub(crate) fn without_later_versions(text: &str) -> Cow<'_, str> {
    if !text.contains("/*!") {
        return Cow::Borrowed(text);
    }
    let mut changed = text.to_owned().into_bytes();
    for at in later_versions(text) {
        changed[at + 2] = b' ';
    }
    String::from_utf8(changed).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Where the comments for later versions begin.
fn later_versions(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let find = |from: usize, what: &[u8]| {
        bytes[from.min(bytes.len())..].windows(what.len()).position(|window| window == what).map_or(bytes.len(), |at| from + at)
    };
    let mut next = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(next) {
            let (at, rest) = (next, &bytes[next..]);
            next = match byte {
                b'\'' | b'"' | b'`' => {
                    let mut end = at + 1;
                    while let Some(&other) = bytes.get(end) {
                        // Doubled, a quote does not end it.
                        let is_doubled = other == byte && bytes.get(end + 1) == Some(&byte);
                        if other == byte && !is_doubled {
                            break;
                        }
                        end += if is_doubled || (other == b'\\' && byte != b'`') { 2 } else { 1 };
                    }
                    end + 1
                }
                b'#' => find(at, b"\n"),
                b'-' if rest.starts_with(b"-- ") || rest.starts_with(b"--\t") || rest.starts_with(b"--\n") => find(at, b"\n"),
                b'/' if rest.starts_with(b"/*!") => {
                    let digits = rest[3..].iter().take(6).take_while(|digit| digit.is_ascii_digit()).count();
                    let version: u32 = text[at + 3..at + 3 + digits].parse().unwrap_or(0);
                    if digits >= 5 && version > VERSION_NUMBER {
                        next = find(at + 2, b"*/") + 2;
                        return Some(at);
                    }
                    at + 3 + digits
                }
                b'/' if rest.starts_with(b"/*") => find(at + 2, b"*/") + 2,
                _ => at + 1,
            };
        }
        None
    })
}

/// Whether a token is this word, in any letter case and not quoted.
pub(crate) fn is_word(token: Option<&TokenWithSpan>, expected: &str) -> bool {
    matches!(token.map(|token| &token.token), Some(Token::Word(word))
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(expected))
}

fn any_word(token: Option<&TokenWithSpan>, expected: &[&str]) -> bool {
    expected.iter().any(|expected| is_word(token, expected))
}

fn keyword(text: &str) -> Token {
    Token::make_word(text, None)
}

/// Of intervals that are written as several numbers.
pub(crate) const COMPOUND_UNITS: [&str; 11] = [
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];

/// The parser knows them as calls only.
const CALLS: [&str; 4] = ["CURRENT_USER", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP"];

/// A name that is no keyword.
fn name(text: &str) -> Token {
    Token::Word(Word { value: text.to_owned(), quote_style: Some('`'), keyword: Keyword::NoKeyword })
}

/// The tokens as the parser knows them; white space is not among them.
pub(crate) fn usual(tokens: Vec<TokenWithSpan>, modes: Modes) -> Vec<TokenWithSpan> {
    let is_set = is_word(tokens.first(), "SET");
    let mut usual: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let has_binary = tokens.iter().any(|token| is_word(Some(token), "BINARY"));
    let has_interval = tokens.iter().any(|token| is_word(Some(token), "INTERVAL"));
    let closing = if has_binary || has_interval { closing(&tokens) } else { Vec::new() };
    // `VALUES ROW(1, 2)` are rows, all others are what stands in the parentheses.
    let has_rows = tokens.windows(2).any(|two| is_word(two.first(), "VALUES") && is_word(two.get(1), "ROW"));
    // Of the parentheses that are open, which are those of CHAR.
    let mut chars: Vec<bool> = Vec::new();
    // The last tokens of what BINARY was said of.
    let mut binaries: Vec<usize> = Vec::new();
    let mut index = 0;
    // `TABLE t` is all of it.
    if is_word(tokens.first(), "TABLE") {
        let span = tokens[0].span;
        usual.extend([keyword("SELECT"), Token::Mul, keyword("FROM")].map(|token| TokenWithSpan { token, span }));
        index = 1;
    }
    while let Some(token) = tokens.get(index) {
        let next = tokens.get(index + 1);
        let is_call = matches!(next.map(|next| &next.token), Some(Token::LParen));
        let before = usual.last();
        let mut new = token.clone();
        let is_open = token.token == Token::LParen && !has_rows;
        match &token.token {
            // There is nothing to lock.
            Token::Word(_) if is_word(Some(token), "LOCK") && is_lock_in_share_mode(&tokens[index..]) => {
                index += 4;
                continue;
            }
            // Nobody waits for one another here; what IGNORE makes warnings of are errors.
            Token::Word(_) if index < 4 && any_word(Some(token), &["LOW_PRIORITY", "QUICK", "DELAYED", "HIGH_PRIORITY"]) => {
                let verbs = ["UPDATE", "DELETE", "INSERT", "REPLACE", "SELECT"];
                if any_word(before, &verbs) {
                    index += 1;
                    continue;
                }
            }
            Token::Word(_) if is_word(Some(token), "IGNORE") && index < 4 && any_word(before, &["UPDATE", "DELETE"]) => {
                index += 1;
                continue;
            }
            Token::Word(_) if is_word(Some(token), "BINARY") && is_operator(&usual) => {
                // Once is enough.
                if is_word(next, "BINARY") {
                    index += 1;
                    continue;
                }
                if let Some(end) = operand(&tokens, &closing, index + 1) {
                    binaries.push(end);
                    index += 1;
                    continue;
                }
            }
            Token::Word(_) if any_word(Some(token), &CALLS) && !is_call => {
                for token in [token.token.clone(), Token::LParen, Token::RParen] {
                    usual.push(TokenWithSpan { token, span: new.span });
                }
                index += 1;
                continue;
            }
            // `EXTRACT(YEAR_MONTH FROM a)` is a call of two arguments.
            Token::Word(_)
                if is_word(Some(token), "EXTRACT")
                    && is_call
                    && any_word(tokens.get(index + 2), &COMPOUND_UNITS)
                    && is_word(tokens.get(index + 3), "FROM") =>
            {
                let unit = tokens[index + 2].token.to_string().to_ascii_uppercase();
                let written = [name("extract"), Token::LParen, Token::SingleQuotedString(unit), Token::Comma];
                usual.extend(written.into_iter().zip(&tokens[index..]).map(|(token, at)| TokenWithSpan { token, span: at.span }));
                chars.push(false);
                index += 4;
                continue;
            }
            // `TRIM(LEADING FROM a)`: of spaces.
            Token::Word(_)
                if any_word(Some(token), &["LEADING", "TRAILING", "BOTH"])
                    && is_word(next, "FROM")
                    && matches!(usual.as_slice(), [.., trim, open] if is_word(Some(trim), "TRIM") && open.token == Token::LParen) =>
            {
                usual.push(token.clone());
                new.token = Token::SingleQuotedString(" ".to_owned());
            }
            // The parser knows only SUBSTRING with FROM.
            Token::Word(_) if is_word(Some(token), "MID") && is_call && has_from(&tokens[index + 2..]) => {
                new.token = keyword("SUBSTRING");
            }
            Token::Word(_) if is_word(Some(token), "ROW") && is_call && !has_rows => {
                index += 1;
                continue;
            }
            // `CHAR(65 USING utf8mb4)`: no text is in another character set.
            Token::Word(_)
                if is_word(Some(token), "USING")
                    && chars.last() == Some(&true)
                    && any_word(next, &["utf8mb4", "utf8mb3", "utf8"]) =>
            {
                index += 2;
                continue;
            }
            // `CAST(a AS SIGNED INT)`.
            Token::Word(_)
                if any_word(Some(token), &["INT", "INTEGER"])
                    && matches!(usual.as_slice(), [.., first, sign] if any_word(Some(sign), &["SIGNED", "UNSIGNED"])
                        && (is_word(Some(first), "AS") || first.token == Token::Comma)) =>
            {
                index += 1;
                continue;
            }
            // `0b101` is `b'101'`.
            Token::Word(word) if word.quote_style.is_none() && word.value.len() > 2 && word.value.starts_with("0b") => {
                if let Some(digits) = hexadecimal(&word.value[2..]) {
                    new.token = Token::HexStringLiteral(digits);
                }
            }
            Token::LParen => chars.push(is_word(before, "CHAR")),
            Token::RParen => {
                chars.pop();
            }
            // `INTERVAL '1:30' MINUTE_SECOND` is one of MINUTE TO SECOND, which no MySQL has.
            Token::Word(word) if any_word(Some(token), &COMPOUND_UNITS) && has_interval => {
                let (first, last) = word.value.split_once('_').unwrap_or_default();
                // Behind SECOND the parser knows no TO.
                let first = if first.eq_ignore_ascii_case("SECOND") { "SECONDS" } else { first };
                for text in [first, "TO", last] {
                    usual.push(TokenWithSpan { token: keyword(text), span: token.span });
                }
                index += 1;
                continue;
            }
            // `INTERVAL(a, b)` is no unit's.
            Token::Word(_) if is_word(Some(token), "INTERVAL") && is_call && is_list(&tokens, &closing, index + 1) => {
                new.token = name("interval");
            }
            // `CAST(a AS CHAR CHARACTER SET utf8mb4)`: no text is in another one.
            Token::Word(_) if is_type_char(&usual) && utf8_after(&tokens[index..]).is_some() => {
                index += utf8_after(&tokens[index..]).unwrap_or(1);
                continue;
            }
            // `a MOD b` is `a % b`.
            Token::Word(_) if is_word(Some(token), "MOD") && !is_call => new.token = Token::Mod,
            // `` @`a b` ``, `@'a b'`, `@"a b"`: one word, as `@a` is.
            Token::AtSign => {
                let name = next.filter(|next| next.span.start == token.span.end).and_then(|next| quoted(&next.token));
                if let Some(name) = name {
                    let word = Word { value: format!("@{name}"), quote_style: None, keyword: Keyword::NoKeyword };
                    new.token = Token::Word(word);
                    new.span.end = next.map_or(new.span.end, |next| next.span.end);
                    index += 1;
                }
            }
            // `_utf8mb4'a' 'b'`: the parser joins texts that have no character set before them.
            Token::SingleQuotedString(text) if is_introducer(before) => {
                let mut joined = text.clone();
                while let Some(Token::SingleQuotedString(more)) = tokens.get(index + 1).map(|next| &next.token) {
                    joined += more;
                    index += 1;
                }
                new.token = Token::SingleQuotedString(joined);
            }
            // `b'101'` is `x'05'`.
            Token::SingleQuotedByteStringLiteral(bits) => {
                if let Some(digits) = hexadecimal(bits) {
                    new.token = Token::HexStringLiteral(digits);
                }
            }
            // `~~a` and `!~a` are no operators between two.
            Token::DoubleTilde | Token::ExclamationMarkTilde | Token::ExclamationMarkDoubleTilde => {
                let first = if token.token == Token::DoubleTilde { Token::Tilde } else { Token::ExclamationMark };
                usual.push(TokenWithSpan { token: first, span: token.span });
                if token.token == Token::ExclamationMarkDoubleTilde {
                    usual.push(TokenWithSpan { token: Token::Tilde, span: token.span });
                }
                new.token = Token::Tilde;
            }
            Token::Assignment if is_set => new.token = Token::Eq,
            Token::StringConcat if !modes.pipes_as_concat => new.token = keyword("OR"),
            Token::DoubleQuotedString(name) if modes.ansi_quotes => {
                new.token = self::name(name);
            }
            _ => {}
        }
        // It is part of what was written, so of the heading too.
        let last = index.checked_sub(1).and_then(|last| tokens.get(last));
        if is_word(last, "BINARY") && !binaries.is_empty() || is_word(last, "ROW") && is_open {
            new.span.start = tokens[index - 1].span.start;
        }
        usual.push(new);
        while binaries.last() == Some(&index) {
            binaries.pop();
            for text in ["COLLATE", "binary"] {
                usual.push(TokenWithSpan { token: keyword(text), span: token.span });
            }
        }
        index += 1;
    }
    usual
}

/// Whether it is the name of a character set before a text.
fn is_introducer(token: Option<&TokenWithSpan>) -> bool {
    matches!(token.map(|token| &token.token), Some(Token::Word(word)) if word.quote_style.is_none() && word.value.starts_with('_'))
}

/// Whether the type CHAR is the last of these tokens, with or without a length, as CAST and CONVERT have it.
fn is_type_char(before: &[TokenWithSpan]) -> bool {
    let is_length = matches!(before, [.., open, number, close]
        if open.token == Token::LParen && matches!(number.token, Token::Number(..)) && close.token == Token::RParen);
    let without = if is_length { &before[..before.len() - 3] } else { before };
    matches!(without, [.., first, char] if is_word(Some(char), "CHAR") && (is_word(Some(first), "AS") || first.token == Token::Comma))
}

/// How many of the tokens that begin here say that a character set is UTF-8.
fn utf8_after(tokens: &[TokenWithSpan]) -> Option<usize> {
    let said_by = match tokens {
        [character, set, ..] if is_word(Some(character), "CHARACTER") && is_word(Some(set), "SET") => 2,
        [charset, ..] if is_word(Some(charset), "CHARSET") => 1,
        _ => return None,
    };
    any_word(tokens.get(said_by), &["utf8mb4", "utf8mb3", "utf8"]).then_some(said_by + 1)
}

/// What is in a token's quotes.
fn quoted(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) if word.quote_style.is_some() => Some(&word.value),
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => Some(text),
        _ => None,
    }
}

/// Whole bytes of these bits.
fn hexadecimal(bits: &str) -> Option<String> {
    if !bits.bytes().all(|bit| matches!(bit, b'0' | b'1')) {
        return None;
    }
    let padded = format!("{bits:0>width$}", width = bits.len().next_multiple_of(8));
    padded
        .as_bytes()
        .chunks_exact(4)
        .map(|four| char::from_digit(four.iter().fold(0, |sum, bit| 2 * sum + u32::from(bit - b'0')), 16))
        .collect()
}

fn is_lock_in_share_mode(tokens: &[TokenWithSpan]) -> bool {
    ["LOCK", "IN", "SHARE", "MODE"].iter().enumerate().all(|(index, word)| is_word(tokens.get(index), word))
}

/// Whether FROM stands among the arguments that begin here, and in no parentheses among them.
fn has_from(arguments: &[TokenWithSpan]) -> bool {
    let mut depth = 0_usize;
    for token in arguments {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            _ if depth == 0 && is_word(Some(token), "FROM") => return true,
            _ => {}
        }
    }
    false
}

/// Whether BINARY is an operator behind these tokens, and no name of a type or character set.
fn is_operator(before: &[TokenWithSpan]) -> bool {
    !any_word(before.last(), &["AS", "SET", "CHARSET", "COLLATE", "NAMES", "USING", "SHOW", "PURGE"])
        && !before.is_empty()
        && (before.last().is_none_or(|token| token.token != Token::Eq) || !is_word(before.first(), "SET"))
}

/// For each parenthesis that opens, the one that closes it.
fn closing(tokens: &[TokenWithSpan]) -> Vec<Option<usize>> {
    let mut closing = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => open.push(index),
            Token::RParen => {
                if let Some(first) = open.pop() {
                    closing[first] = Some(index);
                }
            }
            _ => {}
        }
    }
    closing
}

/// Whether there are commas between the parenthesis that opens here and the one that closes it, and not only within others.
fn is_list(tokens: &[TokenWithSpan], closing: &[Option<usize>], open: usize) -> bool {
    let Some(end) = closing[open] else { return false };
    let mut index = open + 1;
    while index < end {
        match tokens[index].token {
            Token::Comma => return true,
            Token::LParen => index = closing[index].unwrap_or(end),
            _ => {}
        }
        index += 1;
    }
    false
}

/// The last token of an operand that begins here: a literal, a name, a call, or what is in parentheses.
fn operand(tokens: &[TokenWithSpan], closing: &[Option<usize>], first: usize) -> Option<usize> {
    let is = |index: usize, expected: &Token| tokens.get(index).is_some_and(|token| token.token == *expected);
    match &tokens.get(first)?.token {
        Token::LParen => closing[first],
        Token::Word(_) => {
            let mut last = first;
            while is(last + 1, &Token::Period) && matches!(tokens.get(last + 2).map(|next| &next.token), Some(Token::Word(_))) {
                last += 2;
            }
            if is(last + 1, &Token::LParen) { closing[last + 1] } else { Some(last) }
        }
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::HexStringLiteral(_)
        | Token::NationalStringLiteral(_)
        | Token::Placeholder(_) => Some(first),
        _ => None,
    }
}
