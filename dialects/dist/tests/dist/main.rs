//! Tests of the dialect: shardings round-trip through text, and values keep theirs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_dialect_dist::{
    build_mesh, mesh, read_sharding, result_sharding, set_result_sharding, set_result_shardings,
    set_sharding, set_shardings, sharding_attr, sharding_of,
};
use tofu_dialect_func as func;
use tofu_ir::{Builder, ElementType, Module, OpId, Registry, ValueId, verify};
use tofu_sharding::{AxisRef, Mesh, Reducer, Sharding};
use tofu_syntax::{PrintOptions, parse, print};

fn registry() -> Arc<Registry> {
    let dialects = [&tofu_dialect_dist::DIALECT, &tofu_dialect_func::DIALECT, &tofu_dialect_tensor::DIALECT];
    Arc::new(Registry::new(&dialects).unwrap())
}

/// A program with a function of two arguments, and one op of one result.
struct Program {
    module: Module,
    mesh: Mesh,
    function: OpId,
    argument: ValueId,
    result: ValueId,
}

fn program(mesh: Mesh, shape: &[u64]) -> Program {
    let mut module = Module::new(registry());
    let ty = module.interner.tensor(shape, ElementType::F32);
    let (function, body) = func::build_function(&mut module, "f", &[ty, ty], &[ty]);
    let arguments = module.arguments(body).to_vec();
    let mut builder = Builder::at_end(&mut module, body);
    let sum = tofu_dialect_tensor::add(&mut builder, arguments[0], arguments[1]).unwrap();
    func::build_return(&mut builder, [sum]);
    build_mesh(&mut module, "m", &mesh);
    Program { module, mesh, function, argument: arguments[1], result: sum }
}

/// A sharding of some tensor on a mesh, whose axes may be halved.
fn random_sharding(random: &mut fastrand::Rng, mesh: &Mesh, shape: &[u64]) -> Sharding {
    let mut parts: Vec<AxisRef> = Vec::new();
    for axis in 0..mesh.axes().len() {
        let whole = mesh.whole(axis);
        match whole.size % 2 {
            0 if whole.size > 2 && random.bool() => {
                parts.push(AxisRef { size: 2, ..whole });
                parts.push(AxisRef { pre: 2, size: whole.size / 2, ..whole });
            }
            _ => parts.push(whole),
        }
    }
    random.shuffle(&mut parts);
    let mut sharding = Sharding::replicated(shape.len());
    for part in parts {
        sharding = match random.usize(0..4) {
            0 => sharding.with_partial(Reducer::Max, part),
            1 => sharding,
            _ => sharding.split(random.usize(0..shape.len()), part),
        };
    }
    for dim in &mut sharding.dims {
        dim.open = random.u8(0..4) == 0;
    }
    sharding.pad_for(shape)
}

#[test]
fn shardings_survive_the_text() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..200 {
        let sizes = [1, 2, 3, 4, 8];
        let axes: Vec<(&str, u64)> =
            ["x", "y", "a name"].into_iter().map(|name| (name, sizes[random.usize(0..5)])).collect();
        let mesh = Mesh::new(axes).unwrap();
        let shape = [random.u64(1..20), random.u64(1..20)];
        let Program { mut module, mesh, function, argument, result } = program(mesh, &shape);
        let shardings: Vec<Sharding> = (0..3).map(|_| random_sharding(&mut random, &mesh, &shape)).collect();
        let attrs = [0, 1, 2].map(|index| sharding_attr(&mut module, "m", &mesh, &shardings[index]));
        assert!(set_sharding(&mut module, argument, Some(attrs[0])));
        assert!(set_sharding(&mut module, result, Some(attrs[1])));
        set_result_sharding(&mut module, function, 0, Some(attrs[2]));
        assert!(verify(&module).is_empty(), "{:?}", verify(&module));

        let text = print(&module, &PrintOptions::default());
        let mut sources = SourceMap::new();
        let file = sources.add("test.tir", text.as_str()).unwrap();
        let parsed = parse(&sources, file, registry());
        assert!(parsed.is_ok(), "{text}\n{:?}", parsed.diagnostics);
        let read = &parsed.module;
        assert_eq!(print(read, &PrintOptions::default()), text);

        let ops: Vec<OpId> = read.walk(read.root()).collect();
        let (named, function, add) = (ops[1], ops[2], ops[3]);
        assert_eq!(tofu_dialect_dist::mesh(read, named), Some(mesh.clone()));
        let argument = read.arguments(func::body(read, function).unwrap())[1];
        let found = [
            sharding_of(read, argument),
            sharding_of(read, read.result(add, 0)),
            result_sharding(read, function, 0),
        ];
        for ((found, expected), attr) in found.into_iter().zip(&shardings).zip(attrs) {
            let (op, on, sharding) = read_sharding(read, add, found.unwrap()).unwrap();
            assert_eq!((op, &on, &sharding), (named, &mesh, expected));
            // The attribute is written as the sharding is.
            let written = module.display_attr(attr).to_string();
            assert_eq!(written, format!("#dist.sharding<@m, {}>", expected.display(&mesh)));
        }
    }
}

/// Many at once are what they are one by one; what is not named stays as it was.
#[test]
fn shardings_of_many_values_are_set_at_once() {
    let of = |together: bool| {
        let Program { mut module, mesh, function, argument, result } =
            program(Mesh::new([("x", 2)]).unwrap(), &[4]);
        let split = sharding_attr(&mut module, "m", &mesh, &Sharding::replicated(1).split(0, mesh.whole(0)));
        let whole = sharding_attr(&mut module, "m", &mesh, &Sharding::replicated(1));
        let first = module.arguments(func::body(&module, function).unwrap())[0];
        set_sharding(&mut module, first, Some(whole));
        let all = [(argument, Some(whole)), (result, Some(split)), (argument, Some(split))];
        if together {
            set_shardings(&mut module, all);
            set_result_shardings(&mut module, function, &[(0, Some(split)), (7, Some(split))]);
        } else {
            for (value, sharding) in all {
                set_sharding(&mut module, value, sharding);
            }
            set_result_sharding(&mut module, function, 0, Some(split));
        }
        assert_eq!([first, argument].map(|value| sharding_of(&module, value)), [Some(whole), Some(split)]);
        print(&module, &PrintOptions::default())
    };
    assert_eq!(of(true), of(false));
}

#[test]
fn shardings_are_set_and_taken_away() {
    let Program { mut module, mesh, function, argument, result } =
        program(Mesh::new([("x", 2)]).unwrap(), &[4]);
    let before = print(&module, &PrintOptions::default());
    let whole = sharding_attr(&mut module, "m", &mesh, &Sharding::replicated(1));
    let split = sharding_attr(&mut module, "m", &mesh, &Sharding::replicated(1).split(0, mesh.whole(0)));
    for attr in [whole, split] {
        assert!(set_sharding(&mut module, argument, Some(attr)));
        assert!(set_sharding(&mut module, result, Some(attr)));
        set_result_sharding(&mut module, function, 0, Some(attr));
        assert_eq!(sharding_of(&module, argument), Some(attr));
        assert_eq!(sharding_of(&module, result), Some(attr));
        assert_eq!(result_sharding(&module, function, 0), Some(attr));
    }
    let first = module.arguments(func::body(&module, function).unwrap())[0];
    assert_eq!(sharding_of(&module, first), None);
    set_sharding(&mut module, argument, None);
    set_sharding(&mut module, result, None);
    set_result_sharding(&mut module, function, 0, None);
    assert_eq!(print(&module, &PrintOptions::default()), before);
}

#[test]
fn an_op_of_several_results_has_a_list() {
    let text = "dist.mesh @m = [x = 2]
func @two() -> (tensor<4xf32>, tensor<4xf32>)
func @f() {
  %a, %b = call @two()
  return
}";
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let mut module = parse(&sources, file, registry()).module;
    let call = module.walk(module.root()).find(|&op| module.is(op, &func::CALL)).unwrap();
    let values: Vec<ValueId> = module.results(call).collect();
    let named = module.first_op(module.body()).unwrap();
    let on = mesh(&module, named).unwrap();
    let split = sharding_attr(&mut module, "m", &on, &Sharding::replicated(1).split(0, on.whole(0)));
    assert!(set_sharding(&mut module, values[1], Some(split)));
    assert_eq!(
        values.iter().map(|&value| sharding_of(&module, value)).collect::<Vec<_>>(),
        [None, Some(split)]
    );
    assert!(verify(&module).is_empty());
    let line = "call @two() {dist.sharding = [unit, #dist.sharding<@m, [{x}]>]}";
    let written = print(&module, &PrintOptions::default());
    assert!(written.contains(line), "{written}");
    assert!(set_sharding(&mut module, values[1], None));
    assert!(module.attr(call, tofu_dialect_dist::SHARDING).is_none());
}
