//! Facts about a program that are computed on demand and kept while they hold.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use tofu_ir::{Module, OpId};

use crate::Changed;

/// A fact about an op and what is in it. A pass gets one with [`PassContext::analysis`](crate::PassContext::analysis).
pub trait Analysis: Any + Send + Sync {
    /// Computes it.
    fn compute(module: &Module, op: OpId) -> Self;
}

/// What is known about the one op that a pipeline works on.
#[derive(Default)]
pub(crate) struct Analyses {
    known: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl Analyses {
    pub(crate) fn get<A: Analysis>(&mut self, module: &Module, op: OpId) -> Arc<A> {
        let known = self.known.get(&TypeId::of::<A>()).map(Arc::clone);
        // What is kept under the type `A` is an `A`.
        known.and_then(|known| known.downcast().ok()).unwrap_or_else(|| {
            let computed = Arc::new(A::compute(module, op));
            self.known.insert(TypeId::of::<A>(), Arc::<A>::clone(&computed));
            computed
        })
    }

    /// After a change, forgets all but these.
    pub(crate) fn update(&mut self, changed: Changed, preserved: &[TypeId]) {
        if changed == Changed::Yes {
            self.known.retain(|analysis, _| preserved.contains(analysis));
        }
    }
}
