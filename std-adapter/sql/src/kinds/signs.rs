//! Which whole numbers are BIGINT UNSIGNED in MySQL, so that a client reads them as such.

use super::Kinds;
use crate::calls::name_of;
use crate::collation::output;
use crate::functions;
use perfschema::core::table::SqlType;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, UnaryOperator,
};

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
                let mut results = conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                results.all(|result| self.is_unsigned(result))
            }
            Expr::Subquery(query) => output(&query.body).is_some_and(|expr| self.is_unsigned(expr)),
            Expr::Function(function) => self.returns_unsigned(function),
            _ => false,
        }
    }

    fn returns_unsigned(&self, function: &Function) -> bool {
        let (name, is_rewritten) = name_of(function);
        // Of those that compare, the first argument says how, once they are rewritten.
        let compared = usize::from(is_rewritten);
        let FunctionArguments::List(list) = &function.args else { return false };
        let exprs = list.args.iter().filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        });
        let mut unsigned = exprs.map(|expr| self.is_unsigned(expr));
        match name.to_ascii_lowercase().as_str() {
            "add" | "subtract" | "multiply" | "div" => unsigned.any(|is_unsigned| is_unsigned),
            "mod" | "abs" | "ceiling" | "ceil" | "floor" | "round" | "truncate" | "min" | "max" | "any_value" | "single"
            | "first_value" | "last_value" | "nth_value" | "lag" | "lead" => unsigned.next().unwrap_or(false),
            "coalesce" | "ifnull" => unsigned.all(|is_unsigned| is_unsigned),
            "if" => unsigned.skip(1).all(|is_unsigned| is_unsigned),
            "nullif" => unsigned.nth(compared).unwrap_or(false),
            "greatest" | "least" => unsigned.skip(compared).all(|is_unsigned| is_unsigned),
            "bitwise_and" | "bitwise_or" | "bitwise_xor" | "shift_left" | "shift_right" | "bit_and" | "bit_or" | "bit_xor" => {
                true
            }
            name => functions::result(name) == Some(SqlType::BigintUnsigned),
        }
    }
}
