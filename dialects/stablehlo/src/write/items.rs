//! Modules, functions, and the ops of Shardy.

use std::fmt::Write as _;

use tofu_dialect_func::VISIBILITY;
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, AttrData, FUNCTION_TYPE, OpId, RESULT_ATTRIBUTES, SYMBOL_NAME, TypeData,
    write_string, write_word,
};

use super::{Foreign, Writer};
use crate::dialect::OUT_SHARDING;

impl Writer<'_> {
    /// `module @name attributes {…} { … }`.
    pub(super) fn module_op(&mut self, foreign: &Foreign) -> Option<()> {
        let body = self.module.only_region(foreign.op)?;
        self.out.push_str("module");
        self.defined_symbol(foreign.op);
        self.keyword_attributes(foreign, &[SYMBOL_NAME]);
        self.out.push(' ');
        self.region(body, true);
        Some(())
    }

    /// `@name`, if the op defines one.
    fn defined_symbol(&mut self, op: OpId) {
        if let Some(name) = self.module.symbol_name(op) {
            self.out.push_str(" @");
            write_word(&mut self.out, self.module.text(name));
        }
    }

    /// `attributes {…}`.
    fn keyword_attributes(&mut self, foreign: &Foreign, except: &[&str]) {
        let (mut all, others) = self.attributes(foreign, except);
        all.extend(others);
        if !all.is_empty() {
            self.out.push_str(" attributes ");
            self.braced(&all);
        }
    }

    /// `func.func public @name(%x: type {…}) -> (type {…}) attributes {…} { … }`.
    pub(super) fn function(&mut self, foreign: &Foreign) -> Option<()> {
        let module = self.module;
        let op = foreign.op;
        let function = tofu_dialect_func::signature(module, op)?;
        let entry = tofu_dialect_func::body(module, op);
        self.out.push_str("func.func");
        if let Some(AttrData::String(visibility)) = module.attr_value(op, VISIBILITY) {
            let _ = write!(self.out, " {visibility}");
        }
        self.defined_symbol(op);
        self.out.push('(');
        for (index, &ty) in function.inputs.iter().enumerate() {
            self.separate(index);
            if let Some(entry) = entry {
                self.value(*module.arguments(entry).get(index)?);
                self.out.push_str(": ");
            }
            self.ty(ty);
            self.item_attributes(op, ARGUMENT_ATTRIBUTES, index);
        }
        self.out.push(')');
        match *function.results {
            [] => {}
            [ty] if module.attr(op, RESULT_ATTRIBUTES).is_none()
                && !matches!(module.type_data(ty), TypeData::Function(_)) =>
            {
                self.out.push_str(" -> ");
                self.ty(ty);
            }
            ref results => {
                self.out.push_str(" -> (");
                for (index, &ty) in results.iter().enumerate() {
                    self.separate(index);
                    self.ty(ty);
                    self.item_attributes(op, RESULT_ATTRIBUTES, index);
                }
                self.out.push(')');
            }
        }
        let said = [ARGUMENT_ATTRIBUTES, FUNCTION_TYPE, RESULT_ATTRIBUTES, SYMBOL_NAME, VISIBILITY];
        self.keyword_attributes(foreign, &said);
        if entry.is_some() {
            self.out.push(' ');
            self.region(module.only_region(op)?, true);
        }
        Some(())
    }

    fn item_attributes(&mut self, op: OpId, list: &str, index: usize) {
        let Some(AttrData::Array(items)) = self.module.attr_value(op, list) else { return };
        let Some(&item) = items.get(index) else { return };
        if !self.module.dict(item).is_empty() {
            self.out.push(' ');
            self.attr(item);
        }
    }

    /// `sdy.mesh @mesh = <["x"=2]>`.
    pub(super) fn mesh(&mut self, foreign: &Foreign) -> Option<()> {
        let mesh = self.bare_text(self.module.attr(foreign.op, "mesh")?)?;
        self.out.push_str(&foreign.name);
        self.defined_symbol(foreign.op);
        let _ = write!(self.out, " = {mesh}");
        self.dictionary(foreign, &["mesh", SYMBOL_NAME]);
        Some(())
    }

    /// `sdy.sharding_constraint %x <@mesh, […]> : type`.
    pub(super) fn sharding_op(&mut self, foreign: &Foreign) -> Option<()> {
        let module = self.module;
        let sharding = self.bare_text(module.attr(foreign.op, "sharding")?)?;
        let _ = write!(self.out, "{} ", foreign.name);
        self.values(module.operands(foreign.op));
        let _ = write!(self.out, " {sharding}");
        self.dictionary(foreign, &["sharding"]);
        self.out.push_str(" : ");
        self.type_list(module.results(foreign.op).map(|result| module.ty(result)));
        Some(())
    }

    /// `sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, […]> : type`.
    pub(super) fn collective(&mut self, foreign: &Foreign) -> Option<()> {
        let module = self.module;
        let sharding = self.bare_text(module.attr(foreign.op, OUT_SHARDING)?)?;
        let _ = write!(self.out, "{} ", foreign.name);
        let mut written = vec![OUT_SHARDING];
        for attribute in foreign.syntax.attributes {
            let AttrData::Dialect(axes) = module.attr_value(foreign.op, attribute.ours)? else { return None };
            let axes = self.parameters(axes);
            let _ = write!(self.out, "{axes} ");
            written.push(attribute.ours);
        }
        self.values(module.operands(foreign.op));
        let _ = write!(self.out, " {OUT_SHARDING}={sharding}");
        self.dictionary(foreign, &written);
        self.out.push_str(" : ");
        self.type_list(module.results(foreign.op).map(|result| module.ty(result)));
        Some(())
    }

    /// `sdy.manual_computation(%x) in_shardings=[…] out_shardings=[…] manual_axes={…} (%a: type) { … } : (types) ->
    /// types`, or `sdy.named_computation<"name">(%x) …`.
    pub(super) fn computation(&mut self, foreign: &Foreign, is_named: bool) -> Option<()> {
        let module = self.module;
        let op = foreign.op;
        let body = module.only_region(op)?;
        self.out.push_str(&foreign.name);
        if is_named {
            let AttrData::String(name) = module.attr_value(op, "name")? else { return None };
            self.out.push('<');
            write_string(&mut self.out, name);
            self.out.push('>');
        }
        self.parenthesized_operands(op);
        for key in ["in_shardings", "out_shardings", "manual_axes"] {
            if let Some(AttrData::Dialect(attr)) = module.attr_value(op, key) {
                let text = self.parameters(attr);
                let _ = write!(self.out, " {key}={text}");
            }
        }
        self.dictionary(foreign, &["name", "in_shardings", "out_shardings", "manual_axes"]);
        self.out.push(' ');
        self.arguments(module.arguments(module.entry(body)?));
        self.out.push(' ');
        self.region(body, true);
        self.out.push_str(" : ");
        self.functional_type(op, None);
        Some(())
    }
}
