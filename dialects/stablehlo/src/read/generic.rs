//! The generic form: `"op"(%x) <{properties}> ({ regions }) {attributes} : (types) -> types`.

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_dialect_func::FUNC;
use tofu_ir::{Trait, Type};

use super::{
    Read, Reader,
    statement::{Kind, Op},
};

impl<'s> Reader<'s> {
    pub(super) fn generic(&mut self, op: &mut Op<'s>, kind: Kind) -> Read {
        self.operands(op, b'(', b')')?;
        if self.next() == b'[' {
            let span = self.token().1;
            let message = "ops that continue at other blocks are not read";
            return self.fail(&codes::WRONG_SUCCESSORS, span, message);
        }
        if self.take(b'<') {
            self.entries(&mut op.attributes)?;
            op.property_count = op.attributes.len();
            self.expect(b'>')?;
        }
        if self.next() == b'(' {
            op.is_damaged |= std::mem::take(&mut self.is_doubtful);
            self.regions(op, kind)?;
        }
        if self.next() == b'{' {
            self.entries(&mut op.attributes)?;
        }
        self.expect(b':')?;
        self.signature(op)?;
        op.location = self.optional_location()?;
        self.end_of_statement()
    }

    /// `({ … }, { … })`.
    fn regions(&mut self, op: &mut Op<'s>, kind: Kind) -> Read {
        self.expect(b'(')?;
        while !self.take(b')') {
            if op.regions.len() > 0 {
                self.comma_or(")")?;
            }
            if op.regions.len() == usize::from(u16::MAX) {
                let message = format!("an op has at most {} regions", u16::MAX);
                return self.fail(&codes::WRONG_REGIONS, op.name_span, message);
            }
            let blocks = match kind.def {
                Some(def) if std::ptr::eq(def, &FUNC) => self.function_body(|reader| reader.region(None)),
                Some(def) if def.has(Trait::Isolated) => self.isolated(|reader| reader.region(None)),
                _ => self.region(None),
            };
            op.regions.push(blocks?);
        }
        Ok(())
    }

    /// `(%x, %y)`.
    pub(super) fn operands(&mut self, op: &mut Op<'s>, open: u8, close: u8) -> Read {
        self.expect(open)?;
        let first = op.operands.len();
        while !self.take(close) {
            if op.operands.len() > first {
                self.comma_or(")")?;
            }
            let operand = self.value()?;
            op.operand(operand);
        }
        Ok(())
    }

    /// `(types) -> types`, of which the first must be those of the operands.
    pub(super) fn signature(&mut self, op: &mut Op<'s>) -> Read {
        self.next();
        let start = self.at;
        self.expect(b'(')?;
        let inputs = self.types_until(b')')?;
        if !self.take_text("->") {
            return self.expected("`->` and the result types");
        }
        self.check_inputs(op, &inputs, start);
        op.types = self.result_types()?;
        Ok(())
    }

    /// Says so if the types written for the operands, at `start`, are not theirs.
    pub(super) fn check_inputs(&mut self, op: &mut Op<'s>, inputs: &[Type], start: usize) {
        if inputs.len() != op.operands.len() {
            let given = plural(op.operands.len(), "operand");
            let written = plural(inputs.len(), "type");
            let message = format!("the op has {given}, but {written} written for them");
            let span = self.span(start, self.at);
            self.error(&codes::WRONG_OPERAND_COUNT, span, message);
            op.is_damaged = true;
            return;
        }
        for (index, &written) in inputs.iter().enumerate() {
            let value = op.operands[index];
            let ty = self.module.ty(value);
            if ty == written || ty == self.error_type || written == self.error_type {
                continue;
            }
            let message = format!(
                "`{}` is a `{}`, but is used as a `{}`",
                self.written(op.operand_spans[index]),
                self.module.type_text(ty),
                self.module.type_text(written)
            );
            self.report(
                Diagnostic::error(&codes::WRONG_OPERAND_TYPE, op.operand_spans[index], message)
                    .secondary(self.module.value_span(value), "it is defined here"),
            );
            op.is_damaged = true;
        }
    }

    /// Reads in a scope of its own, which sees no value from outside.
    pub(super) fn isolated<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.scopes.push(super::Scope::default());
        let result = read(self);
        self.scopes.pop();
        result
    }

    /// The same, in the body of a function.
    pub(super) fn function_body<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let outer = std::mem::replace(&mut self.function_depth, self.depth + 1);
        let result = self.isolated(read);
        self.function_depth = outer;
        result
    }

    /// Says so if more follows on the line of an op that ends here.
    pub(super) fn end_of_statement(&mut self) -> Read {
        let next = self.next();
        let between = &self.text[self.end()..self.at];
        // Another op may follow on the line; anything else may not.
        let word = self.peek_word();
        let is_op = matches!(next, b'%' | b'"') || word.contains('.') || super::recover::is_keyword(word);
        if is_op || between.contains('\n') || matches!(next, b'}' | b'^' | b'{' | 0) {
            return Ok(());
        }
        self.expected("the rest of this op or the end of the line")
    }
}
