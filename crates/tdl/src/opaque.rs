//! Opaque functions: algorithms that a description uses without saying how they work.
//!
//! Every road carries them: the interpreter calls the reference implementation, the MLIR lowering calls the symbol, the
//! CUDA lowering includes the source. Nothing inside them can be split. The ones that this crate brings are in
//! [`functions`](crate::functions).

use std::sync::Arc;

use indexmap::IndexMap;
use tofu_diagnostics::plural;
use tofu_ir::ElementType;

use crate::description::TypeRef;
use crate::evaluate::Tensor;
use crate::functions;
use crate::scalar::TypeClass;

/// A function whose algorithm is hidden.
#[derive(Clone, Debug)]
pub struct OpaqueFunction {
    /// Its name in descriptions.
    pub name: &'static str,
    /// How many tensors it takes.
    pub arguments: OpaqueArity,
    /// What it gives.
    pub results: OpaqueResults,
    /// What the elements of its arguments may be.
    pub class: TypeClass,
    /// The ranks of its results, given the ranks of its arguments and its constants; or why it takes no such call. Without
    /// it only a run can tell.
    pub ranks: Option<Ranks>,
    /// Whether it takes a comparator.
    pub compares: bool,
    /// Computes the results. It must not panic.
    pub reference: Reference,
    /// Floating-point operations of a call, given the extents of its arguments and its constants.
    pub flops: fn(&[Vec<u64>], &[i64]) -> u64,
    /// The function that MLIR code calls.
    pub mlir_symbol: &'static str,
    /// CUDA C++ source of a device function of that name; empty where there is none.
    pub cuda_source: &'static str,
}

/// How many tensors an opaque function takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpaqueArity {
    /// So many.
    Exactly(usize),
    /// One or more.
    Any,
}

/// What an opaque function gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpaqueResults {
    /// Tensors of these elements.
    These(&'static [OpaqueElement]),
    /// As many tensors as it takes, of their elements.
    LikeArguments,
}

/// The type of the elements of an opaque function's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpaqueElement {
    /// That of the argument of this number.
    Argument(usize),
    /// The complex type whose parts are elements of the argument of this number.
    Complex(usize),
    /// The type of the parts of the argument of this number, which is complex.
    Part(usize),
    /// This one.
    Concrete(ElementType),
}

/// Computes the results of a call; or says why it cannot.
pub type Reference = fn(&mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String>;

/// The ranks of the results, given the ranks of the arguments, of which there are as many as the function takes, and its
/// constants.
pub type Ranks = fn(&[usize], &[i64]) -> Result<Vec<usize>, String>;

/// Whether the elements of all arguments at one place come before those at another.
type Less<'a> = dyn FnMut(usize, usize) -> Result<bool, String> + 'a;

/// What a call of an opaque function is given.
#[expect(missing_debug_implementations, reason = "a comparator has none")]
pub struct OpaqueArguments<'a> {
    /// The tensors.
    pub tensors: &'a [Tensor],
    /// The constants.
    pub constants: &'a [i64],
    less: &'a mut Less<'a>,
}

impl<'a> OpaqueArguments<'a> {
    pub(crate) fn new(
        tensors: &'a [Tensor],
        constants: &'a [i64],
        less: &'a mut Less<'a>,
    ) -> OpaqueArguments<'a> {
        OpaqueArguments { tensors, constants, less }
    }

    /// Whether the elements of all tensors at place `left` come before those at `right`, row-major.
    ///
    /// # Errors
    ///
    /// The call has no comparator.
    pub fn less(&mut self, left: usize, right: usize) -> Result<bool, String> {
        (self.less)(left, right)
    }
}

impl OpaqueFunction {
    /// What is wrong with a call, if anything is.
    pub(crate) fn refusal(&self, arguments: usize, result: u32, has_comparator: bool) -> Option<String> {
        let results = match self.results {
            OpaqueResults::These(elements) => elements.len(),
            OpaqueResults::LikeArguments => arguments,
        };
        let takes = match self.arguments {
            OpaqueArity::Exactly(1) => "one tensor".to_owned(),
            OpaqueArity::Exactly(count) => format!("{count} tensors"),
            OpaqueArity::Any => "one tensor or more".to_owned(),
        };
        let fits = match self.arguments {
            OpaqueArity::Exactly(count) => arguments == count,
            OpaqueArity::Any => arguments > 0,
        };
        let name = self.name;
        match (fits, self.compares == has_comparator, (result as usize) < results) {
            (false, ..) => Some(format!("\"{name}\" takes {takes}, not {arguments}")),
            (_, false, _) if has_comparator => Some(format!("\"{name}\" takes no comparator")),
            (_, false, _) => Some(format!("\"{name}\" needs a comparator: `opaque \"{name}\" by less (…)`")),
            (.., false) => {
                Some(format!("\"{name}\" gives {results} results; there is none of number {result}"))
            }
            _ => None,
        }
    }

    /// What is wrong with the ranks and elements of a call that is not refused otherwise: the arguments have these ranks
    /// and elements of these classes, and the result is read with so many indices.
    pub(crate) fn misfit(
        &self,
        arguments: &[(usize, TypeClass)],
        constants: &[i64],
        result: u32,
        indices: usize,
    ) -> Option<String> {
        let name = self.name;
        if let Some((_, class)) = arguments.iter().find(|(_, class)| !class.meets(self.class)) {
            return Some(format!("\"{name}\" takes {}, not {}", self.class.phrase(), class.phrase()));
        }
        let ranks: Vec<usize> = arguments.iter().map(|&(rank, _)| rank).collect();
        match (self.ranks?)(&ranks, constants) {
            Err(message) => Some(message),
            Ok(ranks) => ranks.get(result as usize).filter(|&&rank| rank != indices).map(|rank| {
                format!("result {result} of \"{name}\" has {}, not {indices}", plural(*rank, "dimension"))
            }),
        }
    }

    /// The type of a result, given those of the arguments; `None` where there is none.
    pub(crate) fn element(&self, result: u32, arguments: &[TypeRef]) -> Option<TypeRef> {
        let element = match self.results {
            OpaqueResults::These(elements) => *elements.get(result as usize)?,
            OpaqueResults::LikeArguments => OpaqueElement::Argument(result as usize),
        };
        match element {
            OpaqueElement::Concrete(element) => Some(TypeRef::Concrete(element)),
            OpaqueElement::Argument(number) => arguments.get(number).copied(),
            OpaqueElement::Complex(number) => match *arguments.get(number)? {
                TypeRef::Concrete(ElementType::F32) => Some(TypeRef::Concrete(ElementType::Complex32)),
                TypeRef::Concrete(ElementType::F64) => Some(TypeRef::Concrete(ElementType::Complex64)),
                TypeRef::Part(number) => Some(TypeRef::Param(number)),
                _ => None,
            },
            OpaqueElement::Part(number) => match *arguments.get(number)? {
                TypeRef::Concrete(element) => Some(TypeRef::Concrete(element.part())),
                TypeRef::Param(number) => Some(TypeRef::Part(number)),
                TypeRef::Part(_) => None,
            },
        }
    }
}

/// The opaque functions that descriptions may name.
#[derive(Clone, Debug, Default)]
pub struct OpaqueRegistry {
    functions: IndexMap<&'static str, Arc<OpaqueFunction>>,
}

impl OpaqueRegistry {
    /// None.
    pub fn new() -> OpaqueRegistry {
        OpaqueRegistry::default()
    }

    /// All of [`functions`](crate::functions).
    pub fn builtin() -> OpaqueRegistry {
        let mut registry = OpaqueRegistry::new();
        for function in functions::ALL {
            registry.add(function.clone());
        }
        registry
    }

    /// Adds a function; one of the same name is replaced.
    pub fn add(&mut self, function: OpaqueFunction) {
        self.functions.insert(function.name, Arc::new(function));
    }

    /// The function of this name.
    pub fn get(&self, name: &str) -> Option<&OpaqueFunction> {
        self.functions.get(name).map(Arc::as_ref)
    }

    /// All names, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.functions.keys().copied()
    }
}
