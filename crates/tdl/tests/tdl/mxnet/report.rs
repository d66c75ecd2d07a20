//! `docs/mxnet.md`.

use std::fmt::Write;

use tofu_tdl::{AccessMap, Combine, DimLayout, accesses, strategies};

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
- *reduction*: some strategy leaves partial results, which are reduced.
- *by data*: elements choose what is read.
- *opaque*: an algorithm is hidden; what is outside of it still splits.
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

/// What is said of an operator.
struct Row {
    text: String,
    is_described: bool,
    is_elementwise: bool,
    is_reduction: bool,
    is_by_data: bool,
    is_opaque: bool,
}

fn row(operator: &str, entries: &[Entry]) -> Row {
    let own: Vec<&Entry> = entries.iter().filter(|entry| entry.operator() == operator).collect();
    let mut row = Row {
        text: String::new(),
        is_described: !own.is_empty(),
        is_elementwise: false,
        is_reduction: false,
        is_by_data: false,
        is_opaque: false,
    };
    for (number, entry) in own.iter().enumerate() {
        let description = entry.description().unwrap();
        let (accesses, strategies) = (accesses(&description), strategies(&description));
        // The first description is the plain one, others show attributes.
        row.is_elementwise |= number == 0 && accesses.is_elementwise;
        row.is_opaque |= accesses.has_opaque;
        row.is_reduction |= strategies.iter().any(|strategy| strategy.is_reduction());
        let is_chosen = !accesses.has_opaque
            && accesses.operands.iter().any(|operand| operand.map == AccessMap::Dependent);
        let is_masked = strategies
            .iter()
            .flat_map(|strategy| &strategy.operands)
            .any(|operand| operand.dims.contains(&DimLayout::Masked));
        row.is_by_data |= is_chosen || is_masked;
    }
    let Some(first) = own.first() else { return row };
    let description = first.description().unwrap();
    let splits: Vec<String> = strategies(&description)
        .iter()
        .map(|strategy| {
            let is_partial = |output: &&Combine| matches!(output, Combine::Partial { .. });
            let line = strategy.text(&description);
            match strategy.outputs.iter().find(is_partial) {
                Some(_) => format!("{} ({})", strategy.variable, line.rsplit("-> ").next().unwrap()),
                None => strategy.variable.to_string(),
            }
        })
        .collect();
    let kinds: Vec<&str> = [
        (row.is_elementwise, "element-wise"),
        (row.is_reduction, "reduction"),
        (row.is_by_data, "by data"),
        (row.is_opaque, "opaque"),
    ]
    .into_iter()
    .filter_map(|(holds, name)| holds.then_some(name))
    .collect();
    let file = &first.file;
    row.text = format!(
        "| `{operator}` | {} | {} | {} | [{file}](../testdata/tdl/mxnet/{file}) |\n",
        kinds.join(", "),
        if splits.is_empty() { "none".to_owned() } else { splits.join(", ") },
        own.len(),
    );
    row
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
            let mut row = row(operator, &entries);
            if !row.is_described {
                row.text = format!("| `{operator}` | not described | | | |\n");
            }
            tables.push_str(&row.text);
            rows.push(row);
        }
    }
    let count = |holds: fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).count();
    let is_listed =
        |operator: &str| sections.iter().any(|section| section.operators.iter().any(|o| o == operator));
    let mut beyond: Vec<&str> =
        entries.iter().map(Entry::operator).filter(|operator| !is_listed(operator)).collect();
    beyond.dedup();
    let others: String = beyond.iter().map(|operator| row(operator, &entries).text).collect();
    format!(
        "{INTRODUCTION}\n\
         | | paper | here |\n|---|---|---|\n\
         | operators | 139 | {} |\n\
         | described | 134 | {} |\n\
         | element-wise | 77 | {} |\n\
         | with output reduction | 11 | {} |\n\
         | reading by data | 0 | {} |\n\
         | with opaque functions | 2 | {} |\n\
         \n## The list\n{tables}{BEYOND}{HEAD}{others}",
        rows.len(),
        count(|row| row.is_described),
        count(|row| row.is_elementwise),
        count(|row| row.is_reduction),
        count(|row| row.is_by_data),
        count(|row| row.is_opaque),
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
