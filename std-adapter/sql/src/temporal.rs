//! Values that are moments: which expressions have them, with how many digits of a fraction, and how they are compared.
//!
//! To SQLite all of them are texts, which sort as the moments do where they have the same digits. So a function that makes one is told how
//! many there are, a literal beside one is written like it, and where moments are of several kinds, numbers are compared in their place.

use crate::calls::{arguments, name_of};
use crate::dialect::{Rewriter, call, literal, numeral, take};
use crate::kinds::Kind;
use crate::moment::{self, Moment};
use crate::{Error, times, value};
use perfschema::core::table::SqlType;
use rusqlite::types::{Value, ValueRef};
use sqlparser::ast::{
    BinaryOperator, DataType, DateTimeField, Expr, Function, Interval, TypedString, UnaryOperator, Value as Literal,
    ValueWithSpan,
};

/// MySQL has no more digits of a fraction.
const MOST: u8 = 6;

type KindOf<'k> = &'k dyn Fn(&Expr) -> Kind;
type TextOf<'t> = &'t dyn Fn(&Expr) -> Option<String>;

impl Kind {
    pub(crate) fn of_moment(sql_type: SqlType) -> Option<Kind> {
        Some(match sql_type {
            SqlType::Date => Kind::Date,
            SqlType::Time(digits) => Kind::Time(digits),
            SqlType::Datetime(digits) => Kind::Datetime(digits),
            SqlType::Timestamp(digits) => Kind::Timestamp(digits),
            _ => return None,
        })
    }

    /// The type of a column of them, if they are moments.
    pub(crate) fn moment_type(self) -> Option<SqlType> {
        Some(match self {
            Kind::Date => SqlType::Date,
            Kind::Time(digits) => SqlType::Time(digits),
            Kind::Datetime(digits) | Kind::Moment(digits) => SqlType::Datetime(digits),
            Kind::Timestamp(digits) => SqlType::Timestamp(digits),
            _ => return None,
        })
    }

    pub(crate) fn is_moment(self) -> bool {
        self.moment_type().is_some()
    }

    /// Whether they have a date.
    pub(crate) fn is_date(self) -> bool {
        self.is_moment() && !self.is_time()
    }

    /// Where both may be.
    pub(crate) fn any_moment(self, other: Kind) -> Kind {
        Kind::Moment(self.digits().max(other.digits()).unwrap_or(0))
    }

    fn is_time(self) -> bool {
        matches!(self, Kind::Time(_))
    }

    /// The same with the digits of a literal.
    pub(crate) fn with_digits(self, text: &str) -> Kind {
        match self {
            Kind::Time(_) => Kind::Time(fraction_of(text)),
            Kind::Datetime(_) => Kind::Datetime(fraction_of(text)),
            other => other,
        }
    }

    /// How many digits of a fraction its moments have; None of all else.
    fn digits(self) -> Option<u8> {
        self.moment_type()?.fraction_digits()
    }

    /// The kind that takes in two kinds of moments; a text, where a time has no date.
    pub(crate) fn of_moments(self, other: Kind) -> Kind {
        let digits = self.digits().max(other.digits()).unwrap_or(0);
        match (self, other) {
            (one, other) if one == other && !matches!(one, Kind::Moment(_)) => one,
            (Kind::Time(_), Kind::Time(_)) => Kind::Time(digits),
            (one, other) if one.is_time() || other.is_time() => Kind::Text,
            (Kind::Timestamp(_), Kind::Timestamp(_)) => Kind::Timestamp(digits),
            _ => Kind::Datetime(digits),
        }
    }

    /// What DATE_ADD makes of it, and DATE_SUB, whose units have a minus sign: a unit may bring a time of day or a fraction along.
    pub(crate) fn later(self, unit: &str, number_digits: u8) -> Kind {
        let unit = unit.trim_start_matches('-').to_ascii_uppercase();
        let digits = match unit.as_str() {
            "MICROSECOND" => MOST,
            "SECOND" => number_digits,
            _ => 0,
        };
        let of_day = matches!(unit.as_str(), "HOUR" | "MINUTE" | "SECOND" | "MICROSECOND");
        match self {
            Kind::Date if !of_day => Kind::Date,
            Kind::Date => Kind::Datetime(digits),
            Kind::Datetime(own) | Kind::Timestamp(own) | Kind::Moment(own) => Kind::Datetime(own.max(digits)),
            Kind::Time(own) if of_day => Kind::Time(own.max(digits)),
            // A text stays one; of what is unknown it is not known either.
            Kind::Text | Kind::Null | Kind::Unknown => self,
            _ => Kind::Text,
        }
    }
}

/// The digits behind the point of a text, as far as MySQL counts them.
fn fraction_of(text: &str) -> u8 {
    let digits = text.rsplit_once('.').map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
    u8::try_from(digits).unwrap_or(MOST).min(MOST)
}

fn whole(expr: Option<&&Expr>) -> Option<u8> {
    match expr {
        Some(Expr::Value(ValueWithSpan { value: Literal::Number(digits, _), .. })) => digits.parse::<u8>().ok(),
        _ => None,
    }
}

/// How many digits of a fraction the moments of an expression have; the most, where that is not known.
///
/// `text` knows the texts that are written in the statement.
fn moment_digits(expr: &Expr, text: TextOf<'_>, kind: KindOf<'_>) -> u8 {
    known_digits(expr, Some(text), kind).unwrap_or(MOST)
}

/// The same of numbers. A text that is taken for a number has the most.
pub(crate) fn number_digits(expr: &Expr, text: TextOf<'_>, kind: KindOf<'_>) -> u8 {
    known_number_digits(expr, text, kind).unwrap_or(MOST)
}

fn known_number_digits(expr: &Expr, text: TextOf<'_>, kind: KindOf<'_>) -> Option<u8> {
    match expr {
        Expr::Nested(inner) => known_number_digits(inner, text, kind),
        Expr::Function(function) if name_of(function).0.eq_ignore_ascii_case("unix_timestamp") => {
            arguments(function).next().map_or(Some(0), |moment| known_digits(moment, Some(text), kind))
        }
        _ => known_digits(expr, None, kind),
    }
}

/// None where it is not even known of what kind they are. Without `text` those are of numbers.
fn known_digits(expr: &Expr, text: Option<TextOf<'_>>, kind: KindOf<'_>) -> Option<u8> {
    let of = |expr: &Expr| known_digits(expr, text, kind);
    // None, if it is not known of one.
    let most = |all: &[&Expr]| all.iter().map(|expr| of(expr)).try_fold(0, |most: u8, digits| Some(most.max(digits?)));
    match expr {
        Expr::Nested(inner) => of(inner),
        Expr::Value(ValueWithSpan { value: Literal::Number(digits, _), .. }) => {
            Some(if digits.contains(['e', 'E']) { MOST } else { fraction_of(digits) })
        }
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => of(expr),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply, right }
            if !matches!((&**left, &**right), (Expr::Interval(_), _) | (_, Expr::Interval(_))) =>
        {
            most(&[&**left, &**right])
        }
        Expr::Floor { .. } | Expr::Ceil { .. } => Some(0),
        Expr::Function(function) => {
            let arguments: Vec<&Expr> = arguments(function).collect();
            match name_of(function).0.to_ascii_lowercase().as_str() {
                "floor" | "ceiling" | "ceil" => Some(0),
                "round" | "truncate" if arguments.len() == 1 => Some(0),
                "round" | "truncate" => whole(arguments.get(1)).map(|digits| digits.min(MOST)),
                "add" | "subtract" | "multiply" | "negate" | "abs" | "unix_timestamp" | "moment_number" => most(&arguments),
                _ => kind(expr).number_digits(),
            }
        }
        _ => match (kind(expr), text.and_then(|text| text(expr))) {
            (Kind::Text, Some(text)) => Some(fraction_of(&text)),
            (kind, _) => kind.number_digits(),
        },
    }
}

impl Kind {
    fn number_digits(self) -> Option<u8> {
        match self {
            Kind::Integer | Kind::Null => Some(0),
            Kind::Decimal(_, scale) => Some(scale.min(MOST)),
            Kind::Unknown => None,
            moment => Some(moment.digits().unwrap_or(MOST)),
        }
    }
}

/// The unit of an interval; of several, those that it begins and ends with.
pub(crate) fn unit_of(interval: &Interval) -> String {
    let name = |unit: &DateTimeField| unit.to_string().to_ascii_uppercase();
    let first = interval.leading_field.as_ref().map_or_else(String::new, name);
    match &interval.last_field {
        // So they are spelled where the parser would take SECOND for something else.
        Some(last) => format!("{}_{}", first.trim_end_matches('S'), name(last)),
        None => first,
    }
}

/// What a call returns, if that is a moment.
pub(crate) fn result(function: &Function, text: TextOf<'_>, kind: KindOf<'_>) -> Option<Kind> {
    let (name, is_rewritten) = name_of(function);
    result_of(&name.to_ascii_lowercase(), is_rewritten, &arguments(function).collect::<Vec<_>>(), text, kind)
}

fn result_of(name: &str, is_rewritten: bool, arguments: &[&Expr], text: TextOf<'_>, kind: KindOf<'_>) -> Option<Kind> {
    let digits = |expr: &Expr| moment_digits(expr, text, kind);
    let of_number = |expr: &Expr| number_digits(expr, text, kind);
    let first = arguments.first();
    Some(match name {
        "to_datetime" => Kind::Datetime(whole(arguments.get(1))?),
        "to_time" => Kind::Time(whole(arguments.get(1))?),
        "time_add" => Kind::Time(whole(arguments.get(3))?),
        "date_add" if arguments.len() == 4 => Kind::Datetime(whole(arguments.get(3))?),
        "now" | "current_timestamp" | "localtime" | "localtimestamp" | "sysdate" | "utc_timestamp" => {
            Kind::Datetime(whole(first).unwrap_or(0))
        }
        "curtime" | "current_time" | "utc_time" => Kind::Time(whole(first).unwrap_or(0)),
        "curdate" | "current_date" | "utc_date" | "date" | "last_day" | "makedate" | "from_days" => Kind::Date,
        "unix_timestamp" => match first.map_or(0, |moment| digits(moment)) {
            0 => Kind::Integer,
            digits => Kind::decimal(11, digits),
        },
        // Those below are wrapped when they are rewritten: then they are texts.
        _ if is_rewritten && name != "date_add" => return None,
        "timestamp" => Kind::Datetime(arguments.iter().map(|expr| digits(expr)).max()?),
        "convert_tz" => Kind::Datetime(digits(first?)),
        "addtime" | "subtime" => {
            let most = arguments.iter().map(|expr| digits(expr)).max()?;
            match kind(first?) {
                Kind::Time(_) => Kind::Time(most),
                moment if moment.is_moment() => Kind::Datetime(most),
                _ => return None,
            }
        }
        "time" => Kind::Time(digits(first?)),
        "sec_to_time" => Kind::Time(of_number(first?)),
        "maketime" => Kind::Time(of_number(arguments.get(2)?)),
        "timediff" => Kind::Time(arguments.iter().map(|expr| digits(expr)).max()?),
        // Both of the argument's kind and of its digits is known at once: asked for one after the other, they would double at each level.
        "from_unixtime" => match arguments {
            [argument] => known_number_digits(argument, text, kind).map_or(Kind::Unknown, Kind::Datetime),
            _ => Kind::Text,
        },
        "str_to_date" => times::read_kind(&text(arguments.get(1)?).unwrap_or_else(|| "%Y %T %f".to_owned())),
        "date_add" | "adddate" | "date_sub" | "subdate" if !is_rewritten => match arguments.get(1)? {
            Expr::Interval(interval) => kind(first?).later(times::compound_unit(&unit_of(interval)), of_number(&interval.value)),
            _ => kind(first?).later("DAY", 0),
        },
        "date_add" => kind(first?).later(&text(arguments.get(2)?)?, of_number(arguments.get(1)?)),
        "timestampadd" => {
            let unit = first?.to_string().to_ascii_uppercase();
            kind(arguments.get(2)?).later(unit.strip_prefix("SQL_TSI_").unwrap_or(&unit), of_number(arguments.get(1)?))
        }
        _ => return None,
    })
}

/// What CAST makes a moment of, and typed literals are: with the digits that are said.
pub(crate) fn of_data_type(data_type: &DataType) -> Option<Kind> {
    let digits = |digits: &Option<u64>| digits.map_or(0, |digits| u8::try_from(digits).unwrap_or(MOST).min(MOST));
    Some(match data_type {
        DataType::Date => Kind::Date,
        DataType::Time(precision, _) => Kind::Time(digits(precision)),
        DataType::Datetime(precision) | DataType::Timestamp(precision, _) => Kind::Datetime(digits(precision)),
        _ => return None,
    })
}

/// How a literal is compared with moments of a kind.
enum Written {
    /// As a text like theirs.
    Alike(String),
    /// As a number: a time, in microseconds.
    Number(i64),
    /// No moment.
    Wrong(String),
}

impl Rewriter<'_> {
    /// The expression as a moment of this kind; as it is, if that is none.
    pub(crate) fn as_moment(&self, expr: Expr, kind: Kind) -> Expr {
        match kind {
            Kind::Date => call("date", vec![expr]),
            Kind::Time(digits) => call("to_time", vec![expr, numeral(digits)]),
            Kind::Datetime(digits) | Kind::Timestamp(digits) | Kind::Moment(digits) => {
                call("to_datetime", vec![expr, numeral(digits)])
            }
            _ => expr,
        }
    }

    /// A call of one of this crate's functions that makes a moment, with the digits that it has.
    pub(crate) fn moment_call(&self, name: &str, mut arguments: Vec<Expr>) -> Expr {
        let all: Vec<&Expr> = arguments.iter().collect();
        let kind = result_of(name, false, &all, &|expr| self.written(expr), &|expr| self.kind(expr));
        // These do nothing else.
        let value = match arguments.as_mut_slice() {
            [only] if matches!(name, "time" | "timestamp") => take(only),
            _ => call(name, arguments),
        };
        match kind {
            Some(Kind::Decimal(_, scale)) => call("with_scale", vec![value, numeral(scale)]),
            // It is one already.
            None | Some(Kind::Date) if name != "str_to_date" => value,
            kind => self.as_moment(value, kind.unwrap_or(Kind::Unknown)),
        }
    }

    /// The moment later by so many units. What has digits is told how many: a call of its own for that would be one level more.
    pub(crate) fn later(&mut self, moment: Expr, number: Expr, unit: &str) -> Expr {
        let from = self.kind(&moment);
        let digits = number_digits(&number, &|expr| self.written(expr), &|expr| self.kind(expr));
        let kind = from.later(unit, digits);
        let name = if from.is_time() { "time_add" } else { "date_add" };
        let unit = self.text(unit);
        let digits = kind.digits().filter(|_| kind != Kind::Date).map(numeral);
        call(name, [moment, number, unit].into_iter().chain(digits).collect())
    }

    /// The text of a literal.
    pub(crate) fn written(&self, expr: &Expr) -> Option<String> {
        match (expr, self.bound_value(expr)) {
            (_, Some(Value::Text(text))) => Some(text.clone()),
            (_, Some(Value::Integer(number))) => Some(number.to_string()),
            (_, Some(Value::Blob(bytes))) => value::text(ValueRef::Blob(bytes)),
            (Expr::Value(ValueWithSpan { value: Literal::Number(digits, _), .. }), _) => Some(digits.clone()),
            (Expr::Nested(inner), _) => self.written(inner),
            _ => None,
        }
    }

    /// `DATE '2026-11-24'` and its like.
    pub(crate) fn typed_literal(&mut self, typed: TypedString) -> Result<Expr, Error> {
        let value = Expr::Value(typed.value);
        let Some(kind) = of_data_type(&typed.data_type) else { return Ok(value) };
        let text = self.written(&value).unwrap_or_default();
        if matches!(self.beside(&value, kind), None | Some(Written::Wrong(_))) {
            return Err(Error::wrong_moment(kind.moment_type(), &text));
        }
        Ok(self.as_moment(value, kind.with_digits(&text)))
    }

    fn beside(&self, expr: &Expr, kind: Kind) -> Option<Written> {
        let mut text = self.written(expr)?;
        if self.kind(expr).is_number() {
            text = moment::with_zeros(text);
        }
        Some(match kind {
            Kind::Time(_) => times::time_micros(&text).map_or(Written::Wrong(text), Written::Number),
            kind => match Moment::parse_or_zero(&text) {
                Some(moment) => Written::Alike(match kind {
                    Kind::Date if moment.is_midnight() => moment.date(),
                    kind => moment.written_like(kind.digits().unwrap_or(0).into()),
                }),
                None => Written::Wrong(text),
            },
        })
    }

    /// Makes values that are compared with one another such as SQLite compares rightly, where one of them is a moment. Says whether it did.
    ///
    /// # Errors
    /// 1525, a text is written beside moments that is none.
    pub(crate) fn align(&mut self, values: &mut [&mut Expr]) -> Result<bool, Error> {
        let kinds: Vec<Kind> = values.iter().map(|value| self.kind(value)).collect();
        let moments: Vec<Kind> = kinds.iter().copied().filter(|kind| kind.is_moment()).collect();
        let Some(first) = moments.first().copied() else { return Ok(false) };
        if moments.iter().any(|kind| kind.is_time() != first.is_time()) {
            return Ok(false);
        }
        let like_first = |kind: &Kind| kind.digits() == first.digits() && (*kind == Kind::Date) == (first == Kind::Date);
        let is_same = moments.iter().all(|kind| like_first(kind) && !matches!(kind, Kind::Moment(_)));
        let mut beside = Vec::with_capacity(values.len());
        for (value, kind) in values.iter().zip(&kinds) {
            let written = if kind.is_moment() { None } else { self.beside(value, first) };
            match written {
                // A number that is no moment is compared as one.
                Some(Written::Wrong(_)) if kind.is_number() => return Ok(false),
                Some(Written::Wrong(text)) => return Err(Error::wrong_moment(first.moment_type(), &text)),
                None if kind.is_number() => return Ok(false),
                other => beside.push(other),
            }
        }
        let is_clear = |(beside, kind): (&Option<Written>, &Kind)| beside.is_some() || kind.is_moment() || *kind == Kind::Null;
        let as_texts = is_same && !first.is_time() && beside.iter().zip(&kinds).all(is_clear);
        for ((value, beside), kind) in values.iter_mut().zip(beside).zip(kinds) {
            match beside {
                Some(Written::Alike(text)) if as_texts => **value = self.text(&text),
                Some(Written::Number(number)) => **value = literal(self.bind(Value::Integer(number))),
                _ if as_texts || kind == Kind::Null => {}
                _ => **value = call(first.key(), vec![take(value)]),
            }
        }
        Ok(true)
    }
}

impl Kind {
    /// The function that makes a number of a moment, by which it is compared.
    pub(crate) fn key(self) -> &'static str {
        if self.is_time() { "time_key" } else { "moment_key" }
    }
}
