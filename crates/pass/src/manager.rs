//! Pipelines as data, composed in Rust.
//!
//! ```
//! # use tofu_pass::{Anchor, Changed, ModuleAnchor, Pass, PassContext, PassManager, PassResult, pass_options};
//! # pass_options! { /// A.
//! #     pub struct InferShapes; }
//! # impl Pass for InferShapes {
//! #     const NAME: &'static str = "infer-shapes";
//! #     type Anchor = ModuleAnchor;
//! #     fn run(&self, _cx: &mut PassContext<'_>) -> PassResult { Ok(Changed::No) }
//! # }
//! # pass_options! { /// B.
//! #     pub struct Simplify { /// Rounds.
//! #         pub max_iterations: u32 = 10 } }
//! # impl Pass for Simplify {
//! #     const NAME: &'static str = "simplify";
//! #     type Anchor = Func;
//! #     fn run(&self, _cx: &mut PassContext<'_>) -> PassResult { Ok(Changed::No) }
//! # }
//! # pub struct Func;
//! # impl Anchor for Func { const OP: &'static str = "func"; }
//! let manager = PassManager::new().add(InferShapes).nest::<Func>(|f| f.add(Simplify { max_iterations: 4 }));
//! assert_eq!(manager.to_string(), "module(infer-shapes,func(simplify{max-iterations=4}))");
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::{Anchor, ModuleAnchor, Pass, pass::SharedPass};

/// A pipeline whose passes work on ops of kind `A`. It prints as the text that it can be read from.
#[derive(Clone)]
pub struct PassManager<A: Anchor = ModuleAnchor> {
    pub(crate) pipeline: Pipeline,
    anchor: PhantomData<fn() -> A>,
}

impl PassManager {
    /// An empty pipeline over whole programs.
    pub fn new() -> PassManager {
        PassManager::of(Pipeline::new(ModuleAnchor::OP))
    }

    pub(crate) fn of(pipeline: Pipeline) -> PassManager {
        PassManager { pipeline, anchor: PhantomData }
    }

    /// What remains of it from its item `index` on.
    pub(crate) fn rest(&self, index: usize) -> PassManager {
        let items = self.pipeline.items.iter().skip(index).cloned().collect();
        PassManager::of(Pipeline { anchor: self.pipeline.anchor, items })
    }
}

impl Default for PassManager {
    fn default() -> PassManager {
        PassManager::new()
    }
}

impl<A: Anchor> PassManager<A> {
    /// Adds a pass at the end. One that works on ops of another kind does not compile here.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "passes are not added up")]
    pub fn add<P: Pass<Anchor = A>>(mut self, pass: P) -> PassManager<A> {
        self.pipeline.items.push(Item::Pass(Arc::new(pass)));
        self
    }

    /// Adds a pipeline over the ops of another kind that stand directly in the op. It runs on them in parallel.
    #[must_use]
    pub fn nest<B: Anchor>(mut self, fill: impl FnOnce(PassManager<B>) -> PassManager<B>) -> PassManager<A> {
        let nested = fill(PassManager { pipeline: Pipeline::new(B::OP), anchor: PhantomData });
        self.pipeline.items.push(Item::Nest(nested.pipeline));
        self
    }

    /// True if there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.pipeline.items.is_empty()
    }

    /// The machines that options of its passes name, for [`Session::machines`](crate::Session::machines).
    pub fn machines(&self) -> Vec<String> {
        self.pipeline.machines()
    }
}

impl<A: Anchor> PartialEq for PassManager<A> {
    fn eq(&self, other: &PassManager<A>) -> bool {
        self.pipeline == other.pipeline
    }
}

impl<A: Anchor> fmt::Display for PassManager<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.pipeline, f)
    }
}

impl<A: Anchor> fmt::Debug for PassManager<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.pipeline, f)
    }
}

/// A list of passes, and of pipelines over inner ops.
#[derive(Clone, PartialEq)]
pub(crate) struct Pipeline {
    pub(crate) anchor: &'static str,
    pub(crate) items: Vec<Item>,
}

#[derive(Clone)]
pub(crate) enum Item {
    Pass(SharedPass),
    Nest(Pipeline),
}

impl Pipeline {
    pub(crate) fn new(anchor: &'static str) -> Pipeline {
        Pipeline { anchor, items: Vec::new() }
    }

    fn machines(&self) -> Vec<String> {
        let of = |item: &Item| match item {
            Item::Pass(pass) => pass.machines(),
            Item::Nest(nested) => nested.machines(),
        };
        self.items.iter().flat_map(of).collect()
    }

    /// Adds a pass over ops of another kind, to the last nested pipeline if it is of that kind.
    pub(crate) fn push_nested(&mut self, anchor: &'static str, item: Item) {
        match self.items.last_mut() {
            Some(Item::Nest(last)) if last.anchor == anchor => last.items.push(item),
            _ => self.items.push(Item::Nest(Pipeline { anchor, items: vec![item] })),
        }
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        match (self, other) {
            (Item::Pass(a), Item::Pass(b)) => a.name() == b.name() && a.values() == b.values(),
            (Item::Nest(a), Item::Nest(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.anchor)?;
        for (index, item) in self.items.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match item {
                Item::Pass(pass) => write!(f, "{separator}{}", pass.text())?,
                Item::Nest(nested) => write!(f, "{separator}{nested}")?,
            }
        }
        f.write_str(")")
    }
}
