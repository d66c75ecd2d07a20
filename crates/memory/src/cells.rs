//! Pieces of memory that may turn out to be one: cells with the times at which they hold something, and their joining.

use std::ops::Range;

use tofu_ir::Arena;

mod ids {
    tofu_ir::entity_ids! {
        /// What one value is given in memory, before it is known which values share.
        Cell = "cell";
    }
}
pub(crate) use ids::Cell;

/// Cells, joined to classes. Cells of a class are one storage; they hold something at different times.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    parents: Arena<Cell, Cell>,
    /// Of the first cell of each class: when it is occupied, in order.
    busy: Arena<Cell, Vec<Range<u32>>>,
}

impl Cells {
    /// A new cell, occupied at these positions.
    pub(crate) fn add(&mut self, live: Range<u32>) -> Cell {
        self.busy.push(vec![live]);
        let cell = self.parents.next_key();
        self.parents.push(cell)
    }

    /// The cell that stands for the class of a cell.
    pub(crate) fn class(&mut self, mut cell: Cell) -> Cell {
        while self.parents[cell] != cell {
            let next = self.parents[self.parents[cell]];
            self.parents[cell] = next;
            cell = next;
        }
        cell
    }

    /// From when to when the class of a cell is needed.
    pub(crate) fn live(&mut self, cell: Cell) -> Range<u32> {
        let class = self.class(cell);
        let busy = &self.busy[class];
        match (busy.first(), busy.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    /// Joins two classes if they are never occupied at once. What begins in the second at position `over` may be written
    /// over what ends in the first there.
    pub(crate) fn join(&mut self, first: Cell, second: Cell, over: Option<u32>) -> bool {
        let (a, b) = (self.class(first), self.class(second));
        if a == b || !are_disjoint(&self.busy[a], &self.busy[b], over) {
            return false;
        }
        self.unite(a, b);
        true
    }

    /// Joins two classes, come what may.
    pub(crate) fn unite(&mut self, a: Cell, b: Cell) {
        let (a, b) = (self.class(a), self.class(b));
        if a == b {
            return;
        }
        // The first cell stays in front; the shorter list is merged into the longer one.
        let (front, back) = (a.min(b), a.max(b));
        let taken = std::mem::take(&mut self.busy[back]);
        let own = std::mem::take(&mut self.busy[front]);
        let (mut long, short) = if own.len() < taken.len() { (taken, own) } else { (own, taken) };
        for range in short {
            let at = long.partition_point(|other| other.start <= range.start);
            long.insert(at, range);
        }
        // Ranges that touch are one, so that lists of updates in place stay short.
        long.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        self.busy[front] = long;
        self.parents[back] = front;
    }
}

/// Whether no position is in a range of both lists, but for `over`, where a range of `first` may end and one of `second`
/// begin.
fn are_disjoint(first: &[Range<u32>], second: &[Range<u32>], over: Option<u32>) -> bool {
    // Looking up the ranges of the shorter list in the longer one keeps long chains cheap.
    let is_swapped = first.len() < second.len();
    let (long, short) = if is_swapped { (second, first) } else { (first, second) };
    short.iter().all(|range| {
        let meeting = long.partition_point(|other| other.end <= range.start);
        long[meeting..].iter().take_while(|other| other.start < range.end).all(|other| {
            let (early, late) = if is_swapped { (range, other) } else { (other, range) };
            over == Some(late.start) && early.end == late.start + 1
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_never_occupied_twice() {
        let mut cells = Cells::default();
        let [a, b, c, d] = [0..3, 2..5, 5..6, 3..4].map(|live| cells.add(live));
        assert!(!cells.join(a, b, None));
        assert!(!cells.join(a, b, Some(1)));
        assert!(cells.join(a, b, Some(2)));
        assert!(!cells.join(a, d, None));
        assert!(cells.join(b, c, None));
        assert_eq!(cells.live(c), 0..6);
        assert_eq!(cells.class(c), a);
        // Written over what ends there, but not over what goes on.
        let [e, f] = [5..9, 5..6].map(|live| cells.add(live));
        assert!(!cells.join(e, a, Some(5)) && cells.join(a, e, Some(5)));
        assert!(!cells.join(a, f, Some(5)) && !cells.join(f, a, Some(5)));
    }
}
