//! Random programs, run on their storages.

use std::fmt::Write;

use fastrand::Rng;
use tofu_memory::{Assumptions, Liveness, StorageKind, bytes_of};
use tofu_tdl::Descriptions;

use crate::simulate::simulate;
use crate::support::{function, program};

/// Draws programs on matrices.
struct Draw {
    random: Rng,
    text: String,
    next: usize,
    has_control: bool,
}

impl Draw {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// A value of those in scope; late ones more often.
    fn pick(&mut self, scope: &[String]) -> String {
        let near = scope.len().saturating_sub(4);
        let from = if self.random.bool() { near } else { 0 };
        scope[self.random.usize(from..scope.len())].clone()
    }

    /// Some ops at the end of a block.
    fn ops(&mut self, scope: &mut Vec<String>, count: usize, depth: usize) {
        for _ in 0..count {
            let (a, b, r) = (self.pick(scope), self.pick(scope), self.name());
            let choice = self.random.u8(..if self.has_control && depth < 2 { 13 } else { 10 });
            let line = match choice {
                0 | 1 => format!("{r} = tensor.dot_general {a}, {b} {{contracting = [1] x [0]}}"),
                2 | 3 => format!("{r} = tensor.add {a}, {b}"),
                4 => format!("{r} = tensor.tanh {a}"),
                5 => format!("{r} = tensor.transpose {a} {{permutation = [1, 0]}}"),
                6 => {
                    let flat = self.name();
                    format!(
                        "{flat} = tensor.reshape {a} : tensor<16xf32>\n{r} = tensor.reshape {flat} : tensor<4x4xf32>"
                    )
                }
                7 => format!("{r} = tensor.dynamic_update_slice {a}, %u, %i, %i"),
                8 => format!("{r} = tensor.optimization_barrier {a}"),
                9 => format!("{r} = tensor.constant dense<2.0> : tensor<4x4xf32>"),
                10 => {
                    self.choice(scope, &r, depth);
                    scope.push(r);
                    continue;
                }
                _ => {
                    self.scan(scope, depth);
                    continue;
                }
            };
            let _ = writeln!(self.text, "{line}");
            scope.push(r);
        }
    }

    fn choice(&mut self, scope: &[String], result: &str, depth: usize) {
        let _ = write!(self.text, "{result} = tensor.if %k (");
        for number in 0..2 {
            let separator = if number == 0 { "{" } else { ", {" };
            let _ = writeln!(self.text, "{separator}");
            let mut inner = scope.to_vec();
            let count = self.random.usize(..4);
            self.ops(&mut inner, count, depth + 1);
            let given = self.pick(&inner);
            let _ = write!(self.text, "tensor.yield {given}\n}}");
        }
        let _ = writeln!(self.text, ")");
    }

    fn scan(&mut self, scope: &mut Vec<String>, depth: usize) {
        let count = self.random.usize(1..4);
        let operands: Vec<String> = (0..count).map(|_| self.pick(scope)).collect();
        let results: Vec<String> = (0..count).map(|_| self.name()).collect();
        let head = |names: &[String]| {
            let typed: Vec<String> = names.iter().map(|name| format!("{name}: tensor<4x4xf32>")).collect();
            typed.join(", ")
        };
        let arguments: Vec<String> = (0..count).map(|_| self.name()).collect();
        let tested: Vec<String> = (0..count).map(|_| self.name()).collect();
        let (results_text, operands) = (results.join(", "), operands.join(", "));
        let _ = writeln!(
            self.text,
            "{results_text} = tensor.while {operands} ({{\n^cond({}):\ntensor.yield %k\n}}, {{\n^body({}):",
            head(&tested),
            head(&arguments)
        );
        let mut inner = scope.clone();
        inner.extend(arguments.iter().cloned());
        let ops = self.random.usize(1..6);
        self.ops(&mut inner, ops, depth + 1);
        let given: Vec<String> = (0..count)
            .map(
                |number| if self.random.u8(..4) == 0 { arguments[number].clone() } else { self.pick(&inner) },
            )
            .collect();
        let _ = writeln!(self.text, "tensor.yield {}\n}})", given.join(", "));
        scope.extend(results);
    }
}

fn draw(seed: u64, has_control: bool) -> String {
    let mut random = Rng::with_seed(seed);
    let arguments = random.usize(1..4);
    let results = random.usize(1..4);
    let ops = random.usize(1..25);
    let mut draw = Draw { random, text: String::new(), next: 0, has_control };
    let mut scope: Vec<String> = (0..arguments).map(|number| format!("%p{number}")).collect();
    let attributes = [" {jax.buffer_donor = true}", " {tf.aliasing_output = 0}", "", ""];
    let mut parameters: Vec<String> = Vec::new();
    for name in &scope {
        let said = attributes[draw.random.usize(..attributes.len())];
        parameters.push(format!("{name}: tensor<4x4xf32>{said}"));
    }
    parameters.extend(["%u: tensor<1x4xf32>", "%i: tensor<i32>", "%k: tensor<i1>"].map(str::to_owned));
    let types = vec!["tensor<4x4xf32>"; results].join(", ");
    draw.ops(&mut scope, ops, 0);
    let given: Vec<String> = (0..results).map(|_| draw.pick(&scope)).collect();
    format!(
        "func @main({}) -> ({types}) {{\n{}return {}\n}}",
        parameters.join(", "),
        draw.text,
        given.join(", ")
    )
}

#[test]
fn what_is_read_is_still_there() {
    let mut in_place = 0;
    for seed in 0..600 {
        let text = draw(seed, seed % 3 != 0);
        let module = program(&text);
        let descriptions = Descriptions::new();
        for ties_are_donated in [false, true] {
            let assumptions = Assumptions { ties_are_donated };
            let liveness =
                Liveness::assuming(&module, function(&module), &descriptions, &assumptions).unwrap();
            for rounds in 0..4 {
                let run =
                    std::panic::AssertUnwindSafe(|| simulate(&module, &liveness, &descriptions, rounds));
                match std::panic::catch_unwind(run) {
                    Ok(run) => in_place += run.in_place,
                    Err(_) => {
                        panic!("seed {seed}\n{text}\n{}", crate::support::storages(&module, &liveness))
                    }
                }
            }
        }
    }
    assert!(in_place > 1000, "{in_place}");
}

/// Without loops and choices, nothing is alive for longer than it has to be.
#[test]
fn nothing_lives_longer_than_needed() {
    for seed in 0..400 {
        let text = draw(seed, false);
        let module = program(&text);
        let descriptions = Descriptions::new();
        let liveness = Liveness::of(&module, function(&module), &descriptions).unwrap();
        let run = simulate(&module, &liveness, &descriptions, 0);
        for (id, storage) in liveness.storages() {
            if storage.kind != StorageKind::Intermediate || storage.is_result || run.unread().contains(&id) {
                continue;
            }
            // A result that could not be written over the argument that it replaces lives until it is copied there.
            let is_copied = storage.live.end == liveness.schedule().len();
            assert!(is_copied || storage.live.end == run.read[&id] + 1, "{id:?} {storage:?}\n{text}");
        }
    }
}

/// The profile against a sum over all storages, position by position.
#[test]
fn profiles_are_sums() {
    for seed in 0..100 {
        let module = program(&draw(seed, true));
        let liveness = Liveness::of(&module, function(&module), &Descriptions::new()).unwrap();
        let bytes = |value| bytes_of(&module, value);
        let profile = liveness.profile(&bytes, &[]);
        for (position, &found) in (0..).zip(&profile) {
            let alive = liveness.storages().filter(|(_, storage)| storage.live.contains(&position));
            let largest = alive.map(|(_, storage)| storage.values.iter().map(|&v| bytes(v)).max().unwrap());
            assert_eq!(found, largest.sum::<u64>());
        }
        let peak = liveness.peak(&bytes, &[]);
        assert_eq!(Some(&peak.bytes), profile.iter().max());
        assert_eq!(peak.bytes, peak.alive.iter().map(|alive| alive.1).sum::<u64>());
        assert_eq!(profile[peak.position as usize], peak.bytes);
    }
}
