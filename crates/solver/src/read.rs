//! Reads problems in the exchange format of the intra-operator parallelism contest: JSON, plain or compressed with
//! gzip. Fields may come in any order; fields that the format does not know are skipped.

mod json;

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::pool::{MatrixId, Pool};
use crate::problem::{Invalid, Problem, SharedMatrix};
use crate::ragged::Ragged;
use json::{Fault, Scanner};

/// Why a problem could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file could not be read or decompressed.
    Io(std::io::Error),
    /// The text is not what the format says.
    Syntax {
        /// The entry in which it was found, such as `edges.costs[7]`; empty outside of any.
        entry: String,
        /// Bytes from the start of the (decompressed) text.
        offset: u64,
        /// What is wrong.
        message: String,
    },
    /// The text is well formed, but what it states is not a problem.
    Invalid(Invalid),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "{error}"),
            ReadError::Syntax { entry, offset, message } if entry.is_empty() => {
                write!(f, "byte {offset}: {message}")
            }
            ReadError::Syntax { entry, offset, message } => write!(f, "{entry} (byte {offset}): {message}"),
            ReadError::Invalid(invalid) => write!(f, "{invalid}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Io(error) => ReadError::Io(error),
            Fault::Syntax { offset, message } => ReadError::Syntax { entry: String::new(), offset, message },
        }
    }
}

impl From<Invalid> for ReadError {
    fn from(invalid: Invalid) -> Self {
        ReadError::Invalid(invalid)
    }
}

/// Reads a problem from a file, plain or gzip by its first bytes.
///
/// # Errors
/// See [`ReadError`].
pub fn read_file(path: &Path) -> Result<Problem, ReadError> {
    let mut file = BufReader::new(File::open(path).map_err(ReadError::Io)?);
    let gzip = file.fill_buf().map_err(ReadError::Io)?.starts_with(&[0x1f, 0x8b]);
    if gzip { read_json(MultiGzDecoder::new(file)) } else { read_json(file) }
}

/// Reads a problem from JSON text.
///
/// # Errors
/// See [`ReadError`].
pub fn read_json(reader: impl Read) -> Result<Problem, ReadError> {
    let mut scanner = Scanner::new(reader);
    let mut fields = None;
    scanner.object(|scanner, key| -> Result<(), ReadError> {
        if key != "problem" {
            return Ok(scanner.skip()?);
        }
        if fields.is_some() {
            return Err(Invalid { entry: "problem".into(), message: "stated twice".into() }.into());
        }
        fields = Some(named(Fields::read(scanner), "problem")?);
        Ok(())
    })?;
    scanner.end()?;
    let missing = || Invalid { entry: "problem".into(), message: "missing".into() };
    fields.ok_or_else(missing)?.into_problem()
}

/// The format's fields as they come; what must agree between them is checked once all are there.
#[derive(Default)]
struct Fields {
    name: String,
    usage_limit: Option<i64>,
    intervals: Option<Vec<[i64; 2]>>,
    costs: Option<Ragged<i64>>,
    usages: Option<Ragged<i64>>,
    edge_nodes: Option<Vec<[i64; 2]>>,
    edge_costs: Option<Vec<MatrixId>>,
    matrices: Pool,
}

impl Fields {
    fn read<R: Read>(scanner: &mut Scanner<R>) -> Result<Fields, ReadError> {
        let mut fields = Fields::default();
        scanner.object(|scanner, section| -> Result<(), ReadError> {
            match section {
                "name" => scanner.string(&mut fields.name).map_err(|fault| within(fault, "name"))?,
                "usage_limit" => {
                    let limit = scanner.integer().map_err(|fault| within(fault, "usage_limit"))?;
                    once(&mut fields.usage_limit, limit, "usage_limit")?;
                }
                "nodes" => {
                    named(scanner.object(|scanner, key| fields.read_node_field(scanner, key)), "nodes")?;
                }
                "edges" => {
                    named(scanner.object(|scanner, key| fields.read_edge_field(scanner, key)), "edges")?;
                }
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        Ok(fields)
    }

    fn read_node_field<R: Read>(&mut self, scanner: &mut Scanner<R>, key: &str) -> Result<(), ReadError> {
        match key {
            "intervals" => once(&mut self.intervals, pairs(scanner, "nodes.intervals")?, "nodes.intervals")?,
            "costs" => once(&mut self.costs, rows(scanner, "nodes.costs")?, "nodes.costs")?,
            "usages" => once(&mut self.usages, rows(scanner, "nodes.usages")?, "nodes.usages")?,
            _ => scanner.skip()?,
        }
        Ok(())
    }

    fn read_edge_field<R: Read>(&mut self, scanner: &mut Scanner<R>, key: &str) -> Result<(), ReadError> {
        match key {
            "nodes" => once(&mut self.edge_nodes, pairs(scanner, "edges.nodes")?, "edges.nodes")?,
            "costs" => {
                let costs = matrices(scanner, "edges.costs", &mut self.matrices)?;
                once(&mut self.edge_costs, costs, "edges.costs")?;
            }
            _ => scanner.skip()?,
        }
        Ok(())
    }

    fn into_problem(self) -> Result<Problem, ReadError> {
        let intervals = required(self.intervals, "nodes.intervals")?;
        let costs = required(self.costs, "nodes.costs")?;
        let usages = required(self.usages, "nodes.usages")?;
        let edge_nodes = required(self.edge_nodes, "edges.nodes")?;
        let edge_costs = required(self.edge_costs, "edges.costs")?;
        let usage_limit = required(self.usage_limit, "usage_limit")?;
        same_length("nodes.costs", costs.len(), "nodes.intervals", intervals.len())?;
        same_length("nodes.usages", usages.len(), "nodes.intervals", intervals.len())?;
        same_length("edges.costs", edge_costs.len(), "edges.nodes", edge_nodes.len())?;
        let mut problem = Problem::new(self.name, usage_limit).with_matrices(self.matrices);
        for (node, &interval) in intervals.iter().enumerate() {
            problem.add_node(interval, costs.row(node), usages.row(node))?;
        }
        for (edge, (nodes, &matrix)) in edge_nodes.iter().zip(&edge_costs).enumerate() {
            let mut ends = [0; 2];
            for (end, &node) in nodes.iter().enumerate() {
                ends[end] = usize::try_from(node).map_err(|_| Invalid {
                    entry: format!("edges.nodes[{edge}][{end}]"),
                    message: format!("node {node} is negative"),
                })?;
            }
            problem.add_edge_with(ends[0], ends[1], SharedMatrix(matrix))?;
        }
        Ok(problem)
    }
}

fn once<T>(field: &mut Option<T>, value: T, entry: &str) -> Result<(), Invalid> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(Invalid { entry: entry.into(), message: "stated twice".into() }),
    }
}

fn required<T>(field: Option<T>, entry: &str) -> Result<T, Invalid> {
    field.ok_or_else(|| Invalid { entry: entry.into(), message: "missing".into() })
}

fn same_length(entry: &str, length: usize, other: &str, expected: usize) -> Result<(), Invalid> {
    if length == expected {
        return Ok(());
    }
    Err(Invalid { entry: entry.into(), message: format!("{length} entries where {other} has {expected}") })
}

fn pairs<R: Read>(scanner: &mut Scanner<R>, entry: &str) -> Result<Vec<[i64; 2]>, ReadError> {
    let mut pairs = Vec::new();
    let mut pair = Vec::new();
    let read = scanner.array(|scanner, index| {
        integers(scanner, entry, index, &mut pair)?;
        let [first, second] = pair[..] else {
            let message = format!("a pair is expected, found {} numbers", pair.len());
            return Err(ReadError::from(Invalid { entry: format!("{entry}[{index}]"), message }));
        };
        pairs.push([first, second]);
        Ok(())
    });
    named(read, entry)?;
    Ok(pairs)
}

fn rows<R: Read>(scanner: &mut Scanner<R>, entry: &str) -> Result<Ragged<i64>, ReadError> {
    let mut rows = Ragged::new();
    let mut row = Vec::new();
    let read = scanner.array(|scanner, index| {
        integers(scanner, entry, index, &mut row)?;
        rows.push(row.iter().copied());
        Ok::<(), ReadError>(())
    });
    named(read, entry)?;
    Ok(rows)
}

fn matrices<R: Read>(
    scanner: &mut Scanner<R>,
    entry: &str,
    pool: &mut Pool,
) -> Result<Vec<MatrixId>, ReadError> {
    let mut ids = Vec::new();
    let mut matrix = Vec::new();
    let read = scanner.array(|scanner, index| {
        integers(scanner, entry, index, &mut matrix)?;
        ids.push(pool.intern(&matrix));
        Ok::<(), ReadError>(())
    });
    named(read, entry)?;
    Ok(ids)
}

fn integers<R: Read>(
    scanner: &mut Scanner<R>,
    entry: &str,
    index: usize,
    into: &mut Vec<i64>,
) -> Result<(), ReadError> {
    into.clear();
    let mut read = || scanner.array(|scanner, _| scanner.integer().map(|number| into.push(number)));
    match read() {
        Ok(()) => Ok(()),
        // Before the first number it may be the list that is wrong.
        Err(fault) if into.is_empty() => Err(within(fault, &format!("{entry}[{index}]"))),
        Err(fault) => Err(within(fault, &format!("{entry}[{index}][{}]", into.len()))),
    }
}

/// An error that names no entry yet, with the entry in which it came up.
fn named<T>(result: Result<T, ReadError>, within: &str) -> Result<T, ReadError> {
    match result {
        Err(ReadError::Syntax { entry, offset, message }) if entry.is_empty() => {
            Err(ReadError::Syntax { entry: within.to_owned(), offset, message })
        }
        other => other,
    }
}

/// A scanner's fault, with the entry in which it came up.
fn within(fault: Fault, entry: &str) -> ReadError {
    match ReadError::from(fault) {
        ReadError::Syntax { offset, message, .. } => {
            ReadError::Syntax { entry: entry.to_owned(), offset, message }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"other": [1.5e3, {"x": null}], "problem": {"name": "two\n",
        "edges": {"nodes": [[0, 1]], "costs": [[0, 1, 2, 3]]},
        "nodes": {"intervals": [[0, 5], [5, 5]], "costs": [[1, -2], [3, 4]], "usages": [[7, 8], [0, 1]]},
        "usage_limit": 9}}"#;

    fn error_of(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "the test changes something");
        read_json(TEXT.replace(from, to).as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn fields_come_in_any_order() {
        let problem = read_json(TEXT.as_bytes()).unwrap();
        assert_eq!((problem.name(), problem.nodes(), problem.edges()), ("two\n", 2, 1));
        assert_eq!(problem.costs(0), [1, -2]);
        assert_eq!(problem.usages(1), [0, 1]);
        assert_eq!(problem.usage_limit(), 9);
    }

    #[test]
    fn errors_name_the_entry() {
        let starts = |text: String, start: &str| assert!(text.starts_with(start), "{text}");
        starts(error_of("[3, 4]", "[3, x]"), "nodes.costs[1][1] (byte ");
        starts(error_of("[3, 4]", "[3, 9223372036854775808]"), "nodes.costs[1][1] (byte ");
        starts(error_of("[3, 4]", "[3, 1e18]"), "nodes.costs[1][1] (byte ");
        starts(error_of("[3, 4]", "[3]"), "nodes.usages[1]: 2 usages for 1 strategies");
        starts(error_of(", [3, 4]", ""), "nodes.costs: 1 entries where nodes.intervals has 2");
        starts(error_of("[5, 5]", "[5, 4]"), "nodes.intervals[1]: [5, 4] is no interval");
        starts(error_of("[5, 5]", "[5]"), "nodes.intervals[1]: a pair is expected");
        starts(error_of("[[0, 1]]", "[[0, 2]]"), "edges.nodes[0][1]: node 2 of 2 nodes");
        starts(error_of("[[0, 1]]", "[[-1, 1]]"), "edges.nodes[0][0]: node -1 is negative");
        starts(
            error_of("[0, 1, 2, 3]", "[0, 1, 2]"),
            "edges.costs[0]: 3 costs where nodes 0 and 1 have 2 x 2",
        );
        starts(error_of("[3, 4]", "3"), "nodes.costs[1] (byte ");
        starts(error_of("[3, 4]", "{}"), "nodes.costs[1] (byte ");
        starts(error_of("[[0, 1]]", "null"), "edges.nodes (byte ");
        starts(error_of("\"two\\n\"", "null"), "name (byte ");
        starts(error_of("{\"nodes\": [[0, 1]], \"costs\": [[0, 1, 2, 3]]}", "[]"), "edges (byte ");
        starts(error_of("\"usages\"", "\"costs\""), "nodes.costs: stated twice");
        starts(error_of("\"x\": null", "\"x\": nulll"), "byte ");
        starts(error_of("1.5e3", "1.5e3-"), "byte ");
        starts(error_of("\"usage_limit\"", "\"limit\""), "usage_limit: missing");
        starts(error_of("9}}", "9}} x"), "byte ");
        starts(error_of("9}}", "9"), "problem (byte ");
    }

    #[test]
    fn the_largest_numbers_are_read() {
        let text = TEXT.replace("[3, 4]", "[9223372036854775807, -9223372036854775808]");
        assert_eq!(read_json(text.as_bytes()).unwrap().costs(1), [i64::MAX, i64::MIN]);
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let text = format!("{{\"other\": {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read_json(text.as_bytes()).unwrap_err().to_string().contains("deeper"));
    }
}
