//! Regions of ops in descriptions: reducers, combiners, and what cannot be one.

use std::sync::Arc;

use tofu_diagnostics::Diagnostic;
use tofu_ir::ElementType::{self, *};
use tofu_ir::{
    Builder as Ops, DENSE, DenseData, Dialect, Module, OpDef, OpId, Registry, Trait, ValueId, any, op,
    region, required, tensor as operand,
};
use tofu_tdl::{
    BinaryOp, Builder, Comparison, Describe, Description, OpaqueRegistry, Source, Tensor, TypeRef,
    infer_types, solve, strategies,
};
use tofu_tdl_testing::Whole;

use crate::support::*;

macro_rules! pairwise {
    ($($NAME:ident $name:literal $text:literal;)*) => {$(
        static $NAME: OpDef = op($name)
            .operands(&[operand("x"), operand("y")])
            .results(&[operand("result")])
            .infer_types(infer_types)
            .interfaces(&[&Describe(|_, _| Ok(read($text)))]);
    )*};
}

pairwise! {
    ADD "t.add" "tdl @add(x: [], y: []) -> [] { out[] = x[] + y[] }";
    MAXIMUM "t.maximum" "tdl @maximum(x: [], y: []) -> [] { out[] = max(x[], y[]) }";
    MULTIPLY "t.multiply" "tdl @multiply(x: [], y: []) -> [] { out[] = x[] * y[] }";
    SUBTRACT "t.subtract" "tdl @subtract(x: [], y: []) -> [] { let z[] = y[] out[] = x[] - z[] }";
    ROWS "t.rows" "tdl @rows(x: [], y: []) -> [2] { out[i] = x[] + y[] }";
}

static CONSTANT: OpDef = op("t.constant")
    .results(&[operand("result")])
    .attributes(&[required("value", DENSE)])
    .traits(&[Trait::Constant, Trait::Pure]);
static YIELD: OpDef = op("t.yield").operands(&[any("values").variadic()]).traits(&[Trait::Terminator]);
static FOLD: OpDef = op("t.fold")
    .operands(&[operand("x"), operand("init")])
    .results(&[operand("y")])
    .regions(&[region("body")]);

static T: Dialect = Dialect {
    name: "t",
    summary: "For tests.",
    ops: &[&ADD, &CONSTANT, &FOLD, &MAXIMUM, &MULTIPLY, &ROWS, &SUBTRACT, &YIELD],
    types: &[],
    attributes: &[],
    constant: None,
};

/// A program under construction: an op with a region that takes two scalars of a type.
struct Program {
    module: Module,
    fold: OpId,
    arguments: [ValueId; 2],
    init: ValueId,
    element: ElementType,
}

impl Program {
    /// The initial value is a constant, or an argument.
    fn new(element: ElementType, init: Option<f64>) -> Program {
        let mut module = Module::new(Arc::new(Registry::new(&[&T]).unwrap()));
        let block = module.body();
        let (scalar, vector) = (module.interner.tensor(&[], element), module.interner.tensor(&[4], element));
        let x = module.append_argument(block, vector);
        let init = match init {
            Some(value) => constant(&mut module, element, value),
            None => module.append_argument(block, scalar),
        };
        let fold =
            Ops::at_end(&mut module, block).op(&FOLD).operands([x, init]).result(vector).region().build();
        let body = module.append_block(module.region(fold, 0));
        let arguments = [0, 1].map(|_| module.append_argument(body, scalar));
        Program { module, fold, arguments, init, element }
    }

    fn body(&mut self, def: &'static OpDef, operands: [ValueId; 2]) -> ValueId {
        let block = self.module.entry(self.module.region(self.fold, 0)).unwrap();
        let op = Ops::at_end(&mut self.module, block).op(def).operands(operands).infer().unwrap();
        self.module.result(op, 0)
    }

    fn ends(mut self, value: ValueId) -> Program {
        let block = self.module.entry(self.module.region(self.fold, 0)).unwrap();
        Ops::at_end(&mut self.module, block).op(&YIELD).operand(value).build();
        self
    }

    /// A region of one op.
    fn of(element: ElementType, init: Option<f64>, def: &'static OpDef, swapped: bool) -> Program {
        let mut program = Program::new(element, init);
        let [a, b] = program.arguments;
        let value = program.body(def, if swapped { [b, a] } else { [a, b] });
        program.ends(value)
    }

    /// `out = fold(i) x[i]`
    fn reduce(&self) -> Result<Description, Diagnostic> {
        let mut b = Builder::new("fold");
        let ty = TypeRef::Concrete(self.element);
        let n = b.extent("N");
        let x = b.operand("x", ty, &[n]);
        let init = b.operand("init", ty, &[]);
        let i = b.var("i", n);
        let at = b.index(i);
        let (element, start) = (b.read(x, &[at]), b.read(init, &[]));
        let region = self.module.region(self.fold, 0);
        let inits = [(self.init, start)];
        let result = b.reduce_region(&self.module, region, &inits, &[i], None, &[element])?;
        b.output("out", ty, &[], result[0]);
        b.finish_for(&self.module, self.fold)
    }

    /// `out[i] = x[i]` combined with the updates at `i`.
    fn update(&self) -> Description {
        let mut b = Builder::new("update");
        let ty = TypeRef::Concrete(self.element);
        let (n, m) = (b.extent("N"), b.extent("M"));
        let x = b.operand("x", ty, &[n]);
        let places = b.operand("places", TypeRef::Concrete(I32), &[m]);
        let updates = b.operand("updates", ty, &[m]);
        let (i, u) = (b.var("i", n), b.var("u", m));
        let (at_i, at_u) = (b.index(i), b.index(u));
        let place = b.read(places, &[at_u]);
        let place = b.convert(place, TypeRef::Concrete(Index));
        let own = b.index_value(at_i);
        let hits = b.compare(Comparison::Eq, place, own);
        let (update, element) = (b.read(updates, &[at_u]), b.read(x, &[at_i]));
        let region = self.module.region(self.fold, 0);
        let inits = [(self.init, element)];
        let result = b.update_region(&self.module, region, &inits, &[u], Some(hits), &[update]).unwrap();
        b.output("out", ty, &[i], result[0]);
        b.finish_for(&self.module, self.fold).unwrap()
    }
}

fn constant(module: &mut Module, element: ElementType, value: f64) -> ValueId {
    let ty = module.interner.tensor(&[], element);
    let bytes = Tensor::from_numbers(element, &[], &[value]).unwrap().bytes().to_vec();
    let value = module.interner.dense(ty, DenseData::from_bytes(bytes, element));
    let block = module.body();
    let op = Ops::at_end(module, block).op(&CONSTANT).attr("value", value).result(ty).build();
    module.result(op, 0)
}

fn body(description: &Description) -> String {
    description.to_string().lines().find(|line| line.trim().starts_with("out")).unwrap().trim().to_owned()
}

#[test]
fn builtin_reducers_are_recognised() {
    let inf = f64::INFINITY;
    for (def, element, init, wanted) in [
        (&ADD, F32, Some(0.0), "out[] = sum(i) x[i]"),
        (&ADD, F32, Some(-0.0), "out[] = sum(i) x[i]"),
        (&ADD, I32, Some(0.0), "out[] = sum(i) x[i]"),
        (&ADD, F32, Some(1.0), "out[] = 1.0 + sum(i) x[i]"),
        (&ADD, F32, None, "out[] = init[] + sum(i) x[i]"),
        (&ADD, Complex32, Some(0.0), "out[] = sum(i) x[i]"),
        (&MULTIPLY, BF16, Some(1.0), "out[] = prod(i) x[i]"),
        (&MULTIPLY, Complex32, Some(1.0), "out[] = prod(i) x[i]"),
        (&MAXIMUM, F32, Some(-inf), "out[] = max(i) x[i]"),
        (&MAXIMUM, F32, Some(0.0), "out[] = max(0.0, max(i) x[i])"),
        (&MAXIMUM, I8, Some(-128.0), "out[] = max(i) x[i]"),
        (&ADD, I1, Some(0.0), "out[] = or(i) x[i]"),
        (&MULTIPLY, I1, Some(1.0), "out[] = and(i) x[i]"),
        (&MAXIMUM, I1, Some(0.0), "out[] = or(i) x[i]"),
    ] {
        for swapped in [false, true] {
            let description = Program::of(element, init, def, swapped).reduce().unwrap();
            assert_eq!(body(&description), wanted);
            assert_eq!(read(&description.to_string()), description);
        }
    }
}

#[test]
fn only_what_stays_right_is_split() {
    let ways = |def, init| -> Vec<String> {
        let description = Program::of(F32, init, def, false).reduce().unwrap();
        strategies(&description).iter().map(|strategy| strategy.text(&description)).collect()
    };
    assert_eq!(ways(&ADD, Some(0.0)), ["i: x [split], init [] -> sum"]);
    // The first value counts once.
    assert_eq!(ways(&ADD, None), ["i: x [split], init [] first -> sum"]);
    assert_eq!(ways(&MAXIMUM, None), ["i: x [split], init [] first -> max"]);
}

#[test]
fn other_functions_become_combiners() {
    // a + b + 1 - 1
    let mut program = Program::new(F32, None);
    let [a, b] = program.arguments;
    let one = constant(&mut program.module, F32, 1.0);
    let sum = program.body(&ADD, [a, b]);
    let sum = program.body(&ADD, [sum, one]);
    let sum = program.body(&SUBTRACT, [sum, one]);
    let description = program.ends(sum).reduce().unwrap();
    assert_eq!(
        description.to_string(),
        "tdl @fold(x: f32[N], init: f32[]) -> f32[] {
  combine body(a: f32; b: f32) from (init[]) = (a + b + 1.0 - 1.0)
  out[] = body(i)(x[i]).0
}
"
    );
    assert_eq!(read(&description.to_string()), description);
    assert_eq!(strategies(&description)[0].text(&description), "i: x [split], init [] -> body 0");
    let operands = [tensor_of(&[1.0, 2.0, 3.0]), Tensor::from_numbers(F32, &[], &[0.0]).unwrap()];
    assert_eq!(run(&description, &operands)[0].numbers(), [6.0]);
}

fn tensor_of(numbers: &[f64]) -> Tensor {
    tensor(F32, &[numbers.len() as u64], numbers)
}

#[test]
fn updates_keep_what_nothing_reaches() {
    let operands = |init: &[f64]| {
        let places = tensor(I32, &[4], &[2.0, 0.0, 2.0, 9.0]);
        [tensor_of(init), places, tensor_of(&[1.0, 2.0, 3.0, 4.0])]
    };
    let add = Program::of(F32, None, &ADD, false).update();
    assert_eq!(body(&add), "out[i] = x[i] + (sum(u) if places[u] == i then updates[u] else 0)");
    assert_eq!(run(&add, &operands(&[10.0, 20.0, 30.0]))[0].numbers(), [12.0, 20.0, 34.0]);
    // Zeros are not read, so that the updates can be split as well.
    let into_zeros = Program::of(F32, Some(0.0), &ADD, false).update();
    assert_eq!(run(&into_zeros, &operands(&[0.0; 3]))[0].numbers(), [2.0, 0.0, 4.0]);
    let ways: Vec<String> =
        strategies(&into_zeros).iter().map(|strategy| strategy.text(&into_zeros)).collect();
    assert_eq!(
        ways,
        [
            "i: x [unread], places [whole], updates [whole] -> concat 0",
            "u: x [unread], places [split], updates [split] -> sum"
        ]
    );
    // The last one wins.
    let mut program = Program::new(F32, None);
    let [_, b] = program.arguments;
    program = program.ends(b);
    let set = program.update();
    assert_eq!(run(&set, &operands(&[10.0, 20.0, 30.0]))[0].numbers(), [2.0, 20.0, 3.0]);
    assert_eq!(read(&set.to_string()), set);
    // Any associative function: a + b - 1, whose identity is 1.
    let mut program = Program::new(F32, None);
    let [a, b] = program.arguments;
    let one = constant(&mut program.module, F32, 1.0);
    let sum = program.body(&ADD, [a, b]);
    let sum = program.body(&SUBTRACT, [sum, one]);
    let other = program.ends(sum).update();
    assert_eq!(run(&other, &operands(&[10.0, 20.0, 30.0]))[0].numbers(), [11.0, 20.0, 32.0]);
}

#[test]
fn what_is_no_function_of_single_elements_is_refused() {
    let refusal = |program: Program| {
        let error = program.reduce().unwrap_err();
        (error.code.id, error.message)
    };
    let mut program = Program::new(F32, None);
    let [a, _] = program.arguments;
    let init = program.init;
    let sum = program.body(&ADD, [a, init]);
    let (code, message) = refusal(program.ends(sum));
    assert_eq!(code, "T0513");
    assert!(message.ends_with("is neither computed in it nor constant"), "{message}");
    let mut program = Program::new(F32, None);
    let rows = program.body(&ROWS, program.arguments);
    assert_eq!(
        refusal(program.ends(rows)),
        (
            "T0513",
            "`t.rows` in the region of `t.fold` is no function of single elements: it gives a `tensor<2xf32>`"
                .to_owned()
        )
    );
}

#[test]
fn descriptions_are_put_into_others() {
    let mut b = Builder::new("twice");
    let t = b.default_type();
    let n = b.extent("N");
    let x = b.operand("x", t, &[n]);
    let i = b.var("i", n);
    let at = b.index(i);
    let element = b.read(x, &[at]);
    let add = read("tdl @add(x: [], y: []) -> [] { let z[] = x[] out[] = z[] + y[] }");
    let sum = b.inline(&add, &[element, element], &[]).unwrap();
    let double = b.binary(BinaryOp::Mul, sum[0], element);
    b.output("out", t, &[i], double);
    let whole = b.clone().finish().unwrap();
    assert_eq!(body(&whole), "out[i] = (x[i] + x[i]) * x[i]");
    for (text, why) in [
        (CHOLESKY, "its algorithm is hidden"),
        ("tdl @s(x: []) -> [] { out[] = sum(i: 3) x[] }", "it reduces something"),
        ("tdl @s(x: [], y: []) -> [] { out[] = x[] + y[] }", "it takes 2 operands, not 1"),
        ("tdl @s(x: []) -> i32[] { out[] = convert<i32>(x[]) }", ""),
    ] {
        let found = b.inline(&read(text), &[element], &[]).err().unwrap_or_default();
        assert_eq!(found, why, "{text}");
    }
    assert_eq!(x, Source::Operand(0));
}

#[test]
fn shares_put_together_are_the_whole() {
    // a + b + 1 - 1, and what came last.
    let other = || {
        let mut program = Program::new(I32, Some(0.0));
        let [a, b] = program.arguments;
        let one = constant(&mut program.module, I32, 1.0);
        let sum = program.body(&ADD, [a, b]);
        let sum = program.body(&ADD, [sum, one]);
        let sum = program.body(&SUBTRACT, [sum, one]);
        program.ends(sum)
    };
    let last = || {
        let program = Program::new(I32, None);
        let [_, b] = program.arguments;
        program.ends(b)
    };
    let reductions = [
        Program::of(I32, Some(0.0), &ADD, false),
        Program::of(I32, None, &MULTIPLY, true),
        Program::of(I32, None, &MAXIMUM, false),
        other(),
    ];
    let updates =
        [Program::of(I32, Some(0.0), &ADD, false), Program::of(I32, None, &MAXIMUM, false), other(), last()];
    let mut random = fastrand::Rng::with_seed(31);
    let mut draw = |dims: &[u64], low: i32, high: i32| {
        let count = dims.iter().product::<u64>();
        let numbers: Vec<f64> = (0..count).map(|_| f64::from(random.i32(low..high))).collect();
        Tensor::from_numbers(I32, dims, &numbers).unwrap()
    };
    let mut compared = 0;
    let mut check = |description: &Description, operands: &[Tensor]| {
        let types: Vec<_> = operands.iter().map(Tensor::ty).collect();
        let extents = solve(description, &types).unwrap().static_extents().unwrap();
        let registry = OpaqueRegistry::builtin();
        let whole = Whole::run(description, &registry, &extents, operands).unwrap();
        for strategy in strategies(description) {
            for workers in [2, 3, 4, 8] {
                let found = whole.compare(&strategy, workers, &|_| {});
                found
                    .unwrap_or_else(|error| panic!("{}: {error}\n{description}", strategy.text(description)));
                compared += 1;
            }
        }
    };
    for n in [1, 2, 5, 9] {
        for program in &reductions {
            check(&program.reduce().unwrap(), &[draw(&[n], -9, 9), draw(&[], 0, 1)]);
        }
        for program in &updates {
            for m in [1, 4, 7] {
                check(&program.update(), &[draw(&[n], 0, 1), draw(&[m], -1, 8), draw(&[m], -9, 9)]);
            }
        }
    }
    // All reductions can be split; all results of updates can, and the updates of two.
    assert_eq!(compared, 4 * 4 * (4 + 3 * (4 + 2)));
}
