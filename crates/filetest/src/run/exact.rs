//! The EXPECTED section of a test file, which holds an exact output in comments.

use std::ops::Range;

/// Where the section stands, from its opening line to the end of the file.
pub(super) fn find_section(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if matches!(line.trim_end(), "// EXPECTED:" | "# EXPECTED:") {
            return Some(at..text.len());
        }
        at += line.len();
    }
    None
}

/// The output that the section of `text` holds; each line ends in `\n`.
pub(super) fn read(text: &str) -> Result<String, String> {
    let section = find_section(text).ok_or("there is no EXPECTED section; TOFU_BLESS=1 adds it")?;
    let first_line = 1 + text[..section.start].matches('\n').count();
    let mut output = String::new();
    for (index, line) in text[section].lines().enumerate().skip(1) {
        let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#'));
        let content =
            comment.and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') });
        let content = content.ok_or_else(|| {
            format!(
                "line {}: only comments, with a space before the text, can follow EXPECTED",
                first_line + index
            )
        })?;
        output.push_str(content);
        output.push('\n');
    }
    Ok(output)
}

/// `text` with `output`, which is empty or ends in a line end, in its section.
pub(super) fn write(text: &str, output: &str) -> String {
    let (before, opening) = match find_section(text) {
        Some(section) => (&text[..section.start], text[section].lines().next().unwrap_or_default()),
        None if text.lines().next().is_some_and(|line| line.starts_with('#')) => (text, "# EXPECTED:"),
        None => (text, "// EXPECTED:"),
    };
    let comment = if opening.starts_with('#') { "#" } else { "//" };
    let mut result = before.to_string();
    if !result.is_empty() && !result.ends_with('\n') {
        result.push('\n');
    }
    result.push_str(opening.trim_end());
    result.push('\n');
    for line in output.lines() {
        let space = if line.is_empty() { "" } else { " " };
        result.push_str(&format!("{comment}{space}{line}\n"));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn what_is_written_is_read() {
        for text in ["// RUN: a\n", "# RUN: a", "x\n// EXPECTED:\n// old\n", "x\n# EXPECTED:\n", ""] {
            for output in ["", "a\n", "a\n\n  b \n// c\n"] {
                let written = write(text, output);
                assert_eq!(read(&written), Ok(output.to_string()), "{written}");
                assert_eq!(write(&written, output), written);
            }
        }
    }

    #[test]
    fn the_style_of_comment_stays() {
        assert_eq!(write("x\n# EXPECTED:\n# a\n", "b\n\n"), "x\n# EXPECTED:\n# b\n#\n");
        assert_eq!(write("# RUN: a\n", "b\n"), "# RUN: a\n# EXPECTED:\n# b\n");
        assert_eq!(write("// RUN: a", "b\n"), "// RUN: a\n// EXPECTED:\n// b\n");
    }

    #[test]
    fn errors() {
        assert!(read("x\n").is_err());
        let error = read("x\n// EXPECTED:\n// a\nfunc\n").expect_err("code in the section");
        assert!(error.starts_with("line 4:"), "{error}");
        assert!(read("// EXPECTED:\n//a\n").is_err());
    }
}
