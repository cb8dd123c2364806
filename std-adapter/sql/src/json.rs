//! Documents of JSON as MySQL has them: the keys of an object by length and then by bytes, each once, a space behind `,` and `:`.

use crate::Error;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// How deep a document may be.
const MAX_DEPTH: usize = 100;
/// What a path may find, `**` in it many times over.
const MAX_FOUND: usize = 1 << 16;

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Boolean(bool),
    Integer(i128),
    Double(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Object),
}

/// The members of an object: by the length of their names and then by these.
pub(crate) type Object = BTreeMap<(usize, String), Json>;

/// The place of a name among others.
pub(crate) fn key(name: String) -> (usize, String) {
    (name.len(), name)
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq)]
pub(crate) enum Wrong {
    Text(String, usize),
    TooDeep,
}

impl Wrong {
    /// As MySQL says it of an argument, counted from 1, of a function.
    pub(crate) fn of(self, argument: usize, function: &str) -> Error {
        match self {
            Wrong::TooDeep => Error::new(3157, "22032", "The JSON document exceeds the maximum depth."),
            Wrong::Text(what, position) => {
                let message = format!(
                    "Invalid JSON text in argument {argument} to function {function}: \"{what}\" at position {position}."
                );
                Error::new(3141, "22032", message)
            }
        }
    }
}

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Json, Wrong> {
        let mut too_deep = false;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let json = Reader { depth: 0, too_deep: &mut too_deep }.deserialize(&mut deserializer);
        json.and_then(|json| deserializer.end().map(|()| json)).map_err(|error| {
            if too_deep {
                return Wrong::TooDeep;
            }
            let before: usize = text.split_inclusive('\n').take(error.line() - 1).map(str::len).sum();
            let message = error.to_string();
            // Where it is follows in MySQL's way.
            let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            Wrong::Text(what.to_owned(), before + error.column().saturating_sub(1))
        })
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Boolean(_) => "BOOLEAN",
            Json::Integer(number) if i64::try_from(*number).is_ok() => "INTEGER",
            Json::Integer(_) => "UNSIGNED INTEGER",
            Json::Double(_) => "DOUBLE",
            Json::Text(_) => "STRING",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// Members of an object, elements of an array; what is neither is one.
    pub(crate) fn length(&self) -> usize {
        match self {
            Json::Array(elements) => elements.len(),
            Json::Object(members) => members.len(),
            _ => 1,
        }
    }

    pub(crate) fn depth(&self) -> usize {
        1 + match self {
            Json::Array(elements) => elements.iter().map(Json::depth).max().unwrap_or(0),
            Json::Object(members) => members.values().map(Json::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// What JSON_CONTAINS asks: an array contains what its elements do, an object what its members do.
    pub(crate) fn contains(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Array(elements), Json::Array(others)) => {
                others.iter().all(|other| elements.iter().any(|element| element.contains(other)))
            }
            (Json::Array(elements), other) => elements.iter().any(|element| element.contains(other)),
            (Json::Object(members), Json::Object(others)) => {
                others.iter().all(|(name, other)| members.get(name).is_some_and(|member| member.contains(other)))
            }
            (Json::Integer(one), Json::Double(other)) | (Json::Double(other), Json::Integer(one)) => *one as f64 == *other,
            (one, other) => one == other,
        }
    }

    /// What a path finds.
    pub(crate) fn find(&self, path: &Path) -> Result<Vec<&Json>, Error> {
        let mut found = vec![self];
        for leg in &path.legs {
            let mut next = Vec::new();
            for json in found {
                leg.step(json, &mut next);
                if next.len() > MAX_FOUND {
                    return Err(Error::too_long());
                }
            }
            found = next;
        }
        Ok(found)
    }

    fn write_pretty(&self, text: &mut String, depth: usize) {
        let line = |text: &mut String, depth: usize| {
            text.push('\n');
            text.extend(std::iter::repeat_n("  ", depth));
        };
        let begin = |text: &mut String, index: usize| {
            if index > 0 {
                text.push(',');
            }
            line(text, depth + 1);
        };
        match self {
            Json::Array(elements) if !elements.is_empty() => {
                text.push('[');
                for (index, element) in elements.iter().enumerate() {
                    begin(text, index);
                    element.write_pretty(text, depth + 1);
                }
                line(text, depth);
                text.push(']');
            }
            Json::Object(members) if !members.is_empty() => {
                text.push('{');
                for (index, ((_, name), member)) in members.iter().enumerate() {
                    begin(text, index);
                    let _ = write!(text, "{}: ", quoted(name));
                    member.write_pretty(text, depth + 1);
                }
                line(text, depth);
                text.push('}');
            }
            other => {
                let _ = write!(text, "{other}");
            }
        }
    }

    pub(crate) fn pretty(&self) -> String {
        let mut text = String::new();
        self.write_pretty(&mut text, 0);
        text
    }
}

/// The text as a literal of JSON's.
pub(crate) fn quoted(text: &str) -> serde_json::Value {
    serde_json::Value::from(text)
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Boolean(value) => write!(f, "{value}"),
            Json::Integer(number) => write!(f, "{number}"),
            Json::Double(number) if number.abs() >= 1e15 || (*number != 0.0 && number.abs() < 1e-5) => write!(f, "{number:e}"),
            // A whole one shows that it is none of the integers.
            Json::Double(number) => write!(f, "{number:?}"),
            Json::Text(text) => write!(f, "{}", quoted(text)),
            Json::Array(elements) => {
                f.write_char('[')?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index > 0 { ", " } else { "" })?;
                }
                f.write_char(']')
            }
            Json::Object(members) => {
                f.write_char('{')?;
                for (index, ((_, name), member)) in members.iter().enumerate() {
                    write!(f, "{}{}: {member}", if index > 0 { ", " } else { "" }, quoted(name))?;
                }
                f.write_char('}')
            }
        }
    }
}

/// Reads a value at a depth.
struct Reader<'d> {
    depth: usize,
    too_deep: &'d mut bool,
}

impl Reader<'_> {
    /// One for what is within the value.
    fn within<E: serde::de::Error>(&mut self) -> Result<Reader<'_>, E> {
        let depth = self.depth + 1;
        if depth >= MAX_DEPTH {
            *self.too_deep = true;
            return Err(E::custom("too deep"));
        }
        Ok(Reader { depth, too_deep: self.too_deep })
    }
}

impl<'t> DeserializeSeed<'t> for Reader<'_> {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'t>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Reader<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Boolean(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Integer(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Integer(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Double(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut array: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element_seed(self.within()?)? {
            elements.push(element);
        }
        Ok(Json::Array(elements))
    }

    fn visit_map<A: MapAccess<'t>>(mut self, mut object: A) -> Result<Json, A::Error> {
        let mut members = Object::new();
        while let Some(name) = object.next_key::<String>()? {
            // The last of one name holds.
            members.insert(key(name), object.next_value_seed(self.within()?)?);
        }
        Ok(Json::Object(members))
    }
}

/// A text, and how much of it is read.
struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn byte(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
    }
}

/// `$.member[0]**.x`
#[derive(Debug, PartialEq)]
pub(crate) struct Path {
    legs: Vec<Leg>,
}

#[derive(Debug, PartialEq)]
enum Leg {
    Member((usize, String)),
    AnyMember,
    Element(Place),
    Elements(Place, Place),
    AnyElement,
    /// All that lies within, however deep, and the thing itself.
    Within,
}

/// A place in an array, from its front or from its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    First(usize),
    Last(usize),
}

impl Place {
    fn of(self, length: usize) -> Option<usize> {
        match self {
            Place::First(index) => Some(index),
            Place::Last(back) => length.checked_sub(back + 1),
        }
    }
}

impl Leg {
    fn step<'j>(&self, json: &'j Json, found: &mut Vec<&'j Json>) {
        match (self, json) {
            (Leg::Member(name), Json::Object(members)) => found.extend(members.get(name)),
            (Leg::AnyMember, Json::Object(members)) => found.extend(members.values()),
            (Leg::AnyElement, Json::Array(elements)) => found.extend(elements),
            (Leg::Element(place), Json::Array(elements)) => {
                found.extend(place.of(elements.len()).and_then(|index| elements.get(index)));
            }
            // What is no array is one of itself.
            (Leg::Element(place), json) if place.of(1) == Some(0) => found.push(json),
            (Leg::Elements(from, to), Json::Array(elements)) => {
                let from = from.of(elements.len()).unwrap_or(0);
                if let Some(to) = to.of(elements.len()) {
                    found.extend(elements.iter().take(to.saturating_add(1)).skip(from));
                }
            }
            (Leg::Elements(from, to), json) if from.of(1).unwrap_or(0) == 0 && to.of(1).is_some() => found.push(json),
            (Leg::Within, json) => {
                found.push(json);
                match json {
                    Json::Array(elements) => elements.iter().for_each(|element| self.step(element, found)),
                    Json::Object(members) => members.values().for_each(|member| self.step(member, found)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

impl Path {
    /// Whether it may find several things.
    pub(crate) fn finds_many(&self) -> bool {
        self.legs.iter().any(|leg| !matches!(leg, Leg::Member(_) | Leg::Element(_)))
    }

    pub(crate) fn parse(text: &str) -> Result<Path, Error> {
        let mut parser = Parser { text, at: 0 };
        path(&mut parser).ok_or_else(|| {
            let position = text[..parser.at.min(text.len())].chars().count().max(1);
            let message = format!("Invalid JSON path expression. The error is around character position {position}.");
            Error::new(3143, "42000", message)
        })
    }
}

fn path(parser: &mut Parser<'_>) -> Option<Path> {
    let mut legs = Vec::new();
    parser.space();
    if !parser.take("$") {
        return None;
    }
    loop {
        parser.space();
        let leg = if parser.take(".") {
            parser.space();
            if parser.take("*") { Leg::AnyMember } else { Leg::Member(key(member(parser)?)) }
        } else if parser.take("[") {
            elements(parser)?
        } else if parser.take("**") {
            Leg::Within
        } else if parser.rest().is_empty() {
            break;
        } else {
            return None;
        };
        legs.push(leg);
        if legs.len() > MAX_DEPTH {
            return None;
        }
    }
    // Something is to be found within.
    (legs.last() != Some(&Leg::Within)).then_some(Path { legs })
}

/// A name that needs no quotation marks, or one within them.
fn member(parser: &mut Parser<'_>) -> Option<String> {
    if parser.byte() == Some(b'"') {
        let mut texts = serde_json::Deserializer::from_str(parser.rest()).into_iter();
        let name = texts.next()?.ok()?;
        parser.at += texts.byte_offset();
        return Some(name);
    }
    let rest = parser.rest();
    let is_part = |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    let name = &rest[..end];
    if name.is_empty() || name.starts_with(|first: char| first.is_numeric()) {
        return None;
    }
    parser.at += end;
    Some(name.to_owned())
}

/// `*]`, `2]`, `last-1]` or `1 to last]`
fn elements(parser: &mut Parser<'_>) -> Option<Leg> {
    parser.space();
    let leg = if parser.take("*") {
        Leg::AnyElement
    } else {
        let from = place(parser)?;
        parser.space();
        if parser.take("to ") {
            parser.space();
            Leg::Elements(from, place(parser)?)
        } else {
            Leg::Element(from)
        }
    };
    parser.space();
    parser.take("]").then_some(leg)
}

fn place(parser: &mut Parser<'_>) -> Option<Place> {
    fn number(parser: &mut Parser<'_>) -> Option<usize> {
        let rest = parser.rest();
        let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        let number: u32 = rest[..end].parse().ok()?;
        parser.at += end;
        usize::try_from(number).ok()
    }
    if !parser.take("last") {
        return number(parser).map(Place::First);
    }
    parser.space();
    if !parser.take("-") {
        return Some(Place::Last(0));
    }
    parser.space();
    number(parser).map(Place::Last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_printed_as_mysql_prints_them() {
        for (text, expected) in [
            (r#"{"bb":1,"a":[1,2.50,-0.0,1e2,true,null],"a":{"x":"\u00e9\ud83d\ude00\n"}}"#, r#"{"a": {"x": "é😀\n"}, "bb": 1}"#),
            (" [ ] ", "[]"),
            (
                "[1,2.50,18446744073709551615,18446744073709551616,1e300,true,null]",
                "[1, 2.5, 18446744073709551615, 1.8446744073709552e19, 1e300, true, null]",
            ),
            (r#""a\"b\\\u0001""#, r#""a\"b\\\u0001""#),
        ] {
            let json = Json::parse(text).expect(text);
            assert_eq!(json.to_string(), expected, "{text}");
            assert_eq!(Json::parse(&json.to_string()), Ok(json.clone()), "{text}");
            assert_eq!(Json::parse(&json.pretty()), Ok(json), "{text}");
        }
        for wrong in [
            "",
            "[",
            "[1",
            "[1,]",
            "{",
            r#"{"a"}"#,
            r#"{"a":}"#,
            "{1:2}",
            "nul",
            "01",
            "1.",
            "1e",
            "-",
            r#""a"#,
            r#""\x""#,
            r#""\ud800""#,
            "1 2",
            "1e999",
            "\"\n\"",
        ] {
            assert!(matches!(Json::parse(wrong), Err(Wrong::Text(..))), "{wrong}");
        }
        assert!(Json::parse(&format!("{}1{}", "[".repeat(99), "]".repeat(99))).is_ok());
        assert_eq!(Json::parse(&"[".repeat(1 << 20)), Err(Wrong::TooDeep));
    }

    #[test]
    fn paths() {
        let json = Json::parse(r#"{"a":[1,{"b":2},[3]],"c d":4,"b":5}"#).expect("it is one");
        for (text, expected) in [
            ("$", r#"[{"a": [1, {"b": 2}, [3]], "b": 5, "c d": 4}]"#),
            ("$.a[0]", "[1]"),
            ("$.a[last].x", "[]"),
            ("$.a[last][0][0]", "[3]"),
            ("$ . \"c d\"", "[4]"),
            ("$**.b", "[5, 2]"),
            ("$.*", r#"[[1, {"b": 2}, [3]], 5, 4]"#),
            ("$.a[1 to last - 1]", r#"[{"b": 2}]"#),
            ("$.a[*]", r#"[1, {"b": 2}, [3]]"#),
            ("$.a[last-9]", "[]"),
        ] {
            let path = Path::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = Json::Array(json.find(&path).expect("few").into_iter().cloned().collect());
            assert_eq!(found.to_string(), expected, "{text}");
        }
        for wrong in
            ["", "a", "$.", "$a", "$[", "$[x]", "$[1 to]", "$**", "$*", "$.1a", "$.a-b", "$[1", "$.\"a", "$[99999999999]"]
        {
            assert!(Path::parse(wrong).is_err(), "{wrong}");
        }
        let many = Json::parse(&format!("{}1{}", "[1,".repeat(90), "]".repeat(90))).expect("it is one");
        let path = Path::parse(&format!("${}[0]", "**[*]".repeat(20))).expect("it is one");
        assert_eq!(many.find(&path).map_err(|error| error.errno), Err(1153));
    }
}
