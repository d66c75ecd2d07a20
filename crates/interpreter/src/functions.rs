//! The functions of a program: which one to run, and what it takes.
//!
//! A function is a named op with a function type, whatever dialect it is of.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{
    AttrData, BlockId, Dim, FUNCTION_TYPE, FunctionType, Module, Name, OpId, TensorType, Trait, Type,
    TypeData,
};
use tofu_tdl::Tensor;

/// The function of a name; without one, `main`, or the only function.
///
/// # Errors
///
/// There is no such function, or several and none is called `main`.
pub fn entry(module: &Module, name: Option<&str>) -> Result<OpId, Diagnostic> {
    let functions: Vec<OpId> = module.ops(module.body()).filter(|&op| body(module, op).is_some()).collect();
    let names: Vec<&str> =
        functions.iter().filter_map(|&op| module.symbol_name(op)).map(|name| module.text(name)).collect();
    let find = |wanted: &str| names.iter().position(|name| *name == wanted).map(|at| functions[at]);
    let error = |message: String| Diagnostic::error(&codes::NO_ENTRY, Span::NONE, message);
    match name {
        Some(name) => find(name).ok_or_else(|| {
            error(format!("there is no function `@{name}` to run"))
                .maybe_help(suggest::did_you_mean(name, names.iter().copied()))
        }),
        None => match (&functions[..], find("main")) {
            (_, Some(main)) => Ok(main),
            (&[only], None) => Ok(only),
            ([], None) => Err(error("there is no function to run".to_owned())),
            (_, None) => {
                let names: Vec<String> = names.iter().map(|name| format!("@{name}")).collect();
                Err(error("there are several functions, and none is called `@main`".to_owned())
                    .note(format!("the functions are {}", names.join(", ")))
                    .help("say which one to run"))
            }
        },
    }
}

/// The type of a function.
pub fn signature(module: &Module, function: OpId) -> Option<&FunctionType> {
    let Some(AttrData::Type(ty)) = module.attr_value(function, FUNCTION_TYPE) else { return None };
    match module.type_data(*ty) {
        TypeData::Function(signature) if module.has(function, Trait::Symbol) => Some(signature),
        _ => None,
    }
}

/// The block in which a function begins; none if the op is no function, or only a declaration of one.
pub(crate) fn body(module: &Module, function: OpId) -> Option<BlockId> {
    signature(module, function)?;
    module.regions(function).next().and_then(|region| module.entry(region))
}

/// The type as which a value is kept: numbers are tensors of rank 0.
pub fn tensor_type(module: &Module, ty: Type) -> Option<TensorType> {
    match module.type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor.clone()),
        TypeData::Element(element) => Some(TensorType::of(&[], *element)),
        _ => None,
    }
}

/// Extents of actual tensors against declared ones; symbols stand for the same extent everywhere.
#[derive(Debug, Default)]
pub(crate) struct Symbols(FxHashMap<Name, u64>);

impl Symbols {
    /// Whether a tensor is one of the declared type.
    pub(crate) fn accept(&mut self, declared: &TensorType, given: &TensorType) -> bool {
        declared.element == given.element
            && declared.rank() == given.rank()
            && declared.dims.iter().zip(&given.dims).all(|(&dim, given)| match (dim, given.size()) {
                (Dim::Static(size), given) => given == Some(size),
                (Dim::Unknown, _) => true,
                (Dim::Symbol(name), Some(size)) => *self.0.entry(name).or_insert(size) == size,
                (Dim::Symbol(_), None) => false,
            })
    }
}

/// What is wrong with the arguments for a function: all of it.
pub(crate) fn check_arguments(module: &Module, function: OpId, given: &[Tensor]) -> Result<(), Diagnostic> {
    let inputs = signature(module, function).map_or(&[][..], |signature| &signature.inputs);
    let mut symbols = Symbols::default();
    let mut wrong = Vec::new();
    for (number, &input) in inputs.iter().enumerate() {
        let expected = module.type_text(input);
        let Some(declared) = tensor_type(module, input) else {
            wrong.push(format!("argument {number} is a `{expected}`, which cannot be given"));
            continue;
        };
        match given.get(number) {
            Some(tensor) if symbols.accept(&declared, &tensor.ty()) => {}
            Some(tensor) => {
                let came = module.type_data_text(&TypeData::Tensor(tensor.ty()));
                wrong.push(format!("argument {number}: a `{expected}` is expected, but a `{came}` came"));
            }
            None => wrong.push(format!("argument {number}: a `{expected}` is expected, but nothing came")),
        }
    }
    if given.len() > inputs.len() {
        wrong.push(format!("{} arguments came, but {} are taken", given.len(), inputs.len()));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let name = module.symbol_name(function).map_or("", |name| module.text(name));
    let message = format!("`@{name}` cannot be run on what it is given");
    let error = module.error(function, &codes::WRONG_ARGUMENTS, message);
    Err(wrong.into_iter().fold(error, Diagnostic::note))
}
