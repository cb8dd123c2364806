//! What is alike in two texts, against a naive model: tokens in a list, reduced as MySQL's sql_digest.cc reduces them.

use perfschema_core::digest::{Digest, MAX_DIGEST_LENGTH, digest_text};
use proptest::prelude::*;

/// A token, whether there is space before it, and all of the text from it on.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    kind: Kind,
    text: String,
    apart: bool,
    rest: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Word,
    QuotedName,
    Sign,
    Number,
    /// A literal that is no number.
    Value,
    Values,
    Row,
    Rows,
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$' || !letter.is_ascii()
}

/// What begins with `open` and ends with `close`, or with the text.
fn until(letters: &[char], open: usize, close: &str) -> usize {
    (open..letters.len())
        .find(|end| letters[..*end].iter().collect::<String>()[..].ends_with(close) && *end >= open + close.len())
        .unwrap_or(letters.len())
}

fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.trim_end_matches([';', ' ', '\n', '\t', '\r']).chars().collect();
    let at = |index: usize| letters.get(index).copied().unwrap_or('\0');
    let mut tokens: Vec<Token> = Vec::new();
    let (mut next, mut apart) = (0, true);
    while next < letters.len() {
        let first = at(next);
        let is_comment = match (first, at(next + 1)) {
            ('/', '*') => Some("*/"),
            ('-', '-') if next + 2 == letters.len() || at(next + 2).is_ascii_whitespace() => Some("\n"),
            ('#', second) if second != '>' && second != '-' => Some("\n"),
            _ => None,
        };
        if let Some(close) = is_comment {
            let open = if close == "*/" || first == '-' { 2 } else { 1 };
            next = until(&letters, next + open, close);
            apart = true;
            continue;
        }
        if first.is_ascii_whitespace() {
            (next, apart) = (next + 1, true);
            continue;
        }
        let word_end = (next..letters.len()).find(|end| !is_word(at(*end))).unwrap_or(letters.len());
        let word: String = letters[next..word_end].iter().collect();
        let is_behind_name = !apart && tokens.last().is_some_and(|last| last.kind != Kind::Sign || ")]}.@".contains(&last.text));
        let prefix = usize::from("nNxXbB".contains(first) && at(next + 1) == '\'');
        let (kind, end) = if first.is_ascii_digit() || first == '.' && at(next + 1).is_ascii_digit() && !is_behind_name {
            let is_hexadecimal = word.starts_with("0x");
            let mut end = next;
            while is_word(at(end)) && end < letters.len()
                || at(end) == '.'
                || "+-".contains(at(end)) && end > next && "eE".contains(at(end - 1)) && !is_hexadecimal
            {
                end += 1;
            }
            (Kind::Number, end)
        } else if "'\"".contains(at(next + prefix)) {
            let quote = at(next + prefix);
            let mut end = next + prefix + 1;
            while end < letters.len() && (at(end) != quote || at(end + 1) == quote) {
                end += if at(end) == '\\' || at(end) == quote { 2 } else { 1 };
            }
            (Kind::Value, (end + 1).min(letters.len()))
        } else if first == '`' {
            (Kind::QuotedName, until(&letters, next + 1, "`"))
        } else if first == '?' {
            let end = (next + 1..letters.len()).find(|end| !at(*end).is_ascii_digit()).unwrap_or(letters.len());
            (Kind::Value, end)
        } else if first == '$' && word.len() > 1 && word[1..].bytes().all(|byte| byte.is_ascii_digit()) {
            (Kind::Value, word_end)
        } else if word.eq_ignore_ascii_case("null") {
            let is_test = tokens.last().is_some_and(|last| ["is", "not"].contains(&&last.text.to_ascii_lowercase()[..]));
            (if is_test { Kind::Word } else { Kind::Value }, word_end)
        } else if !word.is_empty() {
            (Kind::Word, word_end)
        } else {
            (Kind::Sign, next + 1)
        };
        tokens.push(Token { kind, text: letters[next..end].iter().collect(), apart, rest: letters[next..].iter().collect() });
        (next, apart) = (end, false);
    }
    tokens
}

const BEGIN_EXPRESSION: &str = " and at between case default div elseif ends every if interval like mod not or regexp return rlike select \
     starts until when while xor ";

fn reduced(text: &str) -> String {
    let mut stack: Vec<Token> = Vec::new();
    let is = |token: Option<&Token>, text: &str| token.is_some_and(|token| token.kind == Kind::Sign && token.text == text);
    let mut tokens = tokens(text);
    let count = tokens.len();
    while is(tokens.last(), ";") {
        tokens.pop();
    }
    let may_be_cut = count == tokens.len();
    for mut token in tokens {
        let last = |stack: &[Token], back: usize| stack.len().checked_sub(back).map(|at| stack[at].clone());
        if matches!(token.kind, Kind::Number | Kind::Value) {
            // Signs of a number.
            while token.kind == Kind::Number
                && last(&stack, 1).is_some_and(|sign| sign.kind == Kind::Sign && ["+", "-"].contains(&&sign.text[..]))
                && last(&stack, 2).is_some_and(|before| match before.kind {
                    Kind::Sign => !")]}.@".contains(&before.text),
                    Kind::Word => BEGIN_EXPRESSION.contains(&format!(" {} ", before.text.to_ascii_lowercase())),
                    _ => false,
                })
            {
                token.apart = stack.pop().unwrap().apart;
            }
            token = Token { kind: Kind::Value, text: "?".into(), ..token };
            if is(last(&stack, 1).as_ref(), ",")
                && last(&stack, 2).is_some_and(|one| [Kind::Value, Kind::Values].contains(&one.kind))
            {
                stack.pop();
                token = Token { kind: Kind::Values, text: "?, ...".into(), apart: stack.pop().unwrap().apart, ..token };
            }
        }
        let values = last(&stack, 1).filter(|value| [Kind::Value, Kind::Values].contains(&value.kind));
        if let Some(values) = values
            && is(Some(&token), ")")
            && is(last(&stack, 2).as_ref(), "(")
        {
            stack.pop();
            let row = if values.kind == Kind::Value { "(?)" } else { "(...)" };
            token = Token { kind: Kind::Row, text: row.into(), apart: stack.pop().unwrap().apart, ..token };
            let before = last(&stack, 2).filter(|one| [Kind::Row, Kind::Rows].contains(&one.kind) && one.text.starts_with(row));
            if last(&stack, 1).is_some_and(|word| word.kind == Kind::Word && word.text.eq_ignore_ascii_case("in")) {
                // Not one of several.
                token = Token { kind: Kind::QuotedName, text: "(...)".into(), ..token };
            } else if is(last(&stack, 1).as_ref(), ",") && before.is_some() {
                stack.pop();
                token =
                    Token { kind: Kind::Rows, text: format!("{row} /* , ... */"), apart: stack.pop().unwrap().apart, ..token };
            }
        }
        stack.push(token);
    }
    if may_be_cut {
        close(&mut stack);
    }
    let spaced = |(index, token): (usize, &Token)| format!("{}{}", if token.apart && index > 0 { " " } else { "" }, token.text);
    stack.iter().enumerate().map(spaced).collect()
}

/// What ends in the middle of a list is a list.
fn close(stack: &mut Vec<Token>) {
    let kind = |token: &Token| match (token.kind, &token.text[..]) {
        (Kind::Sign, "(") => '(',
        (Kind::Sign, ",") => ',',
        (Kind::Value | Kind::Values, _) => 'v',
        (Kind::Row | Kind::Rows, _) => 'r',
        (Kind::Word, word) if word.eq_ignore_ascii_case("in") => 'i',
        _ => 'x',
    };
    let is_unfinished = |token: &Token| {
        let rest = token.rest.to_ascii_lowercase();
        ["n", "nu", "nul", "x", "b", "$"].contains(&&rest[..]) || rest.chars().all(|letter| " +-.".contains(letter))
    };
    // What is no value yet is as good as nothing.
    let begin = stack.iter().position(is_unfinished).unwrap_or(stack.len());
    let shape = |stack: &[Token]| stack.iter().map(kind).collect::<String>();
    let before = shape(&stack[..begin]);
    let whole = ["(v,", "(", "(v"].into_iter().find(|end| before.ends_with(end) && (*end != "(v" || begin == stack.len()));
    if let Some(values) = whole {
        let mut list = stack.drain(begin - values.len()..).next().unwrap();
        (list.kind, list.text) = (Kind::Row, "(...)".into());
        if shape(stack).ends_with('i') {
            list.kind = Kind::QuotedName;
        } else if shape(stack).ends_with("r,") {
            return close(stack);
        }
        return stack.push(list);
    }
    let shape = shape(stack);
    if shape.ends_with("v,") || shape.ends_with("r,") {
        stack.pop();
        let last = stack.last_mut().unwrap();
        match last.kind {
            Kind::Value => (last.kind, last.text) = (Kind::Values, "?, ...".into()),
            Kind::Row => (last.kind, last.text) = (Kind::Rows, format!("{} /* , ... */", last.text)),
            _ => {}
        }
    }
}

/// As many of its first characters as fit.
fn cut(text: &str) -> &str {
    &text[..(0..=text.len().min(MAX_DIGEST_LENGTH)).rev().find(|len| text.is_char_boundary(*len)).unwrap()]
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = [
        "select",
        "SELECT",
        "and",
        "in",
        "IN",
        "is",
        "NOT",
        "null",
        "NULL",
        "a",
        "n",
        "x",
        "b",
        "`q r`",
        "`",
        "ä",
        "日",
        "$1",
        "$a",
        "?",
        "?2",
        "1",
        "-",
        "+",
        "-1",
        "0x1f",
        "1e-3",
        ".5",
        ".",
        "1.5",
        "'s'",
        "'it''s'",
        "\"d\"",
        "'",
        "\\",
        "\"",
        "x'1'",
        "N'a'",
        "(",
        ")",
        "(",
        ")",
        "(1)",
        "(1, 2)",
        ", ",
        ",",
        ",",
        ", ",
        " ",
        " ",
        " ",
        "\n",
        "/* c */",
        "/*",
        "*/",
        "-- d\n",
        "# e\n",
        "#>",
        "#",
        "--",
        ";",
        "=",
        "<",
        "*",
        "/",
        "@",
        "[",
        "]",
        "{",
        "}",
        ":",
        "word_that_is_long_enough_to_fill_the_digest_when_it_is_repeated ",
    ];
    let some = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat());
    let many = (prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..40), 1..40_usize)
        .prop_map(|(pieces, times)| pieces.concat().repeat(times));
    prop_oneof![8 => some, 1 => many]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 8 } else { 5_000 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn digests_are_those_of_the_model(text in texts(), other in texts()) {
        let [naive, naive_of_other] = [&text, &other].map(|text| reduced(text));
        let digest = digest_text(&text);
        prop_assert_eq!(digest.as_str(), cut(&naive), "{:?}", text);
        prop_assert_eq!(Digest::of(&text) == Digest::of(&other), cut(&naive) == cut(&naive_of_other), "{:?} {:?}", text, other);
    }
}
