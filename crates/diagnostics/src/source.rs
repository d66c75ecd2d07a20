//! Source texts and places in them.
//!
//! All files of a run share one address space of `u32` offsets: a file is given the range after the one before it, so
//! a [`Span`] alone says which file it lies in. Offset 0 belongs to no file; [`Span::NONE`] is there.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A half-open range of byte offsets in a [`SourceMap`]'s address space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The place of what nobody wrote.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// The range from `start` to `end`.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end: end.max(start) }
    }

    /// True for [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self.start == 0
    }

    /// The smallest span that covers both; a missing one does not count.
    pub fn join(self, other: Span) -> Span {
        match (self.is_none(), other.is_none()) {
            (true, _) => other,
            (_, true) => self,
            _ => Span { start: self.start.min(other.start), end: self.end.max(other.end) },
        }
    }

    /// This span, or `other` where this one is missing.
    pub fn or(self, other: Span) -> Span {
        if self.is_none() { other } else { self }
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// The number of a file in its [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(u32);

/// A place as people count: file, line and column, both from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The file.
    pub file: FileId,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in Unicode scalar values.
    pub column: u32,
}

/// One source text.
#[derive(Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    start: u32,
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// The name it was given, usually a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, shared.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The span of the whole file.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.start + self.text.len() as u32 }
    }

    /// The bytes of `span` in [`text`](Self::text), cut to the file.
    pub fn range(&self, span: Span) -> Range<usize> {
        let length = self.text.len();
        let start = (span.start.saturating_sub(self.start) as usize).min(length);
        let end = (span.end.saturating_sub(self.start) as usize).clamp(start, length);
        start..end
    }

    /// The bytes of line `line` (from 1), without its line break.
    pub fn line_range(&self, line: u32) -> Range<usize> {
        let starts = self.line_starts();
        let index = (line.max(1) as usize - 1).min(starts.len() - 1);
        let start = starts[index] as usize;
        let end = starts.get(index + 1).map_or(self.text.len(), |&next| next as usize);
        let line = &self.text[start..end];
        let line = line.strip_suffix('\n').unwrap_or(line);
        start..start + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// The number of lines; an empty file has one.
    pub fn line_count(&self) -> u32 {
        self.line_starts().len() as u32
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(breaks.map(|at| at as u32 + 1)).collect()
        })
    }
}

/// Raised when all sources together would exceed the 4 GiB that a [`Span`] can address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceTooLarge;

impl std::fmt::Display for SourceTooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the source texts together exceed 4 GiB")
    }
}

impl std::error::Error for SourceTooLarge {}

/// Every source text of a run.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text under a name and returns its number.
    ///
    /// # Errors
    /// When the address space is exhausted.
    pub fn add(
        &mut self,
        name: impl Into<Arc<str>>,
        text: impl Into<Arc<str>>,
    ) -> Result<FileId, SourceTooLarge> {
        let text = text.into();
        let start = self.files.last().map_or(1, |file| file.span().end + 1);
        let length = u32::try_from(text.len()).map_err(|_| SourceTooLarge)?;
        start.checked_add(length).and_then(|end| end.checked_add(1)).ok_or(SourceTooLarge)?;
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile { name: name.into(), text, start, line_starts: OnceLock::new() });
        Ok(id)
    }

    /// A file of this map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// The file that `span` starts in.
    pub fn file_of(&self, span: Span) -> Option<FileId> {
        if span.is_none() {
            return None;
        }
        let after = self.files.partition_point(|file| file.start <= span.start);
        let index = after.checked_sub(1)?;
        (span.start <= self.files[index].span().end).then_some(FileId(index as u32))
    }

    /// Where `span` starts.
    pub fn position(&self, span: Span) -> Option<Position> {
        let id = self.file_of(span)?;
        let file = self.file(id);
        let offset = file.range(span).start;
        let starts = file.line_starts();
        let line = starts.partition_point(|&start| start as usize <= offset);
        let line_start = starts[line - 1] as usize;
        // A span may point into the middle of a character of a damaged text; count what is whole.
        let column = file.text.as_bytes()[line_start..offset].iter().filter(|&&b| b & 0xC0 != 0x80).count();
        Some(Position { file: id, line: line as u32, column: column as u32 + 1 })
    }

    /// The text that `span` covers; empty for a missing span.
    pub fn text(&self, span: Span) -> &str {
        self.file_of(span).map_or("", |id| {
            let file = self.file(id);
            file.text.get(file.range(span)).unwrap_or("")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_find_their_file_line_and_column() {
        let mut map = SourceMap::new();
        let a = map.add("a", "one\ntwé x\r\n").unwrap();
        let b = map.add("b", "three").unwrap();
        let start = map.file(a).span().start;
        let x = Span::new(start + 9, start + 10);
        assert_eq!(map.text(x), "x");
        assert_eq!(map.position(x), Some(Position { file: a, line: 2, column: 5 }));
        assert_eq!(map.file(a).line_range(2), 4..10);
        assert_eq!(map.position(map.file(b).span()), Some(Position { file: b, line: 1, column: 1 }));
        let end_of_b = Span::new(map.file(b).span().end, map.file(b).span().end);
        assert_eq!(map.position(end_of_b), Some(Position { file: b, line: 1, column: 6 }));
        assert_eq!(map.position(Span::NONE), None);
    }

    #[test]
    fn joining_ignores_missing_spans() {
        assert_eq!(Span::NONE.join(Span::new(3, 5)), Span::new(3, 5));
        assert_eq!(Span::new(3, 5).join(Span::new(1, 4)), Span::new(1, 5));
    }
}
