//! Extents that are known to be equal: disjoint sets under union by size (Tarjan, 1975), without path compression, so that
//! unions can be taken back in the opposite order. What holds only inside a region is forgotten at its end.

use tofu_ir::OpId;

/// An extent of a value, a number or a name.
pub(crate) type Node = u32;

/// Disjoint sets of extents.
#[derive(Default)]
pub(crate) struct Classes {
    parents: Vec<Node>,
    /// What is known of each set, at its root.
    facts: Vec<Facts>,
    log: Vec<Union>,
}

/// What is known of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    size: u32,
    /// The number that the extents are.
    pub(crate) number: Option<u64>,
    /// The op that the number follows from, if it is not written at each of them.
    pub(crate) cause: Option<OpId>,
    /// The first name that the extents have, counted in the order of the program.
    pub(crate) symbol: Option<u32>,
    /// How deep the region is that the outermost of the extents is defined in, and that one.
    outermost: (u32, Node),
}

struct Union {
    child: Node,
    parent: Node,
    before: Facts,
}

impl Classes {
    /// An extent of which nothing is known, defined in a region of this depth.
    pub(crate) fn add(&mut self, depth: u32) -> Node {
        self.add_known(depth, None, None)
    }

    /// An extent that is this number.
    pub(crate) fn add_number(&mut self, number: u64) -> Node {
        self.add_known(0, Some(number), None)
    }

    /// The extent that has the name which comes at this place.
    pub(crate) fn add_symbol(&mut self, order: u32) -> Node {
        self.add_known(0, None, Some(order))
    }

    fn add_known(&mut self, depth: u32, number: Option<u64>, symbol: Option<u32>) -> Node {
        let node = self.parents.len() as Node;
        self.parents.push(node);
        self.facts.push(Facts { size: 1, number, cause: None, symbol, outermost: (depth, node) });
        node
    }

    /// The root of the set that an extent is in.
    pub(crate) fn find(&self, mut node: Node) -> Node {
        while self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    /// What is known of an extent.
    pub(crate) fn facts(&self, node: Node) -> Facts {
        self.facts[self.find(node) as usize]
    }

    /// An extent equal to this one that is defined in a region of at most this depth.
    pub(crate) fn seen_from(&self, node: Node, depth: u32) -> Option<Node> {
        let (own, outermost) = self.facts(node).outermost;
        (own <= depth).then_some(outermost)
    }

    /// Makes two extents equal; whether they were not before. `cause` is the op that says so, none if the text does.
    ///
    /// # Errors
    /// When they are different numbers.
    pub(crate) fn union(&mut self, a: Node, b: Node, cause: Option<OpId>) -> Result<bool, Different> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(false);
        }
        let (own, other) = (self.facts[a as usize], self.facts[b as usize]);
        if let (Some(own), Some(other)) = (own.number, other.number)
            && own != other
        {
            return Err(Different);
        }
        let (parent, child) = if own.size >= other.size { (a, b) } else { (b, a) };
        self.log.push(Union { child, parent, before: self.facts[parent as usize] });
        self.parents[child as usize] = parent;
        // A number that is known of one of the two only becomes known of the other here.
        let cause = match (own.number, other.number) {
            (Some(_), Some(_)) => own.cause.or(other.cause),
            (None, None) => None,
            _ => own.cause.or(other.cause).or(cause),
        };
        self.facts[parent as usize] = Facts {
            size: own.size + other.size,
            number: own.number.or(other.number),
            cause,
            symbol: [own.symbol, other.symbol].into_iter().flatten().min(),
            outermost: own.outermost.min(other.outermost),
        };
        Ok(true)
    }

    /// A moment to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes back all unions since a moment.
    pub(crate) fn rollback(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some(Union { child, parent, before }) = self.log.pop() else { return };
            self.parents[child as usize] = child;
            self.facts[parent as usize] = before;
        }
    }
}

/// Two extents are different numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Different;

#[cfg(test)]
mod tests {
    use tofu_ir::EntityId;

    use super::*;

    #[test]
    fn what_is_taken_back_never_was() {
        let op = Some(OpId::from_index(7));
        let mut classes = Classes::default();
        let [a, b] = [0, 1].map(|depth| classes.add(depth));
        let (four, five, n) = (classes.add_number(4), classes.add_number(5), classes.add_symbol(0));
        assert_eq!(classes.union(a, n, op), Ok(true));
        let mark = classes.mark();
        assert_eq!(classes.union(b, a, op), Ok(true));
        assert_eq!(classes.union(four, b, op), Ok(true));
        assert_eq!(classes.union(n, four, op), Ok(false));
        assert_eq!(classes.union(n, five, op), Err(Different));
        let facts = classes.facts(b);
        assert_eq!((facts.number, facts.cause, facts.symbol), (Some(4), op, Some(0)));
        assert_eq!(classes.seen_from(b, 0), Some(a));
        classes.rollback(mark);
        let facts = classes.facts(a);
        assert_eq!((facts.number, facts.cause, facts.symbol), (None, None, Some(0)));
        assert_eq!(classes.find(a), classes.find(n));
        assert_eq!(classes.seen_from(b, 0), None);
        assert_eq!(classes.union(n, five, op), Ok(true));
    }
}
