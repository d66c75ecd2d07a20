//! Pipelines from text.
//!
//! ```text
//! pipeline = "module" "(" list ")" | list
//! list     = [ item { "," item } ]
//! item     = pass [ "{" { option } "}" ] | anchor "(" list ")"
//! option   = name [ "=" value ]
//! ```
//!
//! A list by itself is one of passes over the module. The text is first read into a tree of [`Node`]s, which ends at
//! the first error; then names and options are looked up, which reports all that is wrong with them.

use tofu_diagnostics::{Diagnostic, SourceMap, Span, codes, suggest::did_you_mean};

use crate::{
    Anchor, Entry, EntryKind, ModuleAnchor, PassManager, PassRegistry,
    manager::{Item, Pipeline},
    options::{OptionText, value_end},
};

/// How deep anchors may nest.
const MAX_DEPTH: usize = 64;

impl PassManager {
    /// Reads a pipeline: `module(infer-shapes,func(simplify{max-iterations=4}))`. The text joins `sources` as
    /// `<pipeline>`, where the diagnostics point.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(
        sources: &mut SourceMap,
        registry: &PassRegistry,
        text: &str,
    ) -> Result<PassManager, Vec<Diagnostic>> {
        let (mut nodes, base) = read(sources, text)?;
        if let [Node { name, children: Some(_), options: None, .. }] = &nodes[..]
            && name == ModuleAnchor::OP
        {
            nodes = nodes.pop().and_then(|node| node.children).unwrap_or_default();
        }
        let mut reader = Reader { registry, text, base, found: Vec::new() };
        let pipeline = reader.pipeline(ModuleAnchor::OP, &nodes);
        if reader.found.is_empty() { Ok(PassManager::of(pipeline)) } else { Err(reader.found) }
    }

    /// Adds the pass or pipeline `name` with options such as `devices=8 memory=12GiB`: what `--name="options"` on a
    /// command line means. A pass that does not work on modules is nested under its anchor.
    ///
    /// # Errors
    /// Everything that is wrong with the name and the options; nothing is added then.
    pub fn add_by_name(
        &mut self,
        sources: &mut SourceMap,
        registry: &PassRegistry,
        name: &str,
        options: &str,
    ) -> Result<(), Vec<Diagnostic>> {
        let text = if options.is_empty() { name.to_owned() } else { format!("{name}{{{options}}}") };
        let (nodes, base) = read(sources, &text)?;
        let mut reader = Reader { registry, text: &text, base, found: Vec::new() };
        let mut pipeline = self.pipeline.clone();
        if nodes.len() != 1 || nodes[0].name != name || nodes[0].children.is_some() {
            let file_end = base + text.len() as u32;
            let message = format!("`{options}` does not read as options of `{name}`");
            let help = "options are separated by blanks; a value with braces stands in quotes";
            let error = Diagnostic::error(&codes::BAD_PIPELINE, Span::new(base, file_end), message);
            return Err(vec![error.help(help)]);
        }
        for node in &nodes {
            match registry.get(&node.name) {
                Some(entry) if entry.anchor != ModuleAnchor::OP => {
                    for item in reader.build(entry, node) {
                        pipeline.push_nested(entry.anchor, item);
                    }
                }
                _ => reader.item(&mut pipeline, node),
            }
        }
        if !reader.found.is_empty() {
            return Err(reader.found);
        }
        self.pipeline = pipeline;
        Ok(())
    }
}

/// Reads the tree of a text, and where the text begins in the address space of `sources`.
fn read(sources: &mut SourceMap, text: &str) -> Result<(Vec<Node>, u32), Vec<Diagnostic>> {
    let Ok(file) = sources.add("<pipeline>", text) else {
        return Err(vec![Diagnostic::error(&codes::FILE_TOO_LARGE, Span::NONE, "the pipeline is too long")]);
    };
    let base = sources.file(file).span().start;
    let mut parser = Parser { text, at: 0, base };
    let nodes = parser.list(0).and_then(|nodes| parser.end().map(|()| nodes));
    nodes.map(|nodes| (nodes, base)).map_err(|error| vec![*error])
}

/// A pass or an anchor as it is written.
struct Node {
    name: String,
    name_span: Span,
    span: Span,
    options: Option<Vec<OptionText>>,
    children: Option<Vec<Node>>,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    base: u32,
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

impl<'t> Parser<'t> {
    /// Items up to a closing parenthesis or the end.
    fn list(&mut self, depth: usize) -> Parsed<Vec<Node>> {
        let mut nodes = Vec::new();
        self.skip_blanks();
        if self.rest().is_empty() || self.rest().starts_with(')') {
            return Ok(nodes);
        }
        loop {
            nodes.push(self.item(depth)?);
            if !self.take(',') {
                return Ok(nodes);
            }
        }
    }

    fn item(&mut self, depth: usize) -> Parsed<Node> {
        self.skip_blanks();
        let start = self.at;
        let name = self.word(|c| c.is_alphanumeric() || "-_.".contains(c));
        if name.is_empty() {
            return Err(self.expected("a pass or an anchor"));
        }
        let name_span = self.span(start, self.at);
        let options = self.open('{').map(|open| self.options(open)).transpose()?;
        let children = match self.open('(') {
            Some(open) if depth == MAX_DEPTH => {
                let message = format!("anchors nest more than {MAX_DEPTH} deep");
                return Err(Box::new(Diagnostic::error(&codes::NESTING_TOO_DEEP, open, message)));
            }
            Some(open) => {
                let nodes = self.list(depth + 1)?;
                self.close(')', open)?;
                Some(nodes)
            }
            None => None,
        };
        Ok(Node { name: name.to_owned(), name_span, span: self.span(start, self.at), options, children })
    }

    fn options(&mut self, open: Span) -> Parsed<Vec<OptionText>> {
        let mut options = Vec::new();
        loop {
            self.skip_blanks();
            if self.rest().is_empty() || self.rest().starts_with('}') {
                self.close('}', open)?;
                return Ok(options);
            }
            let start = self.at;
            let name = self.word(|c| c.is_alphanumeric() || "-_".contains(c));
            if name.is_empty() {
                return Err(self.expected("an option"));
            }
            let mut value = None;
            if self.rest().starts_with('=') {
                self.at += 1;
                let Some(length) = value_end(self.rest(), |c| c.is_whitespace() || c == '}') else {
                    let span = self.span(self.at, self.text.len());
                    let message = format!("the value of `{name}` has quotes or brackets that do not pair");
                    return Err(Box::new(Diagnostic::error(&codes::BAD_PIPELINE, span, message)));
                };
                value = Some(self.rest()[..length].to_owned());
                self.at += length;
            } else if !self.rest().is_empty()
                && !self.rest().starts_with(|c: char| c.is_whitespace() || c == '}')
            {
                return Err(self.expected("`=`, a blank or `}`"));
            }
            options.push(OptionText { name: name.to_owned(), value, span: self.span(start, self.at) });
        }
    }

    fn end(&mut self) -> Parsed<()> {
        self.skip_blanks();
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected("`,` or the end")) }
    }

    /// The bracket `c`, if it comes next.
    fn open(&mut self, c: char) -> Option<Span> {
        self.take(c).then(|| self.span(self.at - 1, self.at))
    }

    fn close(&mut self, c: char, open: Span) -> Parsed<()> {
        if self.take(c) {
            return Ok(());
        }
        if self.rest().is_empty() {
            let message = format!("this bracket is not closed: `{c}` is missing");
            return Err(Box::new(Diagnostic::error(&codes::BAD_PIPELINE, open, message)));
        }
        let error = self.expected(&format!("`,` or `{c}`"));
        Err(Box::new(error.secondary(open, "to close this bracket")))
    }

    fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = self.rest().chars().next();
        let length = found.map_or(0, char::len_utf8);
        let found = found.map_or("the end".to_owned(), |c| format!("`{c}`"));
        let span = self.span(self.at, self.at + length);
        let message = format!("expected {what}, found {found}");
        Box::new(Diagnostic::error(&codes::BAD_PIPELINE, span, message))
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn take(&mut self, c: char) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }
}

/// Looks up what a tree names.
struct Reader<'r> {
    registry: &'r PassRegistry,
    text: &'r str,
    base: u32,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn pipeline(&mut self, anchor: &'static str, nodes: &[Node]) -> Pipeline {
        let mut pipeline = Pipeline::new(anchor);
        for node in nodes {
            self.item(&mut pipeline, node);
        }
        pipeline
    }

    fn item(&mut self, pipeline: &mut Pipeline, node: &Node) {
        if let Some(children) = &node.children {
            if let Some(anchor) = self.anchor(node) {
                let nested = self.pipeline(anchor, children);
                pipeline.items.push(Item::Nest(nested));
            }
            return;
        }
        let Some(entry) = self.registry.get(&node.name) else {
            let error = self.unknown(node);
            self.found.push(error);
            return;
        };
        if entry.anchor != pipeline.anchor {
            let error = self.misplaced(entry, node, pipeline.anchor);
            self.found.push(error);
        }
        pipeline.items.extend(self.build(entry, node));
    }

    fn anchor(&mut self, node: &Node) -> Option<&'static str> {
        let name = &node.name;
        let anchor = self.registry.anchors().find(|anchor| anchor == name);
        let error = match anchor {
            Some(_) if node.options.is_none() => return anchor,
            Some(_) => self.error(node, format!("`{name}` is an anchor and has no options")),
            None if self.registry.get(name).is_some() => self
                .error(node, format!("`{name}` is no anchor and holds no passes"))
                .help("options stand in braces: `{name=value}`"),
            None => {
                let help = did_you_mean(name, self.registry.anchors());
                self.error(node, format!("no pass works on `{name}`")).maybe_help(help)
            }
        };
        self.found.push(error);
        None
    }

    fn build(&mut self, entry: &Entry, node: &Node) -> Vec<Item> {
        entry.build(node.options.as_deref().unwrap_or(&[])).unwrap_or_else(|found| {
            self.found.extend(found);
            Vec::new()
        })
    }

    fn unknown(&self, node: &Node) -> Diagnostic {
        let name = &node.name;
        if self.registry.anchors().any(|anchor| anchor == name) {
            let message = format!("`{name}` is an anchor and needs passes to run");
            return self.error(node, message).help(format!("write them in parentheses: `{name}(…)`"));
        }
        let message = format!("there is no pass or pipeline `{name}`");
        Diagnostic::error(&codes::UNKNOWN_PASS, node.name_span, message)
            .maybe_help(did_you_mean(name, self.registry.names()))
    }

    fn misplaced(&self, entry: &Entry, node: &Node, anchor: &str) -> Diagnostic {
        let (name, own) = (entry.name, entry.anchor);
        let what = match entry.kind {
            EntryKind::Pass => "works on",
            EntryKind::Pipeline => "is a pipeline over",
        };
        let start = (node.span.start - self.base) as usize;
        let written = &self.text[start..(node.span.end - self.base) as usize];
        let help = if anchor == ModuleAnchor::OP {
            format!("write `{own}({written})`")
        } else {
            format!("write `{written}` directly under `{own}`, outside of `{anchor}(…)`")
        };
        let message = format!("`{name}` {what} `{own}`, but stands under `{anchor}`");
        Diagnostic::error(&codes::ANCHOR_MISMATCH, node.name_span, message).help(help)
    }

    fn error(&self, node: &Node, message: String) -> Diagnostic {
        Diagnostic::error(&codes::BAD_PIPELINE, node.name_span, message)
    }
}

#[cfg(test)]
mod tests {
    use tofu_diagnostics::{Format, Renderer};

    use super::*;
    use crate::options::{ByteSize, OptionValue};
    use crate::testing::{Check, Count, Func, Random, Tag, registry};

    fn parse(text: &str) -> Result<PassManager, String> {
        let mut sources = SourceMap::new();
        PassManager::parse(&mut sources, &registry(), text).map_err(|found| short(&sources, &found))
    }

    fn short(sources: &SourceMap, found: &[Diagnostic]) -> String {
        let renderer = Renderer { format: Format::Short, color: false, width: 80 };
        found.iter().map(|diagnostic| renderer.render(sources, diagnostic)).collect()
    }

    #[track_caller]
    fn rejects(text: &str, expected: &str) {
        assert_eq!(parse(text).expect_err(text).trim_end(), expected, "{text}");
    }

    #[test]
    fn text_and_rust_make_the_same_pipeline() {
        let built = PassManager::new().add(Count).nest::<Func>(|f| {
            f.add(Tag { value: 3, name: "a b".to_owned(), ..Tag::default() }).add(Tag::default())
        });
        let text = r#"module(count-items,func(tag{value=3 name="a b"},tag))"#;
        assert_eq!(built.to_string(), text);
        assert_eq!(parse(text).unwrap(), built);
        assert_eq!(parse("count-items , func( tag{ value=3\n name=\"a b\" }, tag )").unwrap(), built);
        assert_ne!(parse("count-items,func(tag,tag)").unwrap(), built);
        assert_eq!(parse("module()").unwrap(), PassManager::new());
        assert_eq!(parse("").unwrap(), PassManager::new());
        assert_eq!(parse("module(module(check))").unwrap().to_string(), "module(module(check))");
    }

    #[test]
    fn registered_pipelines_expand() {
        assert_eq!(
            parse("tag-twice{value=5}").unwrap().to_string(),
            "module(func(tag{value=5},tag{value=5}))"
        );
        rejects(
            "func(tag-twice)",
            "<pipeline>:1:6: error[T0305]: `tag-twice` is a pipeline over `module`, but stands under `func` \
             (help: write `tag-twice` directly under `module`, outside of `func(…)`)",
        );
    }

    #[test]
    fn random_pipelines_round_trip() {
        let mut random = Random(1);
        for _ in 0..300 {
            let manager = random_list(&mut random, PassManager::new(), 3);
            let text = manager.to_string();
            let again = parse(&text).unwrap_or_else(|found| panic!("{text}: {found}"));
            assert!(again == manager && again.to_string() == text, "{text}");
        }
    }

    fn random_list(random: &mut Random, mut manager: PassManager, depth: usize) -> PassManager {
        for _ in 0..random.below(4) {
            manager = match random.below(if depth == 0 { 2 } else { 4 }) {
                0 => manager.add(Count),
                1 => manager.add(Check::default()),
                2 => manager.nest::<ModuleAnchor>(|inner| random_list(random, inner, depth - 1)),
                _ => manager.nest::<Func>(|mut inner| {
                    for _ in 0..random.below(3) {
                        inner = inner.add(random_tag(random));
                    }
                    inner
                }),
            };
        }
        manager
    }

    fn random_tag(random: &mut Random) -> Tag {
        let letters = ['a', ' ', '"', '\\', '{', '}', '(', ')', '[', ']', ',', '=', '\'', '\n', 'é'];
        let mut text = |length: u64| -> String {
            (0..random.below(length)).map(|_| letters[random.below(letters.len() as u64) as usize]).collect()
        };
        let (name, words) = (text(6), vec![text(3), text(3)]);
        let limit = (random.below(2) == 0).then(|| ByteSize(random.below(u64::MAX)));
        Tag { value: random.below(9) as i64, name, words, limit, ..Tag::default() }
    }

    #[test]
    fn syntax_errors_point_at_the_place() {
        rejects(
            "module(func(tag)",
            "<pipeline>:1:7: error[T0304]: this bracket is not closed: `)` is missing",
        );
        rejects("count-items,", "<pipeline>:1:13: error[T0304]: expected a pass or an anchor, found the end");
        rejects("count-items)", "<pipeline>:1:12: error[T0304]: expected `,` or the end, found `)`");
        rejects("count-items tag", "<pipeline>:1:13: error[T0304]: expected `,` or the end, found `t`");
        rejects(
            "func(tag{value=3)",
            "<pipeline>:1:9: error[T0304]: this bracket is not closed: `}` is missing",
        );
        rejects(
            "func(tag{value:3})",
            "<pipeline>:1:15: error[T0304]: expected `=`, a blank or `}`, found `:`",
        );
        rejects(
            "func(tag{name=\"a})",
            "<pipeline>:1:15: error[T0304]: the value of `name` has quotes or brackets that do not pair",
        );
        rejects("func(tag tag)", "<pipeline>:1:10: error[T0304]: expected `,` or `)`, found `t`");
        let deep = format!("{}{}", "func(".repeat(70), ")".repeat(70));
        rejects(&deep, "<pipeline>:1:325: error[T0103]: anchors nest more than 64 deep");
    }

    #[test]
    fn wrong_names_and_places_are_all_reported_with_the_way_out() {
        rejects(
            "module(tag{value=x},cuont-items,func(count-items,tag{vlaue=1}),fnuc(tag),func,tag(check),func{a}())",
            "<pipeline>:1:8: error[T0305]: `tag` works on `func`, but stands under `module` \
             (help: write `func(tag{value=x})`)\n\
             <pipeline>:1:12: error[T0303]: option `value` of `tag` takes a whole number from \
             -9223372036854775808 to 9223372036854775807, not `x`\n\
             <pipeline>:1:21: error[T0301]: there is no pass or pipeline `cuont-items` \
             (help: did you mean `count-items`?)\n\
             <pipeline>:1:38: error[T0305]: `count-items` works on `module`, but stands under `func` \
             (help: write `count-items` directly under `module`, outside of `func(…)`)\n\
             <pipeline>:1:54: error[T0302]: `tag` has no option `vlaue` (help: did you mean `value`?)\n\
             <pipeline>:1:64: error[T0304]: no pass works on `fnuc` (help: did you mean `func`?)\n\
             <pipeline>:1:74: error[T0304]: `func` is an anchor and needs passes to run \
             (help: write them in parentheses: `func(…)`)\n\
             <pipeline>:1:79: error[T0304]: `tag` is no anchor and holds no passes \
             (help: options stand in braces: `{name=value}`)\n\
             <pipeline>:1:90: error[T0304]: `func` is an anchor and has no options",
        );
    }

    #[test]
    fn command_line_flags_nest_by_themselves() {
        let (mut sources, registry) = (SourceMap::new(), registry());
        let mut manager = PassManager::new();
        for (name, options) in [("tag", "value=1"), ("tag", ""), ("count-items", ""), ("tag-twice", "")] {
            manager.add_by_name(&mut sources, &registry, name, options).unwrap();
        }
        assert_eq!(manager.to_string(), "module(func(tag{value=1},tag),count-items,func(tag,tag))");
        let found = manager.add_by_name(&mut sources, &registry, "tag", "value=1 wrong").unwrap_err();
        assert!(
            short(&sources, &found).starts_with("<pipeline>:1:13: error[T0302]: `tag` has no option `wrong`")
        );
        assert_eq!(manager.to_string(), "module(func(tag{value=1},tag),count-items,func(tag,tag))");
        assert!(ByteSize::flag().is_none());
    }
}
