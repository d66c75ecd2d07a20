//! Opaque functions that MXNet's operators need besides the built-in ones.

use tofu_tdl::{
    OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueRegistry, OpaqueResults, Reference,
    Tensor, TypeClass,
};

use OpaqueElement::Argument;

/// The built-in functions and those of this file.
pub(super) fn registry() -> OpaqueRegistry {
    let functions: [(&'static str, usize, &'static [OpaqueElement], Reference); 6] = [
        ("lq", 1, &[Argument(0), Argument(0)], lq),
        ("lstm", 4, &[Argument(0), Argument(0), Argument(0)], lstm),
        ("ctc", 2, &[Argument(0)], ctc),
        ("gamma_variate", 2, &[Argument(0)], gamma_variate),
        ("poisson_variate", 2, &[Argument(0)], poisson_variate),
        ("custom", 1, &[Argument(0)], custom),
    ];
    let mut registry = OpaqueRegistry::builtin();
    for (name, arguments, results, reference) in functions {
        registry.add(OpaqueFunction {
            name,
            arguments: OpaqueArity::Exactly(arguments),
            results: OpaqueResults::These(results),
            class: TypeClass::Any,
            ranks: None,
            compares: false,
            reference,
            flops: |dims, _| dims.iter().flatten().product(),
            mlir_symbol: name,
            cuda_source: "",
        });
    }
    registry
}

fn like(tensor: &Tensor, dims: &[usize], numbers: &[f64]) -> Result<Tensor, String> {
    let dims: Vec<u64> = dims.iter().map(|&dim| dim as u64).collect();
    Tensor::from_numbers(tensor.element(), &dims, numbers)
}

/// `a = l q` with orthonormal rows in `q`, by reflections of Householder's; gives `q` and `l`.
fn lq(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let a = &call.tensors[0];
    let &[m, n] = a.dims() else { return Err("lq takes a matrix".to_owned()) };
    let (m, n) = (m as usize, n as usize);
    let mut l: Vec<Vec<f64>> = (0..m).map(|i| (0..n).map(|j| a.number(i * n + j)).collect()).collect();
    let mut q: Vec<Vec<f64>> =
        (0..m).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut reflections = Vec::new();
    let reflect = |row: &mut [f64], v: &[f64]| {
        let square: f64 = v.iter().map(|x| x * x).sum();
        let along: f64 = row.iter().zip(v).map(|(x, y)| x * y).sum();
        if square > 0.0 {
            row.iter_mut().zip(v).for_each(|(x, y)| *x -= 2.0 * along / square * y);
        }
    };
    for k in 0..m {
        let norm = l[k][k..].iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut v: Vec<f64> = (0..n).map(|j| if j < k { 0.0 } else { l[k][j] }).collect();
        // A row that is zero already is left alone, as LAPACK does.
        if v[k + 1..].iter().any(|&x| x != 0.0) {
            v[k] += norm.copysign(v[k]);
            l.iter_mut().for_each(|row| reflect(row, &v));
            reflections.push(v);
        }
    }
    for v in reflections.iter().rev() {
        q.iter_mut().for_each(|row| reflect(row, v));
    }
    let lower: Vec<f64> = (0..m).flat_map(|i| l[i][..m].to_vec()).collect();
    Ok(vec![like(a, &[m, n], &q.concat())?, like(a, &[m, m], &lower)?])
}

/// A layer of long short-term memory over one sequence: the states at all times, the last one, and the last cell. The
/// parameters are packed as MXNet's `RNN` takes them, gates in the order input, forget, cell, output.
fn lstm(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [data, parameters, state, cell] = call.tensors else {
        return Err("lstm takes four tensors".to_owned());
    };
    let &[steps, inputs] = data.dims() else { return Err("lstm takes a sequence of vectors".to_owned()) };
    let (steps, inputs, size) = (steps as usize, inputs as usize, state.len());
    let (mut h, mut c) = (state.numbers(), cell.numbers());
    let own = 4 * size * inputs;
    let biases = own + 4 * size * size;
    let mut all = Vec::new();
    for step in 0..steps {
        let gates: Vec<f64> = (0..4 * size)
            .map(|gate| {
                let from_data = (0..inputs)
                    .map(|i| parameters.number(gate * inputs + i) * data.number(step * inputs + i))
                    .sum::<f64>();
                let from_state =
                    (0..size).map(|i| parameters.number(own + gate * size + i) * h[i]).sum::<f64>();
                let bias = parameters.number(biases + gate) + parameters.number(biases + 4 * size + gate);
                from_data + from_state + bias
            })
            .collect();
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        for i in 0..size {
            let [input, forget, new, output] = [0, 1, 2, 3].map(|gate| gates[gate * size + i]);
            c[i] = sigmoid(forget) * c[i] + sigmoid(input) * new.tanh();
            h[i] = sigmoid(output) * c[i].tanh();
        }
        all.extend_from_slice(&h);
    }
    Ok(vec![like(data, &[steps, size], &all)?, like(data, &[size], &h)?, like(data, &[size], &c)?])
}

/// Minus the logarithm of the probability of a label sequence, summed over all ways to stretch it with repetitions and
/// blanks (Graves et al., ICML 2006). The blank is 0; labels end at the first 0.
fn ctc(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [data, label] = call.tensors else { return Err("ctc takes activations and labels".to_owned()) };
    let &[steps, letters] = data.dims() else { return Err("ctc takes a sequence of vectors".to_owned()) };
    let (steps, letters) = (steps as usize, letters as usize);
    let mut path = vec![0];
    for letter in label.numbers().into_iter().map(|letter| letter as usize).take_while(|&letter| letter > 0) {
        path.extend([letter, 0]);
    }
    if path.iter().any(|&letter| letter >= letters) {
        return Err("a label is not a letter".to_owned());
    }
    let sum = |logs: &[f64]| {
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass = || logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
        if top == f64::NEG_INFINITY { top } else { top + mass() }
    };
    let mut before = vec![f64::NEG_INFINITY; path.len()];
    for step in 0..steps {
        let row: Vec<f64> = (0..letters).map(|letter| data.number(step * letters + letter)).collect();
        let mass = sum(&row);
        let mut now = vec![f64::NEG_INFINITY; path.len()];
        for (at, &letter) in path.iter().enumerate() {
            let reach = if step == 0 {
                if at < 2 { 0.0 } else { f64::NEG_INFINITY }
            } else {
                let jumps = at >= 2 && letter != 0 && letter != path[at - 2];
                sum(&before[at.saturating_sub(if jumps { 2 } else { 1 })..=at])
            };
            now[at] = reach + row[letter] - mass;
        }
        before = now;
    }
    let end = path.len().saturating_sub(2);
    Ok(vec![like(data, &[], &[-sum(&before[end..])])?])
}

/// Uniform numbers from 0 to 1, both excluded: the stream of SplitMix64 for a key.
fn stream(key: &Tensor) -> impl FnMut() -> f64 {
    let mut state = key.integer(0) as u64;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON / 4.0
    }
}

/// A number from the gamma distribution of a shape, of scale 1 (Marsaglia and Tsang, 2000).
fn gamma_variate(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [shape, key] = call.tensors else { return Err("gamma_variate takes a shape and a key".to_owned()) };
    let mut uniform = stream(key);
    // Below 1, a power of a uniform number times one of the next shape.
    let alpha = shape.number(0);
    let boost = if alpha < 1.0 { uniform().powf(1.0 / alpha) } else { 1.0 };
    let d = alpha + if alpha < 1.0 { 1.0 } else { 0.0 } - 1.0 / 3.0;
    loop {
        let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let v = (1.0 + normal / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && uniform().ln() < normal * normal / 2.0 + d - d * v + d * v.ln() {
            return Ok(vec![like(shape, &[], &[boost * d * v])?]);
        }
    }
}

/// How many events of a rate happen in a unit of time, by the times between them.
fn poisson_variate(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [rate, key] = call.tensors else { return Err("poisson_variate takes a rate and a key".to_owned()) };
    let mut uniform = stream(key);
    let (mut time, mut events) = (-uniform().ln(), 0);
    while time < rate.number(0) {
        time -= uniform().ln();
        events += 1;
    }
    Ok(vec![like(rate, &[], &[f64::from(events)])?])
}

/// What a user might have written: running sums over the first dimension of a matrix.
fn custom(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let data = &call.tensors[0];
    let width = data.dims().last().map_or(1, |&width| width as usize);
    let mut numbers = data.numbers();
    for at in width..numbers.len() {
        numbers[at] += numbers[at - width];
    }
    Ok(vec![Tensor::from_numbers(data.element(), data.dims(), &numbers)?])
}
