//! What is known of the columns of a result, and of columns that are not there.

use crate::calls::name_of;
use crate::catalog::Column;
use crate::decimal::{Decimal, MAX_DIGITS, MAX_SCALE};
use crate::dialect::Rewritten;
use crate::kinds::{self, Kind, Width};
use crate::nulls::Nulls;
use crate::{Error, functions};
use perfschema::core::table::SqlType;
use perfschema::render::{ColumnHead, OwnedValue};
use sqlparser::ast::{Expr, Query, Select, SelectItem, SetExpr, TableWithJoins, Value};

/// What a query says of its columns as it was written, before constants are parameters.
#[derive(Debug)]
pub(crate) struct Written {
    types: Vec<Option<SqlType>>,
    nulls: Nulls,
}

impl Written {
    pub(crate) fn of(query: &Query) -> Written {
        Written { types: result_types(query), nulls: Nulls::of(query) }
    }

    /// Whether its columns are those of several members, of which SQLite tells the first one's.
    pub(crate) fn is_union(&self) -> bool {
        self.nulls.is_union()
    }
}

/// A column of SQLite's result.
#[derive(Debug)]
pub(crate) struct ResultColumn {
    pub(crate) name: String,
    /// As it is declared, if it is a table's, and in which.
    pub(crate) declared: Option<(Column, String)>,
}

/// The columns of a result, after the query was rewritten, and of what kind they are.
pub(crate) fn heads(
    query: &Query,
    written: Written,
    rewritten: &Rewritten,
    columns: Vec<ResultColumn>,
    rows: &mut [Vec<OwnedValue>],
) -> (Vec<ColumnHead>, Vec<Kind>) {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let kinds = kinds(query, rewritten, &names);
    let known = known(query, rewritten, &names, &kinds, &written.types);
    let nulls = written.nulls.joined(query);
    let widths = widths(query, rewritten, &names, &nulls);
    let head = |(index, (ResultColumn { name, declared }, known))| {
        let nullable = nulls.may_be(index, declared.as_ref().map(|(column, table)| (table.as_str(), column.nullable)));
        let declared = declared.map(|(column, _)| column.sql_type);
        let head = match declared.filter(|_| nulls.is_union()) {
            Some(first) => {
                let head = head(name, None, nullable, known, rows, index);
                ColumnHead { sql_type: of_union(first, head.sql_type, nulls.are_columns(index)), ..head }
            }
            None => head(name, declared, nullable, known, rows, index),
        };
        match widths.get(index).copied().flatten() {
            Some(Width { characters, is_text: true }) => {
                ColumnHead { sql_type: as_texts(head.sql_type, characters, rows, index), ..head }
            }
            _ => head,
        }
    };
    let heads = (0_usize..).zip(columns.into_iter().zip(known)).map(head).collect();
    (heads, kinds)
}

/// The type of a UNION's column whose first member's is declared so, and of which otherwise so much was found. `are_columns`: all members have a
/// column there.
fn of_union(first: SqlType, found: SqlType, are_columns: bool) -> SqlType {
    match (first, found) {
        // Nothing: there are no rows, or only empty texts.
        (first, SqlType::Varchar(0)) if are_columns => first,
        (SqlType::Varchar(first), SqlType::Varchar(found)) => SqlType::Varchar(first.max(found)),
        (_, found) => found,
    }
}

/// How wide the columns of a UNION are, where it is known of all its members.
fn widths(query: &Query, rewritten: &Rewritten, names: &[String], nulls: &Nulls) -> Vec<Option<Width>> {
    if !nulls.is_union() {
        return Vec::new();
    }
    let all = |exprs: Vec<Option<&Expr>>| {
        let widths = exprs.into_iter().map(|expr| rewritten.width(expr?));
        widths.reduce(|one, other| Some(one?.or(other?))).flatten()
    };
    of_columns(query, names, all, |_| None)
}

/// The type of a column of texts that have up to so many characters, and of which otherwise so much was found. Those that are numbers because
/// no others are in the result become texts.
fn as_texts(found: SqlType, characters: u16, rows: &mut [Vec<OwnedValue>], index: usize) -> SqlType {
    match found {
        SqlType::Varchar(found) => SqlType::Varchar(found.max(characters)),
        SqlType::Bigint | SqlType::BigintUnsigned | SqlType::Double | SqlType::Decimal(..) => {
            for value in rows.iter_mut().map(|row| &mut row[index]).filter(|value| **value != OwnedValue::Null) {
                *value = OwnedValue::Text(value.as_value().to_string());
            }
            SqlType::Varchar(characters)
        }
        other => other,
    }
}

/// The types of the columns that are calls of functions, as far as the functions have one; empty where `*` stands among them.
fn result_types(query: &Query) -> Vec<Option<SqlType>> {
    let SetExpr::Select(select) = &*query.body else { return Vec::new() };
    let mut types = Vec::new();
    for item in &select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return Vec::new() };
        types.push(match expr {
            Expr::Function(function) => functions::result(name_of(function).0),
            _ => None,
        });
    }
    types
}

/// Of what kind the columns are, after the query was rewritten.
fn kinds(query: &Query, rewritten: &Rewritten, names: &[String]) -> Vec<Kind> {
    let kind = |expr: Option<&Expr>| expr.map_or(Kind::Unknown, |expr| rewritten.kind(expr));
    let all = |exprs: Vec<Option<&Expr>>| Kind::result_of(exprs.into_iter().map(kind));
    of_columns(query, names, all, |name| rewritten.kinds.of_column_named(name))
}

/// What is so of each column, by what all members of a UNION have there. One that is behind a `*` is known by its name.
fn of_columns<R>(
    query: &Query,
    names: &[String],
    of_exprs: impl Fn(Vec<Option<&Expr>>) -> R,
    of_name: impl Fn(&str) -> R,
) -> Vec<R> {
    let all = kinds::selects(&query.body);
    let is_whole = |select: &&Select| select.projection.len() == names.len() && !select.projection.iter().any(kinds::is_star);
    let has_star = all.is_empty() || !all.iter().all(is_whole);
    let of = |(place, name): (usize, &String)| {
        if has_star { of_name(name) } else { of_exprs(all.iter().map(|select| kinds::expr_at(select, place)).collect()) }
    };
    names.iter().enumerate().map(of).collect()
}

/// The types of the columns, as far as their kinds or their functions say so.
fn known(
    query: &Query,
    rewritten: &Rewritten,
    names: &[String],
    kinds: &[Kind],
    types: &[Option<SqlType>],
) -> Vec<Option<SqlType>> {
    let all = |exprs: Vec<Option<&Expr>>| {
        exprs.into_iter().collect::<Option<Vec<&Expr>>>().is_some_and(|exprs| rewritten.kinds.are_unsigned(exprs))
    };
    let unsigned = of_columns(query, names, all, |name| rewritten.kinds.is_unsigned_named(name));
    let of = |(index, (kind, is_unsigned)): (usize, (&Kind, bool))| match *kind {
        Kind::Decimal(digits, scale) => Some(SqlType::Decimal(digits, scale)),
        Kind::Real => Some(SqlType::Double),
        Kind::Json => Some(SqlType::Json),
        kind => kind.moment_type().or_else(|| types.get(index).copied().flatten()).or(match kind {
            Kind::Integer if is_unsigned => Some(SqlType::BigintUnsigned),
            Kind::Integer => Some(SqlType::Bigint),
            _ => None,
        }),
    };
    kinds.iter().zip(unsigned).enumerate().map(of).collect()
}

/// Whether a column of moments or documents can have the value.
fn fits(value: &OwnedValue, sql_type: SqlType) -> bool {
    match value {
        OwnedValue::Null => true,
        OwnedValue::Text(text) => sql_type == SqlType::Json || sql_type.is_moment_text(text),
        _ => false,
    }
}

/// What is known of the exact numbers of a column.
struct Decimals {
    is_found: bool,
    whole: usize,
    scale: usize,
}

impl Decimals {
    fn of(known: Option<SqlType>) -> Decimals {
        match known {
            Some(SqlType::Decimal(digits, scale)) => {
                Decimals { is_found: true, whole: (digits.saturating_sub(scale)).into(), scale: scale.into() }
            }
            _ => Decimals { is_found: false, whole: 0, scale: 0 },
        }
    }

    fn add(&mut self, digits: &str) {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches(['-', '0']);
        let (whole, scale) = (whole.len().max(self.whole), fraction.len().max(self.scale));
        *self = Decimals { is_found: true, whole, scale };
    }

    fn sql_type(&self) -> SqlType {
        let digits = |digits: usize, most: u8| u8::try_from(digits).unwrap_or(most).min(most);
        let scale = digits(self.scale, MAX_SCALE);
        SqlType::Decimal(digits((self.whole + self.scale).max(1), MAX_DIGITS).max(scale), scale)
    }
}

/// A number with so many digits behind the point, all of which are shown.
fn with_scale(value: &OwnedValue, scale: u8) -> OwnedValue {
    let number = match value {
        OwnedValue::Signed(number) => Decimal::from(i128::from(*number)),
        OwnedValue::Unsigned(number) => Decimal::from(i128::from(*number)),
        OwnedValue::Double(number) => Decimal::of_real(*number),
        OwnedValue::Decimal(digits) => Decimal::of_text(digits),
        other => return other.clone(),
    };
    OwnedValue::Decimal(number.rounded(scale).to_string())
}

/// What is known of a result column: from its declaration, or else from its values, or else from the function that makes it. `nullable`: by
/// what is known of it without its values.
fn head(
    name: String,
    declared: Option<SqlType>,
    nullable: bool,
    known: Option<SqlType>,
    rows: &mut [Vec<OwnedValue>],
    index: usize,
) -> ColumnHead {
    let is_of_texts = |known: SqlType| known.is_moment() || known == SqlType::Json;
    let of_texts = known.filter(|known| is_of_texts(*known) && rows.iter().all(|row| fits(&row[index], *known)));
    let mut values = rows.iter().map(|row| &row[index]);
    let has_null = values.clone().any(|value| *value == OwnedValue::Null);
    let sql_type = match (declared, of_texts) {
        (Some(declared), _) => declared,
        (None, Some(known)) => known,
        (None, None) => {
            let mut found = (false, false, false, 0);
            let mut found_negative = false;
            let mut exact = Decimals::of(known);
            for value in values.by_ref() {
                match value {
                    OwnedValue::Null => {}
                    OwnedValue::Unsigned(_) => found.1 = true,
                    OwnedValue::Signed(number) => {
                        found.0 = true;
                        found_negative |= *number < 0;
                    }
                    OwnedValue::Double(_) => found.2 = true,
                    OwnedValue::Decimal(digits) => exact.add(digits),
                    OwnedValue::Text(text) => found.3 = found.3.max(text.chars().count().max(1)),
                }
            }
            match found {
                (_, _, _, length @ 1..) => u16::try_from(length).map_or(SqlType::Longtext, SqlType::Varchar),
                (_, _, true, _) => SqlType::Double,
                _ if exact.is_found => exact.sql_type(),
                // No type of whole numbers has both.
                (_, true, ..) if found_negative => SqlType::Decimal(20, 0),
                (_, true, ..) => SqlType::BigintUnsigned,
                (true, ..) if known == Some(SqlType::BigintUnsigned) && !found_negative => SqlType::BigintUnsigned,
                (true, ..) => SqlType::Bigint,
                _ => known.unwrap_or(SqlType::Varchar(0)),
            }
        }
    };
    // Integers are told apart by the type alone; those of a column that is unsigned come out so.
    let is_unsigned = matches!(sql_type, SqlType::BigintUnsigned | SqlType::IntUnsigned);
    for row in rows.iter_mut() {
        match &row[index] {
            OwnedValue::Signed(number) if is_unsigned => {
                if let Ok(number) = u64::try_from(*number) {
                    row[index] = OwnedValue::Unsigned(number);
                }
            }
            OwnedValue::Signed(number) if sql_type == SqlType::Double => row[index] = OwnedValue::Double(*number as f64),
            OwnedValue::Decimal(digits) if sql_type == SqlType::Double => {
                row[index] = OwnedValue::Double(digits.parse().unwrap_or(0.0));
            }
            value => {
                if let SqlType::Decimal(_, scale) = sql_type {
                    row[index] = with_scale(value, scale);
                }
            }
        }
    }
    ColumnHead { nullable: nullable || has_null, ..ColumnHead::new(name, sql_type) }
}

/// Gives the expressions of a query their names: each as it was written, which the parser's printing may have spaced otherwise.
pub(crate) fn name_as_written(query: &mut Query, written: Vec<String>) {
    let SetExpr::Select(select) = leftmost(&mut query.body) else { return };
    if select.projection.len() != written.len() {
        return;
    }
    for (item, written) in select.projection.iter_mut().zip(written) {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        // Names and texts lose their quotes, NULL is always in capitals.
        let is_as_written = match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => false,
            Expr::Value(value) => matches!(value.value, Value::Boolean(_) | Value::Number(..) | Value::HexStringLiteral(_)),
            _ => true,
        };
        // Placeholders are numbered by now.
        if written == "?" || is_as_written {
            let expr = crate::dialect::take(expr);
            *item = SelectItem::ExprWithAlias { expr, alias: crate::dialect::ident(&written.replace(['`', '\0'], "")) };
        }
    }
}

pub(crate) fn leftmost(body: &mut SetExpr) -> &mut SetExpr {
    match body {
        SetExpr::SetOperation { left, .. } => leftmost(left),
        other => other,
    }
}

/// Where names of a query stand, so that one that is unknown or of several tables can be reported as MySQL does.
pub(crate) struct Clauses(Vec<(&'static str, String)>);

impl Clauses {
    pub(crate) fn of(query: &Query) -> Clauses {
        let mut clauses = Vec::new();
        if let SetExpr::Select(select) = &*query.body {
            let projection: Vec<String> = select.projection.iter().map(SelectItem::to_string).collect();
            clauses.push(("field list", projection.join(" ")));
            clauses.extend(select.selection.as_ref().map(|selection| ("where clause", selection.to_string())));
            clauses.push(("on clause", select.from.iter().map(TableWithJoins::to_string).collect::<Vec<_>>().join(" ")));
            clauses.push(("group statement", select.group_by.to_string()));
            clauses.extend(select.having.as_ref().map(|having| ("having clause", having.to_string())));
        }
        clauses.extend(query.order_by.as_ref().map(|order| ("order clause", order.to_string())));
        Clauses(clauses)
    }

    pub(crate) fn name(&self, error: Error) -> Error {
        let between = |before, after| error.message.strip_prefix(before)?.strip_suffix(after);
        let unknown = between("Unknown column '", "' in 'field list'");
        let Some(column) = unknown.or_else(|| between("Column '", "' in field list is ambiguous")) else { return error };
        let clause = self.0.iter().find(|(_, text)| names(text, column)).map_or("field list", |(clause, _)| *clause);
        if unknown.is_some() { Error::unknown_column(column, clause) } else { Error::ambiguous_column(column, clause) }
    }
}

/// Whether a name stands in the text, and not as a part of another.
fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase().replace('`', ""), name.to_lowercase());
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '@');
    text.match_indices(&name).any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}
