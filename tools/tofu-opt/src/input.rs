//! Reading files, cutting them into parts, and parsing those.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use tofu_diagnostics::{Diagnostic, FileId, SourceMap, Span, codes};
use tofu_dialect_stablehlo::{ReadOptions, in_foreign_words, is_stablehlo, read_part};
use tofu_ir::{Module, Registry};
use tofu_syntax::{Parsed, parse_part};

use crate::{
    console::plain,
    tool::{ERRORS, WRONG_USE},
};

/// In what language a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Language {
    /// Our own text
    Tir,
    /// StableHLO, as JAX prints it
    Stablehlo,
}

/// Why there is no text, with the exit code that it makes.
pub(crate) struct Refused {
    pub(crate) diagnostic: Diagnostic,
    pub(crate) code: u8,
}

/// Reads the program in the file `path`, or in `standard_input` if that is `-`, as every tool does: in the language `from`,
/// or in the one that the text is in.
///
/// # Errors
///
/// All diagnostics, and the exit code that they make: 1 for errors in the program, 2 for a file that cannot be read.
pub fn read_program(
    path: &Path,
    standard_input: &mut dyn Read,
    sources: &mut SourceMap,
    registry: &Arc<Registry>,
    from: Option<Language>,
) -> Result<(Module, Vec<Diagnostic>), (Vec<Diagnostic>, u8)> {
    let file = read_source(path, standard_input, sources)?;
    let whole = 0..sources.file(file).text().len();
    parse_program(sources, file, whole, registry, from).map_err(|found| (found, ERRORS))
}

/// Reads the file `path`, or `standard_input` if that is `-`, into `sources`.
///
/// # Errors
///
/// Why there is no text, and the exit code that it makes.
pub fn read_source(
    path: &Path,
    standard_input: &mut dyn Read,
    sources: &mut SourceMap,
) -> Result<FileId, (Vec<Diagnostic>, u8)> {
    read(path, standard_input, sources).map_err(|refused| (vec![refused.diagnostic], refused.code))
}

/// Parses a part of a file as a program, in the language `from`, or in the one that the text is in.
///
/// # Errors
///
/// All diagnostics.
pub fn parse_program(
    sources: &SourceMap,
    file: FileId,
    part: Range<usize>,
    registry: &Arc<Registry>,
    from: Option<Language>,
) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    let parsed = parse(sources, file, part, registry, from, ReadOptions::default());
    if parsed.is_ok() { Ok((parsed.module, parsed.diagnostics)) } else { Err(parsed.diagnostics) }
}

/// Parses a part of a file in the language `from`, or in the one that the text is in.
pub(crate) fn parse(
    sources: &SourceMap,
    file: FileId,
    part: Range<usize>,
    registry: &Arc<Registry>,
    from: Option<Language>,
    options: ReadOptions,
) -> Parsed {
    let registry = Arc::clone(registry);
    match language(sources, file, part.clone(), from) {
        Language::Tir => parse_part(sources, file, part, registry),
        Language::Stablehlo => read_part(sources, file, part, registry, options),
    }
}

/// The language of a part of a file: `from`, or the one that the text is in.
fn language(sources: &SourceMap, file: FileId, part: Range<usize>, from: Option<Language>) -> Language {
    let text = sources.file(file).text().get(part).unwrap_or("");
    let told = || if is_stablehlo(text) { Language::Stablehlo } else { Language::Tir };
    from.unwrap_or_else(told)
}

/// Names ops in what was found in a program, a part of a file that was read with [`parse_program`], as that part does.
pub fn as_written(
    mut found: Diagnostic,
    sources: &SourceMap,
    file: FileId,
    part: Range<usize>,
    from: Option<Language>,
) -> Diagnostic {
    if language(sources, file, part, from) == Language::Stablehlo {
        in_foreign_words(&mut found);
    }
    found
}

/// Reads `path`, or `standard_input` if it is `-`, into `sources`.
pub(crate) fn read(
    path: &Path,
    standard_input: &mut dyn Read,
    sources: &mut SourceMap,
) -> Result<FileId, Refused> {
    let is_standard = path == Path::new("-");
    let name = if is_standard { "<stdin>".to_owned() } else { path.display().to_string() };
    let bytes = if is_standard {
        read_all(standard_input)
    } else {
        open(path).and_then(|mut file| read_all(&mut file))
    };
    let bytes = bytes.map_err(|error| refuse(format!("cannot read `{name}`: {}", plain(&error))))?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            return Err(not_text(&name, error.as_bytes(), error.utf8_error().valid_up_to(), sources));
        }
    };
    // A byte-order mark says nothing about UTF-8.
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    sources.add(name.as_str(), text).map_err(|error| Refused {
        diagnostic: Diagnostic::error(
            &codes::FILE_TOO_LARGE,
            Span::NONE,
            format!("cannot read `{name}`: {error}"),
        ),
        code: ERRORS,
    })
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    Ok(file)
}

/// All of a stream, decompressed if it is compressed.
fn read_all(stream: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than a source may have tells a too large file from a fitting one, without reading all of it.
    stream.take(u64::from(u32::MAX) + 1).read_to_end(&mut bytes)?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(&bytes[..]).take(u64::from(u32::MAX) + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// What a file begins with that is compressed with gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

fn refuse(message: String) -> Refused {
    Refused { diagnostic: Diagnostic::error(&codes::CANNOT_READ, Span::NONE, message), code: WRONG_USE }
}

/// A text with a damaged place is shown around it; what is no text at all is refused.
fn not_text(name: &str, bytes: &[u8], damaged: usize, sources: &mut SourceMap) -> Refused {
    if memchr::memchr(0, &bytes[..bytes.len().min(4096)]).is_some() {
        return refuse(format!("cannot read `{name}`: it is not a text file"));
    }
    let line = memchr::memrchr(b'\n', &bytes[..damaged]).map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&bytes[line..damaged]).chars().count() + 1;
    let number = memchr::memchr_iter(b'\n', &bytes[..damaged]).count() + 1;
    let message = format!("byte 0x{:02X} at line {number}, column {column} is not UTF-8", bytes[damaged]);
    let span = match sources.add(name, String::from_utf8_lossy(bytes)) {
        // Up to the damage the text is the same as the bytes.
        Ok(file) => {
            let start = sources.file(file).span().start + damaged as u32;
            Span::new(start, start + '\u{fffd}'.len_utf8() as u32)
        }
        Err(_) => Span::NONE,
    };
    Refused { diagnostic: Diagnostic::error(&codes::INVALID_UTF8, span, message), code: ERRORS }
}

/// A line that separates the parts of a file.
pub const SEPARATOR: &str = "// -----";

/// The parts of a text between lines that are separators, in bytes.
pub fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim_end() == SEPARATOR {
            parts.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    parts.push(start..text.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_separators() {
        let cut = |text| parts(text).into_iter().map(|part| &text[part]).collect::<Vec<&str>>();
        assert_eq!(cut("a\n// -----\nb\n"), ["a\n", "b\n"]);
        assert_eq!(cut("a // -----\n// ------\n"), ["a // -----\n// ------\n"]);
        assert_eq!(cut("// -----"), ["", ""]);
    }
}
