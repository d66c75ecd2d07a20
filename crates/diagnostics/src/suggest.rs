//! Near misses: the name that a misspelled one was probably meant to be.
//!
//! Names are compared without regard to case by the Damerau-Levenshtein distance, in which a swap of neighbours costs
//! as much as a letter too many, too few or wrong (Damerau, "A technique for computer detection and correction of
//! spelling errors", 1964). The dialect before the dot and the name after it are compared by themselves, and each may
//! be off by a third of its letters. A word without a dialect is compared with what follows the dot of a candidate.

use std::collections::BTreeSet;

use strsim::damerau_levenshtein;

/// Longer words and candidates, in bytes, are not names that a person misspelled.
const LONGEST: usize = 64;
/// So many candidates are compared at most, so that a module of a million values does not make an error slow.
const MOST_CANDIDATES: usize = 20_000;
/// So many suggestions are made at most.
const MOST_SUGGESTIONS: usize = 3;
/// The distance between two ops of the same name in dialects whose names are not near.
const WRONG_DIALECT: usize = 4;

/// The candidates nearest to `word`, at most three that are equally near, in alphabetical order.
///
/// Takes time linear in the number of candidates, whatever the length of the texts; candidates beyond the first
/// 20,000 of a length near to the word's are not compared.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(word) = Word::new(word) else { return Vec::new() };
    let near = candidates.into_iter().filter(|candidate| word.is_comparable(candidate)).take(MOST_CANDIDATES);
    let mut best = usize::MAX;
    let mut found = BTreeSet::new();
    for candidate in near {
        let Some(distance) = word.distance(candidate) else { continue };
        if distance < best {
            best = distance;
            found.clear();
        }
        if distance == best {
            found.insert(candidate);
        }
    }
    found.into_iter().take(MOST_SUGGESTIONS).collect()
}

/// The question to put into a diagnostic's help: "did you mean `tensor.transpose`?", or with up to three names.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    match nearest(word, candidates)[..] {
        [a] => Some(format!("did you mean `{a}`?")),
        [a, b] => Some(format!("did you mean `{a}` or `{b}`?")),
        [a, b, c] => Some(format!("did you mean `{a}`, `{b}` or `{c}`?")),
        _ => None,
    }
}

/// A misspelled name, ready to be compared.
struct Word {
    written: String,
    lower: String,
}

impl Word {
    fn new(written: &str) -> Option<Word> {
        let is_name = !written.is_empty() && written.len() <= LONGEST;
        is_name.then(|| Word { written: written.to_owned(), lower: written.to_lowercase() })
    }

    /// A cheap test that no near candidate fails.
    fn is_comparable(&self, candidate: &str) -> bool {
        if candidate.len() > LONGEST || candidate == self.written {
            return false;
        }
        let ((_, own), (_, other)) = (split(&self.lower), split(candidate));
        own.chars().count().abs_diff(other.chars().count()) <= limit(own)
    }

    /// How far off `candidate` is, where that is near enough.
    fn distance(&self, candidate: &str) -> Option<usize> {
        let candidate = candidate.to_lowercase();
        let ((dialect, own), (other_dialect, other)) = (split(&self.lower), split(&candidate));
        let distance = near(own, other)?;
        let Some(dialect) = dialect else { return Some(distance) };
        match other_dialect.and_then(|other| near(dialect, other)) {
            Some(more) => Some(distance + more),
            None => (own == other).then_some(WRONG_DIALECT),
        }
    }
}

/// The dialect, if there is one, and what follows the last dot.
fn split(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('.').map_or((None, name), |(dialect, rest)| (Some(dialect), rest))
}

fn near(word: &str, candidate: &str) -> Option<usize> {
    Some(damerau_levenshtein(word, candidate)).filter(|&distance| distance <= limit(word))
}

/// The greatest distance at which a name still counts as near to `word`.
fn limit(word: &str) -> usize {
    match word.chars().filter(|c| c.is_alphanumeric()).count() {
        0 | 1 => 0, // every other name of one letter would be near
        letters => (letters / 3).clamp(1, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: [&str; 8] = [
        "func.return",
        "tensor.add",
        "tensor.and",
        "tensor.cos",
        "tensor.dot_general",
        "tensor.tanh",
        "tensor.transpose",
        "tensor.sub",
    ];

    #[test]
    fn near_names_are_found() {
        let check = |word: &str, expected: &[&str]| assert_eq!(nearest(word, OPS), expected, "{word}");
        check("tensor.tranpose", &["tensor.transpose"]);
        check("tranpose", &["tensor.transpose"]);
        check("add", &["tensor.add"]);
        check("ad", &["tensor.add", "tensor.and"]);
        check("tensor.tnah", &["tensor.tanh"]);
        check("TENSOR.Tanh", &["tensor.tanh"]);
        check("tensr.tanh", &["tensor.tanh"]);
        check("tensr.tnh", &["tensor.tanh"]);
        check("stablehlo.tranpose", &[]);
        check("stablehlo.transpose", &["tensor.transpose"]);
        check("convolution", &[]);
        check("", &[]);
    }

    #[test]
    fn ties_come_in_alphabetical_order_without_repetition() {
        assert_eq!(
            nearest("tensor.azd", ["tensor.azx", "tensor.and", "tensor.add", "tensor.and"]),
            ["tensor.add", "tensor.and", "tensor.azx"]
        );
        assert_eq!(nearest("aab", ["aad", "aac", "aaf", "aae"]), ["aac", "aad", "aae"]);
        assert_eq!(nearest("%x", ["%y", "%z"]), [""; 0]);
    }

    #[test]
    fn questions_read_well() {
        assert_eq!(did_you_mean("zz", ["aa"]), None);
        assert_eq!(did_you_mean("tranpose", OPS).as_deref(), Some("did you mean `tensor.transpose`?"));
        assert_eq!(did_you_mean("aab", ["aac", "aad"]).as_deref(), Some("did you mean `aac` or `aad`?"));
        let three = did_you_mean("aab", ["aac", "aad", "aae", "aaf"]);
        assert_eq!(three.as_deref(), Some("did you mean `aac`, `aad` or `aae`?"));
    }

    #[test]
    fn huge_inputs_are_answered_at_once() {
        let huge = "a".repeat(10_000_000);
        assert!(nearest(&huge, OPS).is_empty());
        assert!(nearest("tensor.tanh", std::iter::repeat_n(huge.as_str(), 1_000_000)).is_empty());
        let values: Vec<String> = (0..1_000_000).map(|number| format!("%v{number:06}")).collect();
        assert_eq!(nearest("%w000000", values.iter().map(String::as_str)), ["%v000000"]);
    }
}
