//! What a pass is.

use std::sync::Arc;

use tofu_diagnostics::Diagnostic;

use crate::{Options, PassContext, options::braced};

/// A rewrite of a program, or a check of it. Its fields are its options; [`pass_options!`](crate::pass_options)
/// declares them.
///
/// ```
/// use tofu_pass::{Changed, ModuleAnchor, Pass, PassContext, PassResult, pass_options};
///
/// pass_options! {
///     /// Gives every value its shape.
///     pub struct InferShapes;
/// }
///
/// impl Pass for InferShapes {
///     const NAME: &'static str = "infer-shapes";
///     type Anchor = ModuleAnchor;
///
///     fn run(&self, _cx: &mut PassContext<'_>) -> PassResult {
///         Ok(Changed::No)
///     }
/// }
/// ```
pub trait Pass: Options + Send + Sync + 'static {
    /// What a pipeline calls it: words of small letters and digits, joined by dashes.
    const NAME: &'static str;

    /// The ops that it works on.
    type Anchor: Anchor;

    /// A program that shows it at work.
    const EXAMPLE: Example = Example { program: "", effect: "" };

    /// What it [counts](PassContext::count): names, and what they mean.
    const STATISTICS: &'static [(&'static str, &'static str)] = &[];

    /// Works on one op. It may change what is in the op and the op's attributes, nothing around it, and keeps nothing
    /// from one op to the next: functions are worked on in parallel. Of what is around, it sees what the op mentions; a
    /// pass that calls functions which were not called before works on the module.
    ///
    /// # Errors
    /// When the program cannot be what the pass makes of it. A pass that has reported an error has failed, too.
    fn run(&self, cx: &mut PassContext<'_>) -> PassResult;
}

/// A kind of op that passes work on.
pub trait Anchor: 'static {
    /// The op's keyword, or its name if it has none. The op must be isolated.
    const OP: &'static str;
}

/// Whole programs.
#[derive(Clone, Copy, Debug)]
pub struct ModuleAnchor;

impl Anchor for ModuleAnchor {
    const OP: &'static str = "module";
}

/// An example in a pass's documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// A program, as it is written.
    pub program: &'static str,
    /// What the pass makes of it, in a sentence or two.
    pub effect: &'static str,
}

/// What a pass returns.
pub type PassResult = Result<Changed, Failed>;

/// Whether a pass has changed the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Changed {
    /// Nothing: the program is the same down to the names of values, and every analysis holds.
    No,
    /// Something. Only analyses that were [preserved](PassContext::preserve) still hold.
    Yes,
}

impl Changed {
    /// `Yes` if one of the two is.
    pub fn or(self, other: Changed) -> Changed {
        if self == Changed::Yes { Changed::Yes } else { other }
    }
}

impl From<bool> for Changed {
    fn from(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// The failure of a pass: an error, or the fact that one was [reported](PassContext::report_all).
#[derive(Debug)]
pub struct Failed(pub(crate) Option<Box<Diagnostic>>);

impl From<Diagnostic> for Failed {
    fn from(diagnostic: Diagnostic) -> Failed {
        Failed(Some(Box::new(diagnostic)))
    }
}

/// A pass whose type is forgotten.
pub(crate) trait ErasedPass: Send + Sync {
    fn name(&self) -> &'static str;
    fn run(&self, cx: &mut PassContext<'_>) -> PassResult;
    /// How a pipeline says it: its name, and in braces the options that are not as by default.
    fn text(&self) -> String;
    /// All options.
    fn values(&self) -> Vec<(String, String)>;
    /// The machines that its options name.
    fn machines(&self) -> Vec<String>;
    /// What it may count.
    fn statistics(&self) -> &'static [(&'static str, &'static str)];
}

impl<P: Pass> ErasedPass for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        Pass::run(self, cx)
    }

    fn text(&self) -> String {
        format!("{}{}", P::NAME, braced(self))
    }

    fn values(&self) -> Vec<(String, String)> {
        Options::values(self)
    }

    fn machines(&self) -> Vec<String> {
        Options::machines(self)
    }

    fn statistics(&self) -> &'static [(&'static str, &'static str)] {
        P::STATISTICS
    }
}

pub(crate) type SharedPass = Arc<dyn ErasedPass>;
