//! `docs/mxnet.md`.

use std::fmt::Write;

use tofu_tdl::{AccessMap, Accesses, Description, DimLayout, Strategy, accesses, strategies};

use super::corpus::{self, Entry};

const INTRODUCTION: &str = "# MXNet's operators as descriptions

Written by `TOFU_BLESS=1 cargo test -p tofu-tdl mxnet` from `testdata/tdl/mxnet`; do not edit.

The paper on Tofu (EuroSys 2019) says that its description language covers 134 of 139 operators of MXNet v0.11, of which 77
are element-wise, 2 use opaque functions and 11 have output reductions. It does not name them. This list is made from
the reference of the NDArray API as it stood in the summer of 2017 (`docs/api/python/ndarray/ndarray.md` in MXNet's
repository, between v0.11 and v0.12): all routines of its sections, but for those that run on the host and are no
operators (`array`, `empty`, `full`, `load`, `save`, `seed`) and those that are listed a second time with parameters for each
row (`sample_…`). That makes 139 as well; whether they are the same ones nobody can tell. Gradients are not counted: they
are operators of the framework's own, not of its interface.

Operators of any rank are written at one, attributes as numbers or extents. Each text is read, printed and read again; its
strategies are those that stand below it; each strategy, run on 2, 3, 4 and 8 workers with random operands, gives what
the whole operator gives; and wherever MXNet is deterministic, an example gives what MXNet 1.9.1 gives.

- *element-wise*: each element of the results is a function of the elements at its place.
- *movement*: elements are moved, never computed with.
- *output reduction*: some strategy leaves partial results, which are reduced.
- *inner reduction*: something is reduced, and used further where it is needed whole.
- *by data*: elements choose what is read.
- *opaque*: an algorithm is hidden; what is outside of it still splits.
- *affine*: none of these; what is read depends on the place alone.

An operator that is described several times, with different attributes, is element-wise or movement if the first
description is, and the others if any is.
";

const BEYOND: &str = "
## Beyond the list

Operators that the reference does not list or that came soon after, described and tested in the same way.
";

/// Operators under a heading of the list.
struct Section {
    heading: String,
    operators: Vec<String>,
}

fn sections() -> Vec<Section> {
    let text = std::fs::read_to_string(corpus::root().join("testdata/tdl/mxnet/operators.txt")).unwrap();
    let section = |text: &str| {
        let (heading, operators) = text.split_once('\n')?;
        let operators = operators.split_whitespace().map(str::to_owned).collect();
        Some(Section { heading: heading.to_owned(), operators })
    };
    text.split("# ").filter_map(section).collect()
}

/// What an operator's descriptions do, in the order of the document.
const KINDS: [&str; 7] =
    ["element-wise", "movement", "output reduction", "inner reduction", "by data", "opaque", "affine"];

/// What is said of an operator.
struct Row {
    text: String,
    /// Which of [`KINDS`] hold; none if it is not described.
    kinds: Vec<&'static str>,
}

fn row(operator: &str, entries: &[Entry]) -> Row {
    let own: Vec<Description> = entries
        .iter()
        .filter(|entry| entry.operator() == operator)
        .map(|entry| entry.description().unwrap())
        .collect();
    let (Some(first), Some(entry)) = (own.first(), entries.iter().find(|entry| entry.operator() == operator))
    else {
        return Row { text: format!("| `{operator}` | not described | | | |\n"), kinds: Vec::new() };
    };
    let kinds = kinds(&own);
    let splits: Vec<String> = strategies(first).iter().map(|strategy| split(strategy, first)).collect();
    let splits = if splits.is_empty() { "none".to_owned() } else { splits.join(", ") };
    let (count, file) = (own.len(), &entry.file);
    let text = format!(
        "| `{operator}` | {} | {splits} | {count} | [{file}](../testdata/tdl/mxnet/{file}) |\n",
        kinds.join(", "),
    );
    Row { text, kinds }
}

fn kinds(descriptions: &[Description]) -> Vec<&'static str> {
    let all: Vec<Accesses> = descriptions.iter().map(accesses).collect();
    let any = |holds: fn(&Accesses) -> bool| all.iter().any(holds);
    let strategies: Vec<Strategy> = descriptions.iter().flat_map(strategies).collect();
    let is_partial = strategies.iter().any(Strategy::is_reduction);
    let mut layouts =
        strategies.iter().flat_map(|strategy| &strategy.operands).flat_map(|operand| &operand.dims);
    let is_chosen = |of: &Accesses| {
        !of.has_opaque && of.operands.iter().any(|operand| operand.map == AccessMap::Dependent)
    };
    let mut holds = [
        all.first().is_some_and(|of| of.is_elementwise),
        all.first().is_some_and(|of| of.is_movement && !of.is_elementwise),
        is_partial,
        any(|of| of.has_reduction) && !is_partial,
        any(is_chosen) || layouts.any(|layout| *layout == DimLayout::Masked),
        any(|of| of.has_opaque),
        false,
    ];
    holds[6] = !holds.contains(&true);
    KINDS.into_iter().zip(holds).filter_map(|(kind, holds)| holds.then_some(kind)).collect()
}

/// The variable, and how results are reduced.
fn split(strategy: &Strategy, description: &Description) -> String {
    let text = strategy.text(description);
    match text.rsplit_once("-> ") {
        Some((_, outputs)) if strategy.is_reduction() => format!("{} ({outputs})", strategy.variable),
        _ => strategy.variable.to_string(),
    }
}

const HEAD: &str =
    "\n| operator | kind | splits of the first description | descriptions | file |\n|---|---|---|---|---|\n";

/// The document.
fn document() -> String {
    let entries = corpus::entries();
    let mut tables = String::new();
    let mut rows = Vec::new();
    let sections = sections();
    for section in &sections {
        let _ = write!(tables, "\n### {}\n{HEAD}", section.heading);
        for operator in &section.operators {
            let row = row(operator, &entries);
            tables.push_str(&row.text);
            rows.push(row);
        }
    }
    let count = |kind: &str| rows.iter().filter(|row| row.kinds.contains(&kind)).count();
    let described = rows.iter().filter(|row| !row.kinds.is_empty()).count();
    let paper = ["77", "", "11", "", "0", "2", ""];
    let counts: String = KINDS
        .iter()
        .zip(paper)
        .map(|(kind, paper)| format!("| {kind} | {paper} | {} |\n", count(kind)))
        .collect();
    let is_listed =
        |operator: &str| sections.iter().any(|section| section.operators.iter().any(|o| o == operator));
    let mut beyond: Vec<&str> =
        entries.iter().map(Entry::operator).filter(|operator| !is_listed(operator)).collect();
    beyond.dedup();
    let others: String = beyond.iter().map(|operator| row(operator, &entries).text).collect();
    format!(
        "{INTRODUCTION}\n| | paper | here |\n|---|---|---|\n| operators | 139 | {} |\n\
         | described | 134 | {described} |\n{counts}\n## The list\n{tables}{BEYOND}{HEAD}{others}",
        rows.len(),
    )
}

/// Compares the document with what follows from the descriptions.
pub(super) fn check() {
    let path = corpus::root().join("docs/mxnet.md");
    let text = document();
    if corpus::bless() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "docs/mxnet.md is stale: run the test with TOFU_BLESS=1");
}
