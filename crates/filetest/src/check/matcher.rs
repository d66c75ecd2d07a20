//! The algorithm of FileCheck: labels cut the input; within each part the other checks are matched in order,
//! and what lies between two matches is searched for the CHECK-DAG and CHECK-NOT patterns between them.

use std::ops::Range;

use super::parse::Group;
use super::pattern::{Error, Kind, Pattern, Variables};

/// A check that failed.
#[derive(Debug)]
pub(super) struct Mismatch<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) message: String,
    /// Where in the input it was searched for.
    pub(super) region: Range<usize>,
    /// What it did match, where that is the failure.
    pub(super) found: Option<Range<usize>>,
    /// The variables as they were.
    pub(super) variables: Variables,
}

/// Matches all groups against the canonical `text`. After a failure it goes on behind the next label.
pub(super) fn check<'a>(groups: &'a [Group], text: &str, enable_var_scope: bool) -> Vec<Mismatch<'a>> {
    let mut matcher = Matcher { text, variables: Variables::new() };
    let mut mismatches = Vec::new();
    let mut start = 0;
    for (index, section) in groups.split_inclusive(|group| group.anchor.kind == Kind::Label).enumerate() {
        let mut region = start..text.len();
        if let Some(label) = section.last().map(|group| &group.anchor).filter(|last| last.kind == Kind::Label)
        {
            match matcher.find(label, start..text.len()) {
                Ok(found) => region.end = found.end,
                Err(mismatch) => {
                    mismatches.push(mismatch);
                    return mismatches;
                }
            }
        }
        start = region.end;
        if enable_var_scope && index > 0 {
            matcher.variables.retain(|name, _| name.starts_with('$'));
        }
        for group in section {
            match matcher.check_group(group, region.clone()) {
                Ok(end) => region.start = end,
                Err(mismatch) => {
                    mismatches.push(mismatch);
                    break;
                }
            }
        }
    }
    mismatches
}

struct Matcher<'t> {
    text: &'t str,
    variables: Variables,
}

impl Matcher<'_> {
    /// Returns where the match of the group's anchor ends.
    fn check_group<'a>(&mut self, group: &'a Group, region: Range<usize>) -> Result<usize, Mismatch<'a>> {
        let (from, forbidden) = self.check_skipped(&group.skipped, region.clone())?;
        let anchor = &group.anchor;
        let first = self.find(anchor, from..region.end)?;
        let mut end = first.end;
        for count in 1..anchor.count {
            end = self
                .find(anchor, end..region.end)
                .map_err(|mismatch| Mismatch {
                    message: format!("{} (after {count} of {} matches)", mismatch.message, anchor.count),
                    ..mismatch
                })?
                .end;
        }
        self.check_line(anchor, from, first.start..end)?;
        self.check_forbidden(&forbidden, from..first.start)?;
        Ok(end)
    }

    /// Matches the CHECK-DAG patterns; each run of them begins where the one before it ended. Returns that
    /// end and the CHECK-NOT patterns after the last run.
    fn check_skipped<'a>(
        &mut self,
        patterns: &'a [Pattern],
        region: Range<usize>,
    ) -> Result<(usize, Vec<&'a Pattern>), Mismatch<'a>> {
        let mut from = region.start;
        let mut forbidden = Vec::new();
        for run in patterns.chunk_by(|left, right| left.kind == right.kind) {
            if run[0].kind == Kind::Not {
                forbidden = run.iter().collect();
                continue;
            }
            let mut taken: Vec<Range<usize>> = Vec::new();
            for pattern in run {
                let found = self.find_apart(pattern, from..region.end, &taken)?;
                let place = taken.partition_point(|range| range.end <= found.start);
                taken.insert(place, found);
            }
            if let (Some(first), Some(last)) = (taken.first(), taken.last()) {
                self.check_forbidden(&forbidden, from..first.start)?;
                from = last.end;
            }
            forbidden.clear();
        }
        Ok((from, forbidden))
    }

    /// The first match that overlaps none of `taken`, which are in order.
    fn find_apart<'a>(
        &mut self,
        pattern: &'a Pattern,
        region: Range<usize>,
        taken: &[Range<usize>],
    ) -> Result<Range<usize>, Mismatch<'a>> {
        let mut from = region.start;
        loop {
            let found = self.find(pattern, from..region.end)?;
            match taken.iter().find(|range| found.start < range.end && range.start < found.end) {
                Some(overlapped) => from = overlapped.end,
                None => return Ok(found),
            }
        }
    }

    fn check_forbidden<'a>(
        &mut self,
        patterns: &[&'a Pattern],
        region: Range<usize>,
    ) -> Result<(), Mismatch<'a>> {
        for &pattern in patterns {
            if let Some(found) = self.search(pattern, region.clone())? {
                return Err(self.mismatch(pattern, "excluded text found in the input", region, Some(found)));
            }
        }
        Ok(())
    }

    /// Checks that the match of a CHECK-NEXT, CHECK-EMPTY or CHECK-SAME is on the right line, seen from
    /// `previous`.
    fn check_line<'a>(
        &self,
        pattern: &'a Pattern,
        previous: usize,
        found: Range<usize>,
    ) -> Result<(), Mismatch<'a>> {
        let lines = self.text[previous..found.start].matches('\n').count();
        let message = match (pattern.kind, lines) {
            (Kind::Next | Kind::Empty, 0) => "this is on the same line as the previous match".to_string(),
            (Kind::Next | Kind::Empty, 2..) => {
                format!("this is {lines} lines after the previous match, not on the next")
            }
            (Kind::Same, 1..) => "this is not on the same line as the previous match".to_string(),
            _ => return Ok(()),
        };
        Err(self.mismatch(pattern, &message, previous..found.end, Some(found)))
    }

    fn find<'a>(&mut self, pattern: &'a Pattern, region: Range<usize>) -> Result<Range<usize>, Mismatch<'a>> {
        let found = self.search(pattern, region.clone())?;
        found.ok_or_else(|| self.mismatch(pattern, "expected text not found in the input", region, None))
    }

    fn search<'a>(
        &mut self,
        pattern: &'a Pattern,
        region: Range<usize>,
    ) -> Result<Option<Range<usize>>, Mismatch<'a>> {
        match pattern.find(&self.text[region.clone()], &mut self.variables) {
            Ok(found) => Ok(found.map(|found| region.start + found.start..region.start + found.end)),
            Err(error) => {
                let message = match error {
                    Error::Undefined(name) => format!("variable {name} is not defined"),
                    Error::Empty => "the text to find is empty".to_string(),
                    Error::Engine(error) => format!("cannot search for this pattern: {error}"),
                };
                Err(self.mismatch(pattern, &message, region, None))
            }
        }
    }

    fn mismatch<'a>(
        &self,
        pattern: &'a Pattern,
        message: &str,
        region: Range<usize>,
        found: Option<Range<usize>>,
    ) -> Mismatch<'a> {
        Mismatch { pattern, message: message.to_string(), region, found, variables: self.variables.clone() }
    }
}
