//! The mesh that is searched where none is given.

use smallvec::SmallVec;
use tofu_sharding::{Layouts, Mesh};

use crate::domain::Symmetry;
use crate::search::Request;

/// More axes than this are not told apart.
const MOST_AXES: usize = 3;

/// Names of axes.
const NAMES: [&str; Layouts::MAX_AXES] = ["x", "y", "z", "w", "v", "u", "t", "s"];

/// The mesh of a machine with its prime factors as axes, the smallest neighbours joined if there are too many; and which
/// axes are alike.
pub(super) fn mesh_of(request: &Request<'_>) -> (Mesh, Symmetry) {
    let mut factors: Vec<(u64, Option<usize>)> =
        request.machine.mesh_axes().into_iter().map(|factor| (factor.size, Some(factor.level))).collect();
    while factors.len() > MOST_AXES {
        // Neighbours of one level go first, then those whose product is least.
        let joined = |place: &usize| {
            let (a, b) = (factors[*place], factors[*place + 1]);
            (a.1 != b.1, a.0 * b.0)
        };
        let Some(place) = (0..factors.len() - 1).min_by_key(joined) else { break };
        let (a, b) = (factors[place], factors.remove(place + 1));
        factors[place] = (a.0 * b.0, if a.1 == b.1 { a.1 } else { None });
    }
    // Where some blocks are filled less than others, axes of one level are not alike.
    let is_even = request.machine.shape().iter().product::<u64>() == request.machine.devices();
    let mut groups: Vec<SmallVec<[usize; 4]>> = Vec::new();
    for (axis, factor) in factors.iter().enumerate() {
        if factor.1.is_none() || !is_even {
            continue;
        }
        match groups.iter_mut().find(|group| factors[group[0]] == *factor) {
            Some(group) => group.push(axis),
            None => groups.push(SmallVec::from_slice(&[axis])),
        }
    }
    let sizes: Vec<u64> = factors.iter().map(|(size, _)| *size).collect();
    (mesh_of_sizes(&sizes), Symmetry::of(groups))
}

/// A mesh of axes of these sizes, at most as many as there are names, and of no more devices than a machine may have.
pub(in crate::search) fn mesh_of_sizes(sizes: &[u64]) -> Mesh {
    Mesh::new(NAMES.iter().copied().zip(sizes.iter().copied())).unwrap_or_default()
}
