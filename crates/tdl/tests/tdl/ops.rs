//! Ops with descriptions: what their definitions infer and verify.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tofu_ir::ElementType::*;
use tofu_ir::{
    Builder, Dialect, Dim, ElementType, INTS, Module, OpDef, OpId, Registry, TensorType, Type, TypeData,
    ValueId, any, op, required,
};
use tofu_tdl::{Describe, Descriptions, Undescribed, infer_types, verify_types};

use crate::support::*;

static CONV1D_OP: OpDef = op("t.conv1d")
    .operands(&[any("data"), any("filter")])
    .results(&[any("result")])
    .infer_types(infer_types)
    .interfaces(&[&Describe(|_, _| Ok(read(CONV1D)))]);

/// The result's shape is written, as those of `reshape` and `iota` are.
static SPREAD: OpDef = op("t.spread")
    .operands(&[any("x")])
    .results(&[any("result")])
    .attributes(&[required("to", INTS)])
    .verify(verify_types)
    .interfaces(&[&Describe(|module, op| {
        let mut b = tofu_tdl::Builder::new("spread");
        let t = b.default_type();
        let [n, m] = ["N", "M"].map(|name| b.extent(name));
        let x = b.operand("x", t, &[m]);
        let wanted = b.constant(module.ints(op, "to").first().copied().unwrap_or(0));
        b.require_equal(n, wanted);
        let (i, j) = (b.var("i", n), b.var("j", m));
        let at = b.index(j);
        let value = b.read(x, &[at]);
        b.output("out", t, &[i, j], value);
        b.finish_for(module, op)
    })]);

static ROOT: OpDef = op("t.root")
    .operands(&[any("x")])
    .results(&[any("result")])
    .infer_types(infer_types)
    .interfaces(&[&Describe(|_, _| Ok(read("tdl @root(x: [N]) -> [N] { out[i] = sqrt(x[i]) }")))]);

static HIDDEN: OpDef = op("t.hidden")
    .operands(&[any("x")])
    .results(&[any("result")])
    .infer_types(infer_types)
    .interfaces(&[&Undescribed("it depends on the weather")]);

static T: Dialect = Dialect {
    name: "t",
    summary: "For tests.",
    ops: &[&CONV1D_OP, &COUNTED, &HIDDEN, &ROOT, &SPREAD],
    types: &[],
    attributes: &[],
    constant: None,
};

fn module() -> Module {
    Module::new(Arc::new(Registry::new(&[&T]).unwrap()))
}

/// Arguments `%x` and `%y` of these types.
fn arguments<const N: usize>(module: &mut Module, types: [TypeData; N]) -> [ValueId; N] {
    let body = module.body();
    let mut number = 0;
    types.map(|ty| {
        let ty = module.interner.ty(ty);
        let value = module.append_argument(body, ty);
        let name = module.interner.name(["x", "y"][number]);
        module.set_value_name(value, Some(name));
        number += 1;
        value
    })
}

fn f32s(dims: &[u64]) -> TypeData {
    TypeData::Tensor(TensorType::of(dims, F32))
}

/// The code and the message of what is wrong with an op of these operands, and what is said at its places.
fn refusal(def: &'static OpDef, types: [TypeData; 2]) -> (&'static str, String, Vec<String>) {
    let mut module = module();
    let operands = arguments(&mut module, types);
    let body = module.body();
    let mut builder = Builder::at_end(&mut module, body);
    let error = builder.op(def).operands(operands.into_iter().take(def.operands.len())).infer().unwrap_err();
    let labels = std::iter::once(&error.primary).chain(&error.secondary);
    (error.code.id, error.message.clone(), labels.map(|label| label.text.clone()).collect())
}

#[test]
fn results_follow_from_the_description() {
    let mut module = module();
    let batch = Dim::Symbol(module.interner.name("batch"));
    let data =
        TensorType { dims: [batch, Dim::Static(3), Dim::Static(10)].into_iter().collect(), element: F32 };
    let [x, y] = arguments(&mut module, [TypeData::Tensor(data), f32s(&[3, 4, 3])]);
    let body = module.body();
    let conv = Builder::at_end(&mut module, body).op(&CONV1D_OP).operands([x, y]).infer().unwrap();
    assert_eq!(module.type_text(module.ty(module.result(conv, 0))).to_string(), "tensor<{batch}x4x8xf32>");
}

#[test]
fn operands_that_do_not_fit_are_named() {
    assert_eq!(
        refusal(&CONV1D_OP, [f32s(&[2, 3, 10]), f32s(&[5, 4, 3])]),
        (
            "T0225",
            "`t.conv1d`: dimension 0 of `%y` is 5, but dimension 1 of `%x` is 3".to_owned(),
            vec!["`tensor<5x4x3xf32>`".to_owned(), "`tensor<2x3x10xf32>`".to_owned()]
        )
    );
    let (code, message, labels) = refusal(&CONV1D_OP, [f32s(&[2, 3, 10]), f32s(&[3, 3])]);
    assert_eq!(
        (code, message.as_str()),
        ("T0225", "`t.conv1d`: `%y` must have 3 dimensions, but has 2 dimensions")
    );
    assert_eq!(labels, ["`tensor<3x3xf32>`"]);
    let ints = TypeData::Tensor(TensorType::of(&[3, 4, 3], I32));
    let (code, message, labels) = refusal(&CONV1D_OP, [f32s(&[2, 3, 10]), ints]);
    assert_eq!(
        (code, message.as_str()),
        ("T0213", "`t.conv1d`: `%x` has elements of type f32 and `%y` of type i32; they must agree")
    );
    assert_eq!(labels, ["`tensor<3x4x3xi32>`", "`tensor<2x3x10xf32>`"]);
    let (code, message, _) = refusal(&CONV1D_OP, [f32s(&[2, 3, 10]), TypeData::Token]);
    assert_eq!((code, message.as_str()), ("T0213", "`t.conv1d` takes tensors, but `%y` is a `token`"));
    let (code, message, labels) = refusal(&ROOT, [TypeData::Tensor(TensorType::of(&[3], I32)), f32s(&[])]);
    assert_eq!(
        (code, message.as_str()),
        ("T0213", "`t.root`: `sqrt` takes a float or a complex number, and `x[i]` is i32")
    );
    assert_eq!(labels, ["`tensor<3xi32>`"]);
    let (code, message, _) = refusal(&HIDDEN, [f32s(&[3]), f32s(&[])]);
    assert_eq!(
        (code, message.as_str()),
        ("T0512", "`t.hidden` has no description: it depends on the weather")
    );
}

/// A `t.spread` to four rows.
fn spread(module: &mut Module, operand: TypeData, result: (&[u64], ElementType)) -> OpId {
    let body = module.body();
    let [x] = arguments(module, [operand]);
    let to = module.interner.ints([4]);
    let ty: Type = module.interner.tensor(result.0, result.1);
    Builder::at_end(module, body).op(&SPREAD).operand(x).attr("to", to).result(ty).build()
}

#[test]
fn written_results_are_checked() {
    let check = |result: (&[u64], ElementType)| {
        let mut module = module();
        let op = spread(&mut module, f32s(&[3]), result);
        let mut found = Vec::new();
        verify_types(&module, op, &mut found);
        found.pop().map(|error| (error.code.id, error.message, error.secondary.len()))
    };
    assert_eq!(check((&[4, 3], F32)), None);
    let wrong = |message: &str, others| Some(("T0214", message.to_owned(), others));
    assert_eq!(
        check((&[4, 5], F32)),
        wrong("`t.spread`: dimension 1 of the result is 5, but dimension 0 of `%x` is 3", 1)
    );
    assert_eq!(
        check((&[5, 3], F32)),
        wrong("`t.spread`: the condition `N = 4` does not hold: 5 is not 4", 0)
    );
    assert_eq!(
        check((&[4, 3], F64)),
        wrong("`t.spread`: `%x` has elements of type f32 and the result of type f64; they must agree", 1)
    );
    assert_eq!(
        check((&[4], F32)),
        wrong("`t.spread`: the result must have 2 dimensions, but has one dimension", 0)
    );
}

static DESCRIBED: AtomicUsize = AtomicUsize::new(0);

static COUNTED: OpDef =
    op("t.counted").operands(&[any("x")]).results(&[any("result")]).interfaces(&[&Describe(|_, _| {
        DESCRIBED.fetch_add(1, Ordering::Relaxed);
        Ok(read("tdl @counted(x: [N]) -> [N] { out[i] = x[i] }"))
    })]);

#[test]
fn ops_of_one_profile_are_described_once() {
    let mut module = module();
    let [x, y] = arguments(&mut module, [f32s(&[3]), f32s(&[4])]);
    let body = module.body();
    let ops: Vec<OpId> = [x, x, y, x, y]
        .into_iter()
        .map(|operand| {
            let ty = module.ty(operand);
            Builder::at_end(&mut module, body).op(&COUNTED).operand(operand).result(ty).build()
        })
        .collect();
    let known = Descriptions::new();
    let found: Vec<_> = std::thread::scope(|scope| {
        let look = || ops.iter().map(|&op| known.of(&module, op).unwrap()).collect::<Vec<_>>();
        let other = scope.spawn(look);
        let mut all = look();
        all.extend(other.join().unwrap());
        all
    });
    // One for each shape, or two where both threads came at once; all of them alike.
    assert!((2..=4).contains(&DESCRIBED.load(Ordering::Relaxed)));
    assert!(
        found.iter().all(|(description, analysis)| {
            *description == found[0].0 && Arc::ptr_eq(analysis, &found[0].1)
        })
    );
    assert_eq!(found[0].1.strategies.len(), 1);
    let hidden = Builder::at_end(&mut module, body).op(&HIDDEN).operand(x).build();
    assert_eq!(known.of(&module, hidden).unwrap_err().code.id, "T0512");
}
