//! Buffers as lines of text: `id,lower,upper,size`, in any order of the columns that the first line gives; the format of
//! MiniMalloc. A column `offset` may be there; it is passed over.

use std::collections::BTreeMap;
use std::fmt;

use crate::problem::Buffer;

/// What is wrong with a text, and on which line, counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Reads buffers with their names.
///
/// # Errors
///
/// Everything that is wrong with the text, line by line: columns that are missing, unknown or there twice, lines with too few or too many
/// entries, entries that are no numbers from 0 up or too large, lives that do not begin before they end, names that are there twice, sizes whose
/// sum overflows.
pub fn read_csv(text: &str) -> Result<Vec<(String, Buffer)>, Vec<ReadError>> {
    let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let Some((line, head)) = lines.find(|(_, line)| !line.is_empty()) else {
        return Err(vec![error(1, "no header; `id,lower,upper,size` is expected")]);
    };
    let columns = columns(line, head).map_err(|error| vec![error])?;
    let mut buffers = Vec::new();
    let mut errors = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sum = 0u64;
    for (line, row) in lines.filter(|(_, line)| !line.is_empty()) {
        match read_row(line, row, &columns) {
            Err(error) => errors.push(error),
            Ok((name, buffer)) => {
                if let Some(first) = seen.insert(name, line) {
                    errors.push(error(line, format!("`{name}` is on line {first} already")));
                }
                sum = sum.saturating_add(buffer.bytes);
                if sum >= 1 << 61 {
                    errors.push(error(line, "the sizes up to here are too large to be added up"));
                    break;
                }
                buffers.push((name.to_owned(), buffer));
            }
        }
    }
    if errors.is_empty() { Ok(buffers) } else { Err(errors) }
}

const NAMES: [&str; 4] = ["id", "lower", "upper", "size"];

/// Where the columns stand, and how many there are.
fn columns(line: usize, head: &str) -> Result<([usize; 4], usize), ReadError> {
    let head: Vec<&str> = head.split(',').map(str::trim).collect();
    let mut places = [0; 4];
    for (name, place) in NAMES.iter().zip(&mut places) {
        let mut found = head.iter().enumerate().filter(|(_, column)| *column == name);
        let Some((at, _)) = found.next() else {
            return Err(error(
                line,
                format!("no column `{name}`; the header `id,lower,upper,size` is expected"),
            ));
        };
        if found.next().is_some() {
            return Err(error(line, format!("the column `{name}` is there twice")));
        }
        *place = at;
    }
    if let Some(unknown) = head.iter().find(|column| **column != "offset" && !NAMES.contains(column)) {
        return Err(error(line, format!("unknown column `{}`", unknown.escape_debug())));
    }
    Ok((places, head.len()))
}

fn read_row<'t>(
    line: usize,
    row: &'t str,
    (places, count): &([usize; 4], usize),
) -> Result<(&'t str, Buffer), ReadError> {
    let entries: Vec<&str> = row.split(',').map(str::trim).collect();
    if entries.len() != *count {
        return Err(error(line, format!("{} entries, where the header has {count} columns", entries.len())));
    }
    let number = |column: usize| {
        let entry = entries[places[column]];
        entry.parse::<u64>().map_err(|_| {
            let name = NAMES[column];
            let digits = entry.strip_prefix(['-', '+']).unwrap_or(entry);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let what = match is_number {
                true if entry.starts_with('-') => "is negative",
                true => "is too large",
                false => "is no whole number",
            };
            error(line, format!("{name} `{}` {what}", entry.escape_debug()))
        })
    };
    let (lower, upper, size) = (number(1)?, number(2)?, number(3)?);
    if lower >= upper {
        return Err(error(line, format!("lower {lower} is not below upper {upper}")));
    }
    let name = entries[places[0]];
    if name.is_empty() {
        return Err(error(line, "the id is empty"));
    }
    Ok((name, Buffer::new(lower..upper, size)))
}

fn error(line: usize, message: impl Into<String>) -> ReadError {
    ReadError { line, message: message.into() }
}
