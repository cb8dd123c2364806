//! Which whole numbers are BIGINT UNSIGNED in MySQL, so that a client reads them as such.

use super::Kinds;
use crate::calls::{self, name_of};
use crate::collation::output;
use crate::functions;
use perfschema::core::table::SqlType;
use sqlparser::ast::{BinaryOperator, DataType, Expr, Function, Ident, UnaryOperator, Value};

impl Kinds {
    /// Whether all columns and aliases of this name are unsigned.
    pub(crate) fn is_unsigned_named(&self, name: &str) -> bool {
        self.unsigned.get(&name.to_lowercase()).copied().unwrap_or(false)
    }

    /// Whether an expression is unsigned, if it is a whole number; be it rewritten or not.
    pub(crate) fn is_unsigned(&self, expr: &Expr) -> bool {
        let named = |name: &Ident| self.is_unsigned_named(&name.value);
        match expr {
            Expr::Nested(inner) | Expr::Collate { expr: inner, .. } | Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner } => {
                self.is_unsigned(inner)
            }
            Expr::Identifier(name) => named(name),
            Expr::CompoundIdentifier(names) => names.last().is_some_and(named),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply | BinaryOperator::MyIntegerDivide => {
                    self.is_unsigned(left) || self.is_unsigned(right)
                }
                BinaryOperator::Modulo => self.is_unsigned(left),
                BinaryOperator::BitwiseAnd
                | BinaryOperator::BitwiseOr
                | BinaryOperator::BitwiseXor
                | BinaryOperator::PGBitwiseShiftLeft
                | BinaryOperator::PGBitwiseShiftRight => true,
                _ => false,
            },
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, .. }
            | Expr::Cast { data_type: DataType::Unsigned | DataType::UnsignedInteger, .. }
            | Expr::Convert { data_type: Some(DataType::Unsigned | DataType::UnsignedInteger), .. } => true,
            Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => self.is_unsigned(expr),
            Expr::Case { conditions, else_result, .. } => {
                self.are_unsigned(conditions.iter().map(|when| &when.result).chain(else_result.as_deref()))
            }
            Expr::Subquery(query) => output(&query.body).is_some_and(|expr| self.is_unsigned(expr)),
            Expr::Function(function) => self.returns_unsigned(function),
            _ => false,
        }
    }

    /// Whether what one of them may be is unsigned: NULL has no sign.
    pub(crate) fn are_unsigned<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> bool {
        let is_null = |expr: &Expr| matches!(expr, Expr::Value(value) if value.value == Value::Null);
        let mut exprs = exprs.into_iter().filter(|expr| !is_null(expr)).peekable();
        exprs.peek().is_some() && exprs.all(|expr| self.is_unsigned(expr))
    }

    fn returns_unsigned(&self, function: &Function) -> bool {
        let (name, is_rewritten) = name_of(function);
        // Of those that compare, the first argument says how, once they are rewritten.
        let compared = usize::from(is_rewritten);
        let mut exprs = calls::arguments(function);
        match name.to_ascii_lowercase().as_str() {
            "add" | "subtract" | "multiply" | "div" => exprs.any(|expr| self.is_unsigned(expr)),
            "mod" | "abs" | "ceiling" | "ceil" | "floor" | "round" | "truncate" | "min" | "max" | "any_value" | "single"
            | "first_value" | "last_value" | "nth_value" | "lag" | "lead" => {
                exprs.next().is_some_and(|expr| self.is_unsigned(expr))
            }
            "coalesce" | "ifnull" => self.are_unsigned(exprs),
            "if" => self.are_unsigned(exprs.skip(1)),
            "nullif" => exprs.nth(compared).is_some_and(|expr| self.is_unsigned(expr)),
            "greatest" | "least" => self.are_unsigned(exprs.skip(compared)),
            "bitwise_and" | "bitwise_or" | "bitwise_xor" | "shift_left" | "shift_right" | "bit_and" | "bit_or" | "bit_xor" => {
                true
            }
            name => functions::result(name) == Some(SqlType::BigintUnsigned),
        }
    }
}
