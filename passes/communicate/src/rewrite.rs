//! The walk through a function, which makes it one that each device runs.
//!
//! Ops are taken in their order. What an op reads is brought from how it is kept to how the op wants it; what it gives, to how that is kept. A value then
//! has the type of the buffer that each device holds. Copies are made where the value is, once for all who read them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_dist::{Range, SHARDING, mark_spmd, set_result_shardings, set_shardings};
use tofu_dialect_func::body;
use tofu_dialect_tensor::{reshape, splat};
use tofu_ir::{
    AttrData, BlockId, Builder, Control, FUNCTION_TYPE, Module, OpId, TensorType, Type, TypeData, ValueId,
};
use tofu_partition::{OpKind, Prices, TensorId, Wanted, lacks, way_of};
use tofu_sharding::{Layout, Layouts, Lying, Spmd, share};
use tofu_tdl::{Descriptions, Mask, Reducer, Window};

use crate::convert::{Made, Place};
use crate::mask::{Kept, mask};
use crate::planned::{Planned, converts};
use crate::share::{Share, Shares, result_dims};

/// Rewrites a function as its plan says.
///
/// # Errors
/// Ops of which no share can be said, and values that no plan is about.
pub(crate) fn rewrite(
    module: &mut Module,
    function: OpId,
    descriptions: &Descriptions,
    planned: Planned,
) -> Result<(), Diagnostic> {
    let Some(block) = body(module, function) else { return Ok(()) };
    let arguments: Vec<ValueId> = module.arguments(block).to_vec();
    let globals: Vec<Option<TensorType>> =
        arguments.iter().map(|&argument| module.tensor_type(argument).cloned()).collect();
    let mut tensor_of = FxHashMap::default();
    for (number, tensor) in planned.tensors.iter().enumerate() {
        tensor_of.extend(tensor.values.iter().map(|&value| (value, number as TensorId)));
    }
    let of_op = planned.ops.iter().enumerate().map(|(number, op)| (op.id, number)).collect();
    let conversions: Vec<OpId> = module.walk(function).filter(|&op| converts(module, op)).collect();
    let prices = planned.prices();
    let mut rewriter = Rewriter {
        module,
        function,
        descriptions,
        planned: &planned,
        prices: &prices,
        block,
        tensor_of,
        of_op,
        copies: FxHashMap::default(),
        shares: Shares::default(),
        made: Made::default(),
    };
    rewriter.forget_shardings();
    rewriter.retype();
    let ops: Vec<OpId> = rewriter.module.walk(function).filter(|&op| op != function).collect();
    for op in ops {
        if !rewriter.module.is_erased(op) {
            rewriter.op(op)?;
        }
    }
    rewriter.mark(&arguments, globals)?;
    // What ops said that only convert is done.
    for op in conversions {
        let given: Vec<ValueId> = module.operands(op).collect();
        module.replace(op, &given);
    }
    Ok(())
}

struct Rewriter<'a> {
    module: &'a mut Module,
    function: OpId,
    descriptions: &'a Descriptions,
    planned: &'a Planned,
    prices: &'a Prices<'a>,
    /// The body, at whose beginning stands what is made once.
    block: BlockId,
    tensor_of: FxHashMap<ValueId, TensorId>,
    of_op: FxHashMap<OpId, usize>,
    /// The copies that are kept beside values.
    copies: FxHashMap<ValueId, ValueId>,
    shares: Shares,
    made: Made,
}

impl Rewriter<'_> {
    fn forget_shardings(&mut self) {
        let ops: Vec<OpId> = self.module.walk(self.function).collect();
        for op in ops {
            self.module.remove_attr(op, SHARDING);
        }
        if let Some(block) = body(self.module, self.function) {
            let arguments = self.module.arguments(block).to_vec();
            set_shardings(self.module, arguments.into_iter().map(|argument| (argument, None)));
        }
        let results: Vec<_> = (0..self.planned.results.len()).map(|index| (index, None)).collect();
        set_result_shardings(self.module, self.function, &results);
    }

    /// The type of the buffer of a tensor.
    fn local_type(&mut self, tensor: TensorId, layouts: Layouts) -> Type {
        let of = &self.planned.tensors[tensor as usize];
        let mesh = &self.planned.mesh;
        let dims: SmallVec<[u64; 4]> = of
            .shape
            .iter()
            .enumerate()
            .map(|(dim, &extent)| share(extent, layouts.shards(mesh, dim)))
            .collect();
        self.module.interner.tensor(&dims, of.element)
    }

    /// Values that no op of the plan makes, arguments and what control hands on, are buffers from now on.
    fn retype(&mut self) {
        for number in 0..self.planned.tensors.len() {
            let ty = self.local_type(number as TensorId, self.planned.plan.stored[number].first);
            for &value in &self.planned.tensors[number].values {
                let maker = self.module.defining_op(value);
                let is_made = maker.is_some_and(|op| {
                    self.of_op.get(&op).is_some_and(|&op| !self.planned.ops[op].results.is_empty())
                });
                if !is_made {
                    self.module.set_type(value, ty);
                }
            }
        }
    }

    fn op(&mut self, op: OpId) -> Result<(), Diagnostic> {
        // What is inside of an op that the plan has as a whole is no op of the plan.
        let inside = self.module.ancestors(op).skip(1).take_while(|&other| other != self.function);
        if inside
            .into_iter()
            .any(|around| self.of_op.get(&around).is_some_and(|&op| !self.planned.ops[op].results.is_empty()))
        {
            return Ok(());
        }
        let control = self.module.def(op).interface::<Control>().copied();
        match (self.of_op.get(&op).copied(), control) {
            (Some(number), _) if !self.planned.ops[number].results.is_empty() || control.is_none() => {
                match self.planned.ops[number].kind {
                    OpKind::Described(info) => self.described(op, number, info),
                    OpKind::Constant | OpKind::Whole => self.whole(op, number),
                }
            }
            (number, Some(Control::Yield)) => {
                self.yields(op, number.is_some());
                Ok(())
            }
            (_, Some(Control::While | Control::Forward)) => {
                for (index, operand) in self.module.operands(op).collect::<Vec<_>>().into_iter().enumerate() {
                    let result = self.module.result(op, index);
                    self.becomes(op, index, operand, result);
                }
                Ok(())
            }
            (_, Some(Control::If | Control::Case)) => {
                let operand = self.module.operand(op, 0);
                let whole = self.wanted(operand, Layouts::REPLICATED, op);
                self.module.set_operand(op, 0, whole);
                Ok(())
            }
            (None, Some(Control::Token)) => Ok(()),
            _ => {
                let name = self.module.def(op).written_name();
                let message = format!("`{name}` cannot be written for each device");
                Err(self.module.error(op, &codes::CANNOT_COMMUNICATE, message))
            }
        }
    }

    /// An operand becomes the tensor of another value.
    fn becomes(&mut self, op: OpId, index: usize, operand: ValueId, target: ValueId) {
        let Some(&tensor) = self.tensor_of.get(&target) else { return };
        let to = self.planned.plan.stored[tensor as usize].first;
        let value = self.wanted(operand, to, op);
        self.module.set_operand(op, index, value);
    }

    fn yields(&mut self, op: OpId, decides: bool) {
        let owner = self.module.parent(op);
        for (index, operand) in self.module.operands(op).collect::<Vec<_>>().into_iter().enumerate() {
            let Some(tensor) = self.tensor_of.get(&operand).copied() else { continue };
            let to = if decides {
                Layouts::REPLICATED
            } else if owner == Some(self.function) {
                self.planned.result_layouts.get(index).copied().unwrap_or_default()
            } else {
                let target = owner.filter(|&owner| index < self.module.result_count(owner));
                let target = target.and_then(|owner| self.tensor_of.get(&self.module.result(owner, index)));
                let target = target.copied().unwrap_or(tensor);
                self.planned.plan.stored[target as usize].first
            };
            let value = self.wanted(operand, to, op);
            self.module.set_operand(op, index, value);
        }
    }

    /// A value in a layout, from the cheapest of those in which it is kept; what is needed for it stands before `op`.
    fn wanted(&mut self, value: ValueId, to: Layouts, op: OpId) -> ValueId {
        let Some(&tensor) = self.tensor_of.get(&value) else { return value };
        let (_, from) = self.planned.cheapest(self.prices, tensor, to);
        let value = self.kept(value, tensor, from);
        let place = Place { before: op, origin: op };
        self.planned.converted(self.module, value, tensor, (from, to), &place)
    }

    /// A value in one of the layouts in which it is kept: a copy is made behind the value, when it is first asked for.
    fn kept(&mut self, value: ValueId, tensor: TensorId, layouts: Layouts) -> ValueId {
        let stored = self.planned.plan.stored[tensor as usize];
        if layouts == stored.first {
            return value;
        }
        if let Some(&copy) = self.copies.get(&value) {
            return copy;
        }
        let maker = self.module.defining_op(value);
        let before = match maker {
            Some(maker) => self.module.next_op(maker),
            None => self.module.defining_block(value).and_then(|block| self.module.first_op(block)),
        };
        let Some(before) = before else { return value };
        let place = Place { before, origin: maker.unwrap_or(self.function) };
        let copy = self.planned.converted(self.module, value, tensor, (stored.first, layouts), &place);
        self.copies.insert(value, copy);
        copy
    }

    /// The results of an op of the plan, as they come; brought to how they are kept, they take the place of the old ones.
    fn gives(&mut self, op: OpId, number: usize, given: &[(ValueId, Layouts)]) -> Result<(), Diagnostic> {
        let results = self.planned.ops[number].results.clone();
        for ((old, tensor), &(value, layouts)) in self.module.results(op).zip(results).zip(given) {
            let Some(tensor) = tensor else { continue };
            let first = self.planned.plan.stored[tensor as usize].first;
            let place = Place { before: op, origin: op };
            let value = match self.tensor_of.contains_key(&value) {
                // A share that is its operand is another tensor all the same, of another whole.
                true => {
                    let ty = self.module.ty(value);
                    reshape(&mut Builder::before(self.module, op).origin(op), value, ty)?
                }
                false => value,
            };
            let kept = self.planned.converted(self.module, value, tensor, (layouts, first), &place);
            self.tensor_of.insert(kept, tensor);
            let name = self.module.value_name(old);
            self.module.replace_all_uses(old, kept);
            self.module.set_value_name(old, None);
            // What is made of it afterwards has no name of its own.
            self.module.set_value_name(kept, None);
            self.module.set_value_name(value, name);
        }
        self.module.erase(op);
        Ok(())
    }

    /// An op that every device does as a whole: its operands are whole, and so are its results.
    fn whole(&mut self, op: OpId, number: usize) -> Result<(), Diagnostic> {
        for (index, operand) in self.module.operands(op).collect::<Vec<_>>().into_iter().enumerate() {
            let value = self.wanted(operand, Layouts::REPLICATED, op);
            self.module.set_operand(op, index, value);
        }
        if self.module.result_count(op) == 0 {
            return Ok(());
        }
        let copy = tofu_ir::copy_op(self.module, op, &mut FxHashMap::default());
        self.module.insert_before(op, copy);
        let given: Vec<(ValueId, Layouts)> =
            self.module.results(copy).map(|result| (result, Layouts::REPLICATED)).collect();
        self.gives(op, number, &given)
    }

    fn described(&mut self, op: OpId, number: usize, info_number: u32) -> Result<(), Diagnostic> {
        let planned = self.planned;
        let info = &planned.infos[info_number as usize];
        let way = way_of(info, &planned.mesh, planned.plan.choices[number]).ok_or_else(|| {
            self.module.error(op, &codes::CANNOT_COMMUNICATE, "this op cannot be done like that")
        })?;
        let mut operands: Vec<Option<ValueId>> = Vec::new();
        // How operands lie, and along which axes their windows move, also where they are had as a whole.
        let (mut layouts, mut moving): (SmallVec<[Layouts; 4]>, SmallVec<[Layouts; 4]>) = Default::default();
        for (index, wanted) in way.operands.iter().enumerate() {
            let value = self.module.operand(op, index);
            moving.push(wanted.as_ref().map_or(Layouts::REPLICATED, |wanted| wanted.layouts));
            let read = wanted.as_ref().zip(planned.ops[number].operands[index]);
            let Some((wanted, tensor)) = read else {
                operands.push(wanted.is_some().then_some(value));
                layouts.push(Layouts::REPLICATED);
                continue;
            };
            let to = self.chosen(tensor, wanted);
            operands.push(Some(self.wanted(value, to, op)));
            layouts.push(to);
        }
        let failed = |module: &Module, found: Vec<Diagnostic>| {
            let error = module.error(op, &codes::CANNOT_COMMUNICATE, "a share of this op cannot be said");
            found.into_iter().map(|found| found.message).fold(error, Diagnostic::note)
        };
        let share = self
            .shares
            .of(&planned.mesh, (info_number, info), &way, moving)
            .map_err(|found| failed(self.module, found))?;
        let mut inputs: Vec<ValueId> = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            let windows = &share.uniform.windows[index];
            let value = match *operand {
                Some(value) => self.windowed(op, value, info, index, layouts[index], &share)?,
                None => self.unread(op, index, windows)?,
            };
            let value = self.masked(op, value, info, index, layouts[index], &share)?;
            inputs.push(value);
        }
        let made = match self.shares.same(self.module, self.descriptions, op, &share, &inputs) {
            Some(same) => self.module.results(same).collect(),
            None => {
                for &division in &share.uniform.workers {
                    let axes = share.axes[division].clone();
                    inputs.push(self.planned.index(self.module, &mut self.made, self.block, &axes));
                }
                self.shares.made(self.module, &share.uniform.description, &inputs, (op, op))?
            }
        };
        let mut given: Vec<(ValueId, Layouts)> = Vec::new();
        for (index, (dims, &to)) in
            result_dims(&share.uniform.description).iter().zip(&way.results).enumerate()
        {
            let value = made[index];
            given.push((self.placed(op, value, &info.results[index].extents, dims, to), to));
        }
        self.gives(op, number, &given)
    }

    /// How an operand is had: with an exchange with neighbours, or as a whole where that is no dearer.
    fn chosen(&self, tensor: TensorId, wanted: &Wanted) -> Layouts {
        let shape = self.planned.shape(tensor);
        let stored = self.planned.plan.stored[tensor as usize];
        let cheapest = stored
            .layouts()
            .map(|from| self.prices.want(shape, from, wanted))
            .min_by_key(|(price, _)| *price);
        match cheapest {
            Some((_, true)) => wanted.without,
            _ => wanted.layouts,
        }
    }

    /// An operand that no device reads.
    fn unread(&mut self, op: OpId, index: usize, windows: &[Window]) -> Result<ValueId, Diagnostic> {
        let element = self.module.tensor_type(self.module.operand(op, index)).map(|ty| ty.element);
        let Some(element) = element else { return Ok(self.module.operand(op, index)) };
        let dims: SmallVec<[u64; 4]> = windows.iter().map(|window| window.size).collect();
        let ty = self.module.interner.tensor(&dims, element);
        splat(&mut Builder::before(self.module, op).origin(op), ty, 0.0)
    }

    /// The windows of an operand, dimension by dimension.
    fn windowed(
        &mut self,
        op: OpId,
        value: ValueId,
        info: &tofu_partition::OpInfo,
        index: usize,
        layouts: Layouts,
        share_of: &Share,
    ) -> Result<ValueId, Diagnostic> {
        let shape = &info.operands[index].extents;
        let windows = &share_of.uniform.windows[index];
        let mut value = value;
        let mut moved: SmallVec<[(bool, usize, Window); 4]> = SmallVec::new();
        for (dim, &window) in windows.iter().enumerate().filter(|(_, window)| window.moves.is_some()) {
            let shards = layouts.shards(&self.planned.mesh, dim);
            let each = share(shape[dim], shards);
            if !is_share(&window, each) {
                moved.push((lacks(&window, shape[dim], each, shards) == 0, dim, window));
            }
        }
        // As the plan has it: what nothing is sent for comes last.
        moved.sort_by_key(|&(is_there, dim, _)| (is_there, dim));
        for (_, dim, window) in moved {
            let range =
                Range { dim, start: window.start, step: window.step, size: window.size, extent: shape[dim] };
            let place = Place { before: op, origin: op };
            value = match window.moves {
                Some(division) if layouts.shards(&self.planned.mesh, dim) == 1 => {
                    let axes = &share_of.axes[division];
                    let worker = self.planned.index(self.module, &mut self.made, self.block, axes);
                    self.planned.window_of_whole(self.module, value, range, (worker, axes), &place)?
                }
                _ => self.planned.fetched(self.module, value, layouts, shape, range, &place),
            };
        }
        Ok(value)
    }

    fn masked(
        &mut self,
        op: OpId,
        value: ValueId,
        info: &tofu_partition::OpInfo,
        index: usize,
        layouts: Layouts,
        share_of: &Share,
    ) -> Result<ValueId, Diagnostic> {
        let shape = &info.operands[index].extents;
        let windows = &share_of.uniform.windows[index];
        let mut value = value;
        for wanted in &share_of.uniform.masks {
            let (kept, reducer, division) = match *wanted {
                Mask::Once { operand, among, reducer } if operand == index => (Kept::Once, reducer, among),
                Mask::Padding { operand, dim, reducer } if operand == index => {
                    let Some(division) = windows[dim].moves else { continue };
                    let Window { start, step, .. } = windows[dim];
                    (Kept::Within { dim, start, step, extent: shape[dim] }, reducer, division)
                }
                Mask::Outside { operand, dim } if operand == index => {
                    let Some(division) = windows[dim].moves else { continue };
                    let shards = layouts.shards(&self.planned.mesh, dim);
                    // What is fetched is 0 there already, and where shares are even there is nothing else.
                    if !is_share(&windows[dim], share(shape[dim], shards))
                        || shape[dim].is_multiple_of(shards)
                    {
                        continue;
                    }
                    let Window { start, step, .. } = windows[dim];
                    (Kept::Within { dim, start, step, extent: shape[dim] }, Reducer::Sum, division)
                }
                _ => continue,
            };
            let Some(ty) = self.module.tensor_type(value).cloned() else { continue };
            let dims = ty.static_dims().unwrap_or_default();
            let description = mask(ty.element, &dims, kept, reducer).map_err(|found| {
                let error =
                    self.module.error(op, &codes::CANNOT_COMMUNICATE, "a mask of this op cannot be said");
                found.into_iter().map(|found| found.message).fold(error, Diagnostic::note)
            })?;
            let axes = share_of.axes[division].clone();
            let worker = self.planned.index(self.module, &mut self.made, self.block, &axes);
            value = self.shares.made(self.module, &description, &[value, worker], (op, op))?[0];
        }
        Ok(value)
    }

    /// A result as even shares, where it comes in whole blocks.
    fn placed(&mut self, op: OpId, value: ValueId, shape: &[u64], dims: &[u64], layouts: Layouts) -> ValueId {
        let mut value = value;
        for (dim, (&extent, &own)) in shape.iter().zip(dims).enumerate() {
            let shards = layouts.shards(&self.planned.mesh, dim);
            let even = share(extent, shards);
            let is_split =
                (0..self.planned.mesh.axes().len()).any(|axis| layouts.on(axis) == Layout::Split(dim));
            if is_split && own != even {
                let range = Range { dim, start: 0, step: even as i64, size: even, extent };
                let place = Place { before: op, origin: op };
                value = self.planned.fetched(self.module, value, layouts, shape, range, &place);
            }
        }
        value
    }

    /// Says of the function what its arguments and results are parts of.
    fn mark(&mut self, arguments: &[ValueId], globals: Vec<Option<TensorType>>) -> Result<(), Diagnostic> {
        let planned = self.planned;
        let function = self.function;
        let not_tensor = move |module: &Module| {
            let message = "only functions of tensors can be written for each device";
            module.error(function, &codes::CANNOT_COMMUNICATE, message)
        };
        let lying = |tensor: TensorId, layouts: Layouts, ty: TensorType| Lying {
            ty,
            sharding: layouts.sharding(&planned.mesh, &planned.tensors[tensor as usize].shape),
        };
        let mut spmd = Spmd { mesh: planned.mesh.clone(), arguments: Vec::new(), results: Vec::new() };
        let mut inputs: Vec<Type> = Vec::new();
        for (&argument, global) in arguments.iter().zip(globals) {
            let tensor = self.tensor_of.get(&argument).copied();
            let (Some(tensor), Some(global)) = (tensor, global) else { return Err(not_tensor(self.module)) };
            spmd.arguments.push(lying(tensor, planned.plan.stored[tensor as usize].first, global));
            inputs.push(self.module.ty(argument));
        }
        let mut results: Vec<Type> = Vec::new();
        for (index, &tensor) in planned.results.iter().enumerate() {
            let Some(tensor) = tensor else { return Err(not_tensor(self.module)) };
            let of = &planned.tensors[tensor as usize];
            let layouts = planned.result_layouts[index];
            spmd.results.push(lying(tensor, layouts, TensorType::of(&of.shape, of.element)));
            results.push(self.local_type(tensor, layouts));
        }
        let ty = self
            .module
            .interner
            .ty(TypeData::Function(tofu_ir::FunctionType { inputs: inputs.into(), results: results.into() }));
        let ty = self.module.interner.attr(AttrData::Type(ty));
        self.module.set_attr(self.function, FUNCTION_TYPE, ty);
        mark_spmd(self.module, self.function, &planned.mesh_name, &spmd);
        Ok(())
    }
}

/// Whether a window is the share that a device holds anyhow.
fn is_share(window: &Window, each: u64) -> bool {
    window.start == 0 && window.size == each && window.step == i64::try_from(each).unwrap_or(i64::MAX)
}
