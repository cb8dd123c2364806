//! Text, tokens and trees: where a statement ends, what it says, and how deep it may be.

use crate::operators::MySql;
use crate::spelling::Modes;
use crate::{Error, spelling};
use sqlparser::ast::{Query, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

/// The longest statement.
pub(crate) const MAX_STATEMENT: usize = 1 << 20;
/// The most tokens of a statement.
const MAX_TOKENS: usize = 1 << 16;
/// How many bytes are looked at at once to count them.
const WINDOW: usize = 1 << 16;
/// What so many may take while they are read, up to 500 bytes each: `parser_max_mem_size`.
pub(crate) const PARSER_MEMORY: &str = "33554432";
/// The same as a number.
pub(crate) const PARSER_BYTES: usize = 33_554_432;
/// Operators and keywords that stand within one another or in a row without a comma: what decides how deep the tree gets.
pub(crate) const MAX_DEPTH: usize = 1000;
/// For how many of these a join and a member of a UNION count, of which each level takes more of the stack. (Of MySQL's joins there are 61.)
const JOIN_DEPTH: usize = 10;
const MEMBER_DEPTH: usize = 8;

/// One statement of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The statement, without what ended it.
    pub text: String,
    /// Whether `\G` ended it: the client wants one line a value.
    pub vertical: bool,
}

/// Cuts text into statements at `;`, `\g` and `\G`, wherever these are not part of a text, a name or a comment.
///
/// ```
/// let pieces = perfschema_sql::split(r"SELECT ';'; SHOW TABLES\G");
/// let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
/// assert_eq!(texts, ["SELECT ';'", "SHOW TABLES"]);
/// assert!(pieces[1].vertical);
/// ```
pub fn split(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut add = |text: &str, vertical| {
        let text = text.trim();
        if !text.is_empty() {
            pieces.push(Piece { text: text.to_owned(), vertical });
        }
    };
    let read = spelling::without_later_versions(text);
    let Ok(tokens) = Tokenizer::new(&MySql::default(), &read).tokenize_with_location() else {
        // It will be refused as a whole.
        add(text, false);
        return pieces;
    };
    let mut offsets = Offsets::of(text);
    let (mut start, mut has_content) = (0, false);
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|next| &next.token);
        let ends = match (&token.token, next) {
            (Token::SemiColon, _) => Some((1, false)),
            (Token::Backslash, Some(Token::Word(word))) if word.value == "G" => Some((2, true)),
            (Token::Backslash, Some(Token::Word(word))) if word.value == "g" => Some((2, false)),
            (Token::Whitespace(_) | Token::EOF, _) => None,
            _ => {
                has_content = true;
                None
            }
        };
        if let Some((length, vertical)) = ends {
            let end = offsets.get(token.span.start).max(start);
            if has_content {
                add(&text[start..end], vertical);
            }
            start = (end + length).min(text.len());
            has_content = false;
        }
    }
    if has_content {
        add(text.get(start..).unwrap_or_default(), false);
    }
    pieces
}

/// Byte offsets of lines and columns, asked for from the front to the back: each character is looked at once, however long a line is.
struct Offsets<'a> {
    text: &'a str,
    /// The last place that was asked for, or the one behind it.
    location: Location,
    offset: usize,
}

impl Offsets<'_> {
    fn of(text: &str) -> Offsets<'_> {
        Offsets { text, location: Location::new(1, 1), offset: 0 }
    }

    fn get(&mut self, location: Location) -> usize {
        for character in self.text[self.offset..].chars() {
            if self.location >= location {
                break;
            }
            self.offset += character.len_utf8();
            self.location = match character {
                '\n' => Location::new(self.location.line + 1, 1),
                _ => Location::new(self.location.line, self.location.column + 1),
            };
        }
        self.offset
    }
}

/// Whether a text has no more tokens than a statement may have: whoever gets texts from elsewhere asks before it [`split`]s them, which takes a
/// hundred bytes for each.
///
/// ```
/// assert!(perfschema_sql::fits("SELECT 1; SELECT 2"));
/// assert!(perfschema_sql::fits(&format!("SELECT '{}'", "+".repeat(1_000_000))), "a text is one");
/// assert!(!perfschema_sql::fits(&"+".repeat(1_000_000)));
/// ```
pub fn fits(text: &str) -> bool {
    // Each has one byte at least.
    text.len() <= MAX_TOKENS || has_few_tokens(&spelling::without_later_versions(text))
}

/// Whether there are no more tokens than a statement may have, white space among them. The tokenizer itself is asked, because it alone knows where a
/// text or a comment ends for it; of so much at a time that what it finds there takes little.
fn has_few_tokens(text: &str) -> bool {
    let (mut rest, mut length, mut count) = (text, WINDOW, 0);
    let mut tokens = Vec::new();
    loop {
        let window = &rest[..rest.floor_char_boundary(length)];
        tokens.clear();
        // What is wrong, or ends behind the window, ends them.
        let _ = Tokenizer::new(&MySql::default(), window).tokenize_with_location_into_buf(&mut tokens);
        if window.len() == rest.len() {
            return count + tokens.len() <= MAX_TOKENS;
        }
        // The last one may go on behind the window.
        match tokens.pop() {
            Some(last) if !tokens.is_empty() => {
                count += tokens.len();
                rest = &rest[Offsets::of(window).get(last.span.start)..];
                length = WINDOW;
            }
            _ => length += WINDOW,
        }
        if count > MAX_TOKENS {
            return false;
        }
    }
}

/// The tokens of one statement of this crate's own.
pub(crate) fn tokens(text: &str) -> Result<Vec<TokenWithSpan>, Error> {
    tokens_in(text, Modes::default())
}

/// The tokens of one statement, without the `;` at its end; the placeholders `?` are numbered.
pub(crate) fn tokens_in(text: &str, modes: Modes) -> Result<Vec<TokenWithSpan>, Error> {
    if text.len() > MAX_STATEMENT {
        return Err(Error::too_long());
    }
    if !fits(text) {
        return Err(Error::too_many_tokens());
    }
    let text = &*spelling::without_later_versions(text);
    let mut tokens = Tokenizer::new(&MySql::default(), text).tokenize_with_location().map_err(|error| {
        let offset = Offsets::of(text).get(error.location);
        Error::syntax(&text[offset..], error.location.line.max(1))
    })?;
    while tokens.last().is_some_and(|last| matches!(last.token, Token::SemiColon | Token::EOF | Token::Whitespace(_))) {
        tokens.pop();
    }
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
    let mut placeholders = 0;
    for token in &mut tokens {
        if let Token::Placeholder(name) = &mut token.token {
            if name != "?" {
                return Err(Error::syntax(name, token.span.start.line));
            }
            placeholders += 1;
            *name = format!("?{placeholders}");
        }
    }
    if tokens.is_empty() { Err(Error::empty()) } else { Ok(spelling::usual(tokens, modes)) }
}

/// How many `?` there are.
pub(crate) fn placeholders(tokens: &[TokenWithSpan]) -> usize {
    tokens.iter().filter(|token| matches!(token.token, Token::Placeholder(_))).count()
}

/// Whether the word stands at this place, in any letter case and not quoted.
pub(crate) fn is_word(tokens: &[TokenWithSpan], index: usize, expected: &str) -> bool {
    spelling::is_word(tokens.get(index), expected)
}

/// A statement whose tree would be too deep for some stack is refused before there is a tree.
fn check_depth(tokens: &[TokenWithSpan]) -> Result<(), Error> {
    let mut open = vec![0_usize];
    let mut depth = 0;
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => open.push(0),
            Token::RParen | Token::RBracket | Token::RBrace => {
                if open.len() > 1 {
                    depth -= open.pop().unwrap_or(0);
                }
            }
            Token::Comma => depth -= open.last_mut().map_or(0, std::mem::take),
            Token::Word(word) if word.keyword == Keyword::NoKeyword => {}
            Token::Number(..) | Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) | Token::Period => {}
            token => {
                let deep = match token {
                    Token::Word(word) => match word.keyword {
                        Keyword::JOIN | Keyword::STRAIGHT_JOIN => JOIN_DEPTH,
                        Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => MEMBER_DEPTH,
                        _ => 1,
                    },
                    _ => 1,
                };
                depth += deep;
                *open.last_mut().unwrap_or(&mut 0) += deep;
            }
        }
        if depth > MAX_DEPTH || open.len() > MAX_DEPTH {
            return Err(Error::too_complex());
        }
    }
    Ok(())
}

/// The tree of one statement.
pub(crate) fn parse(tokens: Vec<TokenWithSpan>, text: &str) -> Result<Statement, Error> {
    check_depth(&tokens)?;
    let joins = tokens.iter().filter(|token| matches!(&token.token, Token::Word(word) if word.keyword == Keyword::JOIN)).count();
    let again = (joins > 1).then(|| tokens.clone());
    let statement = parse_by(MySql::default(), tokens, text);
    match again {
        Some(tokens) if statement.is_err() => parse_by(MySql { nests_joins: true }, tokens, text).or(statement),
        _ => statement,
    }
}

fn parse_by(dialect: MySql, tokens: Vec<TokenWithSpan>, text: &str) -> Result<Statement, Error> {
    let mut parser = Parser::new(&dialect).with_recursion_limit(60).with_tokens_with_locations(tokens);
    let statement = parser.parse_statement().map_err(|error| syntax(error, text))?;
    let rest = parser.peek_token();
    if rest.token == Token::EOF { Ok(statement) } else { Err(near(text, rest.span.start)) }
}

/// What is wrong begins at this token.
pub(crate) fn near_token(tokens: &[TokenWithSpan], index: usize, text: &str) -> Error {
    tokens.get(index).map_or_else(|| Error::syntax("", 1), |token| near(text, token.span.start))
}

/// The text from this token on, without a `;` at its end.
pub(crate) fn rest<'a>(tokens: &[TokenWithSpan], index: usize, text: &'a str) -> &'a str {
    let mut offsets = Offsets::of(text);
    let (Some(first), Some(last)) = (tokens.get(index), tokens.last()) else { return "" };
    text.get(offsets.get(first.span.start)..offsets.get(last.span.end)).unwrap_or_default()
}

/// The optimizer hints that follow the first word, if that is SELECT: the parser does not see them.
pub(crate) fn hints<'a>(tokens: &[TokenWithSpan], text: &'a str) -> &'a str {
    let ([first, second, ..], true) = (tokens, is_word(tokens, 0, "SELECT")) else { return "" };
    let mut offsets = Offsets::of(text);
    let between = text.get(offsets.get(first.span.end)..offsets.get(second.span.start)).unwrap_or_default();
    between.trim_start().strip_prefix("/*+").and_then(|hints| hints.split_once("*/")).map_or("", |(hints, _)| hints)
}

fn near(text: &str, location: Location) -> Error {
    Error::syntax(&text[Offsets::of(text).get(location)..], location.line.max(1))
}

fn syntax(error: ParserError, text: &str) -> Error {
    match error {
        ParserError::RecursionLimitExceeded => Error::too_complex(),
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            // "… at Line: 1, Column: 8"
            let place = message.rsplit_once(" at Line: ").and_then(|(_, place)| place.split_once(", Column: "));
            let location = place.and_then(|(line, column)| Some(Location::new(line.parse().ok()?, column.parse().ok()?)));
            location.map_or_else(|| Error::syntax("", 1), |location| near(text, location))
        }
    }
}

/// What stands between SELECT and FROM, each as it was written: the headings of expressions.
pub(crate) fn headings(tokens: &[TokenWithSpan], text: &str) -> Vec<String> {
    let mut headings = Vec::new();
    if !is_word(tokens, 0, "SELECT") {
        return headings;
    }
    const MODIFIERS: [&str; 6] = ["DISTINCT", "ALL", "DISTINCTROW", "SQL_CALC_FOUND_ROWS", "SQL_NO_CACHE", "STRAIGHT_JOIN"];
    const ENDS: [&str; 13] =
        ["FROM", "INTO", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "ORDER", "WHERE", "HAVING", "GROUP", "WINDOW", "FOR", "LOCK"];
    let mut first = 1;
    while MODIFIERS.iter().any(|modifier| is_word(tokens, first, modifier)) {
        first += 1;
    }
    let mut offsets = Offsets::of(text);
    let mut add = |from: usize, to: usize| {
        if let (Some(first), Some(last)) = (tokens.get(from), to.checked_sub(1).and_then(|last| tokens.get(last))) {
            let (start, end) = (offsets.get(first.span.start), offsets.get(last.span.end));
            headings.push(text.get(start..end).unwrap_or_default().to_owned());
        }
    };
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(first) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => {
                add(first, index);
                first = index + 1;
            }
            _ if depth == 0 && ENDS.iter().any(|end| is_word(tokens, index, end)) => {
                add(first, index);
                return headings;
            }
            _ => {}
        }
    }
    add(first, tokens.len());
    headings
}

/// The text as a literal of MySQL's.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn constant(sql: &str) -> Statement {
    tokens(sql).and_then(|tokens| parse(tokens, sql)).expect("it is a constant of this crate, and tested")
}

/// Those of a file of this crate.
pub(crate) fn statements(file: &str) -> impl Iterator<Item = Statement> {
    split(file).into_iter().map(|piece| constant(&piece.text))
}

/// A query made of one that is written here.
pub(crate) fn template(sql: &str) -> Query {
    match constant(sql) {
        Statement::Query(query) => *query,
        other => unreachable!("{other} is no query"),
    }
}
