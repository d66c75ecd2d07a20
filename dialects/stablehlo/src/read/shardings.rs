//! The ops of Shardy.

use super::{
    Read, Reader,
    statement::{Kind as OpKind, Op},
};
use crate::{
    dialect::{MANUAL_AXES, MESH_ATTR, OUT_SHARDING, SHARDING, SHARDING_PER_VALUE},
    syntax::Kind,
};

impl<'s> Reader<'s> {
    /// `sdy.mesh @mesh = <["x"=2]>`.
    pub(super) fn mesh(&mut self, op: &mut Op<'s>) -> Read {
        self.defined_symbol(op)?;
        self.expect(b'=')?;
        self.next();
        let start = self.at;
        let mesh = self.bare_attribute(&MESH_ATTR)?;
        let span = self.span(start, self.at);
        self.push(op, "mesh", mesh, span);
        self.attribute_dictionary(op)
    }

    /// `sdy.sharding_constraint %x <@mesh, […]> : type`.
    pub(super) fn sharding_op(&mut self, op: &mut Op<'s>) -> Read {
        let operand = self.value()?;
        op.operand(operand);
        self.next();
        let start = self.at;
        let sharding = self.bare_attribute(&SHARDING)?;
        let span = self.span(start, self.at);
        self.push(op, "sharding", sharding, span);
        self.attribute_dictionary(op)?;
        self.expect(b':')?;
        op.types.push(self.ty()?);
        Ok(())
    }

    /// `sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, […]> : type`.
    pub(super) fn collective(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        for attribute in kind.syntax.attributes {
            let Kind::Axes(def) = attribute.kind else { continue };
            self.next();
            let start = self.at;
            let params = self.parameters_of(def)?;
            let span = self.span(start, self.at);
            let attr = self.checked(def, params, span)?;
            self.push(op, attribute.ours, attr, span);
        }
        let operand = self.value()?;
        op.operand(operand);
        self.next();
        let start = self.at;
        self.expect_word(OUT_SHARDING)?;
        self.expect(b'=')?;
        let sharding = self.bare_attribute(&SHARDING)?;
        let span = self.span(start, self.at);
        self.push(op, OUT_SHARDING, sharding, span);
        self.attribute_dictionary(op)?;
        self.expect(b':')?;
        op.types.push(self.ty()?);
        Ok(())
    }

    /// `sdy.manual_computation(%x) in_shardings=[…] out_shardings=[…] manual_axes={…} (%a: type) { … } : (types) -> types`.
    pub(super) fn manual_computation(&mut self, op: &mut Op<'s>) -> Read {
        self.operands(op, b'(', b')')?;
        self.computation(op)
    }

    /// `sdy.named_computation<"name">(%x) in_shardings=[…] out_shardings=[…] (%a: type) { … } : (types) -> types`.
    pub(super) fn named_computation(&mut self, op: &mut Op<'s>) -> Read {
        self.expect(b'<')?;
        self.next();
        let start = self.at;
        let name = tofu_syntax::literals::unescape(self.quoted()?);
        let name = self.module.interner.string(&name);
        let span = self.span(start, self.at);
        self.push(op, "name", name, span);
        self.expect(b'>')?;
        self.operands(op, b'(', b')')?;
        self.computation(op)
    }

    fn computation(&mut self, op: &mut Op<'s>) -> Read {
        while let word @ ("in_shardings" | "out_shardings" | "manual_axes") = self.peek_word() {
            let start = self.at;
            self.at += word.len();
            self.expect(b'=')?;
            let def = if word == "manual_axes" { &MANUAL_AXES } else { &SHARDING_PER_VALUE };
            let params = self.parameters_of(def)?;
            let span = self.span(start, self.at);
            let attr = self.checked(def, params, span)?;
            self.push(op, word, attr, span);
        }
        self.attribute_dictionary(op)?;
        op.is_damaged |= std::mem::take(&mut self.is_doubtful);
        let arguments = self.arguments()?;
        let blocks = self.isolated(|reader| reader.region(Some(&arguments)))?;
        op.regions.push(blocks);
        self.expect(b':')?;
        self.signature(op)
    }
}
