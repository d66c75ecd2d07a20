//! Building ops at a place.
//!
//! ```
//! # use std::sync::Arc;
//! # use tofu_ir::{Builder, Dialect, ElementType, Module, OpDef, Registry, op, tensor};
//! # static ADD: OpDef = op("math.add")
//! #     .operands(&[tensor("a"), tensor("b")])
//! #     .results(&[tensor("sum")])
//! #     .infer_types(|module, op| Ok(vec![module.value_type(module.operand(op, 0)).clone()]));
//! # static MATH: Dialect =
//! #     Dialect { name: "math", summary: "", ops: &[&ADD], types: &[], attributes: &[], constant: None };
//! let mut module = Module::new(Arc::new(Registry::new(&[&MATH]).unwrap()));
//! let ty = module.interner.tensor(&[4], ElementType::F32);
//! let block = module.body();
//! let x = module.append_argument(block, ty);
//! let mut builder = Builder::at_end(&mut module, block);
//! let sum = builder.op(&ADD).operands([x, x]).infer()?;
//! assert_eq!(module.ty(module.result(sum, 0)), ty);
//! # Ok::<(), tofu_diagnostics::Diagnostic>(())
//! ```

use tofu_diagnostics::{Diagnostic, codes};

use crate::{
    Attr, BlockId, Instances, Module, Name, OpDef, OpId, OpState, RegionId, Successor, Type, TypeInference,
    ValueId,
};

/// A place in a program where ops are added.
#[derive(Debug)]
pub struct Builder<'m> {
    /// The program.
    pub module: &'m mut Module,
    place: Place,
    origin: Option<OpId>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    End(BlockId),
    Before(OpId),
}

impl<'m> Builder<'m> {
    /// Adds at the end of a block.
    pub fn at_end(module: &'m mut Module, block: BlockId) -> Builder<'m> {
        Builder { module, place: Place::End(block), origin: None }
    }

    /// Adds before an op. New ops come from where that op comes from, until [`origin`](Builder::origin) says otherwise.
    pub fn before(module: &'m mut Module, op: OpId) -> Builder<'m> {
        Builder { module, place: Place::Before(op), origin: Some(op) }
    }

    /// New ops come from where this op comes from.
    pub fn origin(mut self, op: OpId) -> Builder<'m> {
        self.origin = Some(op);
        self
    }

    /// Begins an op.
    pub fn op(&mut self, def: &'static OpDef) -> OpBuilder<'_, 'm> {
        OpBuilder { state: OpState::new(def), attrs: Vec::new(), builder: self }
    }

    fn finish(&mut self, mut state: OpState, attrs: &[(Name, Attr)]) -> OpId {
        if !attrs.is_empty() {
            state.attrs = Some(self.module.interner.dict(attrs));
        }
        let op = self.module.create(state);
        if let Some(origin) = self.origin {
            self.module.inherit_place(op, origin);
        }
        op
    }

    fn insert(&mut self, op: OpId) {
        match self.place {
            Place::End(block) => self.module.append(block, op),
            Place::Before(anchor) => self.module.insert_before(anchor, op),
        }
    }
}

/// An op being built.
#[must_use]
#[derive(Debug)]
pub struct OpBuilder<'b, 'm> {
    builder: &'b mut Builder<'m>,
    state: OpState,
    attrs: Vec<(Name, Attr)>,
}

impl OpBuilder<'_, '_> {
    /// Adds an operand.
    pub fn operand(mut self, value: ValueId) -> Self {
        self.state.operands.push(value);
        self
    }

    /// Adds operands.
    pub fn operands(mut self, values: impl IntoIterator<Item = ValueId>) -> Self {
        self.state.operands.extend(values);
        self
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: &str, attr: Attr) -> Self {
        let name = self.builder.module.interner.name(name);
        self.attrs.push((name, attr));
        self
    }

    /// Adds a region; its blocks are added later.
    pub fn region(mut self) -> Self {
        self.state.regions += 1;
        self
    }

    /// Adds a block to continue at, with what it is given.
    pub fn successor(mut self, block: BlockId, arguments: impl IntoIterator<Item = ValueId>) -> Self {
        let before = self.state.operands.len();
        self.state.operands.extend(arguments);
        let argument_count = (self.state.operands.len() - before) as u32;
        self.state.successors.push(Successor { block, argument_count });
        self
    }

    /// Adds a result.
    pub fn result(mut self, ty: Type) -> Self {
        self.state.results.push(ty);
        self
    }

    /// Adds results.
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> Self {
        self.state.results.extend(types);
        self
    }

    /// Makes the op, with the results that were added.
    pub fn build(self) -> OpId {
        let op = self.builder.finish(self.state, &self.attrs);
        self.builder.insert(op);
        op
    }

    /// Makes the op, with the results that follow from the rest of it.
    ///
    /// # Errors
    /// When the op's operands or attributes do not fit; nothing is added then.
    pub fn infer(self) -> Result<OpId, Diagnostic> {
        let OpBuilder { builder, state, attrs } = self;
        let op = builder.finish(state, &attrs);
        // Types may depend on what symbols mean, which takes a place in the program.
        builder.insert(op);
        if let Err(mut found) = builder.module.infer_results(op) {
            builder.module.erase(op);
            return Err(found.swap_remove(0));
        }
        Ok(op)
    }
}

impl Module {
    /// The result types that follow from the rest of an op.
    ///
    /// # Errors
    /// When they do not follow, because the op does not say how or because something in it is wrong: at least one
    /// diagnostic.
    pub fn infer_types(&mut self, op: OpId) -> Result<Vec<Type>, Vec<Diagnostic>> {
        crate::verify::check_shape_of_op(self, op)?;
        let def = self.def(op);
        let Some(infer) = def.type_inference() else {
            if def.results.is_empty() {
                return Ok(Vec::new());
            }
            let message = format!("the result types of `{}` must be written", def.written_name());
            return Err(vec![
                self.error(op, &codes::CANNOT_INFER_TYPE, message)
                    .help("write them after the op: `: tensor<…>`"),
            ]);
        };
        match infer {
            TypeInference::Computed(infer) => {
                let types = infer(self, op).map_err(|diagnostic| vec![diagnostic])?;
                Ok(types.into_iter().map(|data| self.interner.ty(data)).collect())
            }
            TypeInference::Instances(infer) => {
                let Instances { types, extents } = infer(self, op).map_err(|diagnostic| vec![diagnostic])?;
                Ok(types.into_iter().map(|ty| self.interner.instantiate(ty, &extents)).collect())
            }
        }
    }

    /// Gives an op the results that follow from the rest of it: for an op that was built without, because its regions
    /// had to be filled first.
    ///
    /// # Errors
    /// Like [`infer_types`](Module::infer_types); the op stays without results then.
    pub fn infer_results(&mut self, op: OpId) -> Result<(), Vec<Diagnostic>> {
        let types = self.infer_types(op)?;
        self.append_results(op, &types);
        Ok(())
    }

    /// The only region of an op that has one.
    pub fn only_region(&self, op: OpId) -> Option<RegionId> {
        (self.region_count(op) == 1).then(|| self.region(op, 0))
    }
}
