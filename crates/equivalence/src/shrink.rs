//! The same program on smaller tensors, where the real ones are too large to be run.
//!
//! Which extents belong together is what the descriptions say: dimensions that an op counts by one extent are one class, and so are those of
//! values that control hands on. The largest class that may shrink does so first, until the program is small enough. Whether
//! it may is tried: the program with the smaller extent must be valid, so what attributes, constants and reshapes hold stays as it is.
//!
//! An extent keeps its remainder by the number of devices, so that shares are padded as before.

use rustc_hash::FxHashMap;
use tofu_ir::{
    AttrData, Control, DenseData, Dim, EntityId, FUNCTION_TYPE, FunctionType, Module, OpId, TensorType,
    Trait, Type, TypeData, VALUE, ValueId, verify,
};
use tofu_tdl::{Descriptions, Index, IndexId, OpaqueRegistry, Part, cost, solve_op};

/// How many elements each device has at least of what has shrunk.
const PER_DEVICE: u64 = 2;

/// What has come of it.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The program.
    pub module: Module,
    /// How much work is left, as [`work`] counts it.
    pub work: u64,
    /// The extents that have shrunk: what they were, and what they are.
    pub extents: Vec<(u64, u64)>,
}

/// How much there is to do when a function is run once: operations on elements, and elements that are moved.
pub fn work(module: &Module, function: OpId, descriptions: &Descriptions) -> u64 {
    let registry = OpaqueRegistry::builtin();
    let of = |op: OpId| -> Option<u64> {
        let (description, _) = descriptions.of(module, op).ok()?;
        let solution = solve_op(module, op, &description).ok()?;
        let extents = solution.static_extents()?;
        let cost = cost(&description, &extents, &solution.types, &Part::default(), &registry);
        Some(cost.flops.saturating_add(cost.bytes_read).saturating_add(cost.bytes_written))
    };
    module.walk(function).filter_map(of).fold(0, u64::saturating_add)
}

/// A program whose function has at most so much work, as far as extents can shrink.
pub fn shrink(
    module: &Module,
    function: OpId,
    descriptions: &Descriptions,
    devices: u64,
    limit: u64,
) -> Shrunk {
    let mut shrunk =
        Shrunk { module: module.clone(), work: work(module, function, descriptions), extents: Vec::new() };
    if shrunk.work <= limit {
        return shrunk;
    }
    let mut classes = Classes::default();
    classes.link(module, function, descriptions);
    let mut all: Vec<(u64, Vec<(ValueId, usize)>)> = classes.extents(module);
    all.sort_by_key(|&(extent, _)| std::cmp::Reverse(extent));
    for (extent, dims) in all {
        let least = extent % devices + PER_DEVICE.saturating_mul(devices);
        if shrunk.work <= limit {
            break;
        }
        if extent <= least {
            continue;
        }
        if resize(&mut shrunk.module, function, &dims, least) {
            shrunk.extents.push((extent, least));
            // Of the new types, nothing is known.
            shrunk.work = work(&shrunk.module, function, &Descriptions::new());
        }
    }
    shrunk
}

/// Gives dimensions another extent, if the program is valid then.
fn resize(module: &mut Module, function: OpId, dims: &[(ValueId, usize)], extent: u64) -> bool {
    let before: Vec<(ValueId, Type)> = dims.iter().map(|&(value, _)| (value, module.ty(value))).collect();
    let old_signature = module.attr(function, FUNCTION_TYPE);
    let mut constants: Vec<(OpId, tofu_ir::Attr)> = Vec::new();
    for &(value, dim) in dims {
        let Some(mut ty) = module.tensor_type(value).cloned() else { continue };
        ty.dims[dim] = Dim::Static(extent);
        let new = module.interner.ty(TypeData::Tensor(ty));
        module.set_type(value, new);
        if let Some(op) = module.defining_op(value).filter(|&op| module.has(op, Trait::Constant)) {
            constants.extend(module.attr(op, VALUE).map(|attr| (op, attr)));
            resize_constant(module, op, new);
        }
    }
    set_signature(module, function);
    if verify(module).is_empty() {
        return true;
    }
    for (value, ty) in before.into_iter().rev() {
        module.set_type(value, ty);
    }
    for (op, attr) in constants.into_iter().rev() {
        module.set_attr(op, VALUE, attr);
    }
    if let Some(signature) = old_signature {
        module.set_attr(function, FUNCTION_TYPE, signature);
    }
    false
}

/// A constant of which all elements are one, of another type.
fn resize_constant(module: &mut Module, op: OpId, ty: Type) {
    let Some(AttrData::Dense(constant)) = module.attr_value(op, VALUE) else { return };
    if !matches!(constant.data, DenseData::Splat(_)) {
        return;
    }
    let mut constant = constant.clone();
    constant.ty = ty;
    let attr = module.interner.attr(AttrData::Dense(constant));
    module.set_attr(op, VALUE, attr);
}

/// Gives a function the type that its arguments and what it returns have.
fn set_signature(module: &mut Module, function: OpId) {
    let Some(block) = module.regions(function).next().and_then(|region| module.entry(region)) else { return };
    let inputs: Vec<Type> = module.arguments(block).iter().map(|&argument| module.ty(argument)).collect();
    let Some(last) = module.last_op(block) else { return };
    let results: Vec<Type> = module.operands(last).map(|value| module.ty(value)).collect();
    let ty = TypeData::Function(FunctionType { inputs: inputs.into(), results: results.into() });
    let ty = module.interner.ty(ty);
    let ty = module.interner.attr(AttrData::Type(ty));
    module.set_attr(function, FUNCTION_TYPE, ty);
}

/// Dimensions of values that have one extent, whatever it is: a forest of sets.
#[derive(Default)]
struct Classes {
    numbers: FxHashMap<(ValueId, usize), usize>,
    dims: Vec<(ValueId, usize)>,
    parents: Vec<usize>,
}

impl Classes {
    fn number(&mut self, dim: (ValueId, usize)) -> usize {
        if let Some(&known) = self.numbers.get(&dim) {
            return known;
        }
        let number = self.dims.len();
        self.numbers.insert(dim, number);
        self.dims.push(dim);
        self.parents.push(number);
        number
    }

    fn root(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }

    fn join(&mut self, a: (ValueId, usize), b: (ValueId, usize)) {
        let (a, b) = (self.number(a), self.number(b));
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }

    /// Two values of one type.
    fn join_values(&mut self, module: &Module, a: ValueId, b: ValueId) {
        let rank = module.tensor_type(a).map_or(0, TensorType::rank);
        for dim in 0..rank.min(module.tensor_type(b).map_or(0, TensorType::rank)) {
            self.join((a, dim), (b, dim));
        }
    }

    fn link(&mut self, module: &Module, function: OpId, descriptions: &Descriptions) {
        if let Some(block) = module.regions(function).next().and_then(|region| module.entry(region)) {
            module.arguments(block).iter().for_each(|&argument| self.mention(module, argument));
        }
        for op in module.walk(function).filter(|&op| op != function) {
            module.results(op).for_each(|result| self.mention(module, result));
            self.link_control(module, op);
            if let Ok((description, _)) = descriptions.of(module, op) {
                self.link_described(module, op, description.data());
            }
        }
    }

    fn mention(&mut self, module: &Module, value: ValueId) {
        for dim in 0..module.tensor_type(value).map_or(0, TensorType::rank) {
            self.number((value, dim));
        }
    }

    fn link_described(&mut self, module: &Module, op: OpId, data: &tofu_tdl::Data) {
        let mut of_extent: FxHashMap<u32, (ValueId, usize)> = FxHashMap::default();
        let mut link = |value: ValueId, dims: &[IndexId]| {
            for (dim, &index) in dims.iter().enumerate() {
                if let Index::Extent(extent) = data.index(index) {
                    let first = *of_extent.entry(extent.index() as u32).or_insert((value, dim));
                    self.join(first, (value, dim));
                }
            }
        };
        for (value, parameter) in module.operands(op).zip(&data.parameters) {
            link(value, &parameter.dims);
        }
        for (value, result) in module.results(op).zip(&data.results) {
            link(value, &result.dims);
        }
    }

    /// What control hands on.
    fn link_control(&mut self, module: &Module, op: OpId) {
        let Some(control) = module.def(op).interface::<Control>() else { return };
        let results: Vec<ValueId> = module.results(op).collect();
        let mut link = |values: &[ValueId]| {
            values.iter().zip(&results).for_each(|(&value, &result)| self.join_values(module, value, result));
        };
        let operands: Vec<ValueId> = module.operands(op).collect();
        let hands_on = matches!(control, Control::While | Control::Forward);
        if hands_on {
            link(&operands);
        }
        for (number, region) in module.regions(op).enumerate() {
            let Some(block) = module.entry(region) else { continue };
            let given: Vec<ValueId> =
                module.last_op(block).map_or(Vec::new(), |last| module.operands(last).collect());
            match control {
                Control::While => {
                    link(module.arguments(block));
                    // The first region only says whether to go on.
                    if number > 0 {
                        link(&given);
                    }
                }
                Control::If | Control::Case => link(&given),
                _ => {}
            }
        }
    }

    /// The classes of known extents, in the order of the program.
    fn extents(&mut self, module: &Module) -> Vec<(u64, Vec<(ValueId, usize)>)> {
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        let mut all: Vec<(u64, Vec<(ValueId, usize)>)> = Vec::new();
        for number in 0..self.dims.len() {
            let (value, dim) = self.dims[number];
            let root = self.root(number);
            let extent = module.tensor_type(value).and_then(|ty| ty.dims.get(dim)?.size());
            let Some(extent) = extent else { continue };
            let place = *places.entry(root).or_insert(all.len());
            if place == all.len() {
                all.push((extent, Vec::new()));
            }
            all[place].1.push((value, dim));
        }
        all
    }
}
