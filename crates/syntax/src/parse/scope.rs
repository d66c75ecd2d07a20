//! Names of values while a text is read.
//!
//! A scope holds the names of one isolated op. A use may come before the definition (blocks stand in any order); until
//! then a forward value stands in, and the definition takes over its uses. Names defined in a region are forgotten at
//! its end.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::ValueId;

use super::Parser;

#[derive(Default)]
pub(super) struct Scope<'s> {
    values: FxHashMap<&'s str, Named>,
    /// Names in the order they were defined.
    defined: Vec<&'s str>,
    /// Names used before their definition.
    forward: Vec<&'s str>,
    /// Some definition could not be read, so that an unknown name may be no mistake.
    pub(super) lenient: bool,
}

#[derive(Clone, Copy)]
struct Named {
    value: ValueId,
    span: Span,
    is_defined: bool,
}

impl<'s> Parser<'s> {
    fn scope(&mut self) -> &mut Scope<'s> {
        // The outermost scope is closed only when everything is read.
        #[expect(clippy::expect_used, reason = "`new` opens a scope and `finish` closes it last")]
        self.scopes.last_mut().expect("a scope is open")
    }

    /// The value called `name` (without `%`), used at `span`.
    pub(super) fn use_value(&mut self, name: &'s str, span: Span) -> ValueId {
        if let Some(named) = self.scope().values.get(name) {
            return named.value;
        }
        let value = self.module.create_forward_value(self.error_type);
        let scope = self.scope();
        scope.values.insert(name, Named { value, span, is_defined: false });
        scope.forward.push(name);
        value
    }

    /// Calls `value` `name`, written at `span`.
    pub(super) fn define_value(&mut self, name: &'s str, value: ValueId, span: Span) {
        self.module.set_value_span(value, span);
        match self.scope().values.get(name).copied() {
            Some(first) if first.is_defined => {
                let message = format!("`%{name}` is defined twice");
                return self.report(
                    Diagnostic::error(&codes::REDEFINED_VALUE, span, message)
                        .secondary(first.span, "it is defined here first")
                        .help("give one of them another name"),
                );
            }
            Some(forward) => self.module.replace_all_uses(forward.value, value),
            None => {}
        }
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            let name = self.module.interner.name(name);
            self.module.set_value_name(value, Some(name));
        }
        let scope = self.scope();
        scope.values.insert(name, Named { value, span, is_defined: true });
        scope.defined.push(name);
    }

    /// Lets `name` stand for a value that could not be read.
    pub(super) fn define_unreadable(&mut self, name: &'s str, span: Span) {
        if self.scope().values.get(name).is_none_or(|named| !named.is_defined) {
            let value = self.module.create_forward_value(self.error_type);
            self.define_value(name, value, span);
        }
    }

    pub(super) fn open_scope(&mut self, lenient: bool) {
        self.scopes.push(Scope { lenient, ..Scope::default() });
    }

    /// Ends an isolated op: what was used and never defined is a mistake.
    pub(super) fn close_scope(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        if scope.lenient {
            return;
        }
        let mut known: Vec<String> = Vec::new();
        for name in scope.forward {
            let Some(named) = scope.values.get(name).filter(|named| !named.is_defined) else { continue };
            if self.stopped {
                return;
            }
            let outside =
                |scope: &Scope<'s>| scope.values.get(name).filter(|named| named.is_defined).copied();
            if let Some(outside) = self.scopes.iter().rev().find_map(outside) {
                let message =
                    format!("`%{name}` is defined outside of an op that sees no value from outside");
                self.report(
                    Diagnostic::error(&codes::ISOLATION, named.span, message)
                        .secondary(outside.span, "it is defined here")
                        .help("hand it over as an argument"),
                );
                continue;
            }
            if known.is_empty() {
                known = scope.defined.iter().map(|name| format!("%{name}")).collect();
                known.sort_unstable();
            }
            let name = format!("%{name}");
            let help = suggest::did_you_mean(&name, known.iter().map(String::as_str));
            let message = format!("`{name}` is not defined");
            self.report(Diagnostic::error(&codes::UNDEFINED_VALUE, named.span, message).maybe_help(help));
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
            scope.values.remove(name);
        }
    }
}
