use std::sync::Arc;

use tofu_diagnostics::Diagnostic;
use tofu_dialect_func as func;
use tofu_ir::{BlockId, Builder, Registry, encode_float};

use super::*;
use crate as tensor;
use ElementType::*;

type Built = Result<ValueId, Diagnostic>;

/// A function whose ops are folded one by one.
struct Program {
    module: Module,
    block: BlockId,
}

impl Program {
    fn new() -> Program {
        let registry = Registry::new(&[&func::DIALECT, &tensor::DIALECT]).unwrap();
        let mut module = Module::new(Arc::new(registry));
        let (_, block) = func::build_function(&mut module, "f", &[], &[]);
        Program { module, block }
    }

    /// A value that is no constant, called `%name`.
    fn argument(&mut self, name: &str, dims: &[u64], element: ElementType) -> ValueId {
        let ty = self.module.interner.tensor(dims, element);
        let value = self.module.append_argument(self.block, ty);
        let name = self.module.interner.name(name);
        self.module.set_value_name(value, Some(name));
        value
    }

    fn constant(&mut self, dims: &[u64], element: ElementType, values: &[f64]) -> ValueId {
        let mut bytes = Vec::new();
        for &value in values {
            let bits = match element.is_float() {
                true => encode_float(element, value),
                false => value as i64 as u64,
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..element.storage_bytes()]);
        }
        let ty = self.module.interner.tensor(dims, element);
        let data = match values {
            [_] => DenseData::Splat(bytes.into()),
            _ => DenseData::from_bytes(bytes, element),
        };
        let value = self.module.interner.dense(ty, data);
        self.build(|builder| tensor::constant(builder, value))
    }

    fn build(&mut self, build: impl FnOnce(&mut Builder<'_>) -> Built) -> ValueId {
        build(&mut Builder::at_end(&mut self.module, self.block)).unwrap()
    }

    /// What the op that defines `value` folds to, as text.
    fn fold(&mut self, value: ValueId) -> String {
        let op = self.module.defining_op(value).unwrap();
        let Some(fold) = self.module.def(op).interface::<tofu_ir::Fold>() else {
            return "nothing".into();
        };
        match fold.0(&self.module, op).as_deref() {
            Some([Folded::Value(value)]) => {
                assert_eq!(self.module.ty(*value), self.module.ty(self.module.result(op, 0)));
                self.module.value_text(*value)
            }
            Some([Folded::Constant(data)]) => {
                let AttrData::Dense(dense) = data else { panic!("no tensor") };
                assert_eq!(dense.ty, self.module.ty(self.module.result(op, 0)));
                let attr = self.module.interner.attr(data.clone());
                self.module.display_attr(attr).to_string().replace(" : tensor<", " ").replace('>', "")
            }
            _ => "nothing".into(),
        }
    }
}

/// What an op on two constants folds to.
fn binary(
    build: impl Fn(&mut Builder<'_>, ValueId, ValueId) -> Built,
    element: ElementType,
    x: &[f64],
    y: &[f64],
) -> String {
    let mut program = Program::new();
    let dims = [x.len() as u64];
    let (x, y) = (program.constant(&dims, element, x), program.constant(&dims, element, y));
    let result = program.build(|builder| build(builder, x, y));
    program.fold(result)
}

fn unary(build: impl Fn(&mut Builder<'_>, ValueId) -> Built, element: ElementType, x: &[f64]) -> String {
    binary(|builder, x, _| build(builder, x), element, x, x)
}

/// What an op on `%x` and a splat folds to.
fn with_splat(
    build: impl Fn(&mut Builder<'_>, ValueId, ValueId) -> Built,
    element: ElementType,
    y: f64,
) -> String {
    let mut program = Program::new();
    let (x, y) = (program.argument("x", &[1 << 20], element), program.constant(&[1 << 20], element, &[y]));
    let result = program.build(|builder| build(builder, x, y));
    program.fold(result)
}

/// What an op on `%x` twice folds to.
fn with_itself(build: impl Fn(&mut Builder<'_>, ValueId, ValueId) -> Built, element: ElementType) -> String {
    let mut program = Program::new();
    let x = program.argument("x", &[4], element);
    let result = program.build(|builder| build(builder, x, x));
    program.fold(result)
}

#[test]
fn integers_wrap_and_divide_by_zero() {
    assert_eq!(binary(tensor::add, I8, &[127.0, 1.0], &[1.0, 1.0]), "dense<[-128, 2] 2xi8");
    assert_eq!(binary(tensor::multiply, Ui8, &[16.0, 2.0], &[17.0, 3.0]), "dense<[16, 6] 2xui8");
    assert_eq!(binary(tensor::subtract, Ui8, &[0.0, 2.0], &[1.0, 1.0]), "dense<[255, 1] 2xui8");
    assert_eq!(
        binary(tensor::divide, I8, &[-7.0, 3.0, -128.0], &[2.0, 0.0, -1.0]),
        "dense<[-3, -1, -128] 3xi8"
    );
    assert_eq!(binary(tensor::divide, Ui8, &[7.0, 3.0], &[2.0, 0.0]), "dense<[3, 255] 2xui8");
    assert_eq!(
        binary(tensor::remainder, I8, &[-7.0, 3.0, -128.0], &[2.0, 0.0, -1.0]),
        "dense<[-1, 3, 0] 3xi8"
    );
    assert_eq!(binary(tensor::power, I8, &[3.0, -2.0], &[4.0, 3.0]), "dense<[81, -8] 2xi8");
    assert_eq!(binary(tensor::power, I8, &[3.0, 2.0], &[4.0, -1.0]), "nothing");
    assert_eq!(unary(tensor::abs, I8, &[-128.0, -3.0]), "dense<[-128, 3] 2xi8");
    assert_eq!(unary(tensor::negate, I8, &[-128.0, -3.0]), "dense<[-128, 3] 2xi8");
    assert_eq!(unary(tensor::not, Ui4, &[0.0, 5.0]), "dense<[15, 10] 2xui4");
    assert_eq!(unary(tensor::sign, I8, &[-5.0, 0.0, 9.0]), "dense<[-1, 0, 1] 3xi8");
}

#[test]
fn booleans_are_logic() {
    let (x, y) = ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(binary(tensor::add, I1, &x, &y), "dense<[false, true, true, true] 4xi1");
    assert_eq!(binary(tensor::multiply, I1, &x, &y), "dense<[false, false, false, true] 4xi1");
    assert_eq!(binary(tensor::xor, I1, &x, &y), "dense<[false, true, true, false] 4xi1");
    assert_eq!(binary(tensor::maximum, I1, &x, &y), "dense<[false, true, true, true] 4xi1");
    assert_eq!(unary(tensor::not, I1, &[0.0, 1.0]), "dense<[true, false] 2xi1");
}

#[test]
fn floats_follow_the_standard() {
    let nan = f64::NAN;
    assert_eq!(
        binary(tensor::add, F32, &[0.1, 1.0], &[0.2, 2.0]),
        format!("dense<[{:?}, 3.0] 2xf32", 0.1f32 + 0.2)
    );
    assert_eq!(binary(tensor::add, BF16, &[256.0, 1.0], &[1.0, 2.0]), "dense<[256.0, 3.0] 2xbf16");
    assert_eq!(
        binary(tensor::divide, F32, &[1.0, -1.0, 0.0], &[0.0, 0.0, 0.0]),
        "dense<[0x7F800000, 0xFF800000, 0x7FC00000] 3xf32"
    );
    assert_eq!(
        binary(tensor::maximum, F32, &[nan, -0.0, 0.0, 1.0], &[1.0, 0.0, -0.0, 2.0]),
        "dense<[0x7FC00000, 0.0, 0.0, 2.0] 4xf32"
    );
    assert_eq!(
        binary(tensor::minimum, F32, &[1.0, -0.0, 0.0, 1.0], &[nan, 0.0, -0.0, 2.0]),
        "dense<[0x7FC00000, -0.0, -0.0, 1.0] 4xf32"
    );
    assert_eq!(binary(tensor::remainder, F32, &[-7.5, 7.5], &[2.0, -2.0]), "dense<[-1.5, 1.5] 2xf32");
    assert_eq!(unary(tensor::sqrt, F32, &[4.0, 2.0]), format!("dense<[2.0, {:?}] 2xf32", 2f32.sqrt()));
    assert_eq!(unary(tensor::sign, F32, &[-3.0, -0.0, 0.0]), "dense<[-1.0, -0.0, 0.0] 3xf32");
    assert_eq!(unary(tensor::round_nearest_even, F32, &[0.5, 1.5, -2.5]), "dense<[0.0, 2.0, -2.0] 3xf32");
    assert_eq!(unary(tensor::floor, F32, &[0.5, -0.5]), "dense<[0.0, -1.0] 2xf32");
    assert_eq!(unary(tensor::ceil, F32, &[0.5, -0.5]), "dense<[1.0, -0.0] 2xf32");
    assert_eq!(unary(tensor::is_finite, F32, &[1.0, nan, f64::INFINITY]), "dense<[true, false, false] 3xi1");
}

#[test]
fn what_no_runtime_rounds_correctly_is_left_alone() {
    assert_eq!(unary(tensor::exponential, F32, &[0.0]), "nothing");
    assert_eq!(unary(tensor::tanh, F32, &[0.0]), "nothing");
    assert_eq!(binary(tensor::power, F32, &[2.0], &[2.0]), "nothing");
    assert_eq!(binary(tensor::add, F8E4M3FN, &[1.0], &[1.0]), "nothing");
}

#[test]
fn comparisons() {
    let compare =
        |direction| move |builder: &mut Builder<'_>, x, y| tensor::compare(builder, direction, x, y);
    let (x, y) = ([1.0, 2.0, f64::NAN], [2.0, 2.0, 2.0]);
    let fold = |direction| binary(compare(direction), F32, &x, &y);
    assert_eq!(fold(tensor::Direction::Equal), "dense<[false, true, false] 3xi1");
    assert_eq!(fold(tensor::Direction::NotEqual), "dense<[true, false, true] 3xi1");
    assert_eq!(fold(tensor::Direction::Less), "dense<[true, false, false] 3xi1");
    assert_eq!(fold(tensor::Direction::LessOrEqual), "dense<[true, true, false] 3xi1");
    assert_eq!(fold(tensor::Direction::Greater), "dense<false 3xi1");
    assert_eq!(fold(tensor::Direction::GreaterOrEqual), "dense<[false, true, false] 3xi1");
    assert_eq!(with_itself(compare(tensor::Direction::LessOrEqual), I32), "dense<true 4xi1");
    assert_eq!(with_itself(compare(tensor::Direction::Less), I32), "dense<false 4xi1");
    assert_eq!(with_itself(compare(tensor::Direction::LessOrEqual), F32), "nothing");
}

#[test]
fn identities_hold_exactly() {
    assert_eq!(with_splat(tensor::add, F32, 0.0), "nothing");
    assert_eq!(with_splat(tensor::add, F32, -0.0), "%x");
    assert_eq!(with_splat(tensor::add, I32, 0.0), "%x");
    assert_eq!(with_splat(tensor::subtract, F32, 0.0), "%x");
    assert_eq!(with_splat(tensor::subtract, F32, -0.0), "nothing");
    assert_eq!(with_splat(tensor::multiply, F32, 1.0), "%x");
    assert_eq!(with_splat(tensor::multiply, F32, 0.0), "nothing");
    assert_eq!(with_splat(tensor::multiply, I32, 1.0), "%x");
    assert_eq!(with_splat(tensor::multiply, I32, 0.0), "dense<0 1048576xi32");
    assert_eq!(with_splat(tensor::divide, F32, 1.0), "%x");
    assert_eq!(with_splat(tensor::divide, I32, 1.0), "%x");
    assert_eq!(with_splat(tensor::remainder, I32, 1.0), "dense<0 1048576xi32");
    assert_eq!(with_splat(tensor::and, I32, 0.0), "dense<0 1048576xi32");
    assert_eq!(with_splat(tensor::and, I32, -1.0), "%x");
    assert_eq!(with_splat(tensor::and, Ui8, 255.0), "%x");
    assert_eq!(with_splat(tensor::and, I1, 1.0), "%x");
    assert_eq!(with_splat(tensor::or, I32, 0.0), "%x");
    assert_eq!(with_splat(tensor::or, I1, 1.0), "result 0 of `tensor.constant`");
    assert_eq!(with_splat(tensor::xor, I32, 0.0), "%x");
    assert_eq!(with_itself(tensor::subtract, I32), "dense<0 4xi32");
    assert_eq!(with_itself(tensor::subtract, F32), "nothing");
    assert_eq!(with_itself(tensor::xor, I32), "dense<0 4xi32");
    assert_eq!(with_itself(tensor::and, I32), "%x");
    assert_eq!(with_itself(tensor::maximum, F32), "%x");
}

#[test]
fn what_is_done_twice_is_undone() {
    for (build, element) in
        [(tensor::negate as fn(&mut Builder<'_>, ValueId) -> Built, F32), (tensor::not, I32)]
    {
        let mut program = Program::new();
        let x = program.argument("x", &[4], element);
        let once = program.build(|builder| build(builder, x));
        let twice = program.build(|builder| build(builder, once));
        assert_eq!(program.fold(once), "nothing");
        assert_eq!(program.fold(twice), "%x");
    }
}

#[test]
fn selections() {
    let mut program = Program::new();
    let (x, y) = (program.argument("x", &[2], F32), program.argument("y", &[2], F32));
    let p = program.argument("p", &[2], I1);
    let yes = program.constant(&[2], I1, &[1.0]);
    let no = program.constant(&[], I1, &[0.0]);
    let mixed = program.constant(&[2], I1, &[1.0, 0.0]);
    let one = program.constant(&[2], F32, &[1.0]);
    let others = program.constant(&[2], F32, &[2.0, 3.0]);
    let mut fold = |condition, on_true, on_false| {
        let result = program.build(|builder| tensor::select(builder, condition, on_true, on_false));
        program.fold(result)
    };
    assert_eq!(fold(yes, x, y), "%x");
    assert_eq!(fold(no, x, y), "%y");
    assert_eq!(fold(p, x, x), "%x");
    assert_eq!(fold(p, x, y), "nothing");
    assert_eq!(fold(mixed, x, y), "nothing");
    assert_eq!(fold(mixed, one, others), "dense<[1.0, 3.0] 2xf32");
}

#[test]
fn clamps_take_scalar_bounds() {
    let mut program = Program::new();
    let (low, high) = (program.constant(&[], I32, &[0.0]), program.constant(&[], I32, &[10.0]));
    let x = program.constant(&[3], I32, &[-5.0, 5.0, 15.0]);
    let result = program.build(|builder| tensor::clamp(builder, low, x, high));
    assert_eq!(program.fold(result), "dense<[0, 5, 10] 3xi32");
}

#[test]
fn conversions() {
    let to = |element| move |builder: &mut Builder<'_>, x| tensor::convert(builder, x, element);
    assert_eq!(unary(to(I8), F32, &[-1.9, 2.5]), "dense<[-1, 2] 2xi8");
    assert_eq!(unary(to(I8), F32, &[-1.9, 300.0]), "nothing");
    assert_eq!(unary(to(I1), F32, &[0.5, 0.0]), "dense<[true, false] 2xi1");
    assert_eq!(unary(to(BF16), F32, &[257.0, 1.0]), "dense<[256.0, 1.0] 2xbf16");
    assert_eq!(unary(to(F32), F8E4M3FN, &[448.0, 1.0]), "dense<[448.0, 1.0] 2xf32");
    assert_eq!(unary(to(F8E4M3FN), F32, &[448.0, 1.0]), "nothing");
    assert_eq!(with_itself(|builder, x, _| tensor::convert(builder, x, F32), F32), "%x");
}

#[test]
fn layouts_of_constants() {
    let mut program = Program::new();
    let x = program.constant(&[2, 3], I32, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let transposed = program.build(|builder| tensor::transpose(builder, x, &[1, 0]));
    assert_eq!(program.fold(transposed), "dense<[[1, 4], [2, 5], [3, 6]] 3x2xi32");
    let sliced = program.build(|builder| tensor::slice(builder, x, &[0, 1], &[2, 3], &[1, 1]));
    assert_eq!(program.fold(sliced), "dense<[[2, 3], [5, 6]] 2x2xi32");
    let sliced = program.build(|builder| tensor::slice(builder, x, &[1, 0], &[2, 3], &[1, 2]));
    assert_eq!(program.fold(sliced), "dense<[[4, 6]] 1x2xi32");
    let sliced = program.build(|builder| tensor::slice(builder, x, &[1, 1], &[2, 2], &[i64::MAX, i64::MAX]));
    assert_eq!(program.fold(sliced), "dense<5 1x1xi32");
    let huge = program.constant(&[0, 1 << 62, 1 << 62], I32, &[]);
    let empty = program.build(|builder| tensor::slice(builder, huge, &[0, 1, 1], &[0, 3, 3], &[1, 1, 1]));
    assert_eq!(program.fold(empty), "dense< 0x2x2xi32");
    let beyond = program.build(|builder| tensor::slice(builder, huge, &[0, 5, 0], &[0, 6, 1], &[1, 1, 1]));
    assert_eq!(program.fold(beyond), "dense< 0x1x1xi32");
    let flat = program.module.interner.tensor(&[6], I32);
    let reshaped = program.build(|builder| tensor::reshape(builder, x, flat));
    assert_eq!(program.fold(reshaped), "dense<[1, 2, 3, 4, 5, 6] 6xi32");
    let row = program.constant(&[1, 3], I32, &[1.0, 2.0, 3.0]);
    let wide = program.module.interner.tensor(&[3, 2], I32);
    let repeated = program.build(|builder| tensor::broadcast_in_dim(builder, row, wide, &[1, 0]));
    assert_eq!(program.fold(repeated), "dense<[[1, 1], [2, 2], [3, 3]] 3x2xi32");
    let joined = program.build(|builder| tensor::concatenate(builder, &[x, row], 0));
    assert_eq!(program.fold(joined), "dense<[[1, 2, 3], [4, 5, 6], [1, 2, 3]] 3x3xi32");
    let joined = program.build(|builder| tensor::concatenate(builder, &[row, row], 1));
    assert_eq!(program.fold(joined), "dense<[[1, 2, 3, 1, 2, 3]] 1x6xi32");
    let big = program.module.interner.tensor(&[1 << 10, 1 << 20], I32);
    let one = program.constant(&[], I32, &[1.0]);
    let splat = program.build(|builder| tensor::broadcast_in_dim(builder, one, big, &[]));
    assert_eq!(program.fold(splat), "dense<1 1024x1048576xi32");
    let big = program.module.interner.tensor(&[3, 1 << 12], I32);
    let too_big = program.build(|builder| tensor::broadcast_in_dim(builder, row, big, &[1, 0]));
    assert_eq!(program.fold(too_big), "nothing");
    let empty = program.constant(&[0, 3], I32, &[]);
    let joined = program.build(|builder| tensor::concatenate(builder, &[empty, row], 0));
    assert_eq!(program.fold(joined), "dense<[[1, 2, 3]] 1x3xi32");
    let joined = program.build(|builder| tensor::concatenate(builder, &[empty, empty], 1));
    assert_eq!(program.fold(joined), "dense< 0x6xi32");
}

#[test]
fn layouts_that_move_nothing() {
    let mut program = Program::new();
    let x = program.argument("x", &[2, 2], F32);
    let (square, flat) = (program.module.ty(x), program.module.interner.tensor(&[4], F32));
    let kept = program.build(|builder| tensor::transpose(builder, x, &[0, 1]));
    assert_eq!(program.fold(kept), "%x");
    let turned = program.build(|builder| tensor::transpose(builder, x, &[1, 0]));
    assert_eq!(program.fold(turned), "nothing");
    let back = program.build(|builder| tensor::transpose(builder, turned, &[1, 0]));
    assert_eq!(program.fold(back), "%x");
    let flattened = program.build(|builder| tensor::reshape(builder, x, flat));
    assert_eq!(program.fold(flattened), "nothing");
    let back = program.build(|builder| tensor::reshape(builder, flattened, square));
    assert_eq!(program.fold(back), "%x");
    let kept = program.build(|builder| tensor::reshape(builder, x, square));
    assert_eq!(program.fold(kept), "%x");
    let kept = program.build(|builder| tensor::broadcast_in_dim(builder, x, square, &[0, 1]));
    assert_eq!(program.fold(kept), "%x");
    let turned = program.build(|builder| tensor::broadcast_in_dim(builder, x, square, &[1, 0]));
    assert_eq!(program.fold(turned), "nothing");
    let kept = program.build(|builder| tensor::slice(builder, x, &[0, 0], &[2, 2], &[1, 1]));
    assert_eq!(program.fold(kept), "%x");
    let kept = program.build(|builder| tensor::concatenate(builder, &[x], 1));
    assert_eq!(program.fold(kept), "%x");
}

#[test]
fn unknown_extents_may_differ() {
    let mut program = Program::new();
    let dims = [tofu_ir::Dim::Unknown, tofu_ir::Dim::Unknown].into_iter().collect();
    let ty = program.module.interner.ty(TensorType { dims, element: F32 });
    let x = program.module.append_argument(program.block, ty);
    let reshaped = program.build(|builder| tensor::reshape(builder, x, ty));
    assert_eq!(program.fold(reshaped), "nothing");
    let repeated = program.build(|builder| tensor::broadcast_in_dim(builder, x, ty, &[0, 1]));
    assert_eq!(program.fold(repeated), "nothing");
}
