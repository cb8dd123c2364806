//! Functions of texts.

use crate::decimal::MAX_SCALE;
use crate::functions::{Arguments, MAX_TEXT};
use crate::numbers::{one_text, to_unsigned};
use crate::state::State;
use crate::value::{self, Number};
use crate::{Error, compare, snapshot};
use perfschema::core::pattern::LikePattern;
use regex_lite::{Captures, Regex};
use rusqlite::Result;
use rusqlite::types::{Value, ValueRef};
use sha1::Digest;
use std::cmp::Ordering;

/// How a pattern is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matching {
    pub(crate) ignore_case: bool,
    /// `^` and `$` are found in each line.
    pub(crate) multi_line: bool,
    /// `.` is also what ends a line.
    pub(crate) dot_matches_new_line: bool,
}

impl Default for Matching {
    fn default() -> Matching {
        Matching { ignore_case: true, multi_line: false, dot_matches_new_line: false }
    }
}

impl Matching {
    /// As the last argument of REGEXP_LIKE and its kin says: of `c` and `i` the last counts.
    fn of(flags: &str, function: &str) -> Result<Matching, Error> {
        let mut matching = Matching::default();
        for flag in flags.chars() {
            match flag {
                'c' | 'i' => matching.ignore_case = flag == 'i',
                'm' => matching.multi_line = true,
                'n' => matching.dot_matches_new_line = true,
                // Lines end with a new line only, here always.
                'u' => {}
                _ => return Err(Error::new(1210, "HY000", format!("Incorrect arguments to {function}"))),
            }
        }
        Ok(matching)
    }
}

/// What a pattern may cost: its length times that of the text.
const MAX_MATCH: usize = 1 << 28;

pub(crate) fn integer(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) fn bounded(text: String) -> Result<Value, Error> {
    if text.len() > MAX_TEXT { Err(Error::too_long()) } else { Ok(Value::Text(text)) }
}

/// Several values as one that no others make; NULL if one is.
pub(crate) fn row(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let texts: Option<Vec<String>> =
        arguments.iter().map(|value| value::text(*value).map(|text| format!("{}:{text}", text.len()))).collect();
    texts.map_or(Ok(Value::Null), |texts| bounded(texts.concat()))
}

/// As many whole characters as fit into so many bytes.
pub(crate) fn left_bytes(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let most = Number::of(arguments[1]).and_then(|most| usize::try_from(most.whole()).ok()).unwrap_or(usize::MAX);
    on_text(arguments, |text| text[..text.floor_char_boundary(most)].to_owned())
}

/// A function of one text; NULL of NULL.
pub(crate) fn on(arguments: Arguments<'_>, index: usize, f: impl FnOnce(String) -> Value) -> Value {
    value::text(arguments[index]).map_or(Value::Null, f)
}

pub(crate) fn on_text(arguments: Arguments<'_>, f: impl FnOnce(String) -> String) -> Result<Value, Error> {
    value::text(arguments[0]).map_or(Ok(Value::Null), |text| bounded(f(text)))
}

/// UPPER: each character becomes one. `ß` has none that is its own in capitals, and stays.
pub(crate) fn upper(text: &str) -> String {
    let one = |c: char| {
        let mut all = c.to_uppercase();
        all.next().filter(|_| all.next().is_none()).unwrap_or(c)
    };
    text.chars().map(one).collect()
}

/// LOWER: the same. `İ` alone would be two, of which the second is an accent.
pub(crate) fn lower(text: &str) -> String {
    text.chars().filter_map(|c| c.to_lowercase().next()).collect()
}

pub(crate) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Where the character of this number begins.
pub(crate) fn boundary(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(index, _)| index)
}

/// Whether letter case counts, text, pattern and escape.
pub(crate) fn like(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let is_binary = matches!(arguments[0], ValueRef::Integer(1));
    let (Some(text), Some(pattern)) = (value::text(arguments[1]), value::text(arguments[2])) else { return Ok(Value::Null) };
    if text.len().saturating_mul(pattern.len()) > MAX_MATCH {
        return Err(Error::too_long());
    }
    let escape = arguments.get(3).map_or(Some("\\".to_owned()), |escape| value::text(*escape));
    if escape.as_ref().is_some_and(|escape| escape.chars().nth(1).is_some()) {
        return Err(Error::new(1210, "HY000", "Incorrect arguments to ESCAPE"));
    }
    let pattern = match escape.as_deref() {
        Some("\\") => pattern,
        // The matcher knows one escape; any other, or none, is put in its words.
        other => {
            let escape = other.and_then(|other| other.chars().next());
            let mut translated = String::with_capacity(pattern.len());
            let mut chars = pattern.chars();
            while let Some(c) = chars.next() {
                let (c, escaped) = if Some(c) == escape { (chars.next().unwrap_or(c), true) } else { (c, false) };
                if escaped || c == '\\' {
                    translated.push('\\');
                }
                translated.push(c);
            }
            translated
        }
    };
    if is_binary {
        return Ok(Value::Integer(LikePattern::new(&pattern).binary().matches(&text).into()));
    }
    // The matcher folds ASCII, which is nearly all there is.
    let matches = if text.is_ascii() && pattern.is_ascii() {
        LikePattern::new(&pattern).matches(&text)
    } else {
        LikePattern::new(&snapshot::fold(&pattern)).matches(&snapshot::fold(&text))
    };
    Ok(Value::Integer(matches.into()))
}

pub(crate) fn regexp(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(text), Some(pattern)) = (value::text(arguments[0]), value::text(arguments[1])) else { return Ok(Value::Null) };
    let Some(flags) = arguments.get(2).map_or(Some(String::new()), |flags| value::text(*flags)) else { return Ok(Value::Null) };
    let regex = state.regex(&pattern, Matching::of(&flags, "regexp_like")?)?;
    // Time of one search is proportional to the size of the compiled pattern, which is bounded, and to the text.
    if text.len() > MAX_TEXT / 16 {
        return Err(Error::too_long());
    }
    Ok(Value::Integer(regex.is_match(&text).into()))
}

/// What REGEXP_SUBSTR and REGEXP_REPLACE are told behind what they look for.
struct Search {
    /// The byte where it begins.
    start: usize,
    /// Which of those that are found is meant, from 1; 0 if nothing is said.
    occurrence: usize,
    matching: Matching,
}

impl Search {
    /// By a place, from 1, a number and how the pattern is matched; None: one of them is NULL.
    fn of(text: &str, arguments: Arguments<'_>, function: &str) -> Result<Option<Search>, Error> {
        let number = |index: usize, otherwise: i128| match arguments.get(index) {
            Some(number) => Number::of(*number).map(|number| number.whole()),
            None => Some(otherwise),
        };
        let flags = arguments.get(2).map_or(Some(String::new()), |flags| value::text(*flags));
        let (Some(place), Some(occurrence), Some(flags)) = (number(0, 1), number(1, 0), flags) else { return Ok(None) };
        if place < 1 {
            let message = format!("Incorrect parameters in the call to native function '{function}'");
            return Err(Error::new(1583, "42000", message));
        }
        let before = usize::try_from(place - 1).unwrap_or(usize::MAX);
        if before > characters(text) {
            return Err(Error::new(3686, "HY000", "Index out of bounds in regular expression search."));
        }
        let occurrence = usize::try_from(occurrence.max(0)).unwrap_or(usize::MAX);
        Ok(Some(Search { start: boundary(text, before), occurrence, matching: Matching::of(&flags, function)? }))
    }
}

/// What is found from a place on. One after the other: each may look at all of the text that is left.
fn found<'t>(regex: &Regex, text: &'t str, start: usize) -> impl Iterator<Item = Captures<'t>> {
    let mut next = Some(start);
    std::iter::from_fn(move || {
        let captures = regex.captures_at(text, next?)?;
        let whole = captures.get(0)?;
        let end = whole.end();
        let step = if whole.is_empty() { text[end..].chars().next().map(char::len_utf8) } else { Some(0) };
        next = step.map(|step| end + step);
        Some(captures)
    })
}

pub(crate) fn regexp_substr(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(text), Some(pattern)) = (value::text(arguments[0]), value::text(arguments[1])) else { return Ok(Value::Null) };
    let Some(search) = Search::of(&text, &arguments[2..], "regexp_substr")? else { return Ok(Value::Null) };
    if text.len() > MAX_TEXT / 16 {
        return Err(Error::too_long());
    }
    let regex = state.regex(&pattern, search.matching)?;
    for (index, found) in found(&regex, &text, search.start).enumerate() {
        state.check_time()?;
        if index + 1 >= search.occurrence {
            return Ok(found.get(0).map_or(Value::Null, |whole| Value::Text(whole.as_str().to_owned())));
        }
    }
    Ok(Value::Null)
}

pub(crate) fn regexp_replace(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(text), Some(pattern), Some(by)) = (value::text(arguments[0]), value::text(arguments[1]), value::text(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let Some(search) = Search::of(&text, &arguments[3..], "regexp_replace")? else { return Ok(Value::Null) };
    let regex = state.regex(&pattern, search.matching)?;
    // Every place may be one, and each group of the pattern may be written many times.
    if text.len() > MAX_TEXT / 16 || (text.len() + 1).saturating_mul(by.len() + 1) > MAX_TEXT {
        return Err(Error::too_long());
    }
    let by = replacement(&by, regex.captures_len() - 1)?;
    let (mut replaced, mut end) = (String::with_capacity(text.len()), 0);
    for (index, found) in found(&regex, &text, search.start).enumerate() {
        state.check_time()?;
        let Some(whole) = found.get(0).filter(|_| index + 1 >= search.occurrence) else { continue };
        replaced += &text[end..whole.start()];
        found.expand(&by, &mut replaced);
        end = whole.end();
        if search.occurrence > 0 {
            break;
        }
    }
    bounded(replaced + &text[end..])
}

/// What ICU writes in the place of a match, in the words of the library: `$12` is group 12 if there are so many, or else group 1 and a 2.
fn replacement(by: &str, groups: usize) -> Result<String, Error> {
    let mut translated = String::with_capacity(by.len());
    let mut chars = by.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek().and_then(|next| next.to_digit(10))) {
            ('$', Some(_)) => {
                let mut group = 0;
                let mut length = 0;
                while let Some(digit) = chars.peek().and_then(|next| next.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer > groups && length > 0 {
                        break;
                    }
                    (group, length) = (longer, length + 1);
                    chars.next();
                    if group > groups {
                        return Err(Error::new(3686, "HY000", "Index out of bounds in regular expression search."));
                    }
                }
                translated += &format!("${{{group}}}");
            }
            ('$', None) if chars.peek() == Some(&'{') => translated.push('$'),
            ('\\', _) => match chars.next() {
                Some('$') => translated.push_str("$$"),
                escaped => translated.extend(escaped),
            },
            ('$', None) => translated.push_str("$$"),
            _ => translated.push(c),
        }
    }
    Ok(translated)
}

pub(crate) fn char_of(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let length =
        arguments.get(1).and_then(|length| Number::of(*length)).map(|length| usize::try_from(length.whole()).unwrap_or(0));
    on_text(arguments, |text| text[..length.map_or(text.len(), |length| boundary(&text, length))].to_owned())
}

pub(crate) fn concat(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let texts: Option<Vec<String>> = arguments.iter().map(|argument| value::text(*argument)).collect();
    texts.map_or(Ok(Value::Null), |texts| bounded(texts.concat()))
}

pub(crate) fn concat_ws(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(separator) = value::text(arguments[0]) else { return Ok(Value::Null) };
    let texts: Vec<String> = arguments[1..].iter().filter_map(|argument| value::text(*argument)).collect();
    bounded(texts.join(&separator))
}

pub(crate) fn part(arguments: Arguments<'_>, f: impl Fn(&str, usize) -> &str) -> Result<Value, Error> {
    match (value::text(arguments[0]), Number::of(arguments[1])) {
        (Some(text), Some(number)) => {
            Ok(Value::Text(f(&text, usize::try_from(number.whole().max(0)).unwrap_or(usize::MAX)).to_owned()))
        }
        _ => Ok(Value::Null),
    }
}

pub(crate) fn substring(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(position)) = (value::text(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    let length = match arguments.get(2).map(|length| Number::of(*length)) {
        Some(None) => return Ok(Value::Null),
        Some(Some(length)) => usize::try_from(length.whole().max(0)).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let count = characters(&text) as i128;
    let position = position.whole();
    // From 1; a negative one counts from the end; 0 is nowhere.
    let start = if position < 0 { count + position } else { position - 1 };
    if position == 0 || start < 0 || start >= count {
        return Ok(Value::Text(String::new()));
    }
    let from = boundary(&text, start as usize);
    let to = from + boundary(&text[from..], length);
    Ok(Value::Text(text[from..to].to_owned()))
}

pub(crate) fn substring_index(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(delimiter), Some(count)) =
        (value::text(arguments[0]), value::text(arguments[1]), Number::of(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let count = count.whole();
    if delimiter.is_empty() || count == 0 {
        return Ok(Value::Text(String::new()));
    }
    let nth = usize::try_from(count.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let part = if count > 0 {
        text.match_indices(&delimiter).nth(nth).map_or(text.as_str(), |(index, _)| &text[..index])
    } else {
        text.rmatch_indices(&delimiter).nth(nth).map_or(text.as_str(), |(index, found)| &text[index + found.len()..])
    };
    Ok(Value::Text(part.to_owned()))
}

pub(crate) fn pad(arguments: Arguments<'_>, left: bool) -> Result<Value, Error> {
    let (Some(text), Some(length), Some(fill)) = (value::text(arguments[0]), Number::of(arguments[1]), value::text(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let Ok(length) = usize::try_from(length.whole()) else { return Ok(Value::Null) };
    let count = characters(&text);
    if length <= count {
        return Ok(Value::Text(text[..boundary(&text, length)].to_owned()));
    }
    if length > MAX_TEXT {
        return Err(Error::too_long());
    }
    if fill.is_empty() {
        return Ok(Value::Text(String::new()));
    }
    let filling: String = fill.chars().cycle().take(length - count).collect();
    bounded(if left { filling + &text } else { text + &filling })
}

pub(crate) fn repeat(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(count)) = (value::text(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    let count = usize::try_from(count.whole().max(0)).unwrap_or(usize::MAX);
    if text.len().saturating_mul(count) > MAX_TEXT {
        return Err(Error::too_long());
    }
    Ok(Value::Text(text.repeat(count)))
}

pub(crate) fn replace(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match (value::text(arguments[0]), value::text(arguments[1]), value::text(arguments[2])) {
        (Some(text), Some(from), Some(_)) if from.is_empty() => Ok(Value::Text(text)),
        (Some(text), Some(from), Some(to)) => {
            let found = text.matches(&from).count();
            if found.saturating_mul(to.len()) > MAX_TEXT {
                return Err(Error::too_long());
            }
            bounded(text.replace(&from, &to))
        }
        _ => Ok(Value::Null),
    }
}

pub(crate) fn trim(arguments: Arguments<'_>, start: bool, end: bool) -> Result<Value, Error> {
    let what = match arguments.get(1) {
        None => " ".to_owned(),
        Some(what) => match value::text(*what) {
            None => return Ok(Value::Null),
            Some(what) => what,
        },
    };
    on_text(arguments, |text| {
        let mut rest = text.as_str();
        while start && !what.is_empty() && rest.starts_with(&what) {
            rest = &rest[what.len()..];
        }
        while end && !what.is_empty() && rest.ends_with(&what) {
            rest = &rest[..rest.len() - what.len()];
        }
        rest.to_owned()
    })
}

pub(crate) fn hex(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match arguments[0] {
        ValueRef::Text(_) => on_text(arguments, |text| text.bytes().map(|byte| format!("{byte:02X}")).collect()),
        _ => one_text(arguments, |number| format!("{:X}", to_unsigned(number))),
    }
}

/// As a literal of MySQL's; NULL as the word.
pub(crate) fn quote(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(text) = value::text(arguments[0]) else { return Ok(Value::Text("NULL".to_owned())) };
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\\' | '\'' => quoted.extend(['\\', c]),
            '\0' => quoted.push_str("\\0"),
            '\u{1a}' => quoted.push_str("\\Z"),
            c => quoted.push(c),
        }
    }
    bounded(quoted + "'")
}

pub(crate) fn locate(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(what), Some(text)) = (value::text(arguments[0]), value::text(arguments[1])) else { return Ok(Value::Null) };
    let from = arguments.get(2).and_then(|from| Number::of(*from)).map_or(1, |from| from.whole());
    let Some(skip) = from.checked_sub(1).and_then(|skip| usize::try_from(skip).ok()).filter(|skip| *skip <= characters(&text))
    else {
        return Ok(Value::Integer(0));
    };
    let (what, text) = (snapshot::fold(&what), snapshot::fold(&text));
    let start = boundary(&text, skip);
    let found = text[start..].find(&what).map(|index| characters(&text[..start + index]) + 1);
    Ok(integer(found.unwrap_or(0)))
}

pub(crate) fn strcmp(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match (value::text(arguments[0]), value::text(arguments[1])) {
        (Some(a), Some(b)) => Ok(Value::Integer(snapshot::compare(&a, &b) as i64)),
        _ => Ok(Value::Null),
    }
}

/// Whether letter case counts; then the place of the first among the others: as texts if all are, as numbers otherwise.
pub(crate) fn field(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (is_binary, arguments) = compare::split(arguments);
    let compared = |value: ValueRef<'_>| value::text(value).map(|text| if is_binary { text } else { snapshot::fold(&text) });
    let are_texts = arguments.iter().all(|value| matches!(value, ValueRef::Text(_) | ValueRef::Null));
    let found = if are_texts {
        let Some(what) = compared(arguments[0]) else { return Ok(Value::Integer(0)) };
        arguments[1..].iter().position(|other| compared(*other).is_some_and(|other| other == what))
    } else {
        arguments[1..].iter().position(|other| compare::numbers(arguments[0], *other) == Some(Ordering::Equal))
    };
    Ok(integer(found.map_or(0, |index| index + 1)))
}

pub(crate) fn elt(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let index = Number::of(arguments[0]).and_then(|number| usize::try_from(number.whole()).ok()).filter(|index| *index > 0);
    let found = index.and_then(|index| arguments.get(index)).and_then(|found| value::text(*found));
    Ok(found.map_or(Value::Null, Value::Text))
}

pub(crate) fn find_in_set(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    match (value::text(arguments[0]), value::text(arguments[1])) {
        (Some(what), Some(list)) => {
            let what = snapshot::fold(&what);
            let found = snapshot::fold(&list).split(',').position(|entry| entry == what);
            Ok(integer(found.filter(|_| !list.is_empty()).map_or(0, |index| index + 1)))
        }
        _ => Ok(Value::Null),
    }
}

/// The point, what groups of digits are separated by, and how many digits a group has but the last, which has three; as MySQL's locales of
/// the most common languages have it.
fn separators(locale: &str) -> Option<(char, Option<char>, usize)> {
    Some(match locale.to_ascii_lowercase().as_str() {
        "en_us" | "en_gb" | "en_au" | "en_ca" | "en_nz" | "en_ph" | "en_za" | "en_zw" => ('.', Some(','), 3),
        "es_us" | "hi_in" | "ja_jp" | "ko_kr" | "th_th" | "zh_cn" | "zh_hk" | "zh_tw" => ('.', Some(','), 3),
        "en_in" | "te_in" => ('.', Some(','), 2),
        "de_ch" => ('.', Some('\''), 3),
        "da_dk" | "de_be" | "de_de" | "de_lu" | "es_ar" | "hu_hu" => (',', Some('.'), 3),
        "nb_no" | "no_no" | "tr_tr" | "uk_ua" | "vi_vn" => (',', Some('.'), 3),
        "cs_cz" | "fi_fi" | "ru_ru" | "sv_fi" | "sv_se" => (',', Some(' '), 3),
        "de_at" | "es_bo" | "es_cl" | "es_co" | "es_ec" | "es_es" | "es_py" | "es_uy" | "es_ve" => (',', None, 3),
        "fr_be" | "fr_ca" | "fr_ch" | "fr_fr" | "fr_lu" | "it_it" | "nl_be" | "nl_nl" | "pl_pl" | "pt_br" | "pt_pt" => {
            (',', None, 3)
        }
        "es_cr" | "es_do" | "es_gt" | "es_hn" | "es_mx" | "es_ni" | "es_pa" | "es_pe" | "es_pr" | "es_sv" => ('.', None, 3),
        _ => return None,
    })
}

pub(crate) fn format_number(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let (Some(number), Some(places)) = (Number::of(arguments[0]), Number::of(arguments[1])) else { return Ok(Value::Null) };
    let places = usize::try_from(places.whole().clamp(0, 30)).unwrap_or(0);
    let text = match number {
        Number::Integer(number) if places == 0 => number.to_string(),
        Number::Integer(number) => format!("{number}.{}", "0".repeat(places)),
        Number::Decimal(number) => number.rounded(u8::try_from(places).unwrap_or(MAX_SCALE)).to_string(),
        Number::Real(number) => format!("{number:.places$}"),
    };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let locale = arguments.get(2).map(|locale| value::text(*locale).unwrap_or_else(|| "NULL".to_owned()));
    let (point, separator, group) = separators(locale.as_deref().unwrap_or("en_US")).unwrap_or_else(|| {
        let message = format!("Unknown locale: '{}'", locale.unwrap_or_default());
        state.warn("Warning", Error::new(1649, "HY000", message));
        ('.', Some(','), 3)
    });
    let mut grouped = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if index > 0 && left >= 3 && (left - 3) % group == 0 {
            grouped.extend(separator);
        }
        grouped.push(digit);
    }
    if places > 0 {
        grouped.push(point);
    }
    Ok(Value::Text(grouped + fraction))
}

/// The bytes of the first character as one number.
pub(crate) fn ord(text: &str) -> i64 {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.bytes().take(first).fold(0, |number, byte| number << 8 | i64::from(byte))
}

/// Bytes as hexadecimal digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hexadecimal digits as bytes; None if there is something else among them.
pub(crate) fn bytes_of_digits(digits: &str) -> Option<Vec<u8>> {
    let even = format!("{}{digits}", if digits.len() % 2 == 1 { "0" } else { "" });
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'))?, 16).ok();
    even.as_bytes().chunks(2).map(pair).collect()
}

/// Of so many bits: 224, 256, 384 or 512, and 0 is 256.
pub(crate) fn sha2(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some((text, bits)) = value::text(arguments[0]).zip(Number::of(arguments[1])) else { return Ok(Value::Null) };
    Ok(match bits.whole() {
        224 => Value::Text(digits(&sha2::Sha224::digest(text))),
        0 | 256 => Value::Text(digits(&sha2::Sha256::digest(text))),
        384 => Value::Text(digits(&sha2::Sha384::digest(text))),
        512 => Value::Text(digits(&sha2::Sha512::digest(text))),
        _ => Value::Null,
    })
}

/// Those of the texts whose bits are set.
pub(crate) fn make_set(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(bits) = Number::of(arguments[0]).map(to_unsigned) else { return Ok(Value::Null) };
    let chosen = arguments[1..].iter().take(64).enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    let chosen: Vec<String> = chosen.filter_map(|(_, text)| value::text(*text)).collect();
    bounded(chosen.join(","))
}

/// One of two texts for each bit, from the lowest on.
pub(crate) fn export_set(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(bits) = Number::of(arguments[0]).map(to_unsigned) else { return Ok(Value::Null) };
    let texts: Option<Vec<String>> = arguments[1..].iter().take(3).map(|text| value::text(*text)).collect();
    let count = arguments.get(4).map_or(Some(Number::Integer(64)), |count| Number::of(*count));
    let Some((texts, count)) = texts.zip(count) else { return Ok(Value::Null) };
    let count = u32::try_from(count.whole()).unwrap_or(64).min(64);
    let each = |bit: u32| texts[usize::from(bits >> bit & 1 == 0)].as_str();
    if texts.iter().map(String::len).sum::<usize>() > MAX_TEXT / 64 {
        return Err(Error::too_long());
    }
    let set: Vec<&str> = (0..count).map(each).collect();
    Ok(Value::Text(set.join(texts.get(2).map_or(",", String::as_str))))
}

/// Puts a text in the place of so many characters.
pub(crate) fn insert(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(position), Some(length), Some(new)) =
        (value::text(arguments[0]), Number::of(arguments[1]), Number::of(arguments[2]), value::text(arguments[3]))
    else {
        return Ok(Value::Null);
    };
    let position = position.whole().checked_sub(1).and_then(|position| usize::try_from(position).ok());
    let Some(position) = position.filter(|position| *position < characters(&text)) else { return Ok(Value::Text(text)) };
    // A length that is no length is all the rest.
    let length = usize::try_from(length.whole()).unwrap_or(usize::MAX);
    let from = boundary(&text, position);
    let to = from + boundary(&text[from..], length);
    bounded(format!("{}{new}{}", &text[..from], &text[to..]))
}

pub(crate) fn unhex(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let Some(text) = value::text(arguments[0]) else { return Ok(Value::Null) };
    Ok(bytes_of_digits(&text).map_or(Value::Null, |bytes| Value::Text(String::from_utf8_lossy(&bytes).into_owned())))
}

/// A number from one base, 2 to 36, to another; signed, where that is negative.
pub(crate) fn conv(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (Some(text), Some(from), Some(to)) = (value::text(arguments[0]), Number::of(arguments[1]), Number::of(arguments[2]))
    else {
        return Ok(Value::Null);
    };
    let base = |base: &Number| u32::try_from(base.whole().unsigned_abs()).ok().filter(|base| (2..=36).contains(base));
    let (false, Some(from_base), Some(to_base)) = (text.is_empty(), base(&from), base(&to)) else { return Ok(Value::Null) };
    let (is_negative, text) = text.trim().strip_prefix('-').map_or((false, text.trim()), |rest| (true, rest));
    let digits = text.chars().map_while(|digit| digit.to_digit(from_base));
    let number = digits.fold(0_u64, |number, digit| number.saturating_mul(from_base.into()).saturating_add(digit.into()));
    let number = if is_negative { number.wrapping_neg() } else { number };
    let (sign, mut rest) = match to.whole() < 0 && (number as i64) < 0 {
        true => ("-", (number as i64).unsigned_abs()),
        false => ("", number),
    };
    let mut digits = Vec::new();
    loop {
        digits.extend(u32::try_from(rest % u64::from(to_base)).ok().and_then(|digit| char::from_digit(digit, to_base)));
        rest /= u64::from(to_base);
        if rest == 0 {
            break;
        }
    }
    let digits: String = digits.iter().rev().collect();
    Ok(Value::Text(format!("{sign}{}", digits.to_ascii_uppercase())))
}
