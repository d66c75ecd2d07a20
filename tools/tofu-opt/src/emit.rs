//! What is written: the program as text, or as a picture of its data flow.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tofu_diagnostics::Diagnostic;
use tofu_dialect_stablehlo::{WriteOptions, write as write_stablehlo};
use tofu_ir::{DataflowGraph, Module, OpId, Trait, write_string};
use tofu_syntax::{PrintOptions, print};

/// In what form a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(crate) enum Emit {
    /// The text that is read
    #[default]
    Tir,
    /// StableHLO, as JAX reads it
    Stablehlo,
    /// The data flow of each function, for Graphviz
    Dot,
    /// Nothing
    None,
}

/// The program in a form.
pub(crate) fn emit(module: &Module, form: Emit, options: &PrintOptions) -> Result<String, Vec<Diagnostic>> {
    match form {
        Emit::Tir => Ok(print(module, options)),
        Emit::Stablehlo => write_stablehlo(module, WriteOptions { locations: options.locations }),
        Emit::Dot => Ok(dot(module)),
        Emit::None => Ok(String::new()),
    }
}

/// One cluster for each isolated op with a body, one node for each op in it, one edge from each definition to each
/// op that uses it.
fn dot(module: &Module) -> String {
    let mut out = String::from("digraph module {\n  node [shape=box, fontname=\"monospace\"];\n");
    let isolated = |&op: &OpId| op != module.root() && module.has(op, Trait::Isolated);
    for (cluster, function) in module.walk(module.root()).filter(isolated).enumerate() {
        let title = module.symbol_name(function).map_or("", |name| module.text(name));
        // Writing into a string cannot fail.
        let _ = write!(out, "  subgraph cluster_{cluster} {{\n    label=");
        write_string(&mut out, title);
        out.push_str(";\n");
        for region in module.regions(function) {
            for (number, &block) in module.blocks(region).iter().enumerate() {
                let graph = DataflowGraph::of_block(module, block);
                let node = |node: u32| format!("n{cluster}_{number}_{node}");
                for at in 0..module.ops(block).count() as u32 {
                    let _ = write!(out, "    {} [label=", node(at));
                    write_string(&mut out, &label(module, graph.op(at)));
                    out.push_str("];\n");
                }
                for from in 0..module.ops(block).count() as u32 {
                    for &to in graph.users(from) {
                        let _ = writeln!(out, "    {} -> {};", node(from), node(to));
                    }
                }
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn label(module: &Module, op: OpId) -> String {
    let names = module.results(op).filter_map(|result| module.value_name(result));
    let names: Vec<String> = names.map(|name| format!("%{}", module.text(name))).collect();
    let types: Vec<String> = module.results(op).map(|result| module.type_text(module.ty(result))).collect();
    let name = module.def(op).written_name();
    let head = if names.is_empty() { name.to_owned() } else { format!("{} = {name}", names.join(", ")) };
    if types.is_empty() { head } else { format!("{head}\n{}", types.join(", ")) }
}

/// Writes `text` to a file, or to `output` if there is none.
pub(crate) fn write(text: &str, path: Option<&Path>, output: &mut dyn Write) -> io::Result<()> {
    match path.filter(|&path| path != Path::new("-")) {
        Some(path) => write_file(text.as_bytes(), path),
        None => write_stream(text, output),
    }
}

/// Writes `text` to a stream. A reader that has gone away wanted no more of it.
pub(crate) fn write_stream(text: &str, output: &mut dyn Write) -> io::Result<()> {
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a file. One that has a single name is replaced only once all is written; anything else (a link, a device, a
/// file of several names) is what it is, and is written to.
///
/// # Errors
///
/// Those of the operating system.
pub fn write_file(bytes: &[u8], path: &Path) -> io::Result<()> {
    let is_plain = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.is_file() && has_one_name(&metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(error),
    };
    let Some(mut file) = is_plain.then(|| temporary_file(directory_of(path)).ok()).flatten() else {
        return fs::write(path, bytes);
    };
    file.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(path) {
        fs::set_permissions(file.path(), metadata.permissions())?;
    }
    match file.persist(path) {
        Ok(_) => Ok(()),
        Err(_) => fs::write(path, bytes),
    }
}

/// Tells whether [`write_file`] could write a file, as far as that is known before. What is there stays as it is.
///
/// # Errors
///
/// Those of the operating system.
pub(crate) fn check_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // To open a pipe is to wait for its other end.
        Ok(metadata) if metadata.is_file() || metadata.is_dir() => {
            fs::OpenOptions::new().append(true).open(path).map(drop)
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The error about a temporary file would name that.
            fs::metadata(directory_of(path))?;
            temporary_file(directory_of(path)).map(drop)
        }
        Err(error) => Err(error),
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn has_one_name(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) == 1
}

#[cfg(not(unix))]
fn has_one_name(_metadata: &fs::Metadata) -> bool {
    true
}

/// A file with the permissions that any new file gets.
fn temporary_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tofu");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}
