//! Random descriptions.

use fastrand::Rng;
use tofu_ir::ElementType::{self, *};
use tofu_tdl::*;

use crate::support::{check, draw, kernel};

/// Draws expressions of elements of `x: T[N, M]`, `y: T[M]`, `at: i32[N]`, and of intermediate tensors over them.
struct Generator<'r> {
    random: &'r mut Rng,
    b: Builder,
    element: TypeRef,
    matrices: Vec<Source>,
    vectors: Vec<Source>,
    places: Source,
    extents: [IndexId; 2],
    vars: Vec<VarId>,
    names: usize,
}

const INDEX: TypeRef = TypeRef::Concrete(Index);

impl Generator<'_> {
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.random.usize(..items.len())]
    }

    fn index(&mut self, depth: u32) -> IndexId {
        let number = self.random.i64(1..5);
        if depth == 0 || self.random.u8(..3) == 0 {
            return match self.random.u8(..4) {
                0 => self.b.constant(number - 1),
                _ if self.vars.is_empty() => self.extents[0],
                _ => {
                    let vars = self.vars.clone();
                    let var = self.pick(&vars);
                    self.b.index(var)
                }
            };
        }
        let a = self.index(depth - 1);
        let divisor = self.b.constant(number);
        match self.random.u8(..6) {
            0 | 1 => {
                let b = self.index(depth - 1);
                self.b.index_add(a, b)
            }
            2 => {
                let b = self.index(depth - 1);
                self.b.index_sub(a, b)
            }
            3 => self.b.affine(number, a, -1),
            4 => self.b.index_floordiv(a, divisor),
            _ => self.b.index_mod(a, divisor),
        }
    }

    fn condition(&mut self, depth: u32) -> ScalarId {
        use Comparison::*;
        let comparison = self.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
        match self.random.u8(..6) {
            0 | 1 if depth > 0 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                let op = self.pick(&[BinaryOp::And, BinaryOp::Or]);
                self.b.binary(op, a, b)
            }
            2 if depth > 0 => {
                let (a, b) = (self.scalar(depth - 1), self.scalar(depth - 1));
                self.b.compare(comparison, a, b)
            }
            3 => {
                // Places that elements name.
                let (at, place) = (self.place(), self.index(0));
                let place = self.b.index_value(place);
                self.b.compare(Eq, at, place)
            }
            _ => {
                let (a, b) = (self.index(1), self.index(1));
                self.b.compare_indices(comparison, a, b)
            }
        }
    }

    /// An element of `at`, as an index.
    fn place(&mut self) -> ScalarId {
        let at = self.index(1);
        let zero = self.b.int(0, TypeRef::Concrete(I32));
        let place = self.b.read_or(self.places, &[at], zero);
        self.b.convert(place, INDEX)
    }

    fn scalar(&mut self, depth: u32) -> ScalarId {
        if depth == 0 || self.random.u8(..6) == 0 {
            return match self.random.u8(..6) {
                0 => {
                    let value = self.random.i8(-3..4);
                    self.b.int(i128::from(value), self.element)
                }
                1 => {
                    let index = self.index(1);
                    let value = self.b.index_value(index);
                    self.b.convert(value, self.element)
                }
                _ => self.read(),
            };
        }
        match self.random.u8(..10) {
            0..3 => {
                use BinaryOp::*;
                let op = self.pick(&[Add, Sub, Mul, Mul, Max, Min]);
                let (a, b) = (self.scalar(depth - 1), self.scalar(depth - 1));
                self.b.binary(op, a, b)
            }
            3 => {
                let a = self.scalar(depth - 1);
                self.b.unary(UnaryOp::Neg, a)
            }
            4 | 5 => {
                let condition = self.condition(1);
                let (a, b) = (self.scalar(depth - 1), self.scalar(depth - 1));
                self.b.select(condition, a, b)
            }
            6 => {
                // An element that elements name; whether it is there depends.
                let (condition, at) = (self.condition(0), self.place());
                let (at, vectors) = (self.b.data_index(at), self.vectors.clone());
                let vector = self.pick(&vectors);
                let value = self.b.read(vector, &[at]);
                let rest = self.read();
                self.b.select(condition, value, rest)
            }
            _ if self.vars.len() > 5 => self.read(),
            _ => self.reduction(depth - 1),
        }
    }

    fn reduction(&mut self, depth: u32) -> ScalarId {
        let depth_of_vars = self.vars.len();
        for _ in 0..self.random.usize(1..3) {
            self.names += 1;
            let extents = [self.extents[0], self.extents[1], self.b.constant(3)];
            let extent = self.pick(&extents);
            let var = self.b.var(&format!("r{}", self.names), extent);
            self.vars.push(var);
        }
        let vars = self.vars[depth_of_vars..].to_vec();
        let zero = self.b.int(0, self.element);
        let mut body = self.scalar(depth);
        if self.random.bool() {
            let factor = self.scalar(depth);
            body = self.b.mul(body, factor);
        }
        if self.random.bool() {
            let guard = self.condition(2);
            body = self.b.select(guard, body, zero);
        }
        self.vars.truncate(depth_of_vars);
        let reducer = self.pick(&[Reducer::Sum, Reducer::Sum, Reducer::Sum, Reducer::Max, Reducer::Min]);
        self.b.reduce(reducer, &vars, body)
    }

    fn read(&mut self) -> ScalarId {
        let zero = self.b.int(0, self.element);
        let (matrices, vectors) = (self.matrices.clone(), self.vectors.clone());
        if self.random.bool() {
            let (matrix, at) = (self.pick(&matrices), [self.index(2), self.index(1)]);
            self.b.read_or(matrix, &at, zero)
        } else {
            let (vector, at) = (self.pick(&vectors), [self.index(2)]);
            self.b.read_or(vector, &at, zero)
        }
    }
}

fn generate(element: ElementType, random: &mut Rng) -> Option<Description> {
    let mut b = Builder::new("random");
    let (n, m) = (b.extent("N"), b.extent("M"));
    let (ty, int) = (TypeRef::Concrete(element), TypeRef::Concrete(I32));
    let (x, y, places) = (b.operand("x", ty, &[n, m]), b.operand("y", ty, &[m]), b.operand("at", int, &[n]));
    let (matrices, vectors) = (vec![x], vec![y]);
    let mut g = Generator {
        random,
        b,
        element: ty,
        matrices,
        vectors,
        places,
        extents: [n, m],
        vars: Vec::new(),
        names: 0,
    };
    if g.random.bool() {
        let var = g.b.var("k", m);
        g.vars = vec![var];
        let body = g.scalar(2);
        let vector = g.b.define("t", &[var], body);
        g.vectors.push(vector);
    }
    let (i, j) = (g.b.var("i", n), g.b.var("j", m));
    g.vars = vec![i, j];
    let body = if g.random.bool() { g.scalar(4) } else { g.reduction(3) };
    g.b.output("out", ty, &[i, j], body);
    // What the analysis cannot show to stay inside is refused.
    g.b.finish().ok()
}

#[test]
fn random_descriptions_give_what_the_evaluator_gives() {
    let mut random = Rng::with_seed(23);
    let mut count = 0;
    for round in 0..1200 {
        let element = [F32, F32, F64, I32, BF16, I8][round % 6];
        let Some(description) = generate(element, &mut random) else { continue };
        let data = description.data();
        let extents: Vec<u64> = data.extents.iter().map(|_| random.u64(1..8)).collect();
        let Some(dims) = operand_dims(&description, &extents) else { continue };
        let mut operands: Vec<Tensor> =
            dims.iter().take(2).map(|dims| draw(element, dims, false, &mut random)).collect();
        operands.push(draw(I32, &dims[2], false, &mut random));
        check(&description, &operands);
        count += 1;
    }
    assert!(count > 400, "{count}");
}

/// Sums of products of elements at affine places, guarded in all ways, over enough points for packed panels.
fn generate_product(element: ElementType, random: &mut Rng) -> Option<(Description, Vec<Tensor>)> {
    let mut b = Builder::new("product");
    let ty = TypeRef::Concrete(element);
    let mut vars = Vec::new();
    for name in ["i", "j", "k", "l", "m"] {
        let extent = if random.u8(..6) == 0 { random.i64(1..40) } else { random.i64(2..9) };
        let extent = b.constant(extent);
        vars.push(b.var(name, extent));
    }
    let zero = b.int(0, ty);
    let mut operands = Vec::new();
    let mut factors = Vec::new();
    for (name, first) in [("x", 0), ("y", 2)] {
        let mut indices = Vec::new();
        let mut dims = Vec::new();
        for _ in 0..random.usize(1..4) {
            let mut index = b.constant(random.i64(-2..3));
            for _ in 0..random.usize(1..3) {
                let var = b.index(vars[first + random.usize(..3)]);
                let scaled = b.affine(random.i64(1..3), var, 0);
                index =
                    if random.u8(..4) == 0 { b.index_sub(index, scaled) } else { b.index_add(index, scaled) };
            }
            let by = b.constant(random.i64(1..4));
            indices.push(if random.u8(..4) == 0 { b.index_floordiv(index, by) } else { index });
            dims.push(random.i64(1..24));
        }
        let extents: Vec<IndexId> = dims.iter().map(|&dim| b.constant(dim)).collect();
        let source = b.operand(name, ty, &extents);
        factors.push(b.read_or(source, &indices, zero));
        let dims: Vec<u64> = dims.iter().map(|&dim| dim as u64).collect();
        operands.push(draw(element, &dims, random.u8(..4) == 0, random));
    }
    let mut body = b.mul(factors[0], factors[1]);
    for _ in 0..random.usize(..3) {
        let [x, y] = [(); 2].map(|()| vars[random.usize(..vars.len())]);
        let (x, y) = (b.index(x), b.index(y));
        let (x, y) = (b.affine(random.i64(1..3), x, -2), b.index_add(y, x));
        let comparison = if random.bool() { Comparison::Lt } else { Comparison::Ge };
        let guard = b.compare_indices(comparison, x, y);
        body = b.select(guard, body, zero);
    }
    random.shuffle(&mut vars);
    let (own, summed) = vars.split_at(random.usize(2..5));
    let value = b.reduce(Reducer::Sum, summed, body);
    b.output("out", ty, own, value);
    Some((b.finish().ok()?, operands))
}

#[test]
fn random_sums_of_products_give_what_the_evaluator_gives() {
    let mut random = Rng::with_seed(29);
    let (mut count, mut contracted) = (0, 0);
    for round in 0..300 {
        let element = [F32, F64, I32, I64, F32][round % 5];
        let Some((description, operands)) = generate_product(element, &mut random) else { continue };
        check(&description, &operands);
        count += 1;
        contracted += usize::from(format!("{:?}", kernel(&description, &operands)).contains("Contract"));
    }
    assert!(count > 200 && contracted > 40, "{contracted} of {count}");
}
