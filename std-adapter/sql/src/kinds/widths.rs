//! How many characters the values of a UNION's column have, of which some are numbers and others texts.

use super::{Kind, Kinds};
use crate::calls::{self, name_of};
use crate::dialect::Rewritten;
use crate::literals::bound_value;
use perfschema::core::table::SqlType;
use rusqlite::types::Value as SqliteValue;
use sqlparser::ast::{Expr, Value};

/// At most so many, and whether they are of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Width {
    pub(crate) characters: u16,
    pub(crate) is_text: bool,
}

impl Width {
    fn text(characters: usize) -> Option<Width> {
        Some(Width { characters: u16::try_from(characters).ok()?, is_text: true })
    }

    /// Of numbers and moments, as MySQL counts them where they become texts; None of all else.
    fn of_kind(kind: Kind) -> Option<Width> {
        let with_fraction = |whole: u8, digits: u8| whole + if digits == 0 { 0 } else { digits + 1 };
        let characters = match kind {
            Kind::Null => 0,
            Kind::Integer => 20,
            // With a sign.
            Kind::Decimal(digits, scale) => digits + 1 + u8::from(scale > 0),
            Kind::Real => 53,
            Kind::Date => 10,
            Kind::Time(digits) => with_fraction(10, digits),
            Kind::Datetime(digits) | Kind::Timestamp(digits) | Kind::Moment(digits) => with_fraction(19, digits),
            Kind::Number | Kind::Text | Kind::Json | Kind::Unknown => return None,
        };
        Some(Width { characters: characters.into(), is_text: false })
    }

    /// Of a column that is declared so.
    pub(super) fn of_type(sql_type: SqlType) -> Option<Width> {
        match sql_type {
            // What is not known of a view's column is so declared.
            SqlType::Varchar(0) => None,
            SqlType::Varchar(characters) | SqlType::Char(characters) => Width::text(characters.into()),
            SqlType::Enum(members) => Width::text(members.iter().map(|member| member.len()).max().unwrap_or(0)),
            sql_type => Width::of_kind(Kind::of_result(sql_type)),
        }
    }

    /// What takes in both.
    pub(crate) fn or(self, other: Width) -> Width {
        Width { characters: self.characters.max(other.characters), is_text: self.is_text || other.is_text }
    }
}

impl Rewritten {
    /// How many characters the values of an expression have; None if that is not known before it is computed.
    pub(crate) fn width(&self, expr: &Expr) -> Option<Width> {
        self.kinds.width(expr, &|value| bound_value(&self.bound, value))
    }
}

impl Kinds {
    fn width<'b>(&self, expr: &Expr, bound: &impl Fn(&Expr) -> Option<&'b SqliteValue>) -> Option<Width> {
        match (expr, bound(expr)) {
            (_, Some(SqliteValue::Text(text))) => Width::text(text.chars().count()),
            // A placeholder of the client's that has no value yet.
            (_, Some(SqliteValue::Null)) => None,
            (Expr::Value(value), None) if value.value == Value::Null => Width::of_kind(Kind::Null),
            (Expr::Nested(inner) | Expr::Collate { expr: inner, .. }, _) => self.width(inner, bound),
            (Expr::Identifier(name), _) => self.width_named(&name.value),
            (Expr::CompoundIdentifier(names), _) => self.width_named(&names.last()?.value),
            (Expr::Function(function), _) if name_of(function) == ("char_of", true) => {
                let mut arguments = calls::arguments(function);
                let width = self.width(arguments.next()?, bound);
                width.filter(|_| arguments.next().is_none())
            }
            (expr, _) => Width::of_kind(self.kind(expr, bound)),
        }
    }

    fn width_named(&self, name: &str) -> Option<Width> {
        self.widths.get(&name.to_lowercase()).copied().flatten()
    }
}
