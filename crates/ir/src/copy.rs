//! Copying ops with all that is in them, inside a module or from one module into another.
//!
//! Copying between modules is also how functions are handed to threads: each thread works on a module of its own, and
//! what it made is copied back in the order of the functions, so that ids do not depend on which thread was faster.
//!
//! An op is first read into a flat [`Recipe`] that borrows nothing; between modules the recipe's interned ids are
//! translated; then it is built. Operands are set last, when every value that they may name exists.

use rustc_hash::{FxHashMap, FxHashSet};
use tofu_diagnostics::Span;

use crate::{
    Attr, AttrData, BlockId, DenseConstant, DialectAttr, DialectType, Dim, FunctionType, Interner, Location,
    LocationData, Module, Name, OpId, OpState, SymbolRef, TensorType, Type, TypeData, ValueId,
    module::OpSpans,
};

/// Which values of the copy stand for which of the original.
pub type ValueMap = FxHashMap<ValueId, ValueId>;

/// Copies an op with all that is in it; the copy stands nowhere yet. `values` says what to use in place of values from
/// outside (those it does not name are used as they are), and learns what stands for each value defined by the op.
pub fn copy_op(module: &mut Module, op: OpId, values: &mut ValueMap) -> OpId {
    let recipe = Recipe::read(module, op);
    recipe.build(module, values)
}

/// Copies an op of `source` into `target`, like [`copy_op`]. Every value from outside the op must be in `values`.
pub fn copy_op_from(source: &Module, op: OpId, target: &mut Module, values: &mut ValueMap) -> OpId {
    let mut recipe = Recipe::read(source, op);
    for operand in recipe.ops.iter().flat_map(|op| &op.operands) {
        debug_assert!(
            values.contains_key(operand) || recipe.values.contains(operand),
            "a value from outside has no counterpart"
        );
    }
    Translation::new(source).recipe(&mut target.interner, &mut recipe);
    recipe.build(target, values)
}

/// Copies an op of `source` that has neither operands nor results into `target`, with its attributes and with regions
/// without blocks: of a function, the declaration.
pub fn copy_head_from(source: &Module, op: OpId, target: &mut Module) -> OpId {
    let mut recipe = Recipe::default();
    recipe.read_op(source, op);
    Translation::new(source).recipe(&mut target.interner, &mut recipe);
    recipe.build(target, &mut ValueMap::default())
}

/// A description of an op and all that is in it. Each op stands before its inner ones.
#[derive(Default)]
struct Recipe {
    ops: Vec<OpRecipe>,
    blocks: Vec<BlockRecipe>,
    /// What is defined inside.
    values: FxHashSet<ValueId>,
}

struct OpRecipe {
    state: OpState,
    operands: Vec<ValueId>,
    results: Vec<ValueRecipe>,
    /// For each region, its blocks.
    regions: Vec<Vec<usize>>,
    spans: OpSpans,
    pooled_spans: Vec<Span>,
}

struct BlockRecipe {
    original: BlockId,
    name: Option<Name>,
    arguments: Vec<ValueRecipe>,
    ops: Vec<usize>,
}

struct ValueRecipe {
    original: ValueId,
    ty: Type,
    name: Option<Name>,
    span: Span,
}

impl Recipe {
    fn read(module: &Module, op: OpId) -> Recipe {
        let mut recipe = Recipe::default();
        recipe.read_op(module, op);
        // The list of ops grows while it is worked through: no recursion over the depth of the program.
        let mut originals = vec![op];
        let mut at = 0;
        while at < originals.len() {
            for region in module.regions(originals[at]) {
                let mut blocks = Vec::new();
                for &block in module.blocks(region) {
                    let mut ops = Vec::new();
                    for inner in module.ops(block) {
                        ops.push(recipe.ops.len());
                        recipe.read_op(module, inner);
                        originals.push(inner);
                    }
                    blocks.push(recipe.blocks.len());
                    let arguments =
                        module.arguments(block).iter().map(|&value| recipe.read_value(module, value));
                    let arguments = arguments.collect();
                    recipe.blocks.push(BlockRecipe {
                        original: block,
                        name: module.block_name(block),
                        arguments,
                        ops,
                    });
                }
                recipe.ops[at].regions.push(blocks);
            }
            at += 1;
        }
        recipe
    }

    fn read_op(&mut self, module: &Module, op: OpId) {
        let results = module.results(op).map(|value| self.read_value(module, value)).collect();
        let mut state = OpState::new(module.def(op)).attrs(module.attr_dict(op));
        state.regions = module.region_count(op) as u16;
        state.successors = module.successors(op).to_vec();
        state.location = Some(module.location(op));
        let spans = module.spans[op];
        let pooled_spans = module.span_pool[spans.first as usize..]
            [..(spans.operand_count + spans.attr_count) as usize]
            .to_vec();
        self.ops.push(OpRecipe {
            state,
            operands: module.operands(op).collect(),
            results,
            regions: Vec::new(),
            spans,
            pooled_spans,
        });
    }

    fn read_value(&mut self, module: &Module, value: ValueId) -> ValueRecipe {
        self.values.insert(value);
        ValueRecipe {
            original: value,
            ty: module.ty(value),
            name: module.value_name(value),
            span: module.value_spans[value],
        }
    }

    fn build(self, module: &mut Module, values: &mut ValueMap) -> OpId {
        let mut copies = Vec::with_capacity(self.ops.len());
        let mut blocks: FxHashMap<BlockId, BlockId> = FxHashMap::default();
        for recipe in &self.ops {
            let state = recipe.state.clone().results(recipe.results.iter().map(|result| result.ty));
            let copy = module.create(state);
            for (new, result) in module.results(copy).zip(&recipe.results) {
                result.build(module, new, values);
            }
            copies.push(copy);
        }
        for (&copy, recipe) in copies.iter().zip(&self.ops) {
            for (index, region) in recipe.regions.iter().enumerate() {
                for block in region.iter().map(|&block| &self.blocks[block]) {
                    let new = module.append_block(module.region(copy, index));
                    module.set_block_name(new, block.name);
                    blocks.insert(block.original, new);
                    for argument in &block.arguments {
                        let value = module.append_argument(new, argument.ty);
                        argument.build(module, value, values);
                    }
                    for &inner in &block.ops {
                        module.append(new, copies[inner]);
                    }
                }
            }
        }
        for (&copy, recipe) in copies.iter().zip(&self.ops) {
            let operands: Vec<ValueId> =
                recipe.operands.iter().map(|value| *values.get(value).unwrap_or(value)).collect();
            if !operands.is_empty() {
                module.set_operands(copy, &operands);
            }
            if !recipe.state.successors.is_empty() {
                let mut successors = recipe.state.successors.clone();
                for successor in &mut successors {
                    successor.block = *blocks.get(&successor.block).unwrap_or(&successor.block);
                }
                module.set_successors(copy, successors);
            }
            let spans = recipe.spans;
            let (operand_spans, attr_spans) = recipe.pooled_spans.split_at(spans.operand_count as usize);
            module.set_spans(copy, spans.name, spans.whole, operand_spans, attr_spans);
        }
        copies[0]
    }
}

impl ValueRecipe {
    fn build(&self, module: &mut Module, value: ValueId, values: &mut ValueMap) {
        if self.name.is_some() {
            module.set_value_name(value, self.name);
        }
        if !self.span.is_none() {
            module.set_value_span(value, self.span);
        }
        values.insert(self.original, value);
    }
}

/// Interned ids of one module as ids of another.
struct Translation<'s> {
    source: &'s Module,
    names: FxHashMap<Name, Name>,
    types: FxHashMap<Type, Type>,
    attrs: FxHashMap<Attr, Attr>,
    locations: FxHashMap<Location, Location>,
}

impl<'s> Translation<'s> {
    fn new(source: &'s Module) -> Translation<'s> {
        Translation {
            source,
            names: FxHashMap::default(),
            types: FxHashMap::default(),
            attrs: FxHashMap::default(),
            locations: FxHashMap::default(),
        }
    }

    fn recipe(&mut self, target: &mut Interner, recipe: &mut Recipe) {
        for op in &mut recipe.ops {
            op.state.attrs = op.state.attrs.map(|attrs| self.attr(target, attrs));
            op.state.location = op.state.location.map(|location| self.location(target, location));
            op.results.iter_mut().for_each(|value| self.value(target, value));
        }
        for block in &mut recipe.blocks {
            block.name = block.name.map(|name| self.name(target, name));
            block.arguments.iter_mut().for_each(|value| self.value(target, value));
        }
    }

    fn value(&mut self, target: &mut Interner, value: &mut ValueRecipe) {
        value.ty = self.ty(target, value.ty);
        value.name = value.name.map(|name| self.name(target, name));
    }

    fn name(&mut self, target: &mut Interner, name: Name) -> Name {
        *self.names.entry(name).or_insert_with(|| target.name(self.source.text(name)))
    }

    fn ty(&mut self, target: &mut Interner, ty: Type) -> Type {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let data = match self.source.type_data(ty) {
            data @ (TypeData::Element(_) | TypeData::Token | TypeData::Error) => data.clone(),
            TypeData::Tensor(tensor) => {
                let dim = |dim: &Dim| match *dim {
                    Dim::Symbol(name) => Dim::Symbol(self.name(target, name)),
                    other => other,
                };
                let dims = tensor.dims.iter().map(dim).collect();
                TypeData::Tensor(TensorType { dims, element: tensor.element })
            }
            TypeData::Tuple(items) => {
                TypeData::Tuple(items.iter().map(|&item| self.ty(target, item)).collect())
            }
            TypeData::Function(function) => TypeData::Function(FunctionType {
                inputs: function.inputs.iter().map(|&input| self.ty(target, input)).collect(),
                results: function.results.iter().map(|&result| self.ty(target, result)).collect(),
            }),
            TypeData::Dialect(dialect) => {
                let params = self.attr(target, dialect.params);
                TypeData::Dialect(DialectType { def: dialect.def, params })
            }
        };
        let translated = target.ty(data);
        self.types.insert(ty, translated);
        translated
    }

    fn attr(&mut self, target: &mut Interner, attr: Attr) -> Attr {
        if let Some(&known) = self.attrs.get(&attr) {
            return known;
        }
        let data = match self.source.attr_data(attr) {
            AttrData::Symbol(path) => {
                AttrData::Symbol(path.iter().map(|&name| self.name(target, name)).collect::<SymbolRef>())
            }
            AttrData::Type(ty) => AttrData::Type(self.ty(target, *ty)),
            AttrData::Array(items) => {
                AttrData::Array(items.iter().map(|&item| self.attr(target, item)).collect())
            }
            AttrData::Dict(entries) => AttrData::Dict(
                entries
                    .iter()
                    .map(|&(name, attr)| (self.name(target, name), self.attr(target, attr)))
                    .collect(),
            ),
            AttrData::Dense(dense) => {
                AttrData::Dense(DenseConstant { ty: self.ty(target, dense.ty), data: dense.data.clone() })
            }
            AttrData::Pair(left, right) => {
                AttrData::Pair(self.attr(target, *left), self.attr(target, *right))
            }
            AttrData::Dialect(dialect) => {
                let params = self.attr(target, dialect.params);
                AttrData::Dialect(DialectAttr { def: dialect.def, params })
            }
            data @ (AttrData::Unit
            | AttrData::Bool(_)
            | AttrData::Int(..)
            | AttrData::Float(..)
            | AttrData::String(_)
            | AttrData::Ints(_)) => data.clone(),
        };
        let translated = target.attr(data);
        self.attrs.insert(attr, translated);
        translated
    }

    fn location(&mut self, target: &mut Interner, location: Location) -> Location {
        if let Some(&known) = self.locations.get(&location) {
            return known;
        }
        let data = match self.source.location_data(location) {
            LocationData::Unknown => LocationData::Unknown,
            LocationData::File { file, line, column } => {
                LocationData::File { file: self.name(target, *file), line: *line, column: *column }
            }
            LocationData::Named { name, child } => {
                LocationData::Named { name: self.name(target, *name), child: self.location(target, *child) }
            }
            LocationData::Fused(parts) => {
                LocationData::Fused(parts.iter().map(|&part| self.location(target, part)).collect())
            }
            LocationData::Call { callee, caller } => LocationData::Call {
                callee: self.location(target, *callee),
                caller: self.location(target, *caller),
            },
        };
        let translated = target.location(data);
        self.locations.insert(location, translated);
        translated
    }
}
