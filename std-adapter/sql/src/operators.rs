//! How tightly operators bind: MySQL's when a statement is read, SQLite's when what became of it is printed. And which words are names.

use sqlparser::ast::{BinaryOperator, Expr, Statement, UnaryOperator, VisitMut, VisitorMut};
use sqlparser::dialect::{Dialect, MySqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::any::TypeId;
use std::ops::ControlFlow;

/// MySQL as the parser knows it, with MySQL's own order of operators, which it has PostgreSQL's of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MySql {
    /// `a JOIN b JOIN c ON … ON …` is read, where the first ON is of the second join; `a JOIN b JOIN c ON …` is not as MySQL reads it then.
    pub(crate) nests_joins: bool,
}

macro_rules! as_the_parser_knows {
    ($($name:ident)*) => { $(fn $name(&self) -> bool { MySqlDialect {}.$name() })* };
}

// From the loosest to the tightest, as in "Operator Precedence" of MySQL's manual, and in its grammar where that says more: what LIKE, IN and
// BETWEEN say is compared by `=`, and not the other way round.
const ASSIGNMENT: u8 = 3;
const OR: u8 = 5;
const XOR: u8 = 7;
const AND: u8 = 10;
const NOT: u8 = 15;
const COMPARISON: u8 = 17;
const PREDICATE: u8 = 20;
const BIT_OR: u8 = 22;
const BIT_AND: u8 = 23;
const SHIFT: u8 = 24;
const SUM: u8 = 30;
const PRODUCT: u8 = 40;
const BIT_XOR: u8 = 45;
const ARROW: u8 = 60;

/// Words that the parser keeps for what others write. In MySQL they are names, also without AS.
const OF_OTHERS: &[Keyword] = &[
    Keyword::ANTI,
    Keyword::ARRAY,
    Keyword::ASOF,
    Keyword::CLUSTER,
    Keyword::CONNECT,
    Keyword::DISTRIBUTE,
    Keyword::END,
    Keyword::EXCLUDE,
    Keyword::FORMAT,
    Keyword::FULL,
    Keyword::GLOBAL,
    Keyword::MATCH_CONDITION,
    Keyword::MATCH_RECOGNIZE,
    Keyword::MINUS,
    Keyword::OFFSET,
    Keyword::OPEN,
    Keyword::OUTPUT,
    Keyword::PIVOT,
    Keyword::PREWHERE,
    Keyword::QUALIFY,
    Keyword::RETURNING,
    Keyword::SAMPLE,
    Keyword::SEMI,
    Keyword::SETTINGS,
    Keyword::SORT,
    Keyword::START,
    Keyword::TABLESAMPLE,
    Keyword::TOP,
    Keyword::UNPIVOT,
    Keyword::VIEW,
];

/// Whether the list of an IN, whose tokens begin there, has something in parentheses first and more behind it: the parser takes `((SELECT 1)`
/// for the query that all of it is. Both are known by what follows it.
fn begins_with_query(parser: &Parser, list: usize) -> bool {
    let token = |index: usize| &parser.token_at(index).token;
    if !matches!((token(list), token(list + 1)), (Token::LParen, Token::LParen)) {
        return false;
    }
    let mut depth = 0_usize;
    for index in list + 1.. {
        match token(index) {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => {
                return match token(index + 1) {
                    Token::RParen | Token::EOF => false,
                    Token::Word(word) => !OF_QUERIES.contains(&word.keyword),
                    _ => true,
                };
            }
            Token::RParen => depth -= 1,
            Token::EOF => return false,
            _ => {}
        }
    }
    false
}

/// What may follow a query in parentheses that is a part of another.
const OF_QUERIES: &[Keyword] = &[Keyword::UNION, Keyword::INTERSECT, Keyword::EXCEPT, Keyword::ORDER, Keyword::LIMIT];

impl Dialect for MySql {
    fn dialect(&self) -> TypeId {
        MySqlDialect {}.dialect()
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        match precedence {
            Precedence::Or => OR,
            Precedence::Xor => XOR,
            Precedence::And => AND,
            Precedence::UnaryNot => NOT,
            Precedence::Eq | Precedence::Is => COMPARISON,
            Precedence::Between | Precedence::Like => PREDICATE,
            Precedence::Pipe => BIT_OR,
            Precedence::Ampersand => BIT_AND,
            Precedence::PlusMinus => SUM,
            // Asked for what a sign stands before, which binds more tightly than all of these; of `*` itself see below.
            Precedence::MulDivModOp | Precedence::Caret => BIT_XOR,
            Precedence::PgOther => ARROW,
            other => MySqlDialect {}.prec_value(other),
        }
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        Some(Ok(match &parser.peek_token_ref().token {
            Token::Assignment => ASSIGNMENT,
            Token::Overlap => AND,
            Token::ShiftLeft | Token::ShiftRight => SHIFT,
            Token::Mul | Token::Div | Token::Mod => PRODUCT,
            Token::Word(word) if word.keyword == Keyword::DIV => PRODUCT,
            _ => return None,
        }))
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        // `!a = b` is `(NOT a) = b`, and `~a / b` is `(~a) / b`.
        let signs = [(Token::ExclamationMark, UnaryOperator::BangNot), (Token::Tilde, UnaryOperator::BitwiseNot)];
        let (_, op) = signs.into_iter().find(|(sign, _)| parser.consume_token(sign))?;
        let expr = parser.parse_subexpr(BIT_XOR).map(Box::new);
        Some(expr.map(|expr| Expr::UnaryOp { op, expr }))
    }

    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        // The parser asks for a pattern behind NULL.
        let is = |place: usize, all: &[Keyword]| match &parser.peek_nth_token_ref(place).token {
            Token::Word(word) => all.contains(&word.keyword),
            _ => false,
        };
        let negated = is(0, &[Keyword::NOT]);
        let place = usize::from(negated);
        if is(place, &[Keyword::REGEXP, Keyword::RLIKE]) && is(place + 1, &[Keyword::NULL]) {
            (0..=place).for_each(|_| parser.advance_token());
            let pattern = parser.parse_subexpr(PREDICATE).map(Box::new);
            return Some(pattern.map(|pattern| Expr::RLike { negated, expr: Box::new(expr.clone()), pattern, regexp: true }));
        }
        if is(place, &[Keyword::IN]) && begins_with_query(parser, parser.index() + place + 1) {
            (0..place + 2).for_each(|_| parser.advance_token());
            let list = parser.parse_comma_separated(Parser::parse_expr);
            let list = list.and_then(|list| parser.expect_token(&Token::RParen).map(|_| list));
            return Some(list.map(|list| Expr::InList { expr: Box::new(expr.clone()), list, negated }));
        }
        MySqlDialect {}.parse_infix(parser, expr, precedence)
    }

    fn parse_statement(&self, parser: &mut Parser) -> Option<Result<Statement, ParserError>> {
        MySqlDialect {}.parse_statement(parser)
    }

    fn is_identifier_start(&self, character: char) -> bool {
        MySqlDialect {}.is_identifier_start(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        MySqlDialect {}.is_identifier_part(character)
    }

    fn is_delimited_identifier_start(&self, character: char) -> bool {
        MySqlDialect {}.is_delimited_identifier_start(character)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        MySqlDialect {}.identifier_quote_style(identifier)
    }

    fn is_column_alias(&self, keyword: &Keyword, parser: &mut Parser) -> bool {
        OF_OTHERS.contains(keyword) || MySqlDialect {}.is_column_alias(keyword, parser)
    }

    fn is_table_factor_alias(&self, explicit: bool, keyword: &Keyword, parser: &mut Parser) -> bool {
        OF_OTHERS.contains(keyword) || MySqlDialect {}.is_table_factor_alias(explicit, keyword, parser)
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        !self.nests_joins
    }

    as_the_parser_knows! {
        ignores_wildcard_escapes
        require_interval_qualifier
        requires_single_line_comment_whitespace
        supports_binary_kw_as_cast
        supports_bitwise_shift_operators
        supports_comma_separated_set_assignments
        supports_comment_optimizer_hint
        supports_constraint_keyword_without_name
        supports_create_table_select
        supports_cross_join_constraint
        supports_data_type_signed_suffix
        supports_double_ampersand_operator
        supports_group_by_with_modifier
        supports_insert_set
        supports_key_column_option
        supports_limit_comma
        supports_match_against
        supports_multiline_comment_hints
        supports_numeric_prefix
        supports_select_modifiers
        supports_set_names
        supports_string_literal_backslash_escape
        supports_string_literal_concatenation
        supports_table_hints
        supports_update_order_by
        supports_user_host_grantee
    }
}

/// Puts in parentheses what SQLite would read otherwise than the tree has it. It is printed without any.
pub(crate) fn keep_order(tree: &mut impl VisitMut) {
    let _ = tree.visit(&mut Parentheses);
}

struct Parentheses;

impl VisitorMut for Parentheses {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Some(own) = tightness(expr) else { return ControlFlow::Continue(()) };
        match expr {
            Expr::BinaryOp { left, right, .. } | Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                enclose(left, own);
                enclose(right, own + 1);
            }
            Expr::InList { expr, .. }
            | Expr::InSubquery { expr, .. }
            | Expr::IsNull(expr)
            | Expr::IsNotNull(expr)
            | Expr::IsTrue(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotFalse(expr) => enclose(expr, own),
            Expr::Between { expr, low, high, .. } => {
                enclose(expr, own);
                enclose(low, own + 1);
                enclose(high, own + 1);
            }
            Expr::UnaryOp { expr, .. } => enclose(expr, own),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Whether what stands in a rewritten statement is an operator whose result is true, false or unknown.
pub(crate) fn is_logical(expr: &Expr) -> bool {
    tightness(expr).is_some_and(|own| own <= ORDERED)
}

/// Of those of SQLite's operators that say what is true, `<` and its kin bind most tightly.
const ORDERED: u8 = 5;

/// How tightly SQLite binds an operator that the rewritten statement may have; None of what is none.
fn tightness(expr: &Expr) -> Option<u8> {
    Some(match expr {
        Expr::BinaryOp { op, .. } => match op {
            BinaryOperator::Or => 1,
            BinaryOperator::And => 2,
            BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq => ORDERED,
            BinaryOperator::Plus | BinaryOperator::Minus => 7,
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => 8,
            BinaryOperator::StringConcat => 9,
            _ => 4,
        },
        Expr::UnaryOp { op: UnaryOperator::Not, .. } => 3,
        Expr::UnaryOp { .. } => 11,
        Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..) => 4,
        _ => return None,
    })
}

/// The operand in parentheses, if it binds less than it needs to.
fn enclose(operand: &mut Expr, least: u8) {
    if tightness(operand).is_some_and(|own| own < least) {
        let bare = crate::dialect::take(operand);
        *operand = Expr::Nested(Box::new(bare));
    }
}
