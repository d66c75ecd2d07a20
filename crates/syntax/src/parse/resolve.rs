//! Result types that the text leaves out.
//!
//! An op's result types follow once its operands' types are known. Ops are taken in the order of the text; an op whose
//! operands come later waits for them. What never gets a type has been reported already, directly or through the
//! value it depends on.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{OpId, Profile, Trait, Type, TypeData};

use super::Parser;

impl Parser<'_> {
    pub(super) fn resolve_types(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let mut known = FxHashMap::default();
        let mut open: FxHashSet<OpId> = pending.iter().copied().collect();
        let mut queue: VecDeque<OpId> = pending.into();
        while let Some(op) = queue.pop_front() {
            if !open.contains(&op) || self.waits(op) {
                continue;
            }
            open.remove(&op);
            self.resolve(op, &mut known);
            // Whoever waited for this op came earlier in the text.
            for result in self.module.results(op) {
                queue.extend(
                    self.module.uses(result).map(|(user, _)| user).filter(|user| open.contains(user)),
                );
            }
        }
        self.report_cycle(open);
    }

    /// Reports ops that wait for one another.
    fn report_cycle(&mut self, mut open: FxHashSet<OpId>) {
        // Those that wait for something that was reported wait in vain, and so does whoever waits for them.
        let mut damaged: Vec<OpId> = open.iter().copied().filter(|&op| self.damaged_input(op)).collect();
        while let Some(op) = damaged.pop() {
            if open.remove(&op) {
                let users = self.module.results(op).flat_map(|result| self.module.uses(result));
                damaged.extend(users.map(|(user, _)| user));
            }
        }
        // The first of them is where the text can say more.
        if let Some(&op) = open.iter().min() {
            let message = "the result types depend on each other and must be written";
            self.cycle = Some(self.module.error(op, &codes::CANNOT_INFER_TYPE, message));
        }
    }

    fn waits(&self, op: OpId) -> bool {
        self.module.operands(op).any(|operand| matches!(self.module.value_type(operand), TypeData::Error))
    }

    /// Whether an operand has no type for a reason that was reported.
    fn damaged_input(&self, op: OpId) -> bool {
        let module = &self.module;
        module.operands(op).any(|operand| {
            matches!(module.value_type(operand), TypeData::Error)
                && module.defining_op(operand).is_none_or(|def| self.damage.ops.contains(&def))
        }) || self.damage.ops.contains(&op)
    }

    /// Gives an op its types. `known` holds those of ops that are alike.
    fn resolve(&mut self, op: OpId, known: &mut FxHashMap<Profile, Vec<Type>>) {
        let named = self.module.result_count(op);
        match self.types_of(op, known) {
            // They rest on something that the verifier says is wrong.
            Ok(types) if types.contains(&self.error_type) => {
                self.damage.ops.insert(op);
            }
            Ok(types) if named == 0 => self.module.append_results(op, &types),
            Ok(types) if types.len() == named => {
                for (index, ty) in types.into_iter().enumerate() {
                    let result = self.module.result(op, index);
                    self.module.set_type(result, ty);
                }
            }
            Ok(types) => {
                let name = self.module.def(op).written_name();
                let given = plural(types.len(), "result");
                let message = format!("`{name}` gives {given}, not {named}");
                let span = self.module.value_span(self.module.result(op, 0)).or(self.module.span(op));
                self.report(Diagnostic::error(&codes::WRONG_RESULT_COUNT, span, message));
                self.damage.ops.insert(op);
            }
            Err(found) => {
                // The verifier says which symbol means nothing, and what may have been meant.
                if !self.misses_symbol(op) {
                    found.into_iter().for_each(|diagnostic| self.report(diagnostic));
                }
                self.damage.ops.insert(op);
            }
        }
    }

    fn types_of(
        &mut self,
        op: OpId,
        known: &mut FxHashMap<Profile, Vec<Type>>,
    ) -> Result<Vec<Type>, Vec<Diagnostic>> {
        let is_local = self.module.has(op, Trait::Local);
        let Some(profile) = is_local.then(|| Profile::of(&self.module, op)).flatten() else {
            return self.module.infer_types(op);
        };
        if let Some(types) = known.get(&profile) {
            return Ok(types.clone());
        }
        let types = self.module.infer_types(op)?;
        known.insert(profile, types.clone());
        Ok(types)
    }

    /// Whether an op mentions a symbol that means nothing.
    fn misses_symbol(&self, op: OpId) -> bool {
        let mut is_missing = false;
        self.module.visit_symbols_of_op(op, &mut |path| {
            is_missing |= self.module.resolve_symbol(op, path).is_none();
        });
        is_missing
    }
}
