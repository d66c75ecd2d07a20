//! The lines of one file that a report shows, cut down and made harmless.
//!
//! miette draws whatever source text it is given, whole. It is given this excerpt instead: only the lines around the
//! labels, of a long line only what surrounds the ends of a label, of a label over many lines only the first and the
//! last one, control characters replaced by pictures of themselves. Line and column numbers stay those of the file.
//!
//! ```text
//! file      line 7   … 10 MB … {value = dense<[1.0, x, 2.0]>} … 10 MB …
//! excerpt   line 7   …value = dense<[1.0, x, 2.0…
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::text::{one_line, paragraph, push_visible};
use crate::{FileId, Label, SourceFile, SourceMap, Span};

/// A label over more lines than this is shown by its two ends.
const MOST_LINES: u32 = 6;
/// The columns between tab stops.
pub(super) const TAB_WIDTH: usize = 4;

/// What miette draws.
#[derive(Debug)]
pub(super) struct Excerpt {
    file_name: String,
    text: String,
    blocks: Vec<Block>,
    pub(super) marks: Vec<Mark>,
}

/// Lines that follow each other in the file.
#[derive(Debug)]
struct Block {
    bytes: Range<usize>,
    lines: Range<u32>,
}

/// A label in the excerpt.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) bytes: Range<usize>,
    pub(super) text: String,
    pub(super) is_primary: bool,
    line: u32,
    column: u32,
}

impl Excerpt {
    /// The lines of `file` that `labels` need, none wider than about `columns`.
    pub(super) fn new(map: &SourceMap, file: FileId, labels: &[(&Label, bool)], columns: usize) -> Excerpt {
        let source = map.file(file);
        let pieces: Vec<Piece> = labels
            .iter()
            .flat_map(|&(label, is_primary)| Piece::of(map, source, label, is_primary))
            .collect();
        let mut excerpt = Excerpt {
            file_name: one_line(source.name()),
            text: String::new(),
            blocks: Vec::new(),
            marks: Vec::new(),
        };
        let mut places = BTreeMap::new();
        for lines in blocks(&pieces, source) {
            let start = excerpt.text.len();
            for line in lines.clone() {
                excerpt.add_line(source, line, &pieces, columns, &mut places);
            }
            excerpt.blocks.push(Block { bytes: start..excerpt.text.len(), lines });
        }
        excerpt.marks.extend(pieces.into_iter().filter_map(|piece| piece.mark(&places)));
        excerpt
    }

    /// Appends a line of the file and notes in `places` where each of its characters went.
    fn add_line(
        &mut self,
        source: &SourceFile,
        line: u32,
        pieces: &[Piece],
        columns: usize,
        places: &mut BTreeMap<usize, usize>,
    ) {
        let range = source.line_range(line);
        let text = &source.text()[range.clone()];
        let ends: Vec<Range<usize>> = pieces.iter().flat_map(|piece| piece.ends_in(&range)).collect();
        let mut shown_to = 0;
        for window in windows(text, &ends, columns) {
            if window.start > shown_to {
                self.text.push('…');
            }
            for (at, c) in text[window.clone()].char_indices() {
                places.insert(range.start + window.start + at, self.text.len());
                if c == '\t' { self.text.push('\t') } else { push_visible(&mut self.text, c) }
            }
            places.insert(range.start + window.end, self.text.len());
            shown_to = window.end;
        }
        if shown_to < text.len() {
            self.text.push('…');
        }
        self.text.push('\n');
    }
}

impl SourceCode for Excerpt {
    /// With context, the whole block that `span` lies in; without, where `span` starts in the file.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let block = self.blocks.iter().find(|block| block.bytes.contains(&span.offset()));
        let block = block.ok_or(MietteError::OutOfBounds)?;
        let (line, column) = match self.marks.iter().find(|mark| mark.bytes.start == span.offset()) {
            Some(mark) if lines_before == 0 => (mark.line, mark.column),
            _ => (block.lines.start, 1),
        };
        Ok(Box::new(MietteSpanContents::new_named(
            self.file_name.clone(),
            &self.text.as_bytes()[block.bytes.clone()],
            block.bytes.clone().into(),
            line as usize - 1,
            column as usize - 1,
            block.lines.len(),
        )))
    }
}

/// A label, or one end of it, in the file.
struct Piece {
    bytes: Range<usize>,
    lines: Range<u32>,
    column: u32,
    text: String,
    is_primary: bool,
}

impl Piece {
    fn of(map: &SourceMap, source: &SourceFile, label: &Label, is_primary: bool) -> Vec<Piece> {
        let bytes = whole_characters(source.text(), source.range(label.span));
        let (first, column) = position(map, source, bytes.start);
        // A label that ends with a line break ends on that line.
        let (last, _) = position(map, source, bytes.end.saturating_sub(1).max(bytes.start));
        let (first_line, last_line) = (source.line_range(first), source.line_range(last));
        let start = bytes.start.min(first_line.end);
        let end = bytes.end.min(last_line.end).max(start);
        let text = paragraph(&label.text);

        if last - first < MOST_LINES {
            return vec![Piece { bytes: start..end, lines: first..last + 1, column, text, is_primary }];
        }
        let text = if text.is_empty() { "from here".to_owned() } else { text };
        vec![
            Piece { bytes: start..first_line.end, lines: first..first + 1, column, text, is_primary },
            Piece {
                bytes: last_line.start..end,
                lines: last..last + 1,
                column: 1,
                text: "to here".to_owned(),
                is_primary: false,
            },
        ]
    }

    /// The ends of this piece that lie in the line `line`, relative to it.
    fn ends_in(&self, line: &Range<usize>) -> Vec<Range<usize>> {
        let inside = |at: usize| (line.start <= at && at <= line.end).then(|| at - line.start);
        match (inside(self.bytes.start), inside(self.bytes.end)) {
            (Some(start), Some(end)) => std::iter::once(start..end).collect(),
            (start, end) => start.into_iter().chain(end).map(|at| at..at).collect(),
        }
    }

    fn mark(self, places: &BTreeMap<usize, usize>) -> Option<Mark> {
        let bytes = *places.get(&self.bytes.start)?..*places.get(&self.bytes.end)?;
        let Piece { lines, column, text, is_primary, .. } = self;
        Some(Mark { bytes, text, is_primary, line: lines.start, column })
    }
}

/// The runs of lines to show: those of the pieces, one before and one after, and no gap of a single line.
fn blocks(pieces: &[Piece], source: &SourceFile) -> Vec<Range<u32>> {
    let count = source.line_count();
    let last = if count > 1 && source.line_range(count).is_empty() { count - 1 } else { count };
    let mut lines = BTreeSet::new();
    for piece in pieces {
        let around = piece.lines.start.saturating_sub(1).max(1)..=piece.lines.end.min(last);
        lines.extend(around.chain(piece.lines.clone()));
    }
    let mut blocks: Vec<Range<u32>> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if line <= block.end + 1 => block.end = line + 1,
            _ => blocks.push(line..line + 1),
        }
    }
    blocks
}

/// The parts of a line to show: all of it where it fits, else about `columns` columns around `ends`, or its start.
fn windows(line: &str, ends: &[Range<usize>], columns: usize) -> Vec<Range<usize>> {
    let fits = fits(line, columns);
    if fits || ends.is_empty() {
        let end = if fits { line.len() } else { forward(line, 0, columns) };
        return std::iter::once(0..end).collect();
    }
    let share = columns / ends.len();
    let mut windows = Vec::new();
    for end in ends {
        let length = line[end.clone()].chars().take(share).count();
        if length < share {
            windows.push(widened(line, end.clone(), share - length));
        } else {
            windows.push(widened(line, end.start..end.start, share / 2));
            windows.push(widened(line, end.end..end.end, share / 2));
        }
    }
    merged(windows)
}

/// `range` with `more` characters around it, as evenly as the line allows.
fn widened(line: &str, range: Range<usize>, more: usize) -> Range<usize> {
    let left = line[..range.start].chars().rev().take(more).count();
    let right = line[range.end..].chars().take(more).count();
    let before = (more / 2).max(more - right).min(left);
    backward(line, range.start, before)..forward(line, range.end, more - before)
}

/// The windows in order, those that overlap or touch made one.
fn merged(mut windows: Vec<Range<usize>>) -> Vec<Range<usize>> {
    windows.sort_by_key(|window| window.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for window in windows {
        match merged.last_mut() {
            Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
            _ => merged.push(window),
        }
    }
    merged
}

fn fits(line: &str, columns: usize) -> bool {
    let mut widths = line.chars().map(|c| if c == '\t' { TAB_WIDTH } else { 1 });
    let width = widths.try_fold(0, |sum, width| Some(sum + width).filter(|&sum| sum <= columns));
    width.is_some()
}

fn forward(line: &str, from: usize, count: usize) -> usize {
    line[from..].char_indices().nth(count).map_or(line.len(), |(at, _)| from + at)
}

fn backward(line: &str, from: usize, count: usize) -> usize {
    let Some(last) = count.checked_sub(1) else { return from };
    line[..from].char_indices().rev().nth(last).map_or(0, |(at, _)| at)
}

/// `range` grown to character boundaries.
fn whole_characters(text: &str, range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// Line and column of a byte of `source`.
fn position(map: &SourceMap, source: &SourceFile, byte: usize) -> (u32, u32) {
    let at = source.span().start + byte as u32;
    map.position(Span::new(at, at)).map_or((1, 1), |position| (position.line, position.column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, ends: &[Range<usize>], columns: usize, expected: &[(usize, usize)]) {
        let windows = windows(line, ends, columns);
        let windows: Vec<(usize, usize)> = windows.iter().map(|window| (window.start, window.end)).collect();
        assert_eq!(windows, expected, "{ends:?}");
    }

    #[test]
    fn windows_keep_the_ends_of_labels() {
        let line = "0123456789".repeat(100);
        check("short", &[], 20, &[(0, 5)]);
        check(&line, &[], 20, &[(0, 20)]);
        check(&line, &[500..504, 2..4], 20, &[(0, 10), (497, 507)]);
        check(&line, &[498..502, 501..502], 20, &[(495, 507)]);
        check(&line, &[998..1000, 500..500], 20, &[(495, 505), (990, 1000)]);
        check(&line, &[100..900, 500..500], 20, &[(98, 103), (495, 505), (898, 903)]);
    }

    #[test]
    fn windows_count_characters() {
        check(&"é".repeat(100), &[100..102, 102..102], 20, &[(92, 112)]);
    }
}
