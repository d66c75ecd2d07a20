//! What was made of an op's attributes, kept with the program.
//!
//! Many ops may refer to one whose attributes take long to read: each call of an operator to the text that describes it.
//! A dialect has the text read once and finds what came of it here. It is no part of the program: it is made anew when
//! the attributes change, and copies of a program begin without it.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::{Attr, Module, OpId};

#[derive(Default)]
pub(crate) struct Memos(Mutex<FxHashMap<OpId, Memo>>);

struct Memo {
    attrs: Attr,
    value: Arc<dyn Any + Send + Sync>,
}

impl Module {
    /// What `make` has made of the attributes of `op`, and of where they are written: made now, or kept from before if
    /// they are the same. There is one such value for each op.
    pub fn memo<T: Any + Send + Sync>(&self, op: OpId, make: impl FnOnce() -> T) -> Arc<T> {
        let attrs = self.attr_dict(op);
        let known = || self.memos.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known().get(&op).filter(|memo| memo.attrs == attrs).map(|memo| Arc::clone(&memo.value));
        if let Some(value) = kept.and_then(|value| value.downcast().ok()) {
            return value;
        }
        let value = Arc::new(make());
        known().insert(op, Memo { attrs, value: value.clone() });
        value
    }
}

impl Clone for Memos {
    fn clone(&self) -> Memos {
        Memos::default()
    }
}

impl std::fmt::Debug for Memos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memos")
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{any_op, function, module};

    #[test]
    fn values_are_made_anew_when_attributes_change() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let [op, other] = [0, 1].map(|_| any_op(&mut module, block, &[], 0));
        assert_eq!(*module.memo(op, || 1), 1);
        assert_eq!(*module.memo(op, || 2), 1);
        assert_eq!(*module.memo(other, || 3), 3);
        let one = module.interner.int(1);
        module.set_attr(op, "a", one);
        assert_eq!(*module.memo(op, || 4), 4);
        assert_eq!(*module.memo(other, || 5), 3);
        assert_eq!(*module.clone().memo(other, || 6), 6);
        assert_eq!(*module.memo(op, || "of another type"), "of another type");
    }
}
