//! One pattern and where it matches.
//!
//! FileCheck wants the leftmost match, of those the longest, and of those the one that gives the earlier
//! parts of the pattern the most text (the rule of POSIX). So a match is found in three steps: a regex for
//! the whole pattern gives its start, an automaton that goes on after the first match gives its possible
//! ends, and, where variables must be bound, the pieces are laid out in between, the longest first. A
//! variable that is used on the line that defines it is, to the first two steps, any text that its definition
//! matches; only the layout compares the two.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, meta};

use super::posix;

/// What a check asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Label,
    Next,
    Same,
    Not,
    Dag,
    Empty,
    /// The end of the input, which the patterns after the last match are followed by.
    End,
}

/// A check and the place in its file, in bytes from 1.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) kind: Kind,
    /// As written: `CHECK-NEXT`.
    pub(super) name: String,
    /// How many matches it wants.
    pub(super) count: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) width: usize,
    pub(super) pieces: Vec<Piece>,
}

/// A part of a pattern; regexes are translated ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Regex(String),
    Define { name: String, regex: String },
    Use(String),
}

/// The values of variables.
pub(super) type Variables = BTreeMap<String, String>;

/// Why a pattern cannot be searched for.
#[derive(Debug)]
pub(super) enum Error {
    Undefined(String),
    /// Every variable is empty and there is nothing else: this would match anywhere.
    Empty,
    /// The regex is beyond a limit of the regex engine.
    Engine(String),
}

impl Pattern {
    /// The pattern that stands for the end of the input, after the last line of the check file.
    pub(super) fn end(line: usize) -> Self {
        Self { kind: Kind::End, name: String::new(), count: 1, line, column: 1, width: 0, pieces: Vec::new() }
    }

    pub(super) fn has_variables(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Define { .. } | Piece::Use(_)))
    }

    /// The first match within `text`, which begins and ends a line for `^` and `$`; binds the variables it
    /// defines.
    pub(super) fn find(&self, text: &str, variables: &mut Variables) -> Result<Option<Range<usize>>, Error> {
        match (self.kind, self.pieces.as_slice()) {
            (Kind::End, _) => Ok(Some(text.len()..text.len())),
            (Kind::Empty, _) => Ok(find_empty_line(text)),
            (_, [Piece::Literal(literal)]) => Ok(text.find(literal).map(|at| at..at + literal.len())),
            _ => Search::new(&self.pieces, variables)?.find(text, variables),
        }
    }
}

/// The place of an empty line: after the line end before it, over its own.
fn find_empty_line(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('\n')? + 1;
        if at == text.len() || text[at..].starts_with('\n') {
            return Some(at..at);
        }
        from = at;
    }
}

/// A pattern whose variables from earlier lines have been put in.
struct Search<'a> {
    parts: Vec<Part<'a>>,
    whole: Automaton,
    start: meta::Regex,
    refers_back: bool,
}

enum Part<'a> {
    Text(String),
    Regex(Automaton),
    Define {
        name: &'a str,
        regex: Automaton,
    },
    /// What the same match has bound.
    BackReference(&'a str),
}

impl<'a> Search<'a> {
    fn new(pieces: &'a [Piece], variables: &Variables) -> Result<Self, Error> {
        let mut parts = Vec::new();
        let mut source = String::new();
        let mut own: BTreeMap<&str, &str> = BTreeMap::new();
        for piece in pieces {
            let (part, regex) = match piece {
                Piece::Literal(text) => (Part::Text(text.clone()), escaped(text)),
                Piece::Regex(regex) => (Part::Regex(Automaton::new(regex)?), regex.clone()),
                Piece::Define { name, regex } => {
                    own.insert(name, regex);
                    (Part::Define { name, regex: Automaton::new(regex)? }, regex.clone())
                }
                Piece::Use(name) => match (own.get(name.as_str()), variables.get(name)) {
                    (Some(regex), _) => (Part::BackReference(name), (*regex).to_string()),
                    (None, Some(value)) => (Part::Text(value.clone()), escaped(value)),
                    (None, None) => return Err(Error::Undefined(name.clone())),
                },
            };
            source.push_str(&format!("(?:{regex})"));
            parts.push(part);
        }
        if parts.iter().all(|part| matches!(part, Part::Text(text) if text.is_empty())) {
            return Err(Error::Empty);
        }
        let start = meta::Builder::new()
            .syntax(syntax_config())
            .build(&source)
            .map_err(|error| Error::Engine(error.to_string()))?;
        let refers_back = parts.iter().any(|part| matches!(part, Part::BackReference(_)));
        Ok(Self { parts, whole: Automaton::new(&source)?, start, refers_back })
    }

    fn find(&self, text: &str, variables: &mut Variables) -> Result<Option<Range<usize>>, Error> {
        let binds = self.parts.iter().any(|part| matches!(part, Part::Define { .. }));
        let mut cache = self.whole.0.create_cache();
        let mut layout = Layout::new(self);
        let mut from = 0;
        while let Some(found) = self.start.find(Input::new(text).range(from..)) {
            for end in self.whole.ends(&mut cache, text, found.start())?.into_iter().rev() {
                if !binds {
                    return Ok(Some(found.start()..end));
                }
                if let Some(bound) = layout.find(&text[..end], found.start())? {
                    variables
                        .extend(bound.into_iter().map(|(name, value)| (name.to_string(), value.to_string())));
                    return Ok(Some(found.start()..end));
                }
            }
            let step = text[found.start()..].chars().next().map_or(1, char::len_utf8);
            from = found.start() + step;
            if from > text.len() {
                break;
            }
        }
        Ok(None)
    }
}

/// The search for a place of each part, so that together they reach from a start to the end of a text.
struct Layout<'a> {
    search: &'a Search<'a>,
    caches: Vec<Option<Cache>>,
    /// How many bytes were read so far.
    work: usize,
}

/// Variables and their values.
type Bound<'a, 't> = Vec<(&'a str, &'t str)>;

/// One such search.
struct Attempt<'a, 't> {
    text: &'t str,
    bound: Bound<'a, 't>,
    /// Parts and places from which the end is known to be out of reach.
    dead: BTreeSet<(usize, usize)>,
}

impl<'a> Layout<'a> {
    /// A search that reads more than this gives up: back-references can make it take forever.
    const MOST_WORK: usize = 1 << 25;

    fn new(search: &'a Search<'a>) -> Self {
        let cache = |part: &Part<'_>| match part {
            Part::Regex(regex) | Part::Define { regex, .. } => Some(regex.0.create_cache()),
            Part::Text(_) | Part::BackReference(_) => None,
        };
        Self { search, caches: search.parts.iter().map(cache).collect(), work: 0 }
    }

    /// The variables of a layout from `start` to the end of `text`.
    fn find<'t>(&mut self, text: &'t str, start: usize) -> Result<Option<Bound<'a, 't>>, Error> {
        let mut attempt = Attempt { text, bound: Vec::new(), dead: BTreeSet::new() };
        Ok(self.place(&mut attempt, 0, start)?.then_some(attempt.bound))
    }

    /// Places the parts from number `index` on, beginning at `at`.
    fn place(&mut self, attempt: &mut Attempt<'a, '_>, index: usize, at: usize) -> Result<bool, Error> {
        let Some(part) = self.search.parts.get(index) else {
            return Ok(at == attempt.text.len());
        };
        if attempt.dead.contains(&(index, at)) {
            return Ok(false);
        }
        let text = attempt.text;
        let end_of = |value: &str| {
            if text[at..].starts_with(value) { vec![at + value.len()] } else { Vec::new() }
        };
        let ends = match (part, &mut self.caches[index]) {
            (Part::Regex(regex) | Part::Define { regex, .. }, Some(cache)) => regex.ends(cache, text, at)?,
            (Part::Text(value), _) => end_of(value),
            (Part::BackReference(name), _) => attempt
                .bound
                .iter()
                .rfind(|(bound, _)| bound == name)
                .map_or(Vec::new(), |(_, value)| end_of(value)),
            (Part::Regex(_) | Part::Define { .. }, None) => Vec::new(),
        };
        self.work += 1 + ends.last().map_or(0, |last| last - at);
        if self.work > Self::MOST_WORK {
            return Err(Error::Engine(
                "there are too many ways to match it; use narrower regexes".to_string(),
            ));
        }
        let depth = attempt.bound.len();
        for end in ends.into_iter().rev() {
            if let Part::Define { name, .. } = part {
                attempt.bound.push((name, &text[at..end]));
            }
            if self.place(attempt, index + 1, end)? {
                return Ok(true);
            }
            attempt.bound.truncate(depth);
        }
        if !self.search.refers_back {
            attempt.dead.insert((index, at));
        }
        Ok(false)
    }
}

/// A regex that finds all ends of the matches with a given start.
struct Automaton(DFA);

impl Automaton {
    fn new(regex: &str) -> Result<Self, Error> {
        DFA::builder()
            .configure(DFA::config().match_kind(MatchKind::All).skip_cache_capacity_check(true))
            .syntax(syntax_config())
            .build(regex)
            .map(Self)
            .map_err(|error| Error::Engine(error.to_string()))
    }

    /// In ascending order.
    fn ends(&self, cache: &mut Cache, text: &str, start: usize) -> Result<Vec<usize>, Error> {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let engine = |error: &dyn std::fmt::Display| Error::Engine(error.to_string());
        let mut ends = Vec::new();
        let mut state = self.0.start_state_forward(cache, &input).map_err(|error| engine(&error))?;
        // The automaton tells one byte late that it matched, because `$` must see what follows.
        for (at, byte) in text.bytes().enumerate().skip(start) {
            state = self.0.next_state(cache, state, byte).map_err(|error| engine(&error))?;
            if state.is_match() {
                ends.push(at);
            }
            if state.is_dead() {
                return Ok(ends);
            }
        }
        state = self.0.next_eoi_state(cache, state).map_err(|error| engine(&error))?;
        if state.is_match() {
            ends.push(text.len());
        }
        Ok(ends)
    }
}

fn syntax_config() -> syntax::Config {
    syntax::Config::new().multi_line(true)
}

fn escaped(text: &str) -> String {
    let mut regex = String::new();
    posix::push_escaped(text, &mut regex);
    regex
}

#[cfg(test)]
mod tests {
    use super::{Error, Kind, Pattern, Piece, Variables};

    fn define(name: &str, regex: &str) -> Piece {
        Piece::Define { name: name.to_string(), regex: regex.to_string() }
    }

    fn find(pieces: Vec<Piece>, text: &str) -> Option<(std::ops::Range<usize>, Variables)> {
        let mut variables = Variables::new();
        let pattern = Pattern { kind: Kind::Plain, pieces, ..Pattern::end(1) };
        let found = pattern.find(text, &mut variables).expect("searchable");
        found.map(|range| (range, variables))
    }

    #[test]
    fn the_longest_of_the_leftmost_matches_is_taken() {
        let (range, _) = find(vec![Piece::Regex("a|ab|abc".to_string())], "xabcd").expect("match");
        assert_eq!(range, 1..4);
    }

    #[test]
    fn earlier_variables_take_the_most() {
        let (range, variables) =
            find(vec![define("X", "a|ab"), define("Y", "c|bcd|bc")], "abcd").expect("match");
        assert_eq!(range, 0..4);
        assert_eq!((variables["X"].as_str(), variables["Y"].as_str()), ("a", "bcd"));
        let (_, variables) = find(vec![define("X", "a*"), define("Y", "a*b?")], "aaab").expect("match");
        assert_eq!((variables["X"].as_str(), variables["Y"].as_str()), ("aaa", "b"));
    }

    #[test]
    fn a_search_without_end_is_given_up() {
        let any = || Piece::Regex(".*".to_string());
        let pieces = vec![
            define("X", ".*"),
            any(),
            any(),
            Piece::Use("X".to_string()),
            Piece::Literal("b".to_string()),
        ];
        let pattern = Pattern { kind: Kind::Plain, pieces, ..Pattern::end(1) };
        let result = pattern.find(&format!("{}b", "a".repeat(4000)), &mut Variables::new());
        assert!(matches!(result, Err(Error::Engine(_))), "{result:?}");
    }

    #[test]
    fn a_back_reference_makes_the_search_go_on() {
        let pieces =
            vec![define("X", "[a-z]+"), Piece::Literal("=".to_string()), Piece::Use("X".to_string())];
        let (range, variables) = find(pieces, "ab=cd xy=y=z").expect("match");
        assert_eq!(range, 7..10);
        assert_eq!(variables["X"], "y");
    }
}
