//! Random bits from counters: Threefry-2x32 with 20 rounds and Philox-4x32 with 10 (Salmon, Moraes, Dror and Shaw,
//! "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//!
//! Which counter makes which element is as in XLA, so that programs get the numbers that they get there. The state is a
//! vector of `ui64`: the key, then the counter. Threefry's counter has 64 bits. Philox's has 128, the low half first;
//! where the state has two elements only, the key is its high half.

use tofu_ir::ElementType;

use super::tensors;
use crate::evaluate::Tensor;
use crate::opaque::{OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueResults};
use crate::scalar::TypeClass;

/// `three_fry32{dims}(state)`: a tensor of these extents of random `ui32`, and the next state.
pub static THREE_FRY32: OpaqueFunction = function(
    "three_fry32",
    &RESULTS32,
    |call| generate(call, ElementType::Ui32, three_fry32),
    "tofu_three_fry32",
    THREE_FRY,
);
/// `three_fry64{dims}(state)`: a tensor of these extents of random `ui64`, and the next state.
pub static THREE_FRY64: OpaqueFunction = function(
    "three_fry64",
    &RESULTS64,
    |call| generate(call, ElementType::Ui64, three_fry64),
    "tofu_three_fry64",
    THREE_FRY,
);
/// `philox32{dims}(state)`: a tensor of these extents of random `ui32`, and the next state.
pub static PHILOX32: OpaqueFunction = function(
    "philox32",
    &RESULTS32,
    |call| generate(call, ElementType::Ui32, philox32),
    "tofu_philox32",
    PHILOX,
);
/// `philox64{dims}(state)`: a tensor of these extents of random `ui64`, and the next state.
pub static PHILOX64: OpaqueFunction = function(
    "philox64",
    &RESULTS64,
    |call| generate(call, ElementType::Ui64, philox64),
    "tofu_philox64",
    PHILOX,
);

static RESULTS32: [OpaqueElement; 2] =
    [OpaqueElement::Concrete(ElementType::Ui32), OpaqueElement::Argument(0)];
static RESULTS64: [OpaqueElement; 2] =
    [OpaqueElement::Concrete(ElementType::Ui64), OpaqueElement::Argument(0)];

const fn function(
    name: &'static str,
    results: &'static [OpaqueElement],
    reference: crate::opaque::Reference,
    symbol: &'static str,
    source: &'static str,
) -> OpaqueFunction {
    OpaqueFunction {
        name,
        arguments: OpaqueArity::Exactly(1),
        results: OpaqueResults::These(results),
        class: TypeClass::Int,
        ranks: Some(|ranks, dims| match ranks {
            [1] => Ok(vec![dims.len(), 1]),
            _ => Err(STATE.to_owned()),
        }),
        compares: false,
        reference,
        // Some hundred integer operations for each 128 bits.
        flops: |_, dims| {
            dims.iter().fold(25u64, |product, &dim| product.saturating_mul(u64::try_from(dim).unwrap_or(0)))
        },
        mlir_symbol: symbol,
        cuda_source: source,
    }
}

const STATE: &str = "the state of a random number generator is a vector of 2 or 3 ui64";

/// The numbers of a tensor of these extents, row-major, and the next state.
type Generator = fn(&[u64], &mut Tensor, &[u64]) -> Vec<u64>;

fn generate(
    call: &mut OpaqueArguments<'_>,
    element: ElementType,
    generator: Generator,
) -> Result<Vec<Tensor>, String> {
    let [state] = tensors(call, "a random number generator")?;
    let words: Vec<u64> = (0..state.len()).map(|index| state.integer(index) as u64).collect();
    if !matches!(words.len(), 2 | 3) || state.element() != ElementType::Ui64 {
        return Err(STATE.to_owned());
    }
    let dims = call.constants.iter().map(|&dim| u64::try_from(dim)).collect::<Result<Vec<u64>, _>>();
    let dims = dims.map_err(|_| "an extent is negative".to_owned())?;
    let mut bits = Tensor::zeros(element, &dims)?;
    let next = generator(&dims, &mut bits, &words);
    let mut next_state = Tensor::zeros(ElementType::Ui64, state.dims())?;
    for (index, word) in next.into_iter().enumerate() {
        next_state.set_integer(index, i128::from(word));
    }
    Ok(vec![bits, next_state])
}

/// Both halves of what a counter gives are used: along one dimension, the first even one or else the largest, they
/// make two neighbours.
fn three_fry32(dims: &[u64], bits: &mut Tensor, state: &[u64]) -> Vec<u64> {
    let even = dims.iter().position(|dim| dim % 2 == 0);
    let split = even.or_else(|| (0..dims.len()).max_by_key(|&axis| (dims[axis], std::cmp::Reverse(axis))));
    let mut halves = dims.to_vec();
    if let Some(split) = split {
        halves[split] = halves[split].div_ceil(2);
    }
    for index in 0..bits.len() {
        let (mut rest, mut counter, mut stride, mut lane) = (index as u64, 0u64, 1u64, 0);
        for (axis, &dim) in dims.iter().enumerate().rev() {
            let mut at = rest % dim;
            rest /= dim;
            if Some(axis) == split {
                (at, lane) = (at / 2, at % 2);
            }
            counter += at * stride;
            stride *= halves[axis];
        }
        let pair = three_fry(state[1].wrapping_add(counter), state[0]);
        bits.set_integer(index, i128::from(pair[lane as usize]));
    }
    let counters = halves.iter().product::<u64>();
    advanced(state, state[1].wrapping_add(counters))
}

fn three_fry64(_: &[u64], bits: &mut Tensor, state: &[u64]) -> Vec<u64> {
    for index in 0..bits.len() {
        let [low, high] = three_fry(state[1].wrapping_add(index as u64), state[0]);
        bits.set_integer(index, i128::from(joined(low, high)));
    }
    advanced(state, state[1].wrapping_add(bits.len() as u64))
}

/// A state with another counter; what stands behind it is kept.
fn advanced(state: &[u64], counter: u64) -> Vec<u64> {
    let mut next = state.to_vec();
    next[1] = counter;
    next
}

fn three_fry(counter: u64, key: u64) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let [k0, k1] = halves(key);
    let keys = [k0, k1, k0 ^ k1 ^ 0x1BD1_1BDA];
    let [mut x, mut y] = halves(counter);
    (x, y) = (x.wrapping_add(keys[0]), y.wrapping_add(keys[1]));
    for group in 0..5usize {
        for rotation in ROTATIONS[group % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(keys[(group + 1) % 3]);
        y = y.wrapping_add(keys[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    [x, y]
}

fn philox32(_: &[u64], bits: &mut Tensor, state: &[u64]) -> Vec<u64> {
    let count = bits.len();
    philox_blocks(state, count.div_ceil(4), |block, words| {
        for (lane, word) in words.into_iter().enumerate() {
            bits.set_integer(4 * block + lane, i128::from(word));
        }
    })
}

fn philox64(_: &[u64], bits: &mut Tensor, state: &[u64]) -> Vec<u64> {
    let count = bits.len();
    philox_blocks(state, count.div_ceil(2), |block, [a, b, c, d]| {
        bits.set_integer(2 * block, i128::from(joined(a, b)));
        bits.set_integer(2 * block + 1, i128::from(joined(c, d)));
    })
}

/// Makes so many blocks and gives the next state.
fn philox_blocks(state: &[u64], blocks: usize, mut write: impl FnMut(usize, [u32; 4])) -> Vec<u64> {
    let (low, high) = if let &[_, low, high] = state { (low, high) } else { (state[1], state[0]) };
    let counter = u128::from(low) | u128::from(high) << 64;
    for block in 0..blocks {
        write(block, philox(counter.wrapping_add(block as u128), state[0]));
    }
    let next = counter.wrapping_add(blocks as u128);
    let words = [state[0], next as u64, (next >> 64) as u64];
    words[..state.len().min(3)].to_vec()
}

fn philox(counter: u128, key: u64) -> [u32; 4] {
    let [mut k0, mut k1] = halves(key);
    let [mut a, mut b] = halves(counter as u64);
    let [mut c, mut d] = halves((counter >> 64) as u64);
    for _ in 0..10 {
        let first = halves(u64::from(a) * 0xD251_1F53);
        let second = halves(u64::from(c) * 0xCD9E_8D57);
        (a, b, c, d) = (second[1] ^ b ^ k0, second[0], first[1] ^ d ^ k1, first[0]);
        (k0, k1) = (k0.wrapping_add(0x9E37_79B9), k1.wrapping_add(0xBB67_AE85));
    }
    [a, b, c, d]
}

/// The low and the high half.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn joined(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

const THREE_FRY: &str = r#"
// The two words that a counter gives.
__device__ void tofu_three_fry(unsigned long long counter, unsigned long long key, unsigned out[2]) {
  const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  unsigned keys[3] = {(unsigned)key, (unsigned)(key >> 32), 0};
  keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDAu;
  unsigned x = (unsigned)counter + keys[0], y = (unsigned)(counter >> 32) + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (int i = 0; i < 4; ++i) {
      int by = rotations[group % 2][i];
      x += y;
      y = ((y << by) | (y >> (32 - by))) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  out[0] = x;
  out[1] = y;
}
// Element `index` of 64 bits, and half `lane` of what the counter at `index` gives, of 32 bits.
__device__ unsigned long long tofu_three_fry64(const unsigned long long* state, long index) {
  unsigned out[2];
  tofu_three_fry(state[1] + index, state[0], out);
  return out[0] | (unsigned long long)out[1] << 32;
}
__device__ unsigned tofu_three_fry32(const unsigned long long* state, long index, int lane) {
  unsigned out[2];
  tofu_three_fry(state[1] + index, state[0], out);
  return out[lane];
}
"#;

const PHILOX: &str = r#"
// The four words that a counter gives.
__device__ void tofu_philox(unsigned long long low, unsigned long long high, unsigned long long key, unsigned out[4]) {
  unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
  unsigned a = (unsigned)low, b = (unsigned)(low >> 32), c = (unsigned)high, d = (unsigned)(high >> 32);
  for (int round = 0; round < 10; ++round) {
    unsigned long long first = (unsigned long long)a * 0xD2511F53u, second = (unsigned long long)c * 0xCD9E8D57u;
    a = (unsigned)(second >> 32) ^ b ^ k0;
    b = (unsigned)second;
    c = (unsigned)(first >> 32) ^ d ^ k1;
    d = (unsigned)first;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}
// Element `index` for a state of `size` words.
__device__ void tofu_philox_block(const unsigned long long* state, int size, long block, unsigned out[4]) {
  unsigned long long low = state[1], high = size < 3 ? state[0] : state[2];
  tofu_philox(low + block, high + (low + block < low), state[0], out);
}
__device__ unsigned tofu_philox32(const unsigned long long* state, int size, long index) {
  unsigned out[4];
  tofu_philox_block(state, size, index / 4, out);
  return out[index % 4];
}
__device__ unsigned long long tofu_philox64(const unsigned long long* state, int size, long index) {
  unsigned out[4];
  tofu_philox_block(state, size, index / 2, out);
  return out[index % 2 * 2] | (unsigned long long)out[index % 2 * 2 + 1] << 32;
}
"#;
