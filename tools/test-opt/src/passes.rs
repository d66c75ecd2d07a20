//! Passes that do what passes must not, each in the functions whose name contains `target`; and one that shows what it is
//! lent.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_func::Func;
use tofu_ir::SYMBOL_NAME;
use tofu_pass::{Changed, MachineName, Pass, PassContext, PassResult, pass_options};

pass_options! {
    /// Takes the result away from an op whose result is used.
    pub(crate) struct TestBreak {
        /// Part of the names of the functions to break.
        pub(crate) target: String = String::new(),
    }
}

pass_options! {
    /// Fails with an error.
    pub(crate) struct TestFail {
        /// Part of the names of the functions to fail on.
        pub(crate) target: String = String::new(),
    }
}

pass_options! {
    /// Changes something and says that it has not.
    pub(crate) struct TestLie;
}

pass_options! {
    /// Says which machine it runs for.
    pub(crate) struct TestMachine {
        /// Another machine than the one of the whole run.
        pub(crate) machine: Option<MachineName> = None,
    }
}

pass_options! {
    /// Panics.
    pub(crate) struct TestPanic {
        /// Part of the names of the functions to panic on.
        pub(crate) target: String = String::new(),
    }
}

pass_options! {
    /// Makes a remark about every op.
    pub(crate) struct TestRemark;
}

/// Whether the function at hand is meant.
fn is_target(cx: &PassContext<'_>, target: &str) -> bool {
    cx.module.symbol_name(cx.op()).is_some_and(|name| cx.module.text(name).contains(target))
}

impl Pass for TestBreak {
    const NAME: &'static str = "test-break";
    type Anchor = Func;

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let is_used = |&op: &_| cx.module.results(op).any(|result| cx.module.has_uses(result));
        let used = cx.module.walk(cx.op()).find(is_used);
        match used.filter(|_| is_target(cx, &self.target)) {
            Some(op) => {
                cx.module.erase(op);
                Ok(Changed::Yes)
            }
            None => Ok(Changed::No),
        }
    }
}

impl Pass for TestFail {
    const NAME: &'static str = "test-fail";
    type Anchor = Func;

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        if is_target(cx, &self.target) {
            let message = "`test-fail` fails, as it should";
            return Err(Diagnostic::error(&codes::WRONG_USAGE, cx.module.span(cx.op()), message).into());
        }
        Ok(Changed::No)
    }
}

impl Pass for TestLie {
    const NAME: &'static str = "test-lie";
    type Anchor = Func;

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let name = cx.module.interner.symbol("renamed");
        cx.module.set_attr(cx.op(), SYMBOL_NAME, name);
        Ok(Changed::No)
    }
}

impl Pass for TestMachine {
    const NAME: &'static str = "test-machine";
    type Anchor = Func;

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let machine = cx.machine(self.machine.as_ref())?;
        cx.print(format!("{} with {} devices\n", machine.name(), machine.devices()));
        Ok(Changed::No)
    }
}

impl Pass for TestPanic {
    const NAME: &'static str = "test-panic";
    type Anchor = Func;

    #[expect(clippy::panic, reason = "it is what this pass is for")]
    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        if is_target(cx, &self.target) {
            panic!("`test-panic` panics, as it should");
        }
        Ok(Changed::No)
    }
}

impl Pass for TestRemark {
    const NAME: &'static str = "test-remark";
    type Anchor = Func;

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let ops: Vec<_> = cx.module.walk(cx.op()).skip(1).collect();
        for op in ops {
            let message = format!("this is `{}`", cx.module.def(op).name);
            cx.report(Diagnostic::remark(&codes::WRONG_USAGE, cx.module.span(op), message));
        }
        Ok(Changed::No)
    }
}
