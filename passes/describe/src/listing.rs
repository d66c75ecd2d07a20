//! What the listings share.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use tofu_dialect_func as func;
use tofu_ir::{Control, ElementType, Module, OpId, Profile, Syntax, Trait, Type, ValueId};
use tofu_syntax::ValueNames;
use tofu_tdl::{Analysis, Description, Descriptions, solve_op};

/// A function whose ops are listed.
pub(crate) struct Listing<'m> {
    module: &'m Module,
    function: OpId,
    names: ValueNames,
    descriptions: Descriptions,
}

/// What is known of an op by its description.
pub(crate) struct Described {
    pub(crate) description: Description,
    pub(crate) analysis: std::sync::Arc<Analysis>,
    /// Its extents and element types, if all are known.
    pub(crate) instance: Option<Instance>,
}

/// The extents and the element types of a description, each in its order.
pub(crate) struct Instance {
    pub(crate) extents: Vec<u64>,
    pub(crate) types: Vec<ElementType>,
}

impl<'m> Listing<'m> {
    pub(crate) fn new(module: &'m Module, function: OpId) -> Listing<'m> {
        let names = ValueNames::of(module, function);
        Listing { module, function, names, descriptions: Descriptions::new() }
    }

    /// `func @f:` and a line break.
    pub(crate) fn title(&self) -> String {
        let name = self.module.symbol_name(self.function).map_or("", |name| self.module.text(name));
        let mut out = format!("{} @", self.module.def(self.function).written_name());
        tofu_ir::write_word(&mut out, name);
        out + ":\n"
    }

    /// The ops that compute something, in their order. What is in the regions of an op with a description is a part of it.
    /// `wanted` leaves out others than the ops of this name, or the one that defines the value of this name with its
    /// `%`; without it, none is left out.
    pub(crate) fn ops(&self, wanted: &str) -> Vec<OpId> {
        let module = self.module;
        let inside = |op: OpId| {
            let blocks = module.regions(op).flat_map(|region| module.blocks(region));
            blocks.flat_map(|&block| module.ops(block)).collect::<Vec<OpId>>()
        };
        let mut ops = Vec::new();
        let mut pending = inside(self.function);
        pending.reverse();
        while let Some(op) = pending.pop() {
            let def = module.def(op);
            let is_described = def.interface::<tofu_tdl::Describe>().is_some();
            let computes = def.interface::<Control>().is_none() && !def.has(Trait::Terminator);
            if computes && !module.is(op, &func::CALL) && self.is_wanted(op, wanted) {
                ops.push(op);
            }
            if !is_described {
                let before = pending.len();
                pending.extend(inside(op));
                pending[before..].reverse();
            }
        }
        ops
    }

    fn is_wanted(&self, op: OpId, wanted: &str) -> bool {
        let def = self.module.def(op);
        match wanted.strip_prefix('%') {
            Some(name) => self.module.results(op).any(|result| self.name(result) == name),
            None => wanted.is_empty() || wanted == def.name || Some(wanted) == def.keyword,
        }
    }

    /// What `body` says of each op, below the op's head; of ops that are alike, of the first one. An op without a
    /// description is listed with the reason.
    pub(crate) fn text(&self, wanted: &str, body: impl Fn(&Described) -> String) -> String {
        let mut out = self.title();
        let mut known: FxHashMap<Profile, OpId> = FxHashMap::default();
        for op in self.ops(wanted) {
            let profile = Profile::of(self.module, op);
            if let Some(&first) = profile.as_ref().and_then(|profile| known.get(profile)) {
                // Writing into a string cannot fail.
                let _ = writeln!(out, "  {}: like {}", self.head(op), self.results(first));
                continue;
            }
            let _ = writeln!(out, "  {} : {}", self.head(op), self.types(op));
            let text = match self.describe(op) {
                Ok(described) => body(&described),
                Err(reason) => format!("{reason}\n"),
            };
            for line in text.lines() {
                let _ = writeln!(out, "    {line}");
            }
            known.extend(profile.map(|profile| (profile, op)));
        }
        out
    }

    /// What is known of an op, or why nothing is.
    pub(crate) fn describe(&self, op: OpId) -> Result<Described, String> {
        let (description, analysis) =
            self.descriptions.of(self.module, op).map_err(|diagnostic| diagnostic.message)?;
        let solution = solve_op(self.module, op, &description).ok();
        let instance = solution.and_then(|solution| {
            Some(Instance { extents: solution.static_extents()?, types: solution.types })
        });
        Ok(Described { description, analysis, instance })
    }

    /// `%y = tdl.call @f %x`.
    pub(crate) fn head(&self, op: OpId) -> String {
        let module = self.module;
        let def = module.def(op);
        let mut out = self.results(op);
        if !out.is_empty() {
            out.push_str(" = ");
        }
        out.push_str(def.written_name());
        if let Syntax::Symbol(attribute) = def.syntax
            && let Some(symbol) = module.attr(op, attribute)
        {
            let _ = write!(out, " {}", module.display_attr(symbol));
        }
        for (index, operand) in module.operands(op).enumerate() {
            out.push_str(if index == 0 { " %" } else { ", %" });
            self.names.write_value(&mut out, module, operand);
        }
        out
    }

    fn results(&self, op: OpId) -> String {
        let names: Vec<String> =
            self.module.results(op).map(|result| format!("%{}", self.name(result))).collect();
        names.join(", ")
    }

    fn name(&self, value: ValueId) -> String {
        let mut out = String::new();
        self.names.write_value(&mut out, self.module, value);
        out
    }

    fn types(&self, op: OpId) -> String {
        let module = self.module;
        let list = |types: &mut dyn Iterator<Item = Type>| {
            types.map(|ty| module.type_text(ty)).collect::<Vec<_>>().join(", ")
        };
        let operands = list(&mut module.operands(op).map(|operand| module.ty(operand)));
        let results = list(&mut module.results(op).map(|result| module.ty(result)));
        if module.result_count(op) == 1 {
            format!("({operands}) -> {results}")
        } else {
            format!("({operands}) -> ({results})")
        }
    }
}
