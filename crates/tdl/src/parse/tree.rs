//! The text of expressions as a tree with places.

use pest::iterators::Pair;
use tofu_diagnostics::{Diagnostic, Span, codes};

use super::Rule;
use crate::scalar::{Comparison, Literal};

/// Trees are no deeper than this; what a builder accepts is less deep.
const MAX_DEPTH: usize = 128;

/// An expression as it stands in the text.
pub(super) struct Expr<'t> {
    pub(super) span: Span,
    pub(super) kind: Kind<'t>,
}

pub(super) enum Kind<'t> {
    Literal(Literal),
    Bool(bool),
    Name(&'t str),
    Negative(Box<Expr<'t>>),
    Not(Box<Expr<'t>>),
    Binary(&'t str, Box<Expr<'t>>, Box<Expr<'t>>),
    Compare(Comparison, Box<Expr<'t>>, Box<Expr<'t>>),
    If(Box<[Expr<'t>; 3]>),
    Call(&'t str, Vec<Expr<'t>>),
    Typed { function: &'t str, ty: Word<'t>, argument: Box<Expr<'t>> },
    ReducePrecision { exponent: u8, mantissa: u8, argument: Box<Expr<'t>> },
    Access(Word<'t>, Vec<Expr<'t>>),
    Reduce { reducer: Word<'t>, binders: Vec<Binder<'t>>, bodies: Vec<Expr<'t>>, component: Option<u32> },
    Opaque(Box<Opaque<'t>>),
}

pub(super) struct Opaque<'t> {
    pub(super) function: Word<'t>,
    pub(super) constants: Vec<i64>,
    pub(super) comparator: Option<Word<'t>>,
    pub(super) arguments: Vec<(Word<'t>, Vec<Option<Expr<'t>>>)>,
    pub(super) component: u32,
    pub(super) indices: Vec<Expr<'t>>,
}

/// A word and its place.
#[derive(Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) span: Span,
}

/// An index variable where it is bound.
pub(super) struct Binder<'t> {
    pub(super) name: Word<'t>,
    pub(super) extent: Option<Expr<'t>>,
}

/// Turns what the grammar matched into trees.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) base: u32,
}

type Read<T> = Result<T, Diagnostic>;

impl Reader {
    pub(super) fn span(self, pair: &Pair<'_, Rule>) -> Span {
        // A rule takes in the white space after it where more could follow.
        let start = self.base + pair.as_span().start() as u32;
        Span::new(start, start + pair.as_str().trim_end().len() as u32)
    }

    pub(super) fn word<'t>(self, pair: &Pair<'t, Rule>) -> Word<'t> {
        Word { text: pair.as_str(), span: self.span(pair) }
    }

    pub(super) fn binder<'t>(self, pair: Pair<'t, Rule>) -> Read<Binder<'t>> {
        self.binder_at(pair, 0)
    }

    fn binder_at<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Binder<'t>> {
        let whole = self.word(&pair);
        let mut inner = pair.into_inner();
        let name = inner.next().map_or(whole, |word| self.word(&word));
        let extent = match inner.next() {
            Some(extent) => Some(self.at_depth(extent, depth + 1)?),
            None => None,
        };
        Ok(Binder { name, extent })
    }

    pub(super) fn expr<'t>(self, pair: Pair<'t, Rule>) -> Read<Expr<'t>> {
        self.at_depth(pair, 0)
    }

    fn at_depth<'t>(self, mut pair: Pair<'t, Rule>, depth: usize) -> Read<Expr<'t>> {
        let span = self.span(&pair);
        if depth > MAX_DEPTH {
            return Err(Diagnostic::error(&codes::NESTING_TOO_DEEP, span, "expressions nest too deep"));
        }
        // Levels of precedence at which nothing stands.
        while is_level(pair.as_rule()) {
            let mut inner = pair.clone().into_inner();
            match (inner.next(), inner.next()) {
                (Some(only), None) => pair = only,
                _ => break,
            }
        }
        let kind = match pair.as_rule() {
            Rule::or | Rule::and => return self.fold(pair, depth),
            Rule::sum | Rule::term | Rule::reduced => return self.fold_signed(pair, depth),
            Rule::chain => return self.chain(pair, depth),
            Rule::unary => return self.unary(pair, depth),
            Rule::conditional => {
                let mut parts = self.all(pair.into_inner(), depth)?.into_iter();
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(a), Some(b), Some(c)) => Kind::If(Box::new([a, b, c])),
                    _ => return Err(self.broken(span)),
                }
            }
            Rule::number | Rule::special => self.constant(&pair)?,
            Rule::name => Kind::Name(pair.as_str()),
            Rule::typed_call => self.typed_call(pair, depth)?,
            Rule::opaque => self.opaque(pair, depth)?,
            Rule::reduction => self.reduction(pair, depth)?,
            Rule::call => {
                let mut inner = pair.into_inner();
                let name = inner.next().map_or("", |word| word.as_str());
                Kind::Call(name, self.all(inner, depth)?)
            }
            Rule::access => {
                let mut inner = pair.into_inner();
                match (inner.next(), inner.next()) {
                    (Some(word), Some(indices)) => {
                        Kind::Access(self.word(&word), self.all(indices.into_inner(), depth)?)
                    }
                    _ => return Err(self.broken(span)),
                }
            }
            _ => return Err(self.broken(span)),
        };
        Ok(Expr { span, kind })
    }

    fn constant<'t>(self, pair: &Pair<'t, Rule>) -> Read<Kind<'t>> {
        let text = pair.as_str();
        Ok(match text {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "nan" => Kind::Literal(Literal::NaN),
            "lowest" => Kind::Literal(Literal::Lowest),
            "highest" => Kind::Literal(Literal::Highest),
            _ => number(text).ok_or_else(|| {
                let message = format!("`{text}` is out of range");
                Diagnostic::error(&codes::BAD_LITERAL, self.span(pair), message)
            })?,
        })
    }

    /// What the grammar never gives.
    fn broken(self, span: Span) -> Diagnostic {
        Diagnostic::error(&codes::SYNTAX, span, "expected an expression")
    }

    fn all<'t>(self, pairs: impl Iterator<Item = Pair<'t, Rule>>, depth: usize) -> Read<Vec<Expr<'t>>> {
        // A loop, since the frames of iterators add up with the depth of the text.
        let mut all = Vec::new();
        for pair in pairs {
            if !is_word(pair.as_rule()) {
                all.push(self.at_depth(pair, depth + 1)?);
            }
        }
        Ok(all)
    }

    /// Operands of one operator, which is not kept by the grammar.
    fn fold<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Expr<'t>> {
        let (rule, span) = (pair.as_rule(), self.span(&pair));
        let operator = if rule == Rule::or { "or" } else { "and" };
        let depth = depth + pair.clone().into_inner().count();
        let mut parts = self.all(pair.into_inner(), depth)?.into_iter();
        let first = parts.next().ok_or_else(|| self.broken(span))?;
        Ok(parts.fold(first, |a, b| join(operator, a, b)))
    }

    fn fold_signed<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Expr<'t>> {
        let span = self.span(&pair);
        // Each operand deepens the tree to its left.
        let depth = depth + pair.clone().into_inner().count() / 2;
        let mut inner = pair.into_inner();
        let first = inner.next().ok_or_else(|| self.broken(span))?;
        let mut result = self.at_depth(first, depth + 1)?;
        while let (Some(operator), Some(next)) = (inner.next(), inner.next()) {
            result = join(operator.as_str(), result, self.at_depth(next, depth + 1)?);
        }
        Ok(result)
    }

    /// `a <= b < c` is `a <= b and b < c`; the middle is read twice.
    fn chain<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Expr<'t>> {
        let span = self.span(&pair);
        let parts: Vec<Pair<'t, Rule>> = pair.into_inner().collect();
        let depth = depth + parts.len() / 2;
        let mut result = None;
        for window in parts.windows(3).step_by(2) {
            let [left, operator, right] = window else { continue };
            let (a, b) = (self.at_depth(left.clone(), depth + 1)?, self.at_depth(right.clone(), depth + 1)?);
            let comparison = match operator.as_str() {
                "==" => Comparison::Eq,
                "!=" => Comparison::Ne,
                "<" => Comparison::Lt,
                "<=" => Comparison::Le,
                ">" => Comparison::Gt,
                _ => Comparison::Ge,
            };
            let compared =
                Expr { span: a.span.join(b.span), kind: Kind::Compare(comparison, Box::new(a), Box::new(b)) };
            result = Some(match result {
                Some(others) => join("and", others, compared),
                None => compared,
            });
        }
        result.ok_or_else(|| self.broken(span))
    }

    fn unary<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Expr<'t>> {
        let span = self.span(&pair);
        let mut parts: Vec<Pair<'t, Rule>> = pair.into_inner().collect();
        let primary = parts.pop().ok_or_else(|| self.broken(span))?;
        if parts.len() + depth > MAX_DEPTH {
            return Err(Diagnostic::error(&codes::NESTING_TOO_DEEP, span, "expressions nest too deep"));
        }
        let mut result = self.at_depth(primary, depth + 1)?;
        for prefix in parts.iter().rev() {
            let kind = match prefix.as_str() {
                "-" => Kind::Negative(Box::new(result)),
                _ => Kind::Not(Box::new(result)),
            };
            result = Expr { span: Span::new(self.span(prefix).start, span.end), kind };
        }
        Ok(result)
    }

    fn typed_call<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Kind<'t>> {
        let span = self.span(&pair);
        let inner: Vec<Pair<'t, Rule>> = pair.into_inner().collect();
        let [first, second, argument] = &inner[..] else { return Err(self.broken(span)) };
        let argument = Box::new(self.at_depth(argument.clone(), depth + 1)?);
        if first.as_rule() == Rule::typed_function {
            return Ok(Kind::Typed { function: first.as_str(), ty: self.word(second), argument });
        }
        match (first.as_str().parse(), second.as_str().parse()) {
            (Ok(exponent @ 1..=15), Ok(mantissa @ 0..=60)) => {
                Ok(Kind::ReducePrecision { exponent, mantissa, argument })
            }
            _ => {
                let message = "the exponent has 1 to 15 bits, the mantissa at most 60";
                Err(Diagnostic::error(&codes::BAD_LITERAL, self.span(first).join(self.span(second)), message))
            }
        }
    }

    fn reduction<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Kind<'t>> {
        let mut reducer = self.word(&pair);
        let (mut binders, mut bodies, mut component) = (Vec::new(), Vec::new(), None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::reducer => reducer = self.word(&part),
                Rule::binder => binders.push(self.binder_at(part, depth)?),
                Rule::bundle => {
                    for piece in part.into_inner() {
                        match piece.as_rule() {
                            Rule::component => component = Some(self.small(&piece)?),
                            _ => bodies = self.all(piece.into_inner(), depth)?,
                        }
                    }
                }
                _ => bodies = self.all(part.into_inner(), depth)?,
            }
        }
        Ok(Kind::Reduce { reducer, binders, bodies, component })
    }

    fn opaque<'t>(self, pair: Pair<'t, Rule>, depth: usize) -> Read<Kind<'t>> {
        let mut call = Opaque {
            function: self.word(&pair),
            constants: Vec::new(),
            comparator: None,
            arguments: Vec::new(),
            component: 0,
            indices: Vec::new(),
        };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::string => call.function = self.word(&part),
                Rule::constants => {
                    for constant in part.into_inner() {
                        let span = self.span(&constant);
                        let value = constant.as_str().parse().map_err(|_| {
                            Diagnostic::error(
                                &codes::BAD_LITERAL,
                                span,
                                "the integer does not fit into 64 bits",
                            )
                        })?;
                        call.constants.push(value);
                    }
                }
                Rule::by => {
                    let word = part.into_inner().find(|inner| inner.as_rule() == Rule::word);
                    call.comparator = word.map(|word| self.word(&word));
                }
                Rule::slice => {
                    let mut inner = part.into_inner();
                    let Some(word) = inner.next() else { continue };
                    let mut dims = Vec::new();
                    for slot in inner {
                        let Some(only) = slot.into_inner().next() else { continue };
                        dims.push(match only.as_rule() {
                            Rule::all => None,
                            _ => Some(self.at_depth(only, depth + 1)?),
                        });
                    }
                    call.arguments.push((self.word(&word), dims));
                }
                Rule::component => call.component = self.small(&part)?,
                _ => call.indices = self.all(part.into_inner(), depth)?,
            }
        }
        Ok(Kind::Opaque(Box::new(call)))
    }

    /// The number in `.3`.
    fn small(self, pair: &Pair<'_, Rule>) -> Read<u32> {
        let digits = pair.as_str().trim_start_matches('.');
        let message = "there are not that many values";
        digits.parse().map_err(|_| Diagnostic::error(&codes::BAD_LITERAL, self.span(pair), message))
    }
}

/// Words that say nothing more once the tree is known.
fn is_word(rule: Rule) -> bool {
    matches!(rule, Rule::if_word | Rule::then_word | Rule::else_word | Rule::and_word | Rule::or_word)
}

fn is_level(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::expr
            | Rule::or
            | Rule::and
            | Rule::chain
            | Rule::sum
            | Rule::term
            | Rule::reduced
            | Rule::unary
            | Rule::body
    )
}

fn join<'t>(operator: &'t str, a: Expr<'t>, b: Expr<'t>) -> Expr<'t> {
    Expr { span: a.span.join(b.span), kind: Kind::Binary(operator, Box::new(a), Box::new(b)) }
}

fn number<'t>(text: &str) -> Option<Kind<'t>> {
    let literal = match text {
        "inf" => Literal::Float(f64::INFINITY.to_bits()),
        "-inf" => Literal::Float(f64::NEG_INFINITY.to_bits()),
        _ if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            Literal::Int(text.parse().ok()?)
        }
        _ => Literal::Float(text.parse::<f64>().ok().filter(|value| value.is_finite())?.to_bits()),
    };
    Some(Kind::Literal(literal))
}
