//! Copying ops with all that is in them, inside a module or from one module into another.
//!
//! Copying between modules is also how functions are handed to threads: each thread works on a module of its own, and
//! what it made is copied back in the order of the functions, so that ids do not depend on which thread was faster.
//!
//! An op is first read into a flat [`Recipe`] that borrows nothing. Then it is built, between modules with its interned
//! ids translated. Operands are set last, when every value that they may name exists.

use rustc_hash::FxHashMap;
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
    Recipe::read(module, op).build(module, values, None)
}

/// Copies an op of `source` into `target`, like [`copy_op`]. A value from outside that `values` does not name becomes one
/// that nothing defines, a block from outside one that stands nowhere; both are put in place or reported by the verifier.
pub fn copy_op_from(source: &Module, op: OpId, target: &mut Module, values: &mut ValueMap) -> OpId {
    Recipe::read(source, op).build(target, values, Some(Translation::new(source)))
}

/// Copies an op of `source` that has neither operands nor results into `target`, with its attributes and with regions
/// without blocks: of a function, the declaration.
pub fn copy_head_from(source: &Module, op: OpId, target: &mut Module) -> OpId {
    let mut recipe = Recipe::default();
    recipe.read_op(source, op);
    recipe.build(target, &mut ValueMap::default(), Some(Translation::new(source)))
}

/// A description of an op and all that is in it. Each op stands before its inner ones.
#[derive(Default)]
struct Recipe {
    ops: Vec<OpRecipe>,
    blocks: Vec<BlockRecipe>,
}

struct OpRecipe {
    state: OpState,
    operands: Vec<ValueId>,
    results: Vec<ValueRecipe>,
    /// For each region, its blocks.
    regions: Vec<Vec<usize>>,
    spans: OpSpans,
    operand_spans: Vec<Span>,
    attr_spans: Vec<(Name, Span)>,
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
                    let arguments = module.arguments(block).iter();
                    let arguments = arguments.map(|&value| ValueRecipe::read(module, value)).collect();
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
        let results = module.results(op).map(|value| ValueRecipe::read(module, value)).collect();
        let mut state = OpState::new(module.def(op)).attrs(module.attr_dict(op));
        state.regions = module.region_count(op) as u16;
        state.successors = module.successors(op).to_vec();
        state.location = Some(module.location(op));
        let spans = module.spans[op];
        let operand_spans = &module.operand_spans[spans.first_operand as usize..];
        let attr_spans = &module.attr_spans[spans.first_attr as usize..];
        self.ops.push(OpRecipe {
            state,
            operands: module.operands(op).collect(),
            results,
            regions: Vec::new(),
            spans,
            operand_spans: operand_spans[..spans.operand_count as usize].to_vec(),
            attr_spans: attr_spans[..spans.attr_count as usize].to_vec(),
        });
    }

    /// Makes what is described. Without a translation it is of the same module, and what is outside stays what it is.
    fn build(
        mut self,
        module: &mut Module,
        values: &mut ValueMap,
        mut translation: Option<Translation<'_>>,
    ) -> OpId {
        if let Some(translation) = &mut translation {
            translation.recipe(&mut module.interner, &mut self);
        }
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
            let mut operands = recipe.operands.clone();
            for value in &mut operands {
                *value = match (values.get(value), &mut translation) {
                    (Some(&known), _) => known,
                    (None, None) => *value,
                    (None, Some(translation)) => {
                        let ty = translation.ty(&mut module.interner, translation.source.ty(*value));
                        *values.entry(*value).or_insert_with(|| module.create_forward_value(ty))
                    }
                };
            }
            if !operands.is_empty() {
                module.set_operands(copy, &operands);
            }
            if !recipe.state.successors.is_empty() {
                let mut successors = recipe.state.successors.clone();
                for successor in &mut successors {
                    successor.block = match (blocks.get(&successor.block), &translation) {
                        (Some(&known), _) => known,
                        (None, None) => successor.block,
                        (None, Some(_)) => {
                            *blocks.entry(successor.block).or_insert_with(|| module.create_block())
                        }
                    };
                }
                module.set_successors(copy, successors);
            }
            let OpRecipe { spans, operand_spans, attr_spans, .. } = recipe;
            module.set_named_spans(copy, spans.name, spans.whole, operand_spans, attr_spans);
        }
        copies[0]
    }
}

impl ValueRecipe {
    fn read(module: &Module, value: ValueId) -> ValueRecipe {
        ValueRecipe {
            original: value,
            ty: module.ty(value),
            name: module.value_name(value),
            span: module.value_spans[value],
        }
    }

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
            op.attr_spans.iter_mut().for_each(|entry| entry.0 = self.name(target, entry.0));
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
            LocationData::Fused { parts, metadata } => LocationData::Fused {
                parts: parts.iter().map(|&part| self.location(target, part)).collect(),
                metadata: metadata.map(|metadata| self.attr(target, metadata)),
            },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SCOPE, any_op, end, f32, function, module};
    use crate::{Builder, Compared, Definition, digest, verify};

    /// An op with two blocks that uses `x` and what is defined inside.
    fn scope(module: &mut Module, block: BlockId, x: ValueId) -> OpId {
        let op = Builder::at_end(module, block).op(&SCOPE).region().build();
        let region = module.region(op, 0);
        let (first, second) = (module.append_block(region), module.append_block(region));
        let ty = f32(module);
        let argument = module.append_argument(second, ty);
        let inner = any_op(module, first, &[x], 2);
        let name = module.interner.name("inner");
        module.set_value_name(module.result(inner, 1), Some(name));
        module.set_block_name(second, Some(name));
        let y = module.result(inner, 1);
        let mut builder = Builder::at_end(module, first);
        builder.op(&crate::testing::END).successor(second, [y]).build();
        any_op(module, second, &[argument, y, x], 0);
        end(module, second, &[]);
        op
    }

    const ALL: Compared = Compared { names: true, locations: true };

    #[test]
    fn a_copy_stands_on_its_own() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let source = any_op(&mut module, block, &[], 2);
        let (x, other) = (module.result(source, 0), module.result(source, 1));
        let op = scope(&mut module, block, x);
        let copy = copy_op(&mut module, op, &mut ValueMap::default());
        module.append(block, copy);
        assert_eq!(digest(&module, copy, ALL), digest(&module, op, ALL));
        // Values from outside can be exchanged.
        let replaced = copy_op(&mut module, op, &mut ValueMap::from_iter([(x, other)]));
        module.append(block, replaced);
        let users = |value| module.uses(value).map(|(user, _)| module.parent(user)).collect::<Vec<_>>();
        assert_eq!(users(x), [Some(op), Some(op), Some(copy), Some(copy)]);
        assert_eq!(users(other), [Some(replaced), Some(replaced)]);
        end(&mut module, block, &[]);
        assert!(verify(&module).is_empty());
        module.erase(op);
        assert!(verify(&module).is_empty());
    }

    #[test]
    fn a_copy_in_another_module_is_equal() {
        let mut source = module();
        let (function, block) = function(&mut source, "f");
        let values = any_op(&mut source, block, &[], 1);
        let x = source.result(values, 0);
        scope(&mut source, block, x);
        end(&mut source, block, &[]);
        let name = source.interner.name("place");
        let child = source.interner.unknown_location();
        let location = source.interner.location(LocationData::Named { name, child });
        source.set_location(values, location);
        let unit = source.interner.attr(AttrData::Unit);
        source.set_attr(values, "a", unit);
        let (whole, part) = (Span::new(10, 20), Span::new(12, 13));
        source.set_spans(values, whole, whole, &[], &[part]);

        let mut target = module();
        // So that the same content has other numbers.
        let names: Vec<Name> = ["z", "y", "f"].iter().map(|name| target.interner.name(name)).collect();
        target.interner.tensor(&[1], crate::ElementType::I8);
        let copy = copy_op_from(&source, function, &mut target, &mut ValueMap::default());
        let body = target.body();
        target.append(body, copy);
        assert_eq!(digest(&target, copy, ALL), digest(&source, function, ALL));
        assert_eq!(target.symbol_name(copy), Some(names[2]));
        let values = target.walk(copy).nth(1).unwrap();
        assert_eq!((target.span(values), target.attr_span(values, "a")), (whole, part));
        assert!(verify(&target).is_empty());
        // Nothing in it is defined elsewhere.
        for op in target.walk(copy) {
            assert!(target.operands(op).all(|value| target.definition(value) != Definition::None));
        }
    }

    #[test]
    fn uses_may_come_before_definitions() {
        let mut source = module();
        let (function, block) = function(&mut source, "f");
        let user = any_op(&mut source, block, &[], 0);
        let value = any_op(&mut source, block, &[], 1);
        let x = source.result(value, 0);
        source.set_operands(user, &[x, x]);
        let mut target = module();
        let copy = copy_op_from(&source, function, &mut target, &mut ValueMap::default());
        assert_eq!(digest(&target, copy, ALL), digest(&source, function, ALL));
        let ops: Vec<OpId> = target.walk(copy).skip(1).collect();
        assert!(target.operands(ops[0]).all(|operand| operand == target.result(ops[1], 0)));
    }

    #[test]
    fn what_another_module_lacks_is_reported() {
        let mut source = module();
        let (_, block) = function(&mut source, "f");
        let outside = any_op(&mut source, block, &[], 1);
        let x = source.result(outside, 0);
        let user = any_op(&mut source, block, &[x, x], 0);
        let leaves = end(&mut source, block, &[block]);

        // In the other module these ids mean something else.
        let mut target = module();
        let (_, body) = function(&mut target, "g");
        let other = any_op(&mut target, body, &[], 8);
        let mut values = ValueMap::default();
        for op in [user, leaves] {
            let copy = copy_op_from(&source, op, &mut target, &mut values);
            target.append(body, copy);
        }
        assert!(target.results(other).all(|value| !target.has_uses(value)));
        let copies: Vec<OpId> = target.ops(body).skip(1).collect();
        let stand_in = target.operand(copies[0], 0);
        assert_eq!((target.operand(copies[0], 1), values[&x]), (stand_in, stand_in));
        assert_eq!(target.definition(stand_in), Definition::None);
        assert_eq!(target.type_text(target.ty(stand_in)), "f32");
        assert_eq!(target.region_of(target.successors(copies[1])[0].block), None);
        let messages: Vec<String> = verify(&target).into_iter().map(|found| found.message).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
    }
}
