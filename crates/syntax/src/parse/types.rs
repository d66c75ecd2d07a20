//! Types.
//!
//! A program spells the same few types over and over, so a statement's grammar only finds where a type ends; each
//! spelling is taken apart once.

use pest::Parser as _;
use pest::iterators::Pair;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes, suggest};
use tofu_ir::{
    AttrData, DialectType, Dim, ElementType, FunctionType, MAX_TENSOR_BYTES, TensorType, Type, TypeData,
};

use super::{Grammar, Parser, Rule};

/// How deep types and attributes may nest.
pub(super) const MAX_DEPTH: usize = 64;

/// How deep the types in a statement's head start: in the generic form those of a signature stand in the attribute of a
/// function type.
pub(super) const OUTERMOST_DEPTH: usize = 1;

impl<'s> Parser<'s> {
    /// The type that a `ty` token spells, nested `depth` deep; none if it was reported as wrong. Spans are relative to
    /// `base`.
    pub(super) fn ty(&mut self, base: usize, pair: &Pair<'s, Rule>, depth: usize) -> Option<Type> {
        self.spelled_type(pair.as_str(), base + pair.as_span().start(), depth)
    }

    /// The type spelled `text`, which stands at `at`.
    pub(super) fn spelled_type(&mut self, text: &'s str, at: usize, depth: usize) -> Option<Type> {
        // A type that is known may nest as deep as any; inside of another that would be too deep.
        let is_outermost = depth <= OUTERMOST_DEPTH;
        if is_outermost && let Some(&ty) = self.types.get(text) {
            return Some(ty);
        }
        if depth > MAX_DEPTH {
            let message = format!("types nest more than {MAX_DEPTH} deep");
            self.error(&codes::NESTING_TOO_DEEP, self.span(at, at + 1), message);
            return None;
        }
        let part = match Grammar::parse(Rule::type_parts, text) {
            Ok(mut parts) => parts.next()?.into_inner().next()?,
            Err(error) => {
                let (diagnostic, _) = self.grammar_error(at, &error);
                self.report(diagnostic);
                return None;
            }
        };
        let data = match part.as_rule() {
            Rule::tensor_type => self.tensor_type(at, part)?,
            Rule::tuple_type => {
                TypeData::Tuple(self.type_list(at, part.into_inner().next()?, depth)?.into_boxed_slice())
            }
            Rule::function_type => {
                let mut lists = part.into_inner();
                let inputs = self.type_list(at, lists.next()?, depth)?.into_boxed_slice();
                let results = self.type_list(at, lists.next()?, depth)?.into_boxed_slice();
                TypeData::Function(FunctionType { inputs, results })
            }
            Rule::complex_type => TypeData::Element(self.element(at, &part)?),
            _ => self.plain_type(at, part, depth)?,
        };
        let ty = self.module.interner.ty(data);
        if is_outermost {
            self.types.insert(text, ty);
        }
        Some(ty)
    }

    fn type_list(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Vec<Type>> {
        let mut types = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::ty => {
                    let at = base + part.as_span().start();
                    types.push(self.spelled_type(part.as_str(), at, depth + 1)?);
                }
                _ => types.extend(self.type_list(base, part, depth)?),
            }
        }
        Some(types)
    }

    fn tensor_type(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<TypeData> {
        let span = self.pair_span(base, &pair);
        let mut dims: SmallVec<[Dim; 4]> = SmallVec::new();
        let mut element = ElementType::F32;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::dim => dims.push(self.dim(base, &part)?),
                _ => element = self.element(base, &part)?,
            }
        }
        let tensor = TensorType { dims, element };
        if tensor.bytes().is_some_and(|bytes| bytes > MAX_TENSOR_BYTES) {
            self.report(
                Diagnostic::error(&codes::TENSOR_TOO_LARGE, span, "this tensor needs more than 2^60 bytes")
                    .help("no machine holds such a tensor; is an extent mistyped?"),
            );
            return None;
        }
        Some(TypeData::Tensor(tensor))
    }

    fn dim(&mut self, base: usize, pair: &Pair<'s, Rule>) -> Option<Dim> {
        let text = pair.as_str();
        if text == "?" {
            return Some(Dim::Unknown);
        }
        if let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let name = self.unquoted(name);
            return Some(Dim::Symbol(self.module.interner.name(&name)));
        }
        match text.parse() {
            Ok(size) => Some(Dim::Static(size)),
            Err(_) => {
                let message = format!("the extent {text} does not fit into 64 bits");
                self.error(&codes::TENSOR_TOO_LARGE, self.pair_span(base, pair), message);
                None
            }
        }
    }

    fn element(&mut self, base: usize, pair: &Pair<'s, Rule>) -> Option<ElementType> {
        let text = pair.as_str();
        let compact: String;
        let spelled = if text.starts_with("complex") {
            compact = text.chars().filter(|c| !c.is_whitespace()).collect();
            compact.as_str()
        } else {
            text
        };
        let element = ElementType::from_name(spelled);
        if element.is_none() {
            let known = ElementType::ALL.iter().map(|element| element.name());
            let help = suggest::did_you_mean(spelled, known);
            let message = format!("there is no element type `{spelled}`");
            let span = self.pair_span(base, pair);
            self.report(Diagnostic::error(&codes::UNKNOWN_TYPE, span, message).maybe_help(help));
        }
        element
    }

    fn plain_type(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<TypeData> {
        let span = self.pair_span(base, &pair);
        let mut parts = pair.into_inner();
        let name = parts.next()?.as_str();
        let raw = parts.next();
        if raw.is_none() {
            if let Some(element) = ElementType::from_name(name) {
                return Some(TypeData::Element(element));
            }
            if name == "token" {
                return Some(TypeData::Token);
            }
        }
        let Some(def) = self.module.registry().parametric_type(name) else {
            if name == "token" || ElementType::from_name(name).is_some() {
                self.error(&codes::SYNTAX, span, format!("`{name}` takes no parameters"));
                return None;
            }
            if name == "dense" {
                let message = "a constant needs its type: `dense<…> : tensor<…>`";
                self.error(&codes::BAD_LITERAL, span, message);
                return None;
            }
            let elements = ElementType::ALL.iter().map(|element| element.name());
            let registry = self.module.registry();
            let known = elements.chain(["token", "tensor", "tuple", "complex"]).chain(registry.type_names());
            let help = suggest::did_you_mean(name, known);
            let message = format!("there is no type `{name}`");
            self.report(Diagnostic::error(&codes::UNKNOWN_TYPE, span, message).maybe_help(help));
            return None;
        };
        let (text, at) = raw.map_or(("", 0), |raw| (raw.as_str(), base + raw.as_span().start()));
        let params = self.parameters_of(def, text, at, span, depth)?;
        Some(TypeData::Dialect(DialectType { def, params }))
    }

    /// A word that may stand in quotes.
    pub(super) fn unquoted(&mut self, text: &str) -> String {
        if text.starts_with('"') { super::literals::unescape(text) } else { text.to_owned() }
    }

    /// What a word means as an attribute.
    pub(super) fn keyword_attr(text: &str) -> Option<AttrData> {
        Some(match text {
            "unit" => AttrData::Unit,
            "true" => AttrData::Bool(true),
            "false" => AttrData::Bool(false),
            _ => return None,
        })
    }
}
