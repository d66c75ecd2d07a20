use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_dialect_dist::{ALL_REDUCE, FROM, TO, read_sharding, sharding_attr};
use tofu_ir::Registry;
use tofu_machine::Machines;
use tofu_sharding::Reducer;

use super::*;

const SUM: &str = "dist.mesh @m = [x = 4]
func @f(%x: tensor<6x8xf32> {dist.sharding = #dist.sharding<@m, [{}, {x}]>})
    -> (tensor<6x6xf32> {dist.sharding = #dist.sharding<@m, [{}, {}]>}) {
  %y = tensor.dot_general %x, %x {contracting = [1] x [1], dist.sharding = #dist.sharding<@m, [{}, {}], partial = sum {x}>}
  %z = tensor.transpose %y {dist.sharding = #dist.sharding<@m, [{}, {}]>, permutation = [1, 0]}
  return %z
}";

/// A program, split; what devices exchange.
fn split(text: &str) -> (Module, Module, OpId, Exchanges) {
    let dialects = [
        &tofu_dialect_dist::DIALECT,
        &tofu_dialect_func::DIALECT,
        &tofu_dialect_tensor::DIALECT,
        &tofu_dialect_tdl::DIALECT,
    ];
    let registry = Arc::new(Registry::new(&dialects).unwrap());
    let mut sources = SourceMap::new();
    let file = sources.add("test", text).unwrap();
    let parsed = tofu_syntax::parse(&sources, file, registry);
    assert!(parsed.is_ok(), "{:?}", parsed.diagnostics);
    let unsplit = parsed.module;
    let function = tofu_interpreter::entry(&unsplit, None).unwrap();
    let mut split = unsplit.clone();
    let inserting = Inserting::for_machine(Machines::default().default_machine().clone());
    let exchanges = insert(&mut split, function, &Descriptions::new(), &inserting).unwrap().unwrap();
    (unsplit, split, function, exchanges)
}

fn nearly() -> CheckEquivalence {
    CheckEquivalence { seed: 7, rtol: Some(1e-5), atol: Some(1e-6), ..CheckEquivalence::default() }
}

#[test]
fn what_is_the_same_passes() {
    let (unsplit, split, function, exchanges) = split(SUM);
    let compared = nearly().compare(&unsplit, &split, function, &exchanges).unwrap();
    assert!(compared.wrong.is_empty(), "{:?}", compared.wrong);
}

#[test]
fn a_wrong_reducer_is_found() {
    let (unsplit, mut split, function, exchanges) = split(SUM);
    let op = split.walk(function).find(|&op| split.is(op, &ALL_REDUCE)).unwrap();
    let (_, mesh, mut from) = read_sharding(&split, op, split.attr(op, FROM).unwrap()).unwrap();
    from.partial.as_mut().unwrap().reducer = Reducer::Max;
    let from = sharding_attr(&mut split, "m", &mesh, &from);
    split.set_attr(op, FROM, from);
    assert!(split.attr(op, TO).is_some());
    let compared = nearly().compare(&unsplit, &split, function, &exchanges).unwrap();
    let codes: Vec<&str> = compared.wrong.iter().map(|wrong| wrong.code.id).collect();
    assert_eq!(codes, [codes::RESULTS_DIFFER.id]);
}

#[test]
fn other_traffic_is_found() {
    let (unsplit, split, function, _) = split(SUM);
    let compared = nearly().compare(&unsplit, &split, function, &Exchanges::default()).unwrap();
    let codes: Vec<&str> = compared.wrong.iter().map(|wrong| wrong.code.id).collect();
    assert_eq!(codes, [codes::TRAFFIC_DIFFERS.id]);
    assert_eq!(exchanged(&compared), 216, "a ring of 4 sends 3/4 of the 144 bytes twice");
}

/// Rounding explains no result of zeros, however coarse the types are; those of other results play no part.
#[test]
fn zeros_in_place_of_a_coarse_result_are_found() {
    const BF16: &str = "dist.mesh @m = [x = 4]
func @f(%x: tensor<8x8xbf16> {dist.sharding = #dist.sharding<@m, [{x}, {}]>}, %s: tensor<8xf32>)
    -> (tensor<8x8xbf16>, tensor<8xf32>) {
  %y = tensor.tanh %x
  %t = tensor.negate %s
  return %y, %t
}";
    let (mut unsplit, split, function, exchanges) = split(BF16);
    assert_eq!(elements_behind(&unsplit, function), [[ElementType::BF16], [ElementType::F32]]);
    let check = CheckEquivalence { seed: 7, ..CheckEquivalence::default() };
    let wrong = |unsplit: &Module| check.compare(unsplit, &split, function, &exchanges).unwrap().wrong.len();
    assert_eq!(wrong(&unsplit), 0);
    let tanh = unsplit.walk(function).find(|&op| unsplit.def(op).name == "tensor.tanh").unwrap();
    let mut builder = tofu_ir::Builder::before(&mut unsplit, tanh);
    let x = builder.module.operand(tanh, 0);
    let zero = tofu_dialect_tensor::subtract(&mut builder, x, x).unwrap();
    unsplit.replace(tanh, &[zero]);
    assert_eq!(wrong(&unsplit), 1);
}

fn exchanged(compared: &Compared) -> u64 {
    let line = compared.text.lines().last().unwrap();
    line.split(' ').find_map(|word| word.parse().ok().filter(|&number| number != 4)).unwrap()
}
