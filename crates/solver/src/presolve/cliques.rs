//! Fewer time cliques: one that stays within its slack even if every node uses its most cannot bind, and one whose
//! pieces are all there in the next clique too, with no more slack, is implied by it.

use crate::model::{Model, Piece};

pub(super) fn reduce(model: &mut Model) {
    let count = model.slack.len();
    let mut most = vec![0i64; count + 1];
    let mut starts = vec![false; count + 1];
    let mut ends = vec![false; count + 1];
    for piece in model.nodes.iter().flat_map(|node| &node.pieces) {
        let usage = piece.usage.iter().copied().max().unwrap_or(0);
        most[piece.from as usize] += usage;
        most[piece.to as usize] -= usage;
        starts[piece.from as usize] = true;
        ends[piece.to as usize] = true;
    }
    // Cliques that stay, each with whether a piece starts, or ends, between the one before it and itself.
    let mut kept: Vec<(usize, bool, bool)> = Vec::new();
    let mut sum = 0;
    // The same for the current clique.
    let (mut started, mut ended) = (false, false);
    for clique in 0..count {
        sum += most[clique];
        started |= starts[clique];
        ended |= ends[clique];
        // A negative slack is an infeasible model, which must stay one.
        if sum <= model.slack[clique] && model.slack[clique] >= 0 {
            continue;
        }
        while let Some(&(last, started_before, ended_before)) = kept.last() {
            // Unless something ended, everything of `last` is also here.
            if ended || model.slack[clique] > model.slack[last] {
                break;
            }
            kept.pop();
            started |= started_before;
            ended |= ended_before;
        }
        let implied =
            |&(last, ..): &(usize, bool, bool)| !started && model.slack[last] <= model.slack[clique];
        if !kept.last().is_some_and(implied) {
            kept.push((clique, started, ended));
            (started, ended) = (false, false);
        }
    }
    let kept: Vec<usize> = kept.into_iter().map(|(clique, ..)| clique).collect();
    if kept.len() == count {
        return;
    }
    // Where each old clique, or the first one kept after it, is now.
    let mut position = vec![0; count + 1];
    let mut next = 0;
    for (clique, position) in position.iter_mut().enumerate() {
        *position = next as u32;
        next += usize::from(kept.get(next) == Some(&clique));
    }
    for node in &mut model.nodes {
        let pieces = std::mem::take(&mut node.pieces);
        for mut piece in pieces {
            piece.from = position[piece.from as usize];
            piece.to = position[piece.to as usize];
            match node.pieces.last_mut() {
                _ if piece.from == piece.to => {}
                Some(Piece { to, usage, .. }) if *to == piece.from && *usage == piece.usage => *to = piece.to,
                _ => node.pieces.push(piece),
            }
        }
    }
    model.cliques = kept.iter().map(|&clique| model.cliques[clique]).collect();
    model.slack = kept.iter().map(|&clique| model.slack[clique]).collect();
}
