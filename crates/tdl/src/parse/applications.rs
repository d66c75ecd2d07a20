//! Calls of functions, reductions and opaque functions.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes, suggest};

use super::lower::{Lowering, Place};
use super::tree::{Binder, Expr, Opaque, Word};
use crate::description::*;
use crate::scalar::{BinaryOp, UnaryOp};

/// The reducers that need no definition.
pub(crate) const REDUCERS: [(&str, Reducer); 6] = [
    ("sum", Reducer::Sum),
    ("prod", Reducer::Prod),
    ("max", Reducer::Max),
    ("min", Reducer::Min),
    ("and", Reducer::And),
    ("or", Reducer::Or),
];

impl<'t> Lowering<'t, '_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Expr<'t>],
        expr: &Expr<'t>,
        place: Place,
    ) -> ScalarId {
        match (UnaryOp::from_name(name), BinaryOp::from_name(name), arguments) {
            (Some(op), _, [a]) => {
                let keeps =
                    !matches!(op, UnaryOp::IsFinite | UnaryOp::OrderKey | UnaryOp::Real | UnaryOp::Imag);
                let value = self.scalar(a, if keeps { place } else { Place::Free });
                self.b.at(expr.span).unary(op, value)
            }
            (_, Some(op), [a, b]) => {
                let place = if op == BinaryOp::Complex { Place::Free } else { place };
                let (a, b) = self.pair(a, b, place);
                self.b.at(expr.span).binary(op, a, b)
            }
            (Some(_), ..) | (_, Some(_), _) => {
                let count = if UnaryOp::from_name(name).is_some() { "one value" } else { "two values" };
                let message = format!("`{name}` takes {count}, not {}", arguments.len());
                self.b.at(expr.span).report(&codes::TDL_WRONG_RANK, message);
                self.nothing()
            }
            _ => {
                let names = UnaryOp::NAMED.map(UnaryOp::name).into_iter();
                let names = names.chain(BinaryOp::CALLS.map(BinaryOp::name)).chain(REDUCERS.map(|r| r.0));
                let message = format!("unknown function `{name}`");
                let help = suggest::did_you_mean(name, names);
                let error = Diagnostic::error(&codes::TDL_UNKNOWN_NAME, expr.span, message).maybe_help(help);
                self.b.note(error);
                self.nothing()
            }
        }
    }

    pub(super) fn reduce(
        &mut self,
        reducer: Word<'t>,
        binders: &[Binder<'t>],
        bodies: &[Expr<'t>],
        component: Option<u32>,
        expr: &Expr<'t>,
        place: Place,
    ) -> ScalarId {
        let builtin = REDUCERS.iter().find(|(name, _)| *name == reducer.text).map(|(_, reducer)| *reducer);
        let custom = self.combiners.get(reducer.text).map(|&combiner| Reducer::Custom(combiner));
        let Some(which) = builtin.or(custom) else {
            let names = REDUCERS.map(|r| r.0).into_iter().chain(self.combiners.keys().copied());
            let message = format!("unknown reducer `{}`", reducer.text);
            let help = suggest::did_you_mean(reducer.text, names);
            let error = Diagnostic::error(&codes::TDL_UNKNOWN_NAME, reducer.span, message).maybe_help(help);
            self.b.note(error);
            return self.nothing();
        };
        let vars = self.bind(binders, &[], bodies);
        let types: SmallVec<[TypeRef; 2]> = match which {
            Reducer::Custom(combiner) => self.b.combiner_types(combiner),
            _ => SmallVec::new(),
        };
        let values: Vec<ScalarId> = bodies
            .iter()
            .enumerate()
            .map(|(number, body)| {
                let place = types.get(number).map_or(place, |&ty| Place::Of(ty));
                self.scalar(body, place)
            })
            .collect();
        self.unbind(vars.len());
        self.b.at(expr.span).reduce_many(which, &vars, &values, component.unwrap_or(0))
    }

    pub(super) fn opaque(&mut self, call: &Opaque<'t>, expr: &Expr<'t>) -> ScalarId {
        let name = call.function.text.trim_matches('"');
        let Some(function) = self.registry.get(name) else {
            let message = format!("unknown opaque function {}", call.function.text);
            let help = suggest::did_you_mean(name, self.registry.names());
            let error = Diagnostic::error(&codes::TDL_UNKNOWN_OPAQUE, call.function.span, message);
            self.b.note(error.maybe_help(help));
            return self.nothing();
        };
        let mut arguments = Vec::new();
        for (word, slots) in &call.arguments {
            let dims = slots.iter().map(|slot| slot.as_ref().map(|index| self.index(index))).collect();
            let Some(source) = self.tensor(*word) else { return self.nothing() };
            arguments.push(Slice { source, dims });
        }
        let mut comparator = None;
        if let Some(word) = call.comparator {
            comparator = self.combiners.get(word.text).copied();
            if comparator.is_none() {
                let message = format!("unknown comparator `{}`", word.text);
                let help = suggest::did_you_mean(word.text, self.combiners.keys().copied());
                let error = Diagnostic::error(&codes::TDL_UNKNOWN_NAME, word.span, message);
                self.b.note(error.maybe_help(help));
                return self.nothing();
            }
        }
        let indices: Vec<IndexId> = call.indices.iter().map(|index| self.index(index)).collect();
        let call = OpaqueCall {
            function: name.into(),
            constants: call.constants.clone().into(),
            comparator,
            arguments: arguments.into(),
            result: call.component,
        };
        self.b.at(expr.span).opaque(function, call, &indices)
    }
}
