//! The explicit list of passes and pipelines that a tool is built with.

use std::collections::BTreeMap;
use std::sync::Arc;

use tofu_diagnostics::Diagnostic;
use tofu_ir::RegistryError;

use crate::{
    Anchor, Example, ModuleAnchor, OptionSpec, Options, Pass, PassManager,
    manager::Item,
    options::{OptionText, plain_doc, read},
};

/// All passes and pipelines that a tool knows, by name. Nothing gets in here but through [`PassRegistry::new`].
#[derive(Debug)]
pub struct PassRegistry {
    entries: BTreeMap<&'static str, Entry>,
}

impl PassRegistry {
    /// A registry of these.
    ///
    /// # Errors
    /// When a name is given twice, or is not made of small letters and digits joined by dashes.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Result<PassRegistry, RegistryError> {
        let mut registry = PassRegistry { entries: BTreeMap::new() };
        for entry in entries {
            let name = entry.name;
            let word = |word: &str| {
                !word.is_empty()
                    && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            };
            if !name.split('-').all(word) {
                return Err(RegistryError::new(format!(
                    "`{name}` is not small letters and digits joined by dashes"
                )));
            }
            if registry.entries.insert(name, entry).is_some() {
                return Err(RegistryError::new(format!("`{name}` is registered twice")));
            }
        }
        Ok(registry)
    }

    /// The pass or pipeline `name`.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// All passes and pipelines, by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.keys().copied()
    }

    /// What pipelines may nest under: `module`, and whatever some pass works on. Names may repeat.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(ModuleAnchor::OP).chain(self.entries.values().map(|entry| entry.anchor))
    }
}

/// A pass or a pipeline, with its documentation.
pub struct Entry {
    /// Its name in pipelines and, after two dashes, on the command line.
    pub name: &'static str,
    /// Whether it is one pass, or stands for several.
    pub kind: EntryKind,
    /// The ops that it works on.
    pub anchor: &'static str,
    /// What it does, in Markdown.
    pub doc: String,
    /// Its options.
    pub options: Vec<OptionSpec>,
    /// A program that shows it at work; empty for pipelines.
    pub example: Example,
    /// What it counts: names, and what they mean.
    pub statistics: &'static [(&'static str, &'static str)],
    build: Box<Build>,
}

type Build = dyn Fn(&[OptionText]) -> Result<Vec<Item>, Vec<Diagnostic>> + Send + Sync;

/// What an [`Entry`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// One pass.
    Pass,
    /// A name for several passes.
    Pipeline,
}

impl Entry {
    /// The entry of a pass.
    pub fn pass<P: Pass>() -> Entry {
        Entry {
            name: P::NAME,
            kind: EntryKind::Pass,
            anchor: P::Anchor::OP,
            doc: plain_doc(P::DOC),
            options: P::specs(),
            example: P::EXAMPLE,
            statistics: P::STATISTICS,
            build: Box::new(|given| Ok(vec![Item::Pass(Arc::new(read::<P>(P::NAME, given)?))])),
        }
    }

    /// The entry of a pipeline over whole programs: `build` adds its passes, as the options say. Its documentation is
    /// that of the options.
    pub fn pipeline<O: Options + 'static>(
        name: &'static str,
        build: fn(&O, PassManager) -> PassManager,
    ) -> Entry {
        Entry {
            name,
            kind: EntryKind::Pipeline,
            anchor: ModuleAnchor::OP,
            doc: plain_doc(O::DOC),
            options: O::specs(),
            example: Example { program: "", effect: "" },
            statistics: &[],
            build: Box::new(move |given| Ok(build(&read(name, given)?, PassManager::new()).pipeline.items)),
        }
    }

    /// The first paragraph of the documentation, in one line.
    pub fn summary(&self) -> String {
        let lines: Vec<&str> = self.doc.lines().take_while(|line| !line.trim().is_empty()).collect();
        lines.join(" ")
    }

    /// The passes that it stands for.
    pub(crate) fn build(&self, given: &[OptionText]) -> Result<Vec<Item>, Vec<Diagnostic>> {
        (self.build)(given)
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Badly, Count, Empty, Tag};

    #[test]
    fn entries_come_by_name_with_their_documentation() {
        let registry = PassRegistry::new([Entry::pass::<Tag>(), Entry::pass::<Count>()]).unwrap();
        assert_eq!(registry.names().collect::<Vec<_>>(), ["count-items", "tag"]);
        let tag = registry.get("tag").unwrap();
        assert_eq!((tag.kind, tag.anchor), (EntryKind::Pass, "func"));
        assert_eq!(tag.summary(), "Adds an item to the function, and says so.");
        assert_eq!(tag.options[0].name, "value");
        assert_eq!(tag.statistics, [("added items", "Items added at the end of functions.")]);
    }

    #[test]
    fn names_are_unique_and_can_be_written() {
        let error = PassRegistry::new([Entry::pass::<Tag>(), Entry::pass::<Tag>()]).unwrap_err();
        assert_eq!(error.to_string(), "`tag` is registered twice");
        assert!(
            PassRegistry::new([Entry::pass::<Tag>(), Entry::pipeline::<Empty>("tag", |_, m| m)]).is_err()
        );
        let error = PassRegistry::new([Entry::pass::<Badly>()]).unwrap_err();
        assert_eq!(error.to_string(), "`Badly_Named` is not small letters and digits joined by dashes");
    }
}
