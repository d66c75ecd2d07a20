//! Writes problems in the exchange format of the intra-operator parallelism contest, as [`read_json`](crate::read_json) reads
//! it.

use std::fmt::Write as _;

use crate::problem::Problem;

/// A problem as JSON text: a line for each node and each edge within its list.
pub fn write_json(problem: &Problem) -> String {
    let nodes = 0..problem.nodes();
    let edges = problem.edge_list();
    let mut out = String::from("{\"problem\": {\"name\": ");
    string(&mut out, problem.name());
    out.push_str(",\n\"nodes\": {\"intervals\": [");
    rows(&mut out, nodes.clone().map(|node| problem.interval(node)));
    out.push_str("],\n\"costs\": [");
    rows(&mut out, nodes.clone().map(|node| problem.costs(node)));
    out.push_str("],\n\"usages\": [");
    rows(&mut out, nodes.map(|node| problem.usages(node)));
    out.push_str("]},\n\"edges\": {\"nodes\": [");
    rows(&mut out, edges.iter().map(|edge| [i64::from(edge.a), i64::from(edge.b)]));
    out.push_str("],\n\"costs\": [");
    rows(&mut out, edges.iter().map(|edge| problem.matrix(edge)));
    // Writing into a string cannot fail.
    let _ = write!(out, "]}},\n\"usage_limit\": {}}}}}\n", problem.usage_limit());
    out
}

fn rows<R: AsRef<[i64]>>(out: &mut String, rows: impl Iterator<Item = R>) {
    for (index, row) in rows.enumerate() {
        out.push_str(if index > 0 { ",\n[" } else { "\n[" });
        for (index, number) in row.as_ref().iter().enumerate() {
            let _ = write!(out, "{}{number}", if index > 0 { ", " } else { "" });
        }
        out.push(']');
    }
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_json;

    #[test]
    fn what_is_written_reads_as_the_same_problem() {
        let mut problem = Problem::new("a \"name\" \\ of\n two lines", 42);
        let a = problem.add_node([0, 2], &[1, -5, i64::MAX / 16], &[8, 3, 0]).unwrap();
        let b = problem.add_node([1, 3], &[7], &[8]).unwrap();
        let c = problem.add_node([3, 3], &[7, 8], &[8, 9]).unwrap();
        problem.add_edge(a, b, &[0, 1_000_000_000_000_000_000, -3]).unwrap();
        problem.add_edge(b, c, &[4, 5]).unwrap();
        problem.add_edge(c, b, &[4, 5]).unwrap();
        let text = write_json(&problem);
        let again = read_json(text.as_bytes()).unwrap();
        assert_eq!(again.name(), problem.name());
        assert_eq!(again.usage_limit(), 42);
        assert_eq!((again.nodes(), again.edges()), (3, 3));
        for node in 0..3 {
            assert_eq!(again.interval(node), problem.interval(node));
            assert_eq!(again.costs(node), problem.costs(node));
            assert_eq!(again.usages(node), problem.usages(node));
        }
        for (edge, other) in again.edge_list().iter().zip(problem.edge_list()) {
            assert_eq!((edge.a, edge.b), (other.a, other.b));
            assert_eq!(again.matrix(edge), problem.matrix(other));
        }
        assert_eq!(write_json(&again), text);
    }

    #[test]
    fn a_problem_without_anything_is_one() {
        let text = write_json(&Problem::new("", 0));
        assert_eq!(read_json(text.as_bytes()).unwrap().nodes(), 0);
    }
}
