//! Random descriptions: they read back as they print, never read outside an operand, and split soundly.

use fastrand::Rng;
use tofu_ir::ElementType::{self, *};
use tofu_tdl::*;
use tofu_tdl_testing::Whole;

struct Generator<'r> {
    random: &'r mut Rng,
    b: Builder,
    /// `x: i32[N, M]`, `y: i32[M]`, `f: f64[N, 3]`.
    operands: [Source; 3],
    extents: [IndexId; 2],
    vars: Vec<VarId>,
    names: usize,
}

const INT: TypeRef = TypeRef::Concrete(I32);
const FLOAT: TypeRef = TypeRef::Concrete(F64);
const INDEX: TypeRef = TypeRef::Concrete(Index);

impl Generator<'_> {
    fn index(&mut self, depth: u32) -> IndexId {
        let random = self.random.u8(..if depth == 0 { 3 } else { 9 });
        let small = self.random.i64(1..4);
        match random {
            0 => self.b.constant(small - 1),
            1 | 2 if !self.vars.is_empty() => {
                let var = self.vars[self.random.usize(..self.vars.len())];
                self.b.index(var)
            }
            1 | 2 => self.extents[self.random.usize(..2)],
            3 | 4 => {
                let (a, b) = (self.index(depth - 1), self.index(depth - 1));
                self.b.index_add(a, b)
            }
            5 => {
                let (a, b) = (self.index(depth - 1), self.index(depth - 1));
                self.b.index_sub(a, b)
            }
            6 => {
                let a = self.index(depth - 1);
                self.b.affine(small, a, 0)
            }
            7 => {
                let (a, b) = (self.index(depth - 1), self.b.constant(small));
                self.b.index_floordiv(a, b)
            }
            _ => {
                let (a, b) = (self.index(depth - 1), self.b.constant(small));
                self.b.index_mod(a, b)
            }
        }
    }

    fn condition(&mut self, depth: u32) -> ScalarId {
        let comparisons =
            [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];
        let comparison = comparisons[self.random.usize(..6)];
        match self.random.u8(..5) {
            0 if depth > 0 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                let op = if self.random.bool() { BinaryOp::And } else { BinaryOp::Or };
                self.b.binary(op, a, b)
            }
            1 if depth > 0 => {
                let a = self.condition(depth - 1);
                self.b.unary(UnaryOp::Not, a)
            }
            2 if depth > 0 => {
                let (a, b) = (self.scalar(INT, depth - 1), self.scalar(INT, depth - 1));
                self.b.compare(comparison, a, b)
            }
            _ => {
                let (a, b) = (self.index(1), self.index(1));
                self.b.compare_indices(comparison, a, b)
            }
        }
    }

    fn scalar(&mut self, ty: TypeRef, depth: u32) -> ScalarId {
        let leaf = depth == 0 || self.random.u8(..6) == 0;
        if leaf {
            return match self.random.u8(..4) {
                0 => {
                    let value = self.random.i8(-3..4);
                    self.b.int(i128::from(value), ty)
                }
                1 => {
                    let index = self.index(1);
                    let value = self.b.index_value(index);
                    self.b.convert(value, ty)
                }
                _ => self.read(ty),
            };
        }
        match self.random.u8(..9) {
            0 | 1 => {
                let ops = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Max, BinaryOp::Min];
                let op = ops[self.random.usize(..5)];
                let (a, b) = (self.scalar(ty, depth - 1), self.scalar(ty, depth - 1));
                self.b.binary(op, a, b)
            }
            2 => {
                let a = self.scalar(ty, depth - 1);
                let op = if self.random.bool() { UnaryOp::Neg } else { UnaryOp::Abs };
                self.b.unary(op, a)
            }
            3 | 4 => {
                let condition = self.condition(1);
                let (a, b) = (self.scalar(ty, depth - 1), self.scalar(ty, depth - 1));
                self.b.select(condition, a, b)
            }
            5 => {
                let from = if ty == INT { FLOAT } else { INT };
                let a = self.scalar(from, depth - 1);
                self.b.convert(a, ty)
            }
            6 | 7 => {
                self.names += 1;
                let extents = [self.extents[0], self.extents[1], self.b.constant(2)];
                let extent = extents[self.random.usize(..3)];
                let var = self.b.var(&format!("r{}", self.names), extent);
                self.vars.push(var);
                let body = self.scalar(ty, depth - 1);
                self.vars.pop();
                let reducers = [Reducer::Sum, Reducer::Max, Reducer::Min];
                self.b.reduce(reducers[self.random.usize(..3)], &[var], body)
            }
            _ => {
                let data = self.read(INT);
                let (data, zero) = (self.b.convert(data, INDEX), self.b.constant(0));
                let zero = self.b.index_value(zero);
                let one = self.b.constant(1);
                let last = self.b.index_sub(self.extents[1], one);
                let last = self.b.index_value(last);
                let clamped = self.b.binary(BinaryOp::Min, data, last);
                let clamped = self.b.binary(BinaryOp::Max, clamped, zero);
                let at = self.b.data_index(clamped);
                let value = self.b.read(self.operands[1], &[at]);
                self.b.convert(value, ty)
            }
        }
    }

    /// A reduction and what is combined with it.
    fn combined(&mut self, ty: TypeRef) -> ScalarId {
        let extent = self.extents[self.random.usize(..2)];
        let var = self.b.var("r", extent);
        self.vars.push(var);
        let body = self.scalar(ty, 2);
        self.vars.pop();
        let (reducer, op) = [
            (Reducer::Sum, BinaryOp::Add),
            (Reducer::Sum, BinaryOp::Sub),
            (Reducer::Max, BinaryOp::Max),
            (Reducer::Min, BinaryOp::Min),
        ][self.random.usize(..4)];
        let reduced = self.b.reduce(reducer, &[var], body);
        let other = self.scalar(ty, 3);
        if self.random.bool() { self.b.binary(op, reduced, other) } else { self.b.binary(op, other, reduced) }
    }

    fn read(&mut self, ty: TypeRef) -> ScalarId {
        let zero = self.b.int(0, if ty == INT { INT } else { FLOAT });
        if ty != INT {
            let at = [self.index(2), self.index(1)];
            return self.b.read_or(self.operands[2], &at, zero);
        }
        if self.random.bool() {
            let at = [self.index(2), self.index(1)];
            self.b.read_or(self.operands[0], &at, zero)
        } else {
            let at = [self.index(2)];
            self.b.read_or(self.operands[1], &at, zero)
        }
    }
}

fn generate(random: &mut Rng) -> Result<Description, Vec<tofu_diagnostics::Diagnostic>> {
    let mut b = Builder::new("random");
    let (n, m) = (b.extent("N"), b.extent("M"));
    let three = b.constant(3);
    let operands =
        [b.operand("x", INT, &[n, m]), b.operand("y", INT, &[m]), b.operand("f", FLOAT, &[n, three])];
    let mut generator = Generator { random, b, operands, extents: [n, m], vars: Vec::new(), names: 0 };
    if generator.random.bool() {
        // An intermediate tensor takes the place of an operand.
        let i = generator.b.var("k", m);
        generator.vars = vec![i];
        let body = generator.scalar(INT, 2);
        generator.operands[1] = generator.b.define("t", &[i], body);
    }
    let ty = if generator.random.bool() { INT } else { FLOAT };
    let (i, j) = (generator.b.var("i", n), generator.b.var("j", m));
    generator.vars = vec![i, j];
    let body = if generator.random.bool() { generator.scalar(ty, 4) } else { generator.combined(ty) };
    generator.b.output("out", ty, &[i, j], body);
    generator.b.finish()
}

fn operands(description: &Description, extents: &[u64], random: &mut Rng) -> Vec<Tensor> {
    let elements: [ElementType; 3] = [I32, I32, F64];
    let dims = operand_dims(description, extents).unwrap();
    dims.iter()
        .zip(elements)
        .map(|(dims, element)| {
            let mut tensor = Tensor::zeros(element, dims).unwrap();
            (0..tensor.len()).for_each(|index| tensor.set_integer(index, i128::from(random.i8(-4..5))));
            tensor
        })
        .collect()
}

#[test]
fn random_descriptions_read_back_stay_inside_and_split_soundly() {
    let mut random = Rng::with_seed(17);
    let registry = OpaqueRegistry::builtin();
    let (mut right, mut compared) = (0, 0);
    for _ in 0..400 {
        let description = match generate(&mut random) {
            Ok(description) => description,
            // What the analysis cannot show to stay inside is refused; nothing else is wrong with these.
            Err(errors) => {
                assert!(errors.iter().all(|error| error.code.id == "T0504"), "{errors:?}");
                continue;
            }
        };
        right += 1;
        let text = description.to_string();
        let again = parse(&text, 1, &registry);
        assert_eq!(again.unwrap_or_else(|errors| panic!("{text}\n{errors:?}")), description, "{text}");
        let extents = [random.u64(1..6), random.u64(1..6)];
        let inputs = operands(&description, &extents, &mut random);
        let whole = Whole::run(&description, &registry, &extents, &inputs).unwrap();
        for strategy in strategies(&description) {
            for workers in [2, 3] {
                whole.compare(&strategy, workers, &|_| {}).unwrap_or_else(|error| {
                    let line = strategy.text(&description);
                    panic!("{line}\n{extents:?}, {workers} workers: {error}\n{text}")
                });
                compared += 1;
            }
        }
    }
    assert!(right > 150 && compared > 500, "{right} descriptions, {compared} comparisons");
}
