//! What a statement has more of than was written, and how much that may be.

use crate::Error;
use crate::parse::{MAX_DEPTH, PARSER_BYTES};
use crate::session::with_stack;
use sqlparser::ast::{
    Expr, FunctionArg, Ident, Query, Select, TableFactor, TableWithJoins, Value, ValueWithSpan, Visit, Visitor,
};
use std::ops::ControlFlow;

/// How much may still be written several times, in nodes of the tree: what is written again in each of what is written again would grow without
/// bound.
pub(crate) struct Copies(usize);

/// Bytes that a node takes once it is rewritten: most become arguments of calls.
const BYTES_OF_NODE: usize = size_of::<Expr>() + size_of::<FunctionArg>();

impl Default for Copies {
    /// As many as may take what the parser may.
    fn default() -> Copies {
        Copies(PARSER_BYTES / BYTES_OF_NODE)
    }
}

impl Copies {
    /// An expression is going to be written so many times more than it was.
    pub(crate) fn spend(&mut self, expr: &Expr, times: usize) -> Result<(), Error> {
        if times > 0 {
            let nodes = Nodes::of(expr).count.saturating_mul(times);
            self.0 = self.0.checked_sub(nodes).ok_or_else(Error::too_complex)?;
        }
        Ok(())
    }

    /// The same expression once more, in a place so deep within another one.
    pub(crate) fn copy(&mut self, expr: &Expr, depth: usize) -> Result<Expr, Error> {
        let nodes = Nodes::of(expr);
        self.0 = self.0.checked_sub(nodes.count).ok_or_else(Error::too_complex)?;
        if depth + nodes.deepest > MAX_DEPTH {
            return Err(Error::too_complex());
        }
        // What walks a tree sees to its stack, what copies one does not.
        Ok(with_stack(|| expr.clone()))
    }
}

/// Expressions within an expression, and what else takes as much: a query counts as several, a long text as more than one.
#[derive(Default)]
struct Nodes {
    count: usize,
    depth: usize,
    deepest: usize,
}

impl Nodes {
    fn of(expr: &Expr) -> Nodes {
        let mut nodes = Nodes::default();
        // It goes on to the end.
        let _ = expr.visit(&mut nodes);
        nodes
    }
}

impl Visitor for Nodes {
    type Break = ();
    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.count += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        ControlFlow::Continue(())
    }
    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
    fn pre_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.count += (size_of::<Query>() + size_of::<Select>()).div_ceil(BYTES_OF_NODE);
        ControlFlow::Continue(())
    }
    fn pre_visit_table_factor(&mut self, _: &TableFactor) -> ControlFlow<()> {
        self.count += size_of::<TableWithJoins>().div_ceil(BYTES_OF_NODE);
        ControlFlow::Continue(())
    }
    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        if let Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) = &value.value {
            self.count += text.len() / BYTES_OF_NODE;
        }
        ControlFlow::Continue(())
    }
    fn pre_visit_ident(&mut self, name: &Ident) -> ControlFlow<()> {
        self.count += name.value.len() / BYTES_OF_NODE;
        ControlFlow::Continue(())
    }
}
