//! Calls, which plans do not look into.

use rustc_hash::FxHashSet;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{Control, Module, OpId};

/// Why a call cannot be partitioned.
pub(crate) fn refuse_call(module: &Module, op: OpId, callee: &'static str) -> Diagnostic {
    let error = |message: String, help| module.error(op, &codes::CANNOT_PARTITION, message).help(help);
    let target = module.symbol_target(op, callee);
    let name = target.and_then(|target| module.symbol_name(target)).map_or("", |name| module.text(name));
    let Some(target) =
        target.filter(|&target| module.regions(target).any(|region| module.entry(region).is_some()))
    else {
        let message =
            format!("a call cannot be partitioned: nothing says what `@{name}` does, which is only declared");
        return error(message, "give it a body, and run `inline`");
    };
    let mut reached = FxHashSet::default();
    let mut open = vec![target];
    while let Some(function) = open.pop() {
        for inner in module.walk(function) {
            let Some(&Control::Call(callee)) = module.def(inner).interface() else { continue };
            open.extend(module.symbol_target(inner, callee).filter(|&next| reached.insert(next)));
        }
    }
    if reached.contains(&target) {
        let message = format!("a call cannot be partitioned: `@{name}` is recursive");
        return error(message, "write it as a loop, `tensor.while`: what calls itself cannot be inlined");
    }
    error(
        "a call cannot be partitioned: what it calls has shardings of its own".to_owned(),
        "run `inline` first",
    )
}
