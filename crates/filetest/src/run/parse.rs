//! Reads the RUN and REQUIRES lines of a test file.

use super::exact;

/// What a test file says about itself.
#[derive(Clone, Debug)]
pub(crate) struct TestFile {
    pub(crate) runs: Vec<Run>,
    pub(crate) requires: Vec<String>,
}

/// One RUN command: a pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Its line in the file, from 1.
    pub(crate) line: usize,
    pub(crate) source: String,
    pub(crate) stages: Vec<Command>,
}

/// One stage of a pipeline. Words still hold their substitutions (`%s`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    pub(crate) expected: Expected,
    pub(crate) stdin: Option<String>,
    pub(crate) stdout: Option<String>,
    pub(crate) stderr: Stderr,
}

/// The exit status that a command must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Expected {
    #[default]
    Success,
    Failure,
    Code(i32),
}

/// Where the standard error goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stderr {
    /// Shown if the test fails.
    #[default]
    Kept,
    /// To wherever the standard output goes.
    Joined,
    File(String),
}

impl TestFile {
    /// Reads the text of a test file, up to its EXPECTED section. Errors begin with the line number.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut runs = Vec::new();
        let mut requires = Vec::new();
        let mut open: Option<(usize, String)> = None;
        let own = exact::find_section(text).map_or(text, |section| &text[..section.start]);
        for (index, line) in own.lines().enumerate() {
            if let Some(list) = directive(line, "REQUIRES:") {
                requires.extend(list.split(',').map(|feature| feature.trim().to_string()));
            }
            let Some(source) = directive(line, "RUN:") else { continue };
            let (first, mut source) = match open.take() {
                Some((first, before)) => (first, format!("{before} {source}")),
                None => (index + 1, source.to_string()),
            };
            if source.ends_with('\\') {
                source.pop();
                open = Some((first, source.trim_end().to_string()));
                continue;
            }
            let stages = parse_pipeline(&source).map_err(|message| format!("line {first}: {message}"))?;
            runs.push(Run { line: first, source, stages });
        }
        match open {
            Some((line, _)) => Err(format!("line {line}: this RUN line ends in `\\`, but no other follows")),
            None if runs.is_empty() => Err("there is no RUN line".to_string()),
            None => Ok(Self { runs, requires }),
        }
    }
}

/// The text after `name` in a comment that begins with it.
fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim();
    let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
    comment.trim_start().strip_prefix(name).map(str::trim)
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Pipe,
    Input,
    Output,
    ErrorOutput,
    JoinError,
}

fn parse_pipeline(source: &str) -> Result<Vec<Command>, String> {
    let tokens = tokenize(source)?;
    tokens.split(|token| *token == Token::Pipe).map(parse_command).collect()
}

fn tokenize(source: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let operator = [
            ("2>&1", Token::JoinError),
            ("2>", Token::ErrorOutput),
            (">", Token::Output),
            ("<", Token::Input),
            ("|", Token::Pipe),
        ];
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if let Some((text, token)) = operator.into_iter().find(|(text, _)| rest.starts_with(text)) {
            tokens.push(token);
            rest = &rest[text.len()..];
        } else {
            let (word, left) = take_word(rest)?;
            tokens.push(Token::Word(word));
            rest = left;
        }
    }
    Ok(tokens)
}

/// A word without its quotes, and what follows it.
fn take_word(source: &str) -> Result<(String, &str), String> {
    let mut word = String::new();
    let mut chars = source.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '|' | '<' | '>' => return Ok((word, &source[at..])),
            _ if char.is_whitespace() => return Ok((word, &source[at..])),
            ';' | '&' | '$' | '`' => {
                return Err(format!(
                    "there is no shell: `{char}` must be quoted, and is then just a character"
                ));
            }
            '\'' | '"' => {
                let unclosed = || format!("{char} is not closed");
                loop {
                    match chars.next().ok_or_else(unclosed)?.1 {
                        close if close == char => break,
                        '\\' if char == '"' => word.push(chars.next().ok_or_else(unclosed)?.1),
                        inner => word.push(inner),
                    }
                }
            }
            _ => word.push(char),
        }
    }
    Ok((word, ""))
}

fn parse_command(tokens: &[Token]) -> Result<Command, String> {
    let mut command = Command::default();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        let mut file = || match tokens.next() {
            Some(Token::Word(file)) => Ok(file.clone()),
            _ => Err("a redirection needs a file"),
        };
        match token {
            Token::Word(word) => command.words.push(word.clone()),
            Token::Input => set_once(&mut command.stdin, file()?)?,
            Token::Output if command.stderr == Stderr::Joined => {
                return Err("write `2>&1` after `> file`".to_string());
            }
            Token::Output => set_once(&mut command.stdout, file()?)?,
            Token::ErrorOutput | Token::JoinError if command.stderr != Stderr::Kept => {
                return Err("the standard error is redirected twice".to_string());
            }
            Token::ErrorOutput => command.stderr = Stderr::File(file()?),
            Token::JoinError => command.stderr = Stderr::Joined,
            Token::Pipe => return Err("unexpected `|`".to_string()),
        }
    }
    if command.words.first().is_some_and(|word| word == "not") {
        command.words.remove(0);
        command.expected = Expected::Failure;
        if let Some(code) = command.words.first().and_then(|word| word.strip_prefix("--code=")) {
            let code = code.parse().map_err(|_| format!("`{code}` is not an exit status"))?;
            command.expected = Expected::Code(code);
            command.words.remove(0);
        }
    }
    if command.words.is_empty() { Err("a command is missing".to_string()) } else { Ok(command) }
}

fn set_once(target: &mut Option<String>, file: String) -> Result<(), String> {
    match target.replace(file) {
        None => Ok(()),
        Some(first) => Err(format!("redirected twice: `{first}` is not used")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Expected, Stderr, TestFile, parse_pipeline};

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_string()).collect()
    }

    #[test]
    fn pipelines() {
        let stages = parse_pipeline(r#"not --code=2 a '%s b' --x="q\"|"r 2>&1|filecheck <in > out 2> err"#);
        let first = Command {
            words: words(&["a", "%s b", "--x=q\"|r"]),
            expected: Expected::Code(2),
            stderr: Stderr::Joined,
            ..Command::default()
        };
        let second = Command {
            words: words(&["filecheck"]),
            stdin: Some("in".to_string()),
            stdout: Some("out".to_string()),
            stderr: Stderr::File("err".to_string()),
            ..Command::default()
        };
        assert_eq!(stages, Ok(vec![first, second]));
    }

    #[test]
    fn wrong_pipelines() {
        for source in [
            "",
            "a |",
            "| a",
            "a | | b",
            "a >",
            "a > | b",
            "a > b > c",
            "a < b < c",
            "a 2>&1 > b",
            "a 2> b 2>&1",
            "a 'b",
            "a \"b",
            "a; b",
            "a && b",
            "a $X",
            "a `b`",
            "not",
            "not --code=x a",
            "not --code=1",
        ] {
            assert!(parse_pipeline(source).is_err(), "{source}");
        }
    }

    #[test]
    fn lines() {
        let text = "// RUN: a \\\n// comment\n//   RUN: b\n# RUN: c\n// REQUIRES: x, y\nRUN: d\n// EXPECTED:\n// RUN: e\n";
        let test = TestFile::parse(text).expect("valid");
        let runs: Vec<_> = test.runs.iter().map(|run| (run.line, run.source.as_str())).collect();
        assert_eq!(runs, [(1, "a b"), (4, "c")]);
        assert_eq!(test.requires, ["x", "y"]);
    }

    #[test]
    fn wrong_files() {
        for (text, message) in [
            ("func @f\n", "there is no RUN line"),
            ("// RUN: a \\\n", "line 1: this RUN line ends in `\\`, but no other follows"),
            ("\n// RUN: a |\n", "line 2: a command is missing"),
        ] {
            assert_eq!(TestFile::parse(text).expect_err(text), message);
        }
    }
}
