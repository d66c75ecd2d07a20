//! From diagnostics to text.

#[cfg(feature = "human")]
mod excerpt;
#[cfg(feature = "human")]
mod human;
mod json;
mod short;
mod text;

use std::fmt;
use std::str::FromStr;

use crate::suggest::did_you_mean;
use crate::{Diagnostic, Severity, SourceMap};

/// Turns diagnostics into text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Renderer {
    /// The form of the text.
    pub format: Format,
    /// Whether terminal colours are used; only the human form has them.
    pub color: bool,
    /// The width of the terminal in columns; only the human form breaks lines. Less than 40 counts as 40.
    pub width: usize,
}

impl Renderer {
    /// The text of `diagnostic`, with the line break at its end. Texts may be written one after the other: a human
    /// report ends with an empty line.
    pub fn render(&self, map: &SourceMap, diagnostic: &Diagnostic) -> String {
        match self.format {
            #[cfg(feature = "human")]
            Format::Human => human::report(map, diagnostic, self.color, self.width),
            Format::Short => short::line(map, diagnostic),
            Format::Json => json::line(map, diagnostic),
        }
    }
}

/// The form in which diagnostics are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A report with the lines of the program that it is about.
    #[cfg(feature = "human")]
    Human,
    /// One line, `file:line:column: severity[code]: message (help: …)`, without the secondary places and the notes.
    /// Control characters are escaped, very long texts are cut.
    Short,
    /// One JSON object a line. It always has all of these fields:
    ///
    /// | field | value |
    /// |---|---|
    /// | `code` | string, for example `"T0101"` |
    /// | `severity` | `"error"`, `"warning"` or `"remark"` |
    /// | `message` | string |
    /// | `file` | string; `null`, as the six numbers below, where there is no place |
    /// | `line`, `column` | where it starts, both from 1, the column in Unicode scalar values |
    /// | `end_line`, `end_column` | one past its last character |
    /// | `byte_start`, `byte_end` | the byte range in the file, from 0, the end exclusive |
    /// | `label` | string, what is at the place; may be empty |
    /// | `secondary` | list of objects with the fields from `file` to `label` |
    /// | `notes` | list of strings |
    /// | `help` | string or `null` |
    Json,
}

impl Format {
    const ALL: &[(&str, Format)] = &[
        #[cfg(feature = "human")]
        ("human", Format::Human),
        ("short", Format::Short),
        ("json", Format::Json),
    ];
}

/// When the human form is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ColorChoice {
    /// On a terminal, unless the user does not want colours anywhere.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    const ALL: &[(&str, ColorChoice)] =
        &[("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

    /// Whether to colour what goes to a terminal or not, given whether the environment says `NO_COLOR`.
    pub fn resolve(self, is_terminal: bool, no_color: bool) -> bool {
        match self {
            ColorChoice::Auto => is_terminal && !no_color,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }
}

/// Raised when a text names no [`Format`] or no [`ColorChoice`]; says which names there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    name: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of {}", text::one_line(&self.name), self.known.join(", "))?;
        match did_you_mean(&self.name, self.known.iter().copied()) {
            Some(question) => write!(f, "; {question}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownName {}

impl FromStr for Format {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Format, UnknownName> {
        by_name(Format::ALL, name)
    }
}

impl FromStr for ColorChoice {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<ColorChoice, UnknownName> {
        by_name(ColorChoice::ALL, name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(name_of(Format::ALL, *self))
    }
}

impl fmt::Display for ColorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(name_of(ColorChoice::ALL, *self))
    }
}

fn by_name<T: Copy>(table: &[(&'static str, T)], name: &str) -> Result<T, UnknownName> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|&(_, value)| value).ok_or_else(|| UnknownName {
        name: name.to_owned(),
        known: table.iter().map(|&(known, _)| known).collect(),
    })
}

fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|&&(_, each)| each == value).map_or("", |&(name, _)| name)
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for &(name, format) in Format::ALL {
            assert_eq!((name.parse(), format.to_string()), (Ok(format), name.to_owned()));
        }
        for &(name, choice) in ColorChoice::ALL {
            assert_eq!((name.parse(), choice.to_string()), (Ok(choice), name.to_owned()));
        }
        let error = "jsno".parse::<Format>().unwrap_err();
        assert_eq!(error.to_string(), "`jsno` is none of human, short, json; did you mean `json`?");
    }

    #[test]
    fn colours_follow_the_terminal_unless_told() {
        let auto = ColorChoice::Auto;
        assert!(auto.resolve(true, false));
        assert!(!auto.resolve(true, true) && !auto.resolve(false, false));
        assert!(ColorChoice::Always.resolve(false, true));
        assert!(!ColorChoice::Never.resolve(true, false));
    }
}
