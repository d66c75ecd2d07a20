//! From the command line to the exit code.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use tofu_diagnostics::{ColorChoice, Diagnostic, FileId, Format, SourceMap, Span, codes, plural};
use tofu_dialect_dist::spmd;
use tofu_equivalence::{draw, elements_behind, run_together, sent_bytes};
use tofu_interpreter::{Interpreter, entry, signature, tensor_type};
use tofu_ir::{Module, OpId, Registry, TensorType};
use tofu_opt::{
    Console, DONE, ERRORS, Streams, Tool, WRONG_USE, answer_or_refuse, as_written, cannot_write,
    parse_program, parts, read_source, write_file,
};
use tofu_tdl::{OpaqueRegistry, Tensor};

use crate::arrays;
use crate::cli::{Arguments, Form, When};
use crate::compare::{Allowed, compare, compare_tensors};
use crate::devices::split;
use crate::expectations::{self, Held};
use crate::npz::Archive;
use crate::{npz, show};

/// Diagnostics, and the exit code that they make.
type Failed = (Vec<Diagnostic>, u8);

/// Does what `arguments` say; the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>, mut streams: Streams) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return answer_or_refuse(&error, &mut streams),
    };
    let format = match arguments.diagnostics {
        Form::Human => Format::Human,
        Form::Short => Format::Short,
        Form::Json => Format::Json,
    };
    let color = match arguments.color {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    };
    let console = Console::new(&streams, format, color);
    let mut sources = SourceMap::new();
    match run(&arguments, &mut sources, &console, &mut streams) {
        Ok(code) => code,
        Err((diagnostics, code)) => {
            console.report(&sources, &diagnostics);
            code
        }
    }
}

fn run(
    arguments: &Arguments,
    sources: &mut SourceMap,
    console: &Console,
    streams: &mut Streams,
) -> Result<u8, Failed> {
    let registry = Tool::standard("tofu-run", env!("CARGO_PKG_VERSION")).registry();
    let registry = registry.map_err(|error| wrong_use(error.to_string()))?;
    let registry = Arc::new(registry);
    let file = read_source(&arguments.file, &mut streams.input, sources)?;
    let text = sources.file(file).text();
    let whole = 0..text.len();
    if arguments.names_nothing() && expectations::may_expect(text) {
        return expected(arguments, sources, file, &registry, console, streams);
    }
    let (mut module, warnings) = parse_program(sources, file, whole.clone(), &registry, arguments.from)
        .map_err(|found| (found, ERRORS))?;
    console.report(sources, &warnings);
    let named = arguments.entry.as_deref();
    let found = |module: &Module| {
        entry(module, named).map_err(|error| (vec![error], if named.is_some() { WRONG_USE } else { ERRORS }))
    };
    let function = found(&module)?;
    let inputs = inputs(arguments, &module, function)?;
    let elements = elements_behind(&module, function);
    let allowed = Allowed { relative: arguments.rtol, absolute: arguments.atol, elements };
    let as_written = |(errors, code): Failed| {
        let name = |error| as_written(error, sources, file, whole.clone(), arguments.from);
        (errors.into_iter().map(name).collect(), code)
    };
    if let Some(signature) = spmd(&module, function) {
        let written = signature.mesh.devices();
        if let Some(devices) = arguments.devices.filter(|&devices| devices != written) {
            return Err(wrong_use(format!("the program is written for {written} devices, not {devices}")));
        }
        if arguments.compare {
            let message =
                "the program is written for each device already, so there is no other run to compare it with";
            return Err(wrong_use(format!("{message}; compare the program that it was made of")));
        }
    }
    let devices = arguments.devices.filter(|&devices| devices > 1 || spmd(&module, function).is_some());
    let results = if devices.is_none() && spmd(&module, function).is_none() {
        alone(&module, function, &inputs).map_err(as_written)?
    } else {
        let single = match arguments.compare {
            true => Some(alone(&module, function, &inputs).map_err(as_written)?),
            false => None,
        };
        if let Some(devices) = devices.filter(|_| spmd(&module, function).is_none()) {
            let warnings = split(&mut module, devices).map_err(|found| (found, ERRORS))?;
            console.report(sources, &warnings);
        }
        let function = found(&module)?;
        let message =
            "no shardings came of partitioning it, so that there is nothing to run on several devices";
        let none = || module.error(function, &codes::CANNOT_COMMUNICATE, message);
        let together = spmd(&module, function)
            .ok_or_else(none)
            .and_then(|signature| run_together(&module, function, &signature, &inputs))
            .map_err(|error| as_written((vec![error], ERRORS)))?;
        if let Some(single) = single {
            let compared = compare_tensors(&together.results, &single, &allowed);
            let code = console.answer(
                &(compared.table + &show::traffic(sent_bytes(&module, &together.traffic), &together.traffic)),
                streams,
            );
            return if compared.differences.is_empty() {
                Ok(code)
            } else {
                Err((compared.differences, ERRORS))
            };
        }
        together.results
    };
    if let Some(path) = &arguments.outputs {
        let arrays = results
            .iter()
            .enumerate()
            .map(|(number, result)| (format!("res{number}"), arrays::array(result)));
        let written = npz::write(&arrays.collect::<Vec<_>>()).and_then(|bytes| write_file(&bytes, path));
        written.map_err(|error| (vec![cannot_write(&format!("`{}`", path.display()), &error)], WRONG_USE))?;
    }
    if let Some(path) = &arguments.expect {
        let expected = Archive::read(path)?;

        let compared = compare(&results, &expected, &allowed);
        let code = console.answer(&compared.table, streams);
        return if compared.differences.is_empty() { Ok(code) } else { Err((compared.differences, ERRORS)) };
    }
    if arguments.outputs.is_some() {
        return Ok(DONE);
    }
    Ok(console.answer(&show::results(&results), streams))
}

/// The results on one device.
fn alone(module: &Module, function: OpId, inputs: &[Tensor]) -> Result<Vec<Tensor>, Failed> {
    let mut interpreter = Interpreter::new(module, &OpaqueRegistry::builtin());
    interpreter.run(function, inputs).map_err(|error| (vec![error], ERRORS))
}

/// Runs the functions that say what they expect, in each part of a file.
fn expected(
    arguments: &Arguments,
    sources: &SourceMap,
    file: FileId,
    registry: &Arc<Registry>,
    console: &Console,
    streams: &mut Streams,
) -> Result<u8, Failed> {
    let mut all = Held::default();
    for part in parts(sources.file(file).text()) {
        match parse_program(sources, file, part.clone(), registry, arguments.from) {
            Ok((mut module, warnings)) => {
                console.report(sources, &warnings);
                let held = expectations::check(&mut module);
                all.functions += held.functions;
                all.count += held.count;
                let as_written = |error| as_written(error, sources, file, part.clone(), arguments.from);
                all.wrong.extend(held.wrong.into_iter().map(as_written));
            }
            Err(found) => all.wrong.extend(found),
        }
    }
    let (functions, held) = (plural(all.functions, "function"), plural(all.count, "expectation"));
    let code = console.answer(&format!("{functions} run, {held} met\n"), streams);
    if all.wrong.is_empty() { Ok(code) } else { Err((all.wrong, ERRORS)) }
}

fn wrong_use(message: String) -> Failed {
    (vec![Diagnostic::error(&codes::WRONG_USAGE, Span::NONE, message)], WRONG_USE)
}

/// The arguments for a function: all that is wrong with them is said at once.
fn inputs(arguments: &Arguments, module: &Module, function: OpId) -> Result<Vec<Tensor>, Failed> {
    let name = module.symbol_name(function).map_or("", |name| module.text(name));
    let declared = signature(module, function).map_or(&[][..], |signature| &signature.inputs);
    let mut types: Vec<TensorType> = Vec::new();
    // Of a function that is written for each device, whole tensors are given.
    if let Some(spmd) = spmd(module, function) {
        types.extend(spmd.arguments.into_iter().map(|lying| lying.ty));
    }
    for &ty in declared.iter().skip(types.len()) {
        let Some(tensor) = tensor_type(module, ty) else {
            let message = format!("`@{name}` takes a `{}`, which is no array", module.type_text(ty));
            return Err((vec![module.error(function, &codes::WRONG_ARGUMENTS, message)], ERRORS));
        };
        types.push(tensor);
    }
    if let Some(seed) = arguments.random {
        return draw(seed, &types)
            .map_err(|message| (vec![module.error(function, &codes::WRONG_ARGUMENTS, message)], ERRORS));
    }
    let archive = match &arguments.inputs {
        Some(path) => Archive::read(path)?,
        None if types.is_empty() => return Ok(Vec::new()),
        None => {
            let count = plural(types.len(), "argument");
            let message = format!("`@{name}` takes {count}, but neither `--inputs` nor `--random` is given");
            return Err(wrong_use(message));
        }
    };
    let places = module.regions(function).next().and_then(|region| module.entry(region));
    let places = places.map_or(&[][..], |block| module.arguments(block));
    let mut tensors = Vec::new();
    let mut wrong = Vec::new();
    for (number, ((&ty, tensor), &place)) in declared.iter().zip(&types).zip(places).enumerate() {
        let key = format!("arg{number}");
        let found = match archive.get(&key) {
            Some(array) => arrays::tensor(array, tensor),
            None => Err("there is none of this name".to_owned()),
        };
        match found {
            Ok(tensor) => tensors.push(tensor),
            Err(came) => {
                let (ty, expected) = (module.type_text(ty), arrays::expected(tensor));
                let message = format!("`{key}` is to be an array {expected} for a `{ty}`, but {came}");
                wrong.push(Diagnostic::error(&codes::WRONG_ARGUMENTS, module.value_span(place), message));
            }
        }
    }
    let is_taken = |key: &str| (0..types.len()).any(|number| key == format!("arg{number}"));
    let others: Vec<&str> = archive.names().filter(|key| !is_taken(key)).collect();
    if !others.is_empty() {
        let count = plural(types.len(), "argument");
        let message = format!("`@{name}` takes {count}, and none is called {}", others.join(", "));
        let error = module.error(function, &codes::WRONG_ARGUMENTS, message);
        wrong.push(error.help("arrays are named arg0, arg1, … in the order of the arguments"));
    }
    if wrong.is_empty() { Ok(tensors) } else { Err((wrong, ERRORS)) }
}

impl Archive {
    /// Reads a file.
    fn read(path: &Path) -> Result<Archive, Failed> {
        let name = path.display();
        let bytes = fs::read(path).map_err(|error| {
            let text = error.to_string();
            let reason = text.split(" (os error").next().unwrap_or(&text);
            let message = format!("cannot read `{name}`: {reason}");
            (vec![Diagnostic::error(&codes::CANNOT_READ, Span::NONE, message)], WRONG_USE)
        })?;
        Archive::parse(&bytes).map_err(|reason| {
            let message = format!("`{name}` is no archive of arrays: {reason}");
            (vec![Diagnostic::error(&codes::BAD_ARRAYS, Span::NONE, message)], WRONG_USE)
        })
    }
}
