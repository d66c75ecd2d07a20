//! Names of values while a text is read.
//!
//! A scope holds the names of one isolated op; those defined in a region are forgotten at its end. A definition comes
//! before all uses, as it does in every program of one block a region, and StableHLO has no others.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{EntityId, OpId, ValueId};

use super::{Read, Reader};

#[derive(Default)]
pub(super) struct Scope<'s> {
    names: FxHashMap<&'s str, Named>,
    /// Names in the order they were defined.
    defined: Vec<&'s str>,
}

/// What a name stands for: a value, or all results of an op.
#[derive(Clone, Copy)]
struct Named {
    first: ValueId,
    count: u32,
    span: Span,
    /// The definition could not be read, so that any use of it may be right.
    is_unreadable: bool,
}

impl<'s> Reader<'s> {
    fn scope(&mut self) -> &mut Scope<'s> {
        // The outermost scope is never closed.
        #[expect(
            clippy::expect_used,
            reason = "`new` opens a scope, and every other is closed by who opened it"
        )]
        self.scopes.last_mut().expect("a scope is open")
    }

    /// A use of a value, `%name` or `%name#1`, and where it stands.
    pub(super) fn value(&mut self) -> Read<(ValueId, Span)> {
        if self.next() != b'%' {
            return self.expected("a value (`%name`)");
        }
        let start = self.at;
        let name = self.name_after_sigil();
        if name.is_empty() {
            self.at = start;
            return self.expected("a value (`%name`)");
        }
        let mut index = None;
        if self.text[self.at..].starts_with('#') {
            self.at += 1;
            let digits = self.peek_number();
            index = digits.parse::<u32>().ok();
            self.at += digits.len();
        }
        let span = self.span(start, self.at);
        Ok((self.lookup(name, index, span), span))
    }

    /// The value called `name`; one of the error type if there is none, which is reported.
    fn lookup(&mut self, name: &'s str, index: Option<u32>, span: Span) -> ValueId {
        let error_type = self.error_type;
        let Some(named) = self.scope().names.get(name).copied() else {
            self.undefined(name, span);
            let value = self.module.create_forward_value(error_type);
            self.bind(name, Named { first: value, count: 1, span, is_unreadable: true });
            return value;
        };
        if named.is_unreadable {
            return named.first;
        }
        let index = index.unwrap_or(0);
        if index < named.count {
            return ValueId::from_index(named.first.index() + index as usize);
        }
        let message = format!("`%{name}` has no result {index}: it stands for {} values", named.count);
        self.report(
            Diagnostic::error(&codes::UNDEFINED_VALUE, span, message)
                .secondary(named.span, "it is defined here"),
        );
        self.module.create_forward_value(error_type)
    }

    fn undefined(&mut self, name: &'s str, span: Span) {
        if let Some(outside) = self.scopes.iter().rev().find_map(|scope| scope.names.get(name).copied()) {
            let message = format!("`%{name}` is defined outside of an op that sees no value from outside");
            return self.report(
                Diagnostic::error(&codes::ISOLATION, span, message)
                    .secondary(outside.span, "it is defined here")
                    .help("hand it over as an argument"),
            );
        }
        let known = self.scope().defined.clone();
        let help = suggest::did_you_mean(name, known);
        let help =
            help.map(|help| help.replace("mean `", "mean `%").replace(" `", " `%").replace("`%%", "`%"));
        let message = format!("`%{name}` is not defined before it is used");
        self.report(Diagnostic::error(&codes::UNDEFINED_VALUE, span, message).maybe_help(help));
    }

    fn bind(&mut self, name: &'s str, named: Named) {
        let scope = self.scope();
        scope.names.insert(name, named);
        scope.defined.push(name);
    }

    /// Calls `count` values from `first` on `name`, written at `span`.
    fn define(&mut self, name: &'s str, first: ValueId, count: u32, span: Span) {
        if let Some(earlier) = self.scope().names.get(name).copied().filter(|earlier| !earlier.is_unreadable)
        {
            let message = format!("`%{name}` is defined twice");
            return self.report(
                Diagnostic::error(&codes::REDEFINED_VALUE, span, message)
                    .secondary(earlier.span, "it is defined here first")
                    .help("give one of them another name"),
            );
        }
        // A number is no name, and of the other characters that may begin one in MLIR our text has but these.
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        for index in 0..count {
            let value = ValueId::from_index(first.index() + index as usize);
            self.module.set_value_span(value, span);
            if !is_name {
                continue;
            }
            let name = match count {
                1 => self.module.interner.name(name),
                _ => self.module.interner.name(&format!("{name}_{index}")),
            };
            self.module.set_value_name(value, Some(name));
        }
        self.bind(name, Named { first, count, span, is_unreadable: false });
    }

    /// Calls an argument `name`.
    pub(super) fn define_argument(&mut self, name: &'s str, value: ValueId, span: Span) {
        self.define(name, value, 1, span);
    }

    /// Calls results of `op` what they were called: each name stands for so many of them.
    pub(super) fn define_results(&mut self, op: OpId, names: &[(&'s str, u32, Span)]) {
        let mut at = 0;
        for &(name, count, span) in names {
            if at + count as usize > self.module.result_count(op) {
                return self.define_unreadable(name, span);
            }
            // Results of an op follow one another.
            self.define(name, self.module.result(op, at), count, span);
            at += count as usize;
        }
    }

    /// Lets `name` stand for values that could not be read.
    pub(super) fn define_unreadable(&mut self, name: &'s str, span: Span) {
        if !self.scope().names.contains_key(name) {
            let first = self.module.create_forward_value(self.error_type);
            self.bind(name, Named { first, count: 1, span, is_unreadable: true });
        }
    }

    /// Marks the start of a region.
    pub(super) fn scope_mark(&mut self) -> usize {
        self.scope().defined.len()
    }

    /// Forgets the names defined since a mark.
    pub(super) fn scope_release(&mut self, mark: usize) {
        let scope = self.scope();
        for name in scope.defined.drain(mark..) {
            scope.names.remove(name);
        }
    }
}
