//! Random programs whose extents are all known, of which some are then forgotten: what the pass finds out must be what
//! was forgotten, and where everything follows it must find all of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use tofu_dialect_tensor as tensor;
use tofu_ir::{BlockId, Builder, ElementType, Registry, verify};
use tofu_pass::{PassManager, Session, VerifyEach};

use super::*;

/// The extents before they were forgotten.
type Truth = BTreeMap<ValueId, Vec<u64>>;

struct Generator {
    rng: Rng,
    module: Module,
    /// Functions that may be called, with the extents that they take and give.
    callees: Vec<(String, Vec<u64>)>,
}

impl Generator {
    fn program(seed: u64) -> Module {
        let dialects = [&func::DIALECT, &tofu_dialect_tdl::DIALECT, &tensor::DIALECT];
        let module = Module::new(Arc::new(Registry::new(&dialects).unwrap()));
        let mut generator = Generator { rng: Rng::with_seed(seed), module, callees: Vec::new() };
        let pairs = "(x: [2 * N, M]) -> [N, M] { out[n, m] = x[2 * n, m] + x[2 * n + 1, m] }";
        tofu_dialect_tdl::build_operator(&mut generator.module, "pairs", pairs).unwrap();
        for number in 0..generator.rng.usize(0..3) {
            let dims = generator.dims();
            let name = format!("f{number}");
            generator.function(&name, std::slice::from_ref(&dims));
            generator.callees.push((name, dims));
        }
        let arguments: Vec<Vec<u64>> = (0..generator.rng.usize(1..4)).map(|_| generator.dims()).collect();
        generator.function("main", &arguments);
        generator.module
    }

    fn dims(&mut self) -> Vec<u64> {
        (0..2).map(|_| self.rng.u64(2..7)).collect()
    }

    fn ty(&mut self, dims: &[u64]) -> Type {
        self.module.interner.tensor(dims, ElementType::F32)
    }

    /// A function that gives a tensor of the extents of its first argument.
    fn function(&mut self, name: &str, arguments: &[Vec<u64>]) {
        let mut inputs: Vec<Type> = arguments.iter().map(|dims| self.ty(dims)).collect();
        let result = inputs[0];
        let flag = self.module.interner.tensor(&[], ElementType::I1);
        inputs.push(flag);
        let (_, entry) = func::build_function(&mut self.module, name, &inputs, &[result]);
        let mut values = self.module.arguments(entry).to_vec();
        let flag = values.pop().unwrap();
        self.ops(entry, &mut values, flag, 2);
        let returned = self.same_type(entry, &values, values[0]);
        func::build_return(&mut Builder::at_end(&mut self.module, entry), [returned]);
    }

    /// A value of the type of `value`, computed from it or another of its type.
    fn same_type(&mut self, block: BlockId, values: &[ValueId], value: ValueId) -> ValueId {
        let ty = self.module.ty(value);
        let alike: Vec<ValueId> =
            values.iter().copied().filter(|&other| self.module.ty(other) == ty).collect();
        let other = self.rng.choice(&alike).copied().unwrap_or(value);
        let mut builder = Builder::at_end(&mut self.module, block);
        match self.rng.u8(..3) {
            0 => tensor::tanh(&mut builder, other).unwrap(),
            1 => tensor::add(&mut builder, value, other).unwrap(),
            _ => tensor::subtract(&mut builder, other, value).unwrap(),
        }
    }

    fn ops(&mut self, block: BlockId, values: &mut Vec<ValueId>, flag: ValueId, depth: usize) {
        for _ in 0..self.rng.usize(1..7) {
            let x = *self.rng.choice(&*values).unwrap();
            let dims: Vec<u64> = self.module.tensor_type(x).unwrap().static_dims().unwrap().to_vec();
            let partner = |module: &Module, wanted: &dyn Fn(&[u64]) -> bool| {
                let fits =
                    |&&value: &&ValueId| wanted(&module.tensor_type(value).unwrap().static_dims().unwrap());
                values.iter().rev().find(fits).copied()
            };
            let made = match self.rng.u8(..9) {
                0 => self.same_type(block, values, x),
                1 => tensor::transpose(&mut Builder::at_end(&mut self.module, block), x, &[1, 0]).unwrap(),
                2 => {
                    let Some(y) = partner(&self.module, &|other| other[0] == dims[1]) else { continue };
                    let mut builder = Builder::at_end(&mut self.module, block);
                    tensor::dot_general(&mut builder, x, y, (&[1], &[0]), (&[], &[])).unwrap()
                }
                3 => {
                    let Some(y) = partner(&self.module, &|other| other[1] == dims[1]) else { continue };
                    tensor::concatenate(&mut Builder::at_end(&mut self.module, block), &[x, y], 0).unwrap()
                }
                4 => {
                    let count = dims[0] * dims[1];
                    let rows: Vec<u64> = (2..count).filter(|rows| count.is_multiple_of(*rows)).collect();
                    let Some(&rows) = self.rng.choice(&rows) else { continue };
                    let ty = self.ty(&[rows, count / rows]);
                    tensor::reshape(&mut Builder::at_end(&mut self.module, block), x, ty).unwrap()
                }
                5 if dims[0].is_multiple_of(2) => {
                    let mut builder = Builder::at_end(&mut self.module, block);
                    let call = tofu_dialect_tdl::build_call(&mut builder, "pairs", [x]).unwrap();
                    self.module.result(call, 0)
                }
                6 => {
                    let Some((name, wanted)) = self.rng.choice(&self.callees).cloned() else { continue };
                    let Some(x) = partner(&self.module, &|other| other == wanted) else { continue };
                    let mut builder = Builder::at_end(&mut self.module, block);
                    let call = func::build_call(&mut builder, &name, [x, flag]).unwrap();
                    self.module.result(call, 0)
                }
                7 if depth > 0 => self.branch(block, values, flag, depth),
                8 if depth > 0 => self.repeat(block, values, flag, depth),
                _ => continue,
            };
            values.push(made);
        }
    }

    fn branch(&mut self, block: BlockId, values: &[ValueId], flag: ValueId, depth: usize) -> ValueId {
        let like = *self.rng.choice(values).unwrap();
        let mut builder = Builder::at_end(&mut self.module, block);
        let op = builder.op(&tensor::IF).operand(flag).region().region().build();
        for region in self.module.regions(op) {
            let inner = self.module.append_block(region);
            let mut values = values.to_vec();
            self.ops(inner, &mut values, flag, depth - 1);
            let given = self.same_type(inner, &values, like);
            Builder::at_end(&mut self.module, inner).op(&tensor::YIELD).operand(given).build();
        }
        self.module.infer_results(op).unwrap();
        self.module.result(op, 0)
    }

    fn repeat(&mut self, block: BlockId, values: &[ValueId], flag: ValueId, depth: usize) -> ValueId {
        let carried: Vec<ValueId> =
            (0..self.rng.usize(1..4)).map(|_| *self.rng.choice(values).unwrap()).collect();
        let mut builder = Builder::at_end(&mut self.module, block);
        let op = builder.op(&tensor::WHILE).operands(carried.iter().copied()).region().region().build();
        for (number, region) in self.module.regions(op).enumerate() {
            let inner = self.module.append_block(region);
            let arguments: Vec<ValueId> = carried
                .iter()
                .map(|&value| {
                    let ty = self.module.ty(value);
                    self.module.append_argument(inner, ty)
                })
                .collect();
            let mut values = [values, &arguments].concat();
            self.ops(inner, &mut values, flag, depth - 1);
            let given = if number == 0 {
                vec![flag]
            } else {
                arguments.iter().map(|&argument| self.same_type(inner, &values, argument)).collect()
            };
            Builder::at_end(&mut self.module, inner).op(&tensor::YIELD).operands(given).build();
        }
        self.module.infer_results(op).unwrap();
        self.module.result(op, 0)
    }
}

fn functions(module: &Module) -> Vec<OpId> {
    module.ops(module.body()).filter(|&op| module.is(op, &func::FUNC)).collect()
}

fn truth(module: &Module) -> Truth {
    let values = functions(module).into_iter().flat_map(|function| values(module, function));
    let dims = |value| Some((value, module.tensor_type(value)?.static_dims()?.to_vec()));
    values.filter_map(dims).collect()
}

/// Forgets extents: some become `?`, and with `names` some a name for the number. Of those that may be forgotten,
/// `share` in a hundred are.
fn forget(module: &mut Module, rng: &mut Rng, share: u8, with_arguments: bool) {
    let reshaped =
        |module: &Module, value| module.defining_op(value).is_some_and(|op| module.is(op, &tensor::RESHAPE));
    for function in functions(module) {
        let entry = func::body(module, function).unwrap();
        let mut fixed = Fixed::of(module, function, true);
        let all: Vec<ValueId> = values(module, function).collect();
        for group in fixed.groups(all) {
            let Some(mut ty) = module.tensor_type(group[0]).cloned() else { continue };
            let is_argument = group.iter().any(|value| module.arguments(entry).contains(value));
            // What a call gives must be known where what the function takes is.
            let is_given =
                |&value: &ValueId| module.uses(value).any(|(user, _)| module.is(user, &func::CALL));
            if !with_arguments && (is_argument || group.iter().any(is_given)) {
                continue;
            }
            let is_called = func::signature(module, function).is_some() && {
                let name = module.symbol_name(function).map(|name| module.text(name).to_owned());
                name.as_deref() != Some("main")
            };
            // An argument that calls give takes any extent once one of them may not be known.
            let forgets_all = is_argument && is_called;
            let mut forgotten = 0;
            for dim in &mut ty.dims {
                let Dim::Static(size) = *dim else { continue };
                if !forgets_all && rng.u8(..100) >= share {
                    continue;
                }
                // Two unknown extents of a reshape do not follow from its operand.
                if !with_arguments && forgotten > 0 && group.iter().any(|&value| reshaped(module, value)) {
                    continue;
                }
                forgotten += 1;
                let name = with_arguments && rng.u8(..4) == 0;
                *dim =
                    if name { Dim::Symbol(module.interner.name(&format!("n{size}"))) } else { Dim::Unknown };
            }
            let ty = module.interner.ty(ty);
            group.iter().for_each(|&value| module.set_type(value, ty));
        }
        write_signature(module, function);
    }
}

/// Runs the pass twice; the second time there is nothing left to do.
#[track_caller]
fn infer(module: &mut Module, seed: u64) {
    let problems = verify(module);
    assert!(problems.is_empty(), "seed {seed}: {problems:?}\n{}", text(module));
    let manager = PassManager::new().add(InferShapes::default());
    let before = text(module);
    let outcome = manager.run(module, &Session::default(), &mut [&mut VerifyEach]);
    assert!(outcome.diagnostics.is_empty(), "seed {seed}: {:?}\n{before}", outcome.diagnostics);
    let again = manager.run(module, &Session::default(), &mut [&mut VerifyEach]);
    assert_eq!(again.changed, Some(Changed::No), "seed {seed}\n{before}");
}

fn text(module: &Module) -> String {
    tofu_syntax::print(module, &tofu_syntax::PrintOptions::default())
}

#[test]
fn what_is_found_is_true() {
    let mut found = 0;
    for seed in 0..150 {
        let mut module = Generator::program(seed);
        let truth = truth(&module);
        let mut rng = Rng::with_seed(seed);
        let share = rng.u8(10..90);
        forget(&mut module, &mut rng, share, true);
        let before = text(&module);
        let open = |module: &Module| {
            let dims = truth.keys().flat_map(|&value| module.tensor_type(value).unwrap().dims.to_vec());
            dims.filter(|dim| dim.size().is_none()).count()
        };
        let forgotten = open(&module);
        infer(&mut module, seed);
        for (&value, sizes) in &truth {
            for (&dim, &size) in module.tensor_type(value).unwrap().dims.iter().zip(sizes) {
                let is_true = match dim {
                    Dim::Static(found) => found == size,
                    Dim::Symbol(name) => module.text(name) == format!("n{size}"),
                    Dim::Unknown => true,
                };
                assert!(is_true, "seed {seed}: {value:?} is not {size}\n{before}\n{}", text(&module));
            }
        }
        found += forgotten - open(&module);
    }
    assert!(found > 2_500, "only {found} extents were found");
}

#[test]
fn what_follows_from_operands_is_found() {
    for seed in 0..150 {
        let mut module = Generator::program(seed);
        let whole = text(&module);
        forget(&mut module, &mut Rng::with_seed(seed), 70, false);
        infer(&mut module, seed);
        assert_eq!(text(&module), whole, "seed {seed}");
    }
}

/// Loops in loops: each assumption about a loop may take another walk through it, but not at any depth.
#[test]
fn deep_nests_come_to_an_end() {
    let mut module = Generator::program(0);
    let unknown = TensorType { dims: [Dim::Unknown].into_iter().collect(), element: ElementType::F32 };
    let (ty, flag) = (module.interner.ty(unknown), module.interner.tensor(&[], ElementType::I1));
    let (_, entry) = func::build_function(&mut module, "deep", &[ty, flag], &[ty]);
    let [x, flag] = module.arguments(entry)[..] else { panic!("there are two arguments") };
    // Whatever is assumed of the innermost loop, and so of all around it, is wrong.
    let mut open = vec![(entry, x)];
    for _ in 0..120 {
        let &(block, value) = open.last().unwrap();
        let mut builder = Builder::at_end(&mut module, block);
        let op = builder.op(&tensor::WHILE).operand(value).region().region().build();
        let [cond, body] = [0, 1].map(|number| {
            let region = module.region(op, number);
            let inner = module.append_block(region);
            (inner, module.append_argument(inner, ty))
        });
        Builder::at_end(&mut module, cond.0).op(&tensor::YIELD).operand(flag).build();
        open.push(body);
    }
    let (block, value) = open.pop().unwrap();
    let mut given =
        tensor::concatenate(&mut Builder::at_end(&mut module, block), &[value, value], 0).unwrap();
    Builder::at_end(&mut module, block).op(&tensor::YIELD).operand(given).build();
    while let Some((block, _)) = open.pop() {
        let op = module.last_op(block).unwrap();
        module.infer_results(op).unwrap();
        given = module.result(op, 0);
        let end = if open.is_empty() { &func::RETURN } else { &tensor::YIELD };
        Builder::at_end(&mut module, block).op(end).operand(given).build();
    }
    infer(&mut module, 0);
    assert_eq!(module.ty(given), ty);
}
