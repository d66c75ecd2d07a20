//! What is written: the program as text, or as a picture of its data flow.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tofu_ir::{DataflowGraph, Module, OpId, Trait, write_string};
use tofu_syntax::{PrintOptions, print};

/// In what form a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(crate) enum Emit {
    /// The text that is read
    #[default]
    Tir,
    /// The data flow of each function, for Graphviz
    Dot,
    /// Nothing
    None,
}

/// The program in a form.
pub(crate) fn emit(module: &Module, form: Emit, options: &PrintOptions) -> String {
    match form {
        Emit::Tir => print(module, options),
        Emit::Dot => dot(module),
        Emit::None => String::new(),
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

/// Writes `text` to a file, or to `output` if there is none. A file is replaced only once all is written.
pub(crate) fn write(text: &str, path: Option<&Path>, output: &mut dyn Write) -> io::Result<()> {
    let Some(path) = path.filter(|&path| path != Path::new("-")) else {
        return match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
            // The reader wanted no more of it.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        };
    };
    // What is no regular file, such as /dev/null, is written to and not replaced.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, text);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = tempfile::Builder::new().prefix(".tofu").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    let permissions = match fs::metadata(&target) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => default_permissions(directory)?,
    };
    fs::set_permissions(file.path(), permissions)?;
    file.persist(target).map(drop).map_err(|error| error.error)
}

/// The permissions a new file gets; a temporary file has narrower ones.
fn default_permissions(directory: &Path) -> io::Result<fs::Permissions> {
    let probe = directory.join(format!(".tofu-permissions-{}", std::process::id()));
    let permissions = fs::File::create(&probe)?.metadata()?.permissions();
    fs::remove_file(&probe)?;
    Ok(permissions)
}
