//! A small dialect and passes on it, for the tests.

use std::sync::{Arc, Mutex};

use tofu_diagnostics::{Diagnostic, SourceMap, codes};
use tofu_ir::{
    AttrData, BlockCount, Builder, Dialect, ElementType, INT, Module, OpDef, Registry, SYMBOL,
    SYMBOL_DEFINITION, SYMBOL_NAME, Syntax, Trait, op, optional, region, required,
};
use tofu_syntax::{PrintOptions, parse, print};

use crate::{
    Anchor, Artifacts, ByteSize, Changed, Entry, ModuleAnchor, Pass, PassContext, PassRegistry, PassResult,
    Printer, pass_options,
};

pub(crate) static FUNC: OpDef = op("test.func")
    .keyword("func")
    .summary("A list of items.")
    .attributes(&[optional(SYMBOL_NAME, SYMBOL_DEFINITION)])
    .regions(&[region("body").blocks(BlockCount::One)])
    .syntax(Syntax::Body)
    .traits(&[Trait::Isolated, Trait::NoTerminator, Trait::Symbol, Trait::TopLevel]);
pub(crate) static ITEM: OpDef =
    op("test.item").summary("An item.").attributes(&[required("value", INT), optional("of", SYMBOL)]);
pub(crate) static OPEN: OpDef = op("test.open")
    .summary("Sees what is around it.")
    .regions(&[region("body").blocks(BlockCount::One)])
    .traits(&[Trait::NoTerminator]);
static DIALECT: Dialect = Dialect {
    name: "test",
    summary: "For tests.",
    ops: &[&FUNC, &ITEM, &OPEN],
    types: &[],
    attributes: &[],
    constant: None,
};

pub(crate) struct Func;

impl Anchor for Func {
    const OP: &'static str = "func";
}

pub(crate) struct Open;

impl Anchor for Open {
    const OP: &'static str = "test.open";
}

/// `module @m` with `count` functions `@f0`, `@f1`, …, each with two items, the second of which names the next function.
pub(crate) fn functions(count: usize) -> Module {
    let functions: String = (0..count)
        .map(|index| {
            let next = (index + 1) % count;
            format!("func @f{index} {{\n test.item {{value = {index}}}\n test.item {{of = @f{next}, value = 0}}\n}}\n")
        })
        .collect();
    module(&format!("module @m {{\n{functions}}}\n"))
}

pub(crate) fn module(text: &str) -> Module {
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let parsed = parse(&sources, file, Arc::new(Registry::new(&[&DIALECT]).unwrap()));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.module
}

pub(crate) fn text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

pub(crate) fn registry() -> PassRegistry {
    PassRegistry::new([
        Entry::pass::<Check>(),
        Entry::pass::<Count>(),
        Entry::pass::<Tag>(),
        Entry::pipeline::<TagTwice>("tag-twice", |options, manager| {
            let tag = Tag { value: options.value, ..Tag::default() };
            manager.nest::<Func>(|f| f.add(tag.clone()).add(tag))
        }),
    ])
    .unwrap()
}

pass_options! {
    /// Adds an item to the function, and says so.
    pub(crate) struct Tag {
        /// The value of the item.
        pub(crate) value: i64 = 100,
        /// Panics in the function of this name.
        pub(crate) panic_in: String = String::new(),
        /// Fails in the function of this name.
        pub(crate) fail_in: String = String::new(),
        /// Forgets the value in the function of this name.
        pub(crate) forget_in: String = String::new(),
        /// Means nothing.
        pub(crate) name: String = String::new(),
        /// Means nothing.
        pub(crate) words: Vec<String> = Vec::new(),
        /// Means nothing.
        pub(crate) limit: Option<ByteSize> = None,
    }
}

impl Pass for Tag {
    const NAME: &'static str = "tag";
    type Anchor = Func;
    const STATISTICS: &'static [(&'static str, &'static str)] =
        &[("added items", "Items added at the end of functions.")];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let op = cx.op();
        let name = cx.module.symbol_name(op).map_or(String::new(), |name| cx.module.text(name).to_owned());
        assert_ne!(name, self.panic_in, "told to panic");
        let body = cx.module.blocks(cx.module.region(op, 0))[0];
        let value = cx.module.interner.attr(AttrData::Int(i128::from(self.value), ElementType::I64));
        let mut builder = Builder::at_end(cx.module, body).origin(op);
        let item = builder.op(&ITEM);
        if name == self.forget_in {
            item.build()
        } else {
            item.attr("value", value).build()
        };
        cx.count("added items", 1);
        cx.write(format!("{name}.txt"), name.as_bytes());
        let span = cx.module.span(op);
        cx.report(Diagnostic::warning(&codes::NOT_CONVERGED, span, format!("tagged {name}")));
        if name == self.fail_in {
            return Err(Diagnostic::error(&codes::SHAPE_MISMATCH, span, format!("no tag for {name}")).into());
        }
        Ok(Changed::Yes)
    }
}

pass_options! {
    /// Counts the items.
    pub(crate) struct Count;
}

impl Pass for Count {
    const NAME: &'static str = "count-items";
    type Anchor = ModuleAnchor;
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("items", "Items in the module.")];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let items = cx.module.walk(cx.op()).filter(|&op| cx.module.is(op, &ITEM)).count();
        cx.count("items", items as u64);
        Ok(Changed::No)
    }
}

pass_options! {
    /// Takes the name away from the module, if asked, and tells the truth about it, if asked.
    pub(crate) struct Check {
        /// Whether to change anything.
        pub(crate) change: bool = false,
        /// Whether to tell the truth.
        pub(crate) honest: bool = true,
    }
}

impl Pass for Check {
    const NAME: &'static str = "check";
    type Anchor = ModuleAnchor;

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        if self.change {
            cx.module.remove_attr(cx.op(), SYMBOL_NAME);
        }
        Ok(Changed::from(self.change && self.honest))
    }
}

pass_options! {
    /// Tags twice.
    pub(crate) struct TagTwice {
        /// With this value.
        pub(crate) value: i64 = 100,
    }
}

pass_options! {
    /// Nothing.
    pub(crate) struct Empty;
}

pass_options! {
    /// Has a name that no pipeline can hold.
    pub(crate) struct Badly;
}

impl Pass for Badly {
    const NAME: &'static str = "Badly_Named";
    type Anchor = ModuleAnchor;

    fn run(&self, _cx: &mut PassContext<'_>) -> PassResult {
        Ok(Changed::No)
    }
}

/// Keeps what is written, and under no name what is shown, in that order.
#[derive(Default)]
pub(crate) struct Shelf(pub(crate) Mutex<Vec<(String, String)>>);

impl Artifacts for Shelf {
    fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().push((name.to_owned(), String::from_utf8_lossy(bytes).into_owned()));
        Ok(())
    }
}

impl Printer for Shelf {
    fn print(&self, text: &str) {
        self.0.lock().unwrap().push((String::new(), text.to_owned()));
    }
}

/// Numbers that look random and are the same in every run (xorshift64, Marsaglia 2003).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
