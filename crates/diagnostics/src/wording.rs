//! Words that messages are made of.

/// How many there are: `no blocks`, `one block`, `2 blocks`. `what` is a noun that takes an `s`.
///
/// ```
/// assert_eq!(tofu_diagnostics::plural(2, "result"), "2 results");
/// ```
pub fn plural(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_their_nouns() {
        assert_eq!([0, 1, 2].map(|number| plural(number, "op")), ["no ops", "one op", "2 ops"]);
    }
}
