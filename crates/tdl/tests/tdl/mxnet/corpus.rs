//! The files of descriptions.
//!
//! A file is a sequence of paragraphs, of prose or of one description:
//!
//! ```text
//! // What a reader should know.
//! tdl @name(…) -> … {
//!   …
//! }
//! // call: the call of MXNet that is described
//! // given: operands of an example, as nested lists; several are separated by semicolons
//! // gives: what MXNet 1.9.1 gives for them
//! // drawn: operand low..high, extent low..high: what tests with random operands draw from
//! // splits:
//! //   the strategies, one a line
//! ```
//!
//! All but the description and the strategies may be missing. `name` is an operator's, or an operator's and after a dot
//! the attributes that are described.

use std::path::PathBuf;

use fastrand::Rng;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{ElementType, TensorType};
use tofu_tdl::{Description, Tensor, TypeRef, operand_dims, parse, solve, strategies};

use super::functions;

/// A description and what is said of it.
pub(super) struct Entry {
    /// The name of its file.
    pub(super) file: String,
    /// The name of the description.
    pub(super) name: String,
    text: String,
    drawn: Vec<(String, i64, i64)>,
    /// Operands of an example.
    pub(super) given: Option<Vec<Value>>,
    /// What MXNet gives for them.
    pub(super) gives: Option<Vec<Value>>,
    /// The strategies.
    pub(super) splits: Vec<String>,
}

/// The directory of the workspace.
pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether what is generated is to be written.
pub(super) fn bless() -> bool {
    std::env::var_os("TOFU_BLESS").is_some_and(|value| value == "1")
}

/// The name and the text of each file.
fn files() -> Vec<(PathBuf, String)> {
    let directory = root().join("testdata/tdl/mxnet");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tdl"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// All descriptions.
pub(super) fn entries() -> Vec<Entry> {
    let of_file = |(path, text): (PathBuf, String)| {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        text.split("\n\n").filter_map(|paragraph| entry(&file, paragraph)).collect::<Vec<Entry>>()
    };
    files().into_iter().flat_map(of_file).collect()
}

/// Writes the strategies of all descriptions into the files.
pub(super) fn rewrite() {
    for (path, text) in files() {
        let paragraphs: Vec<String> = text
            .trim_end()
            .split("\n\n")
            .map(|paragraph| {
                let Some(Ok(found)) = entry("", paragraph).map(|entry| entry.strategies()) else {
                    return paragraph.to_owned();
                };
                let above = paragraph.split("\n// splits:").next().unwrap_or_default().trim_end();
                let lines: Vec<String> = found.iter().map(|line| format!("\n//   {line}")).collect();
                let lines = if lines.is_empty() { " none".to_owned() } else { lines.concat() };
                format!("{above}\n// splits:{lines}")
            })
            .collect();
        std::fs::write(path, paragraphs.join("\n\n") + "\n").unwrap();
    }
}

fn entry(file: &str, paragraph: &str) -> Option<Entry> {
    let start = paragraph.find("tdl @").filter(|&start| start == 0 || paragraph[..start].ends_with('\n'))?;
    assert_eq!(paragraph.matches("tdl @").count(), 1, "an empty line is missing in {file}:\n{paragraph}");
    let end = paragraph.find("\n}").unwrap() + 2;
    let text = format!("{}\n", &paragraph[start..end]);
    let name = text["tdl @".len()..].split(['(', '<']).next().unwrap().to_owned();
    let line =
        |key: &str| paragraph[end..].lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key));
    let drawn = line("drawn: ").map_or(Vec::new(), |text| text.split(", ").map(range).collect());
    let splits = paragraph.split("\n// splits:").nth(1).unwrap_or_default();
    Some(Entry {
        file: file.to_owned(),
        name,
        text,
        drawn,
        given: line("given:").map(values),
        gives: line("gives:").map(values),
        splits: splits.lines().filter_map(|line| Some(line.strip_prefix("//   ")?.to_owned())).collect(),
    })
}

/// `name low..high`
fn range(text: &str) -> (String, i64, i64) {
    let (name, range) = text.split_once(' ').unwrap();
    let (low, high) = range.split_once("..").unwrap();
    (name.to_owned(), low.parse().unwrap(), high.parse().unwrap())
}

/// The type of elements, where a type parameter stands for `param`.
pub(super) fn element(ty: TypeRef, param: ElementType) -> ElementType {
    match ty {
        TypeRef::Concrete(element) => element,
        TypeRef::Param(_) | TypeRef::Part(_) => param,
    }
}

impl Entry {
    /// The operator that is described.
    pub(super) fn operator(&self) -> &str {
        self.name.split('.').next().unwrap()
    }

    pub(super) fn description(&self) -> Result<Description, String> {
        parse(&self.text, 1, &functions::registry()).map_err(|errors| {
            let line = |error: &Diagnostic| {
                let span = error.primary.span;
                let at = self.text.get(span.start as usize - 1..span.end as usize - 1).unwrap_or_default();
                format!("{}, in `{at}`", error.message)
            };
            errors.iter().map(line).collect::<Vec<String>>().join("\n")
        })
    }

    /// The strategies that follow, as text.
    pub(super) fn strategies(&self) -> Result<Vec<String>, String> {
        let description = self.description()?;
        Ok(strategies(&description).iter().map(|strategy| strategy.text(&description)).collect())
    }

    /// Extents and operands that fit the description.
    pub(super) fn draw(
        &self,
        description: &Description,
        random: &mut Rng,
    ) -> Result<(Vec<u64>, Vec<Tensor>), String> {
        let range = |name: &str, otherwise: (i64, i64)| {
            self.drawn.iter().find(|drawn| drawn.0 == name).map_or(otherwise, |drawn| (drawn.1, drawn.2))
        };
        let mut message = String::new();
        // Floats where they are possible; extents until the conditions hold.
        for attempt in 0..200 {
            let param = if attempt % 2 == 0 { ElementType::F64 } else { ElementType::I32 };
            let mut draw = |name: &str, otherwise| {
                let (low, high) = range(name, otherwise);
                random.i64(low..=high)
            };
            let extents: Vec<u64> =
                description.data().extents.iter().map(|name| draw(name, (1, 6)) as u64).collect();
            let Some(shapes) = operand_dims(description, &extents) else { continue };
            let mut operands = Vec::new();
            for (dims, parameter) in shapes.iter().zip(description.parameters()) {
                let mut tensor = Tensor::zeros(element(parameter.ty, param), dims)?;
                for index in 0..tensor.len() {
                    tensor.set_integer(index, i128::from(draw(&parameter.name, (-9, 9))));
                }
                operands.push(tensor);
            }
            let types: Vec<TensorType> = operands.iter().map(Tensor::ty).collect();
            match solve(description, &types) {
                Ok(solution) => return Ok((solution.static_extents().ok_or("unknown extents")?, operands)),
                Err(mismatch) => message = mismatch.message,
            }
        }
        Err(format!("no operands fit: {message}"))
    }
}

/// The numbers of an example, and how they are arranged.
pub(super) struct Value {
    dims: Vec<u64>,
    numbers: Vec<f64>,
}

/// Nested lists, separated by semicolons; or none.
fn values(text: &str) -> Vec<Value> {
    text.split(';').filter(|list| !list.trim().is_empty()).map(value).collect()
}

fn value(text: &str) -> Value {
    let mut dims: Vec<u64> = Vec::new();
    let mut counts: Vec<u64> = Vec::new();
    let mut numbers = Vec::new();
    for token in text.split_inclusive(['[', ']', ',']) {
        let (word, end) = token.split_at(token.trim_end_matches(['[', ']', ',']).len());
        if !word.trim().is_empty() {
            numbers.push(word.trim().parse().unwrap());
        }
        match end {
            "[" => counts.push(1),
            "," => *counts.last_mut().unwrap() += 1,
            "]" => {
                let count = counts.pop().unwrap();
                dims.resize(dims.len().max(counts.len() + 1), 0);
                dims[counts.len()] = count;
            }
            _ => {}
        }
    }
    assert_eq!(dims.iter().product::<u64>(), numbers.len() as u64, "{text}");
    Value { dims, numbers }
}

impl Value {
    pub(super) fn tensor(&self, element: ElementType) -> Tensor {
        Tensor::from_numbers(element, &self.dims, &self.numbers).unwrap()
    }

    /// Whether a result is this, up to the rounding of `f32`, in which MXNet computes.
    pub(super) fn compare(&self, result: &Tensor) -> Result<(), String> {
        // MXNet has no tensors of rank 0.
        let dims = if result.dims().is_empty() { &[1] } else { result.dims() };
        if dims != self.dims {
            return Err(format!("the extents are {dims:?}, not {:?}", self.dims));
        }
        let near =
            |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-5 * (1.0 + b.abs());
        let numbers = result.numbers();
        let same = numbers.iter().zip(&self.numbers).all(|(&a, &b)| near(a, b));
        if same { Ok(()) } else { Err(format!("{numbers:?}\nis not {:?}", self.numbers)) }
    }
}
