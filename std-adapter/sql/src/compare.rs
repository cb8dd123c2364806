//! Comparisons as MySQL has them: texts without case, a text and a number as numbers, a whole number and a fraction as fractions.
//!
//! SQLite orders numbers before texts and never converts one into the other. So two values are left to SQLite where it is known that
//! they are of one kind, which is also what lets a virtual table look up a row; all else is asked of functions, which see the values.

use crate::collation::{compare_without_case, is_collated, is_row, without_case};
use crate::dialect::{Rewriter, call, collate, literal, not, numeral, take};
use crate::functions::Arguments;
use crate::kinds::{Kind, expr_at, selects};
use crate::value::{self, Number};
use crate::{Error, expand, snapshot};
use rusqlite::types::{Value, ValueRef};
use sqlparser::ast::{BinaryOperator, CaseWhen, Expr, Query, Select, SelectItem, SetExpr, Value as Literal};
use std::cmp::Ordering;

/// Arguments of a function of SQLite's, with room for those that every comparison has.
const MAX_LIST: usize = 90;

/// Conditions joined in a tree that is as flat as it can be, however many they are.
pub(crate) fn joined(mut conditions: Vec<Expr>, op: &BinaryOperator) -> Expr {
    if conditions.len() < 2 {
        return conditions.pop().unwrap_or_else(|| literal(Literal::Boolean(*op == BinaryOperator::And)));
    }
    let right = conditions.split_off(conditions.len() / 2);
    let nested = |conditions| Box::new(Expr::Nested(Box::new(joined(conditions, op))));
    Expr::Nested(Box::new(Expr::BinaryOp { left: nested(conditions), op: op.clone(), right: nested(right) }))
}

fn tuple(expr: &mut Expr) -> Option<&mut Vec<Expr>> {
    match expr {
        Expr::Tuple(list) => Some(list),
        Expr::Nested(inner) => tuple(inner),
        _ => None,
    }
}

/// Whether letter case counts in what is compared: the client said so of one side, and of none the contrary.
pub(crate) fn is_binary<'e>(sides: impl Iterator<Item = &'e Expr>) -> bool {
    fn collation(expr: &Expr) -> Option<bool> {
        match expr {
            Expr::Collate { collation, .. } => Some(collation.to_string().trim_matches('`') == "BINARY"),
            Expr::Nested(inner) => collation(inner),
            _ => None,
        }
    }
    sides.map(collation).find(Option::is_some).flatten().unwrap_or(false)
}

/// Behind IS, SQLite takes TRUE for a question whether something is true, and not for 1.
fn truth_as_number(expr: &mut Expr) {
    match expr {
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => truth_as_number(inner),
        Expr::Value(value) => {
            if let Literal::Boolean(truth) = value.value {
                *expr = numeral(u8::from(truth));
            }
        }
        _ => {}
    }
}

/// What SQLite compares others with, by the collation of the first: theirs counts too.
fn beside<'e>(expr: Expr, others: impl Iterator<Item = &'e Expr>) -> Expr {
    if !is_row(&expr) && !is_collated(&expr) && is_binary(others) { collate(expr, true) } else { without_case(expr) }
}

/// A column of a query is wrapped.
fn wrap_output(body: &mut SetExpr, place: usize, function: &'static str) {
    match body {
        SetExpr::Select(select) => {
            if let Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = select.projection.get_mut(place)
            {
                *expr = call(function, vec![take(expr)]);
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            wrap_output(left, place, function);
            wrap_output(right, place, function);
        }
        SetExpr::Query(query) => wrap_output(&mut query.body, place, function),
        _ => {}
    }
}

impl Rewriter<'_> {
    /// The number that a text is, where it is written in the statement and whole: then it is compared as one from here on.
    fn number_of(&mut self, expr: &Expr) -> Option<Expr> {
        if let Some(number) = self.number_of_bytes(expr) {
            return Some(number);
        }
        let number = match self.bound_value(expr) {
            Some(Value::Text(text)) => Number::parse(text),
            _ => return None,
        };
        let Number::Integer(_) = number else { return None };
        number.store().ok().map(|number| literal(self.bind(number)))
    }

    /// Whether SQLite can be left to compare the two. The second, if it is a text that is written against a whole number, becomes one.
    fn alike(&mut self, one: &Expr, other: &mut Expr) -> bool {
        if self.kind(one).is_number()
            && let Some(number) = self.number_of_bytes(other)
        {
            *other = number;
        }
        match (self.kind(one), self.kind(other)) {
            (Kind::Null, _) | (_, Kind::Null) => true,
            (Kind::Integer, Kind::Text) => self.number_of(other).is_some_and(|number| {
                *other = number;
                true
            }),
            (one, other) => one == other && matches!(one, Kind::Integer | Kind::Real | Kind::Text),
        }
    }

    /// What arithmetic takes an expression for: a column of an ENUM for the numbers of its texts, a moment for its digits, a hexadecimal
    /// literal for the number of its bytes.
    pub(crate) fn as_number(&mut self, expr: Expr) -> Expr {
        if let Some(number) = self.number_of_bytes(&expr) {
            return number;
        }
        let Some(members) = self.kinds.members(&expr) else {
            return if self.kind(&expr).is_moment() { call("moment_number", vec![expr]) } else { expr };
        };
        let texts = members.iter().map(|member| self.text(member));
        let field = call("field", [numeral(0), expr].into_iter().chain(texts).collect());
        // NULL is none of them.
        call("nullif", vec![numeral(0), field, numeral(0)])
    }

    /// A column in which letter case counts says so where it is compared, unless the client says how.
    pub(crate) fn collate_columns(&self, sides: &mut [&mut Expr]) {
        if sides.iter().any(|side| is_collated(side)) {
            return;
        }
        for side in sides {
            if self.kinds.is_binary(side) {
                **side = collate(take(side), true);
            }
        }
    }

    /// What is grouped, parted or sorted by: without case, unless it is of a column in which that counts, or the client says how.
    pub(crate) fn collate_key(&self, key: &mut Expr) {
        self.collate_columns(&mut [key]);
        compare_without_case(key);
    }

    /// `left op right`
    pub(crate) fn comparison(&mut self, mut left: Expr, op: BinaryOperator, mut right: Expr) -> Result<Expr, Error> {
        let is_equality = matches!(op, BinaryOperator::Eq | BinaryOperator::NotEq | BinaryOperator::Spaceship);
        if let (true, Some(lefts), Some(rights)) = (is_equality, tuple(&mut left), tuple(&mut right)) {
            if lefts.len() != rights.len() {
                return Err(Error::column_count(lefts.len()));
            }
            let each = if op == BinaryOperator::NotEq { BinaryOperator::Eq } else { op.clone() };
            let (lefts, rights) = (std::mem::take(lefts), std::mem::take(rights));
            let mut all = Vec::with_capacity(lefts.len());
            for (left, right) in lefts.into_iter().zip(rights) {
                all.push(self.comparison(left, each.clone(), right)?);
            }
            return Ok(not(op == BinaryOperator::NotEq, joined(all, &BinaryOperator::And)));
        }
        self.collate_columns(&mut [&mut left, &mut right]);
        match (self.kind(&left), self.kind(&right)) {
            (Kind::Json, other) if other != Kind::Json => left = call("json_unquote", vec![left]),
            (other, Kind::Json) if other != Kind::Json => right = call("json_unquote", vec![right]),
            _ => {}
        }
        let rows = is_row(&left) || is_row(&right);
        let aligned = !rows && self.align(&mut [&mut left, &mut right])?;
        match (self.kind(&left).is_number(), self.kind(&right).is_number()) {
            _ if aligned => {}
            (true, false) => right = self.as_number(right),
            (false, true) => left = self.as_number(left),
            _ => {}
        }
        if !rows && !aligned && !self.alike(&left, &mut right) && !self.alike(&right, &mut left) {
            let how = numeral(u8::from(is_binary([&left, &right].into_iter())));
            return Ok(match op {
                BinaryOperator::Spaceship => call("same", vec![how, left, right]),
                op => Expr::BinaryOp { left: Box::new(call("compare", vec![how, left, right])), op, right: Box::new(numeral(0)) },
            });
        }
        if is_row(&left) {
            compare_without_case(&mut left);
        } else if !is_collated(&left) {
            compare_without_case(&mut right);
        }
        if op == BinaryOperator::Spaceship {
            truth_as_number(&mut right);
        }
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(match op {
            // Equal, NULL also to NULL.
            BinaryOperator::Spaceship => Expr::IsNotDistinctFrom(left, right),
            op => Expr::BinaryOp { left, op, right },
        })
    }

    /// `expr IN (list)`
    pub(crate) fn in_list(&mut self, mut expr: Expr, mut list: Vec<Expr>, negated: bool) -> Result<Expr, Error> {
        if let Some(left) = tuple(&mut expr) {
            let left = std::mem::take(left);
            let mut any = Vec::with_capacity(list.len());
            left.iter().try_for_each(|left| self.copies.spend(left, list.len()))?;
            for right in list {
                any.push(self.comparison(Expr::Tuple(left.clone()), BinaryOperator::Eq, right)?);
            }
            return Ok(not(negated, joined(any, &BinaryOperator::Or)));
        }
        if self.kind(&expr) == Kind::Json {
            expr = call("json_unquote", vec![expr]);
        }
        // An ENUM is compared with numbers as a number, and with texts as a text.
        if self.kinds.members(&expr).is_some() {
            let (numbers, others): (Vec<Expr>, Vec<Expr>) = list.into_iter().partition(|member| self.kind(member).is_number());
            if !numbers.is_empty() && !others.is_empty() {
                self.copies.spend(&expr, 1)?;
                let any = vec![self.in_list(expr.clone(), numbers, false)?, self.in_list(expr, others, false)?];
                return Ok(not(negated, joined(any, &BinaryOperator::Or)));
            }
            list = if numbers.is_empty() { others } else { numbers };
        }
        let mut all: Vec<&mut Expr> = std::iter::once(&mut expr).chain(&mut list).collect();
        self.collate_columns(&mut all);
        let aligned = self.align(&mut all)?;
        if !aligned && list.iter().all(|member| self.kind(member).is_number()) {
            expr = self.as_number(expr);
        }
        if is_row(&expr) || aligned || list.iter_mut().all(|member| self.alike(&expr, member)) {
            return Ok(Expr::InList { expr: Box::new(beside(expr, list.iter())), list, negated });
        }
        self.copies.spend(&expr, (list.len() - 1) / MAX_LIST)?;
        let how = numeral(u8::from(is_binary(std::iter::once(&expr).chain(&list))));
        let chunks = list.chunks(MAX_LIST).map(|members| {
            let arguments = [how.clone(), expr.clone()].into_iter().chain(members.iter().cloned()).collect();
            call("one_of", arguments)
        });
        Ok(not(negated, joined(chunks.collect(), &BinaryOperator::Or)))
    }

    /// `expr IN (SELECT …)`: SQLite looks it up, so both sides are made one kind before. Where it is not known what they are, they are
    /// compared row by row.
    pub(crate) fn in_subquery(&mut self, mut expr: Expr, mut subquery: Box<Query>, negated: bool) -> Result<Expr, Error> {
        if is_row(&expr) && tuple(&mut expr).is_none() {
            return Ok(Expr::InSubquery { expr: Box::new(without_case(expr)), subquery, negated });
        }
        let mut alone = [expr];
        let lefts: &mut [Expr] = match tuple(&mut alone[0]) {
            Some(lefts) => lefts.as_mut_slice(),
            None => &mut alone,
        };
        let width = lefts.len();
        if expand::columns_of(&subquery.body).is_some_and(|columns| columns != width) {
            return Err(Error::column_count(width));
        }
        for (place, left) in lefts.iter_mut().enumerate() {
            self.collate_columns(&mut [left]);
            if self.kinds.members(left).is_some() && self.output_kind(&subquery, place).is_some_and(Kind::is_number) {
                *left = self.as_number(take(left));
            }
        }
        let kinds = lefts.iter().enumerate().map(|(place, left)| (self.kind(left), self.output_kind(&subquery, place)));
        let kinds: Vec<(Kind, Option<Kind>)> = kinds.collect();
        let is_known = |kind: Kind| !matches!(kind, Kind::Unknown | Kind::Json);
        let is_unclear = |(left, right): &(Kind, Option<Kind>)| match right {
            Some(right) => !(is_known(*left) && is_known(*right) || left.is_number() || right.is_number()),
            None => true,
        };
        if kinds.iter().any(is_unclear) {
            let [expr] = alone;
            let found = expand::within(subquery, width)?;
            let compared = self.comparison(expr, BinaryOperator::Eq, expand::operand(width))?;
            return Ok(not(negated, expand::together(expand::ANY, expand::select_within(found, compared))));
        }
        for (place, (left, kinds)) in lefts.iter_mut().zip(kinds).enumerate() {
            let function = match (kinds.0, kinds.1.unwrap_or(Kind::Unknown)) {
                (left @ Kind::Moment(_), _) => Some(left.key()),
                (left, right) if left != right && left.is_moment() => Some(left.key()),
                (left, right) if left != right && right.is_moment() => Some(right.key()),
                (left, Kind::Text) if left.is_number() => Some("real"),
                (Kind::Text, right) if right.is_number() => Some("real"),
                (left, right) if left.is_number() && right.is_number() && (left.has_decimals() || right.has_decimals()) => {
                    let are_exact = [left, right].iter().all(|kind| kind.digits_and_scale().is_some());
                    Some(if are_exact { "exact" } else { "number" })
                }
                (left, right) if left.is_number() && !is_known(right) => Some("number"),
                (left, right) if !is_known(left) && right.is_number() => Some("number"),
                _ => None,
            };
            match function {
                Some(function) if !is_row(left) => {
                    *left = call(function, vec![take(left)]);
                    wrap_output(&mut subquery.body, place, function);
                }
                _ => compare_without_case(left),
            }
        }
        let [expr] = alone;
        Ok(Expr::InSubquery { expr: Box::new(expr), subquery, negated })
    }

    /// Of what kind the values of a query's column are; None if `*` stands for it.
    fn output_kind(&self, query: &Query, place: usize) -> Option<Kind> {
        expand::columns_of(&query.body)?;
        let members = selects(&query.body);
        let column = |select: &Select| expr_at(select, place).map(|expr| self.kind(expr));
        members.into_iter().map(column).reduce(|one, other| Some(one?.or(other?))).flatten()
    }

    /// `expr BETWEEN low AND high`
    pub(crate) fn between(&mut self, mut expr: Expr, mut low: Expr, mut high: Expr, negated: bool) -> Result<Expr, Error> {
        self.collate_columns(&mut [&mut expr, &mut low, &mut high]);
        let aligned = self.align(&mut [&mut expr, &mut low, &mut high])?;
        if !aligned && [&low, &high].iter().all(|side| self.kind(side).is_number()) {
            expr = self.as_number(expr);
        }
        let alike = [aligned || self.alike(&expr, &mut low), aligned || self.alike(&expr, &mut high)];
        if is_row(&expr) || alike == [true; 2] {
            let expr = Box::new(beside(expr, [&low, &high].into_iter()));
            return Ok(Expr::Between { expr, negated, low: Box::new(low), high: Box::new(high) });
        }
        let how = numeral(u8::from(is_binary([&expr, &low, &high].into_iter())));
        Ok(not(negated, call("between", vec![how, expr, low, high])))
    }

    /// `CASE operand WHEN …`: a CASE of the number of the first value that is equal, where SQLite would compare otherwise.
    pub(crate) fn case(
        &mut self,
        mut operand: Option<Box<Expr>>,
        mut conditions: Vec<CaseWhen>,
        other: Option<Box<Expr>>,
    ) -> Result<Expr, Error> {
        if let Some(operand) = &mut operand {
            let values = conditions.iter_mut().map(|when| &mut when.condition);
            let mut all: Vec<&mut Expr> = std::iter::once(&mut **operand).chain(values).collect();
            self.collate_columns(&mut all);
            let aligned = self.align(&mut all)?;
            if !aligned && conditions.iter().all(|when| self.kind(&when.condition).is_number()) {
                **operand = self.as_number(take(operand));
            }
            let alike = aligned || conditions.iter_mut().all(|when| self.alike(operand, &mut when.condition));
            if alike || is_row(operand) {
                **operand = beside(take(operand), conditions.iter().map(|when| &when.condition));
            } else {
                self.copies.spend(operand, (conditions.len() - 1) / MAX_LIST)?;
                return Ok(self.numbered_case(operand, conditions, other));
            }
        }
        Ok(case_of(operand, conditions, other))
    }

    fn numbered_case(&mut self, operand: &Expr, mut conditions: Vec<CaseWhen>, mut other: Option<Box<Expr>>) -> Expr {
        loop {
            let first = (conditions.len().max(1) - 1) / MAX_LIST * MAX_LIST;
            let mut part = conditions.split_off(first);
            let values =
                part.iter_mut().enumerate().map(|(index, when)| std::mem::replace(&mut when.condition, numeral(index + 1)));
            let values: Vec<Expr> = values.collect();
            let how = numeral(u8::from(is_binary(std::iter::once(operand).chain(&values))));
            let number = call("which", [how, operand.clone()].into_iter().chain(values).collect());
            let case = case_of(Some(Box::new(number)), part, other);
            if conditions.is_empty() {
                return case;
            }
            other = Some(Box::new(case));
        }
    }

    /// Functions that compare their arguments with one another, however many.
    pub(crate) fn comparing_call(&self, name: &str, arguments: Vec<Expr>) -> Expr {
        let how = numeral(u8::from(is_binary(arguments.iter())));
        call(name, std::iter::once(how).chain(arguments).collect())
    }

    /// Values of which one becomes the result: if there are texts among them, all are texts; if all are moments, they have the same digits.
    pub(crate) fn one_kind<'e>(&self, values: impl Iterator<Item = &'e mut Expr>) {
        let mut values: Vec<(Kind, &mut Expr)> = values.map(|value| (self.kind(value), value)).collect();
        let result = Kind::result_of(values.iter().map(|(kind, _)| *kind));
        if result.is_moment() {
            for (_, value) in values.iter_mut().filter(|(kind, _)| *kind != result && *kind != Kind::Null) {
                **value = self.as_moment(take(value), result);
            }
        }
        if let Kind::Decimal(_, scale @ 1..) = result {
            let is_so = |kind: Kind| kind == Kind::Null || matches!(kind, Kind::Decimal(_, own) if own == scale);
            for (_, value) in values.iter_mut().filter(|(kind, _)| !is_so(*kind)) {
                **value = call("with_scale", vec![take(value), numeral(scale)]);
            }
        }
        // One that is a fraction makes all of them fractions.
        if result == Kind::Number && values.iter().any(|(kind, _)| *kind == Kind::Real) {
            for (_, value) in values.iter_mut().filter(|(kind, _)| matches!(kind, Kind::Decimal(..))) {
                **value = call("real", vec![take(value)]);
            }
        }
        if result == Kind::Text || values.iter().any(|(kind, _)| *kind == Kind::Text) {
            for (_, value) in values.iter_mut().filter(|(kind, _)| kind.is_number()) {
                **value = call("char_of", vec![take(value)]);
            }
        }
    }

    /// The same for the columns of a UNION and its like.
    pub(crate) fn one_kind_each(&self, body: &mut SetExpr) {
        fn columns<'b>(body: &'b mut SetExpr, all: &mut Vec<Vec<&'b mut Expr>>) {
            match body {
                SetExpr::SetOperation { left, right, .. } => {
                    columns(left, all);
                    columns(right, all);
                }
                SetExpr::Select(select) => {
                    let column = |item: &'b mut SelectItem| match item {
                        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
                        _ => None,
                    };
                    all.push(select.projection.iter_mut().map_while(column).collect());
                }
                SetExpr::Values(values) => all.extend(values.rows.iter_mut().map(|row| row.content.iter_mut().collect())),
                _ => {}
            }
        }
        if !matches!(body, SetExpr::SetOperation { .. } | SetExpr::Values(_)) {
            return;
        }
        let mut all = Vec::new();
        columns(body, &mut all);
        let mut members: Vec<_> = all.into_iter().map(Vec::into_iter).collect();
        loop {
            let column: Vec<&mut Expr> = members.iter_mut().filter_map(Iterator::next).collect();
            if column.is_empty() {
                return;
            }
            self.one_kind(column.into_iter());
        }
    }
}

fn case_of(operand: Option<Box<Expr>>, conditions: Vec<CaseWhen>, else_result: Option<Box<Expr>>) -> Expr {
    use sqlparser::ast::helpers::attached_token::AttachedToken;
    Expr::Case { case_token: AttachedToken::empty(), end_token: AttachedToken::empty(), operand, conditions, else_result }
}

/// Two values in MySQL's order; None if one is NULL.
fn order(is_binary: bool, left: ValueRef<'_>, right: ValueRef<'_>) -> Option<Ordering> {
    if let (ValueRef::Text(left), ValueRef::Text(right)) = (left, right) {
        return Some(texts(is_binary, &String::from_utf8_lossy(left), &String::from_utf8_lossy(right)));
    }
    numbers(left, right)
}

/// The same of what both are taken for as numbers.
pub(crate) fn numbers(left: ValueRef<'_>, right: ValueRef<'_>) -> Option<Ordering> {
    let with_text = [left, right].iter().any(|value| matches!(value, ValueRef::Text(_)));
    match (Number::of(left)?, Number::of(right)?) {
        (Number::Integer(a), Number::Integer(b)) if !with_text => Some(a.cmp(&b)),
        (a, b) => match (Number::exact(left), Number::exact(right)) {
            (Some(a), Some(b)) => Some(a.compare(&b)),
            _ => a.real().partial_cmp(&b.real()),
        },
    }
}

pub(crate) fn texts(is_binary: bool, left: &str, right: &str) -> Ordering {
    if is_binary { left.cmp(right) } else { snapshot::compare(left, right) }
}

fn truth(value: Option<bool>) -> Value {
    value.map_or(Value::Null, |value| Value::Integer(value.into()))
}

/// The first argument of all these: whether letter case counts.
pub(crate) fn split<'a>(arguments: Arguments<'a>) -> (bool, Arguments<'a>) {
    match arguments {
        [how, rest @ ..] => (matches!(how, ValueRef::Integer(1)), rest),
        [] => (false, &[]),
    }
}

/// Less than 0, 0 or more.
pub(crate) fn compare(arguments: Arguments<'_>) -> Value {
    let (is_binary, rest) = split(arguments);
    order(is_binary, rest[0], rest[1]).map_or(Value::Null, |order| Value::Integer(order as i64))
}

/// Whether they are equal, NULL to NULL too.
pub(crate) fn same(arguments: Arguments<'_>) -> Value {
    let (is_binary, rest) = split(arguments);
    let both_null = rest.iter().all(|value| *value == ValueRef::Null);
    truth(Some(both_null || order(is_binary, rest[0], rest[1]) == Some(Ordering::Equal)))
}

/// Whether the first is one of the others; NULL if that is not known.
pub(crate) fn one_of(arguments: Arguments<'_>) -> Value {
    let (is_binary, rest) = split(arguments);
    let mut found = Some(false);
    for member in &rest[1..] {
        match order(is_binary, rest[0], *member) {
            Some(Ordering::Equal) => return truth(Some(true)),
            None => found = None,
            _ => {}
        }
    }
    truth(found)
}

pub(crate) fn between(arguments: Arguments<'_>) -> Value {
    let (is_binary, rest) = split(arguments);
    let low = order(is_binary, rest[0], rest[1]).map(Ordering::is_ge);
    let high = order(is_binary, rest[0], rest[2]).map(Ordering::is_le);
    truth(match (low, high) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

/// Which of the others the first is equal to, from 1; 0 if none.
pub(crate) fn which(arguments: Arguments<'_>) -> Value {
    let (is_binary, rest) = split(arguments);
    let found = rest[1..].iter().position(|value| order(is_binary, rest[0], *value) == Some(Ordering::Equal));
    Value::Integer(found.map_or(0, |index| index as i64 + 1))
}

pub(crate) fn nullif(arguments: Arguments<'_>) -> Value {
    let (is_binary, rest) = split(arguments);
    if order(is_binary, rest[0], rest[1]) == Some(Ordering::Equal) { Value::Null } else { value::owned(rest[0]) }
}

/// The greatest or the least; NULL if one is. With a text among them all are texts.
pub(crate) fn extreme(arguments: Arguments<'_>, wanted: Ordering) -> Value {
    let (is_binary, rest) = split(arguments);
    if rest.contains(&ValueRef::Null) {
        return Value::Null;
    }
    if rest.iter().any(|value| matches!(value, ValueRef::Text(_))) {
        let all = rest.iter().filter_map(|value| value::text(*value));
        let found = all.reduce(|best, text| if texts(is_binary, &text, &best) == wanted { text } else { best });
        return found.map_or(Value::Null, Value::Text);
    }
    let best = |best, value| if order(is_binary, value, best) == Some(wanted) { value } else { best };
    rest.iter().copied().reduce(best).map_or(Value::Null, value::owned)
}
