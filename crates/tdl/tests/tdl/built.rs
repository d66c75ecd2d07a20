//! Descriptions built as dialects build them: from the numbers in an op's attributes.

use tofu_ir::ElementType::*;
use tofu_tdl::*;
use tofu_tdl_testing::Whole;

use crate::support::*;

/// A convolution of one spatial dimension with everything that StableHLO's has.
struct Window {
    size: i64,
    stride: i64,
    padding: (i64, i64),
    lhs_dilation: i64,
    rhs_dilation: i64,
    groups: i64,
    batch_groups: i64,
}

impl Window {
    /// `data[b, i, f]`, `kernel[k, i, o]`, `out[b, x, o]` with these extents.
    fn description(&self, batch: i64, width: i64, features: i64, outputs: i64) -> Description {
        let mut b = Builder::new("convolution");
        let t = b.default_type();
        let dilated = (width - 1) * self.lhs_dilation + 1 + self.padding.0 + self.padding.1;
        let reach = (self.size - 1) * self.rhs_dilation + 1;
        let x = (dilated - reach) / self.stride + 1;
        let constants = |b: &mut Builder, values: &[i64]| -> Vec<IndexId> {
            values.iter().map(|&value| b.constant(value)).collect()
        };
        let dims = constants(&mut b, &[batch, width, features]);
        let data = b.operand("data", t, &dims);
        let inner = features / self.groups;
        let dims = constants(&mut b, &[self.size, inner, outputs]);
        let kernel = b.operand("kernel", t, &dims);
        let extents = constants(&mut b, &[batch / self.batch_groups, x, outputs, self.size, inner]);
        let names = ["b", "x", "o", "k", "i"];
        let vars: Vec<VarId> =
            names.iter().zip(&extents).map(|(name, &extent)| b.var(name, extent)).collect();
        let at: Vec<IndexId> = vars.iter().map(|&var| b.index(var)).collect();
        // The place in the padded, dilated data.
        let start = b.affine(self.stride, at[1], -self.padding.0);
        let step = b.affine(self.rhs_dilation, at[3], 0);
        let place = b.index_add(start, step);
        let dilation = b.constant(self.lhs_dilation);
        let column = b.index_floordiv(place, dilation);
        let rest = b.index_mod(place, dilation);
        let per_group = b.constant(outputs / self.groups);
        let group = b.index_floordiv(at[2], per_group);
        let inner_extent = b.constant(inner);
        let first = b.index_mul(group, inner_extent);
        let feature = b.index_add(first, at[4]);
        let per_batch_group = b.constant(outputs / self.batch_groups);
        let batch_group = b.index_floordiv(at[2], per_batch_group);
        let first = b.index_mul(batch_group, extents[0]);
        let row = b.index_add(first, at[0]);
        let zero = b.int(0, t);
        let value = b.read_or(data, &[row, column, feature], zero);
        let none = b.constant(0);
        let on_grid = b.compare_indices(Comparison::Eq, rest, none);
        let value = if self.lhs_dilation > 1 { b.select(on_grid, value, zero) } else { value };
        let weight = b.read(kernel, &[at[3], at[4], at[2]]);
        let product = b.mul(value, weight);
        let sum = b.reduce(Reducer::Sum, &vars[3..], product);
        b.output("out", t, &vars[..3], sum);
        b.finish().unwrap_or_else(|errors| panic!("{}", errors[0].message))
    }

    /// The same by plain loops.
    fn expected(&self, dims: [i64; 4], data: &Tensor, kernel: &Tensor, width_out: i64) -> Vec<f64> {
        let [batch, width, features, outputs] = dims;
        let (inner, rows) = (features / self.groups, batch / self.batch_groups);
        let mut all = Vec::new();
        for b in 0..rows {
            for x in 0..width_out {
                for o in 0..outputs {
                    let mut sum = 0.0;
                    for k in 0..self.size {
                        let place = x * self.stride + k * self.rhs_dilation - self.padding.0;
                        if place < 0 || place % self.lhs_dilation != 0 || place / self.lhs_dilation >= width {
                            continue;
                        }
                        for i in 0..inner {
                            let row = o / (outputs / self.batch_groups) * rows + b;
                            let feature = o / (outputs / self.groups) * inner + i;
                            let from = (row * width + place / self.lhs_dilation) * features + feature;
                            let weight = (k * inner + i) * outputs + o;
                            sum += data.number(from as usize) * kernel.number(weight as usize);
                        }
                    }
                    all.push(sum);
                }
            }
        }
        all
    }
}

#[test]
fn convolutions_with_everything() {
    let mut random = fastrand::Rng::with_seed(5);
    for (stride, padding, lhs_dilation, rhs_dilation, groups, batch_groups) in [
        (1, (0, 0), 1, 1, 1, 1),
        (2, (1, 2), 1, 1, 1, 1),
        (1, (2, 1), 2, 1, 1, 1),
        (3, (0, 4), 1, 2, 2, 1),
        (2, (2, 2), 3, 2, 1, 2),
        (1, (-1, 0), 1, 1, 4, 1),
    ] {
        let window = Window { size: 3, stride, padding, lhs_dilation, rhs_dilation, groups, batch_groups };
        let dims = [4, 9, 4, 4];
        let description = window.description(dims[0], dims[1], dims[2], dims[3]);
        let mut draw = |dims: &[u64]| {
            let mut tensor = Tensor::zeros(I32, dims).unwrap();
            (0..tensor.len()).for_each(|index| tensor.set_integer(index, i128::from(random.i8(-9..9))));
            tensor
        };
        let operands = [draw(&[4, 9, 4]), draw(&[3, (4 / groups) as u64, 4])];
        let registry = OpaqueRegistry::builtin();
        let whole = Whole::run(&description, &registry, &[], &operands).unwrap();
        let length = whole.results[0].dims()[1] as i64;
        let expected = window.expected(dims, &operands[0], &operands[1], length);
        assert_eq!(whole.results[0].numbers(), expected, "{description}");
        for strategy in strategies(&description) {
            for workers in [2, 3] {
                whole.compare(&strategy, workers, &|_| {}).unwrap_or_else(|error| {
                    panic!("{}\n{error}\n{description}", strategy.text(&description))
                });
            }
        }
        assert_eq!(read(&description.to_string()), description);
    }
}

/// A dot product with dimension numbers, on symbolic extents.
fn dot_general(
    batch: &[(usize, usize)],
    contracting: &[(usize, usize)],
    ranks: (usize, usize),
) -> Description {
    let mut b = Builder::new("dot_general");
    let t = b.default_type();
    let mut vars = (vec![None; ranks.0], vec![None; ranks.1]);
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (list, pairs, prefix) in [(&mut outer, batch, "B"), (&mut inner, contracting, "K")] {
        for (number, &(left, right)) in pairs.iter().enumerate() {
            let extent = b.extent(&format!("{prefix}{number}"));
            let var = b.var(&format!("{}{number}", prefix.to_lowercase()), extent);
            list.push(var);
            (vars.0[left], vars.1[right]) = (Some((var, extent)), Some((var, extent)));
        }
    }
    for (side, prefix) in [(&mut vars.0, "M"), (&mut vars.1, "N")] {
        for (number, slot) in side.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
            let extent = b.extent(&format!("{prefix}{number}"));
            let var = b.var(&format!("{}{number}", prefix.to_lowercase()), extent);
            outer.push(var);
            *slot = Some((var, extent));
        }
    }
    let mut operand = |name: &str, side: &[Option<(VarId, IndexId)>]| {
        let dims: Vec<IndexId> = side.iter().flatten().map(|pair| pair.1).collect();
        let source = b.operand(name, t, &dims);
        let at: Vec<IndexId> = side.iter().flatten().map(|pair| b.index(pair.0)).collect();
        b.read(source, &at)
    };
    let (left, right) = (operand("lhs", &vars.0), operand("rhs", &vars.1));
    let product = b.mul(left, right);
    let sum = b.reduce(Reducer::Sum, &inner, product);
    b.output("out", t, &outer, sum);
    b.finish().unwrap()
}

#[test]
fn dot_products_with_dimension_numbers() {
    let description = dot_general(&[(0, 1)], &[(2, 0), (3, 3)], (4, 4));
    let lines: Vec<String> = strategies(&description).iter().map(|s| s.text(&description)).collect();
    assert_eq!(
        lines,
        [
            "b0: lhs [split, whole, whole, whole], rhs [whole, split, whole, whole] -> concat 0",
            "m1: lhs [whole, split, whole, whole], rhs [whole, whole, whole, whole] -> concat 1",
            "n2: lhs [whole, whole, whole, whole], rhs [whole, whole, split, whole] -> concat 2",
            "k0: lhs [whole, whole, split, whole], rhs [split, whole, whole, whole] -> sum",
            "k1: lhs [whole, whole, whole, split], rhs [whole, whole, whole, split] -> sum",
        ]
    );
    assert_eq!(read(&description.to_string()), description);
    let registry = OpaqueRegistry::builtin();
    // B0, M1, K0, K1, N2
    let extents = [2, 7, 3, 5, 11];
    let whole = cost(&description, &extents, &[F32], &Part::default(), &registry);
    assert_eq!(whole.flops, 2 * 2 * 7 * 11 * 15);
    assert_eq!((whole.bytes_read, whole.bytes_written), (4 * (2 * 7 * 15 + 2 * 11 * 15), 4 * 2 * 7 * 11));
    let reduction = &strategies(&description)[4];
    let share = reduction.part(&description, &extents, 2, 1);
    assert_eq!(cost(&description, &extents, &[F32], &share, &registry).flops, 2 * 2 * 7 * 11 * 3 * 2);
}

#[test]
fn addends_cost_the_first_worker_alone() {
    let description = read(
        "tdl @rows(x: f32[N], w: f32[N, M], b: f32[M]) -> f32[M] {
           out[j] = (sum(i) x[i] * w[i, j]) + exp(b[j])
         }",
    );
    let registry = OpaqueRegistry::builtin();
    let strategy = &strategies(&description)[1];
    let costs = [0, 1, 2, 3].map(|worker| {
        let part = strategy.part(&description, &[5, 3], 4, worker);
        let cost = cost(&description, &[5, 3], &[], &part, &registry);
        (cost.flops, cost.bytes_read / 4, cost.bytes_written / 4)
    });
    assert_eq!(costs, [(3 * (2 * 2 + 2), 2 + 6 + 3, 3), (3 * 2 * 2, 2 + 6, 3), (3 * 2, 1 + 3, 3), (0, 0, 3)]);
}

#[test]
fn what_is_carried_along_is_a_result_of_each_worker() {
    let description = read(
        "tdl @argmax(x: f32[N, M]) -> i32[N] {
           combine best(a: f32, i: i32; b: f32, j: i32) from (lowest, 0) =
             (if a >= b then a else b, if a >= b then i else j)
           out[n] = best(m)(x[n, m], convert<i32>(m)).1
         }",
    );
    let strategy = &strategies(&description)[1];
    let part = strategy.part(&description, &[3, 8], 2, 1);
    let own = local(&description, &[3, 8], &part).unwrap().description;
    let results: Vec<&str> = own.results().iter().map(|result| &*result.name).collect();
    assert_eq!(results, ["out", "out_0"]);
    assert_eq!(read(&own.to_string()), own);
    let cost = cost(&description, &[3, 8], &[], &part, &OpaqueRegistry::builtin());
    assert_eq!(cost.bytes_written, 3 * (4 + 4));
    let x = tensor(F32, &[1, 4], &[5., 1., 7., 2.]);
    let given = evaluate_part(
        &description,
        &[x],
        &OpaqueRegistry::builtin(),
        &strategy.part(&description, &[1, 4], 2, 1),
        None,
    );
    let given: Vec<Vec<f64>> = given.unwrap().iter().map(Tensor::numbers).collect();
    assert_eq!(given, [[2.], [7.]]);
}

#[test]
fn every_worker_that_needs_a_permutation_sorts() {
    // What moves elements by a permutation splits, but the permutation is hidden.
    let description = read(
        "tdl @shuffle(x: f32[B, N], keys: i32[N]) -> f32[B, N] {
           compare less(p: i32, i: i32; q: i32, j: i32) = p < q
           let place[i: N] = convert<i32>(i)
           out[b, i] = x[b, opaque \"sort\" by less (keys[:], place[:]).1[i]]
         }",
    );
    let registry = OpaqueRegistry::builtin();
    let sort = (registry.get("sort").unwrap().flops)(&[vec![8], vec![8]], &[]);
    let all = strategies(&description);
    let text: Vec<String> = all.iter().map(|strategy| strategy.text(&description)).collect();
    assert_eq!(
        text,
        ["b: x [split, whole], keys [whole] -> concat 0", "i: x [whole, whole], keys [whole] -> concat 1"]
    );
    for strategy in &all {
        let flops: Vec<u64> = (0..4)
            .map(|worker| strategy.part(&description, &[3, 8], 4, worker))
            .map(|part| cost(&description, &[3, 8], &[], &part, &registry).flops)
            .collect();
        // Of three rows the last worker has none.
        let last = if &*strategy.variable == "b" { 0 } else { sort };
        assert_eq!(flops, [sort, sort, sort, last]);
    }
}

#[test]
fn builders_in_any_order_make_equal_descriptions() {
    let make = |swap: bool| {
        let mut b = Builder::new("add");
        let t = b.default_type();
        let unused = b.extent("UNUSED");
        let n = if swap { b.extent("N") } else { unused };
        let n = if swap { n } else { b.extent("N") };
        let i = b.var("i", n);
        let (x, y) = (b.operand("x", t, &[n]), b.operand("y", t, &[n]));
        let at = b.index(i);
        let (first, second) = if swap {
            let second = b.read(y, &[at]);
            (b.read(x, &[at]), second)
        } else {
            let first = b.read(x, &[at]);
            (first, b.read(y, &[at]))
        };
        let sum = b.add(first, second);
        b.output("out", t, &[i], sum);
        b.finish().unwrap()
    };
    assert_eq!(make(true), make(false));
    let known = Descriptions::new();
    assert!(std::sync::Arc::ptr_eq(&known.analysis(&make(true)), &known.analysis(&make(false))));
}

#[test]
fn wrong_builders_get_diagnostics() {
    let mut b = Builder::new("wrong");
    let t = b.default_type();
    let (n, m) = (b.extent("N"), b.extent("M"));
    let x = b.operand("x", t, &[n]);
    let (i, j) = (b.var("i", n), b.var("j", m));
    let (at_i, at_j) = (b.index(i), b.index(j));
    let product = b.index_mul(at_i, at_j);
    let value = b.read(x, &[product]);
    b.output("out", t, &[i], value);
    let codes: Vec<&str> = b.finish().unwrap_err().iter().map(|error| error.code.id).collect();
    assert_eq!(codes, ["T0503", "T0501"]);
    let mut b = Builder::new("deep");
    let t = b.default_type();
    let mut value = b.int(1, t);
    for _ in 0..100 {
        value = b.add(value, value);
    }
    b.output("out", t, &[], value);
    assert_eq!(b.finish().unwrap_err()[0].code.id, "T0103");
}

#[test]
fn accesses_say_what_is_fusible_and_linear() {
    let of = |text: &str| accesses(&read(text));
    let add = of("tdl @add(x: [N, M], y: [N, M], s: []) -> [N, M] { out[i, j] = x[i, j] * s[] + y[i, j] }");
    assert!(add.is_elementwise && !add.is_movement && !add.has_reduction);
    assert!(add.operands[0].map.is_identity(2) && add.operands[2].map.is_broadcast(2));
    assert_eq!(add.operands.iter().map(|access| access.is_linear).collect::<Vec<_>>(), [false, false, false]);
    let scale = of("tdl @scale(x: f32[N], s: f32[]) -> f32[N] { out[i] = -x[i] * s[] / 2 }");
    assert!(scale.operands[0].is_linear && scale.operands[1].is_linear && scale.is_elementwise);
    let through = |place: &str| {
        of(&format!(
            "tdl @f(x: f32[N]) -> f32[N] {{ let y[i: N] = exp(x[i]) out[i] = y[{place}] * y[{place}] }}"
        ))
    };
    assert!(
        through("i").is_elementwise && !through("N - 1 - i").is_elementwise && !through("0").is_elementwise
    );
    let transpose = of("tdl @t(x: [N, M]) -> [M, N] { out[i, j] = x[j, i] }");
    assert!(transpose.is_movement && !transpose.is_elementwise && transpose.operands[0].is_linear);
    assert_eq!(transpose.operands[0].map, AccessMap::Projection(vec![1, 0]));
    assert!(transpose.operands[0].map.is_injective(2));
    let matmul = dot_general(&[], &[(1, 0)], (2, 2));
    let found = accesses(&matmul);
    assert!(found.has_reduction && found.operands.iter().all(|access| access.is_linear));
    assert_eq!(found.operands[0].map, AccessMap::Affine);
    let square = of("tdl @square(x: [N]) -> [] { out[] = sum(i) x[i] * x[i] }");
    assert!(!square.operands[0].is_linear);
    let embedding = of(EMBEDDING);
    assert!(embedding.operands[0].is_linear && !embedding.operands[1].is_linear);
    let pad = of("tdl @pad(x: [N], v: []) -> [N + 1] { out[i] = if i < N then x[i] else v[] }");
    assert!(pad.is_movement && !pad.operands[0].is_linear);
    assert!(of(SOFTMAX).has_reduction && !of(SOFTMAX).operands[0].is_linear);
}

#[test]
fn ops_have_descriptions_through_an_interface() {
    use tofu_ir::{OpDef, op};
    static SOFTMAX_IS: Describe = Describe(|_, _| Ok(read(SOFTMAX)));
    static OP: OpDef = op("test.softmax").interfaces(&[&SOFTMAX_IS]);
    assert!(OP.interface::<Describe>().is_some());
}

#[test]
fn random_numbers_are_spread_evenly_and_split() {
    let mut b = Builder::new("random");
    let f32 = TypeRef::Concrete(F32);
    let (n, m) = (b.constant(64), b.constant(256));
    let (i, j) = (b.var("i", n), b.var("j", m));
    let (at_i, at_j) = (b.index(i), b.index(j));
    let row = b.index_mul(at_i, m);
    let place = b.index_add(row, at_j);
    let value = b.random_unit(place);
    b.output("out", f32, &[i, j], value);
    let random = b.finish().unwrap();
    assert_eq!(read(&random.to_string()), random);
    let ways: Vec<String> = strategies(&random).iter().map(|strategy| strategy.text(&random)).collect();
    assert_eq!(ways, ["i -> concat 0", "j -> concat 1"]);
    let numbers = run(&random, &[])[0].numbers();
    assert!(numbers.iter().all(|&number| 0.0 < number && number < 1.0));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let square: Vec<f64> = numbers.iter().map(|number| (number - 0.5) * (number - 0.5)).collect();
    assert!((mean(&numbers) - 0.5).abs() < 0.01 && (mean(&square) - 1.0 / 12.0).abs() < 0.002);
    let neighbours: Vec<f64> = numbers.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).collect();
    assert!(mean(&neighbours).abs() < 0.003, "neighbours depend on each other");
}

/// Each tensor is used twice by the next one: written out, the last would have 2^200 reads.
#[test]
fn intermediate_tensors_are_looked_at_once() {
    let lets: String = (1..200).map(|n| format!("let a{n}[i] = a{}[i] + a{}[i]\n", n - 1, n - 1)).collect();
    let text = format!("tdl @doubling(x: [N]) -> [N] {{ let a0[i] = x[i]\n{lets} out[i] = a199[i] }}");
    let description = read(&text);
    assert!(accesses(&description).operands[0].is_linear);
    let all = strategies(&description);
    assert_eq!(all.len(), 1);
    let part = all[0].part(&description, &[8], 2, 1);
    assert_eq!(regions(&description, &[8], &part)[0].dims[0].start, 4);
    assert_eq!(cost(&description, &[8], &[F32], &part, &OpaqueRegistry::builtin()).flops, 4 * 199);
}
