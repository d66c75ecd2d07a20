//! A reduced model together with the graph that bounds and searches run on.

use crate::bound::Graph;
use crate::model::{FORBIDDEN, Infeasible};
use crate::presolve::Reduced;

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) reduced: Reduced,
    pub(crate) graph: Graph,
}

impl Core {
    /// Reduces with a cut, and takes `scale`, a cost that is thought to be reached, to tell what is as good as
    /// forbidden.
    pub(crate) fn new(mut reduced: Reduced, cut: i64, scale: i64) -> Result<Core, Infeasible> {
        reduced.reduce(cut)?;
        Ok(Core::of(reduced, scale))
    }

    pub(crate) fn of(reduced: Reduced, scale: i64) -> Core {
        let model = &reduced.model;
        let above = scale.saturating_sub(model.constant).clamp(1, FORBIDDEN);
        let graph = Graph::of(model, 3.0 * above as f64);
        Core { reduced, graph }
    }
}
