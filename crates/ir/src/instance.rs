//! The types of a function as a use of it sees them.
//!
//! Symbolic extents belong to one function. Where a function takes `{n}`, the extent of what it is given stands for
//! `{n}` in its results; a symbol that nothing given says becomes `?`. Both directions go through tuples, function
//! types and the parameters of dialect types: [`Extents::accept`] compares, [`Interner::instantiate`] substitutes. Each
//! pair of types is compared, and each type rewritten, once, however often it occurs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Attr, AttrData, DialectAttr, DialectType, Dim, Interner, Module, Name, TensorType, Type, TypeData,
};

/// What the symbolic extents of a function are at one place where it is used.
#[derive(Debug, Default)]
pub struct Extents {
    known: FxHashMap<Name, Dim>,
    accepted_types: FxHashSet<(Type, Type)>,
    accepted_attrs: FxHashSet<(Attr, Attr)>,
}

impl Extents {
    /// Nothing is known yet.
    pub fn new() -> Extents {
        Extents::default()
    }

    /// Whether a parameter takes an argument; what its symbols stand for is learned. A known extent takes only itself,
    /// `?` takes any, and a symbol takes any but two different known ones. Inside of another type `?` takes only `?`,
    /// since `tuple<tensor<4xf32>>` is no `tuple<tensor<?xf32>>`. After a refusal nothing more may be asked.
    pub fn accept(&mut self, module: &Module, parameter: Type, argument: Type) -> bool {
        match (module.type_data(parameter), module.type_data(argument)) {
            // What is wrong with it was said where it is written.
            (TypeData::Error, _) | (_, TypeData::Error) => true,
            (TypeData::Tensor(parameter), TypeData::Tensor(argument)) => {
                self.tensor(parameter, argument, |dim, given| dim == Dim::Unknown || dim == given)
            }
            _ => self.ty(module, parameter, argument),
        }
    }

    /// A tensor type with these extents in place of its symbols.
    pub fn instance(&self, tensor: &TensorType) -> TensorType {
        let dim = |dim: &Dim| match dim {
            Dim::Symbol(name) => self.known.get(name).copied().unwrap_or(Dim::Unknown),
            other => *other,
        };
        TensorType { dims: tensor.dims.iter().map(dim).collect(), element: tensor.element }
    }

    fn tensor(
        &mut self,
        parameter: &TensorType,
        argument: &TensorType,
        takes: impl Fn(Dim, Dim) -> bool,
    ) -> bool {
        parameter.element == argument.element
            && parameter.rank() == argument.rank()
            && parameter.dims.iter().zip(&argument.dims).all(|(&dim, &given)| match dim {
                Dim::Symbol(name) => self.bind(name, given),
                _ => takes(dim, given),
            })
    }

    fn bind(&mut self, name: Name, given: Dim) -> bool {
        let known = self.known.entry(name).or_insert(given);
        let fits = known.may_equal(given);
        *known = known.better(given);
        fits
    }

    fn ty(&mut self, module: &Module, parameter: Type, argument: Type) -> bool {
        if !self.accepted_types.insert((parameter, argument)) {
            return true;
        }
        match (module.type_data(parameter), module.type_data(argument)) {
            (TypeData::Tensor(parameter), TypeData::Tensor(argument)) => {
                self.tensor(parameter, argument, |dim, given| dim == given)
            }
            (TypeData::Tuple(parameters), TypeData::Tuple(arguments)) => {
                self.types(module, parameters, arguments)
            }
            (TypeData::Function(parameter), TypeData::Function(argument)) => {
                self.types(module, &parameter.inputs, &argument.inputs)
                    && self.types(module, &parameter.results, &argument.results)
            }
            (TypeData::Dialect(parameter), TypeData::Dialect(argument)) => {
                std::ptr::eq(parameter.def, argument.def)
                    && self.attr(module, parameter.params, argument.params)
            }
            (parameter, argument) => parameter == argument,
        }
    }

    fn types(&mut self, module: &Module, parameters: &[Type], arguments: &[Type]) -> bool {
        parameters.len() == arguments.len()
            && parameters.iter().zip(arguments).all(|(&a, &b)| self.ty(module, a, b))
    }

    fn attr(&mut self, module: &Module, parameter: Attr, argument: Attr) -> bool {
        if !self.accepted_attrs.insert((parameter, argument)) {
            return true;
        }
        match (module.attr_data(parameter), module.attr_data(argument)) {
            (AttrData::Type(parameter), AttrData::Type(argument)) => self.ty(module, *parameter, *argument),
            (AttrData::Array(parameters), AttrData::Array(arguments)) => {
                parameters.len() == arguments.len()
                    && parameters.iter().zip(arguments).all(|(&a, &b)| self.attr(module, a, b))
            }
            (AttrData::Dict(parameters), AttrData::Dict(arguments)) => {
                parameters.len() == arguments.len()
                    && parameters
                        .iter()
                        .zip(arguments)
                        .all(|(a, b)| a.0 == b.0 && self.attr(module, a.1, b.1))
            }
            (AttrData::Pair(left, right), AttrData::Pair(other_left, other_right)) => {
                self.attr(module, *left, *other_left) && self.attr(module, *right, *other_right)
            }
            (AttrData::Dialect(parameter), AttrData::Dialect(argument)) => {
                std::ptr::eq(parameter.def, argument.def)
                    && self.attr(module, parameter.params, argument.params)
            }
            _ => parameter == argument,
        }
    }
}

impl Interner {
    /// A type with `extents` in place of its symbolic ones, however deep.
    pub fn instantiate(&mut self, ty: Type, extents: &Extents) -> Type {
        Instantiation { interner: self, extents, types: FxHashMap::default(), attrs: FxHashMap::default() }
            .ty(ty)
    }
}

struct Instantiation<'a> {
    interner: &'a mut Interner,
    extents: &'a Extents,
    types: FxHashMap<Type, Type>,
    attrs: FxHashMap<Attr, Attr>,
}

impl Instantiation<'_> {
    fn ty(&mut self, ty: Type) -> Type {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let data = match self.interner.type_data(ty).clone() {
            TypeData::Tensor(tensor) => TypeData::Tensor(self.extents.instance(&tensor)),
            TypeData::Tuple(mut items) => {
                items.iter_mut().for_each(|item| *item = self.ty(*item));
                TypeData::Tuple(items)
            }
            TypeData::Function(mut function) => {
                let parts = function.inputs.iter_mut().chain(&mut function.results);
                parts.for_each(|part| *part = self.ty(*part));
                TypeData::Function(function)
            }
            TypeData::Dialect(DialectType { def, params }) => {
                TypeData::Dialect(DialectType { def, params: self.attr(params) })
            }
            data @ (TypeData::Element(_) | TypeData::Token | TypeData::Error) => data,
        };
        let instance = self.interner.ty(data);
        self.types.insert(ty, instance);
        instance
    }

    fn attr(&mut self, attr: Attr) -> Attr {
        if let Some(&known) = self.attrs.get(&attr) {
            return known;
        }
        let data = match self.interner.attr_data(attr).clone() {
            AttrData::Type(ty) => AttrData::Type(self.ty(ty)),
            AttrData::Array(mut items) => {
                items.iter_mut().for_each(|item| *item = self.attr(*item));
                AttrData::Array(items)
            }
            AttrData::Dict(mut entries) => {
                entries.iter_mut().for_each(|entry| entry.1 = self.attr(entry.1));
                AttrData::Dict(entries)
            }
            AttrData::Pair(left, right) => AttrData::Pair(self.attr(left), self.attr(right)),
            AttrData::Dialect(DialectAttr { def, params }) => {
                AttrData::Dialect(DialectAttr { def, params: self.attr(params) })
            }
            other => other,
        };
        let instance = self.interner.attr(data);
        self.attrs.insert(attr, instance);
        instance
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{ElementType, FunctionType, ParametricDef, Registry};

    static HOST: ParametricDef = ParametricDef::new("test.host");

    struct Types(Module);

    impl Types {
        fn tensor(&mut self, dim: &str) -> Type {
            let dim = match dim {
                "?" => Dim::Unknown,
                _ => dim.parse().map_or_else(|_| Dim::Symbol(self.0.interner.name(dim)), Dim::Static),
            };
            self.0.interner.ty(TensorType { dims: [dim].into_iter().collect(), element: ElementType::F32 })
        }

        /// `tuple<test.host<tensor<dim>>, (tensor<dim>) -> ()>`.
        fn nested(&mut self, dim: &str) -> Type {
            let tensor = self.tensor(dim);
            let interner = &mut self.0.interner;
            let params = interner.attr(AttrData::Type(tensor));
            let params = interner.attr(AttrData::Array([params].into()));
            let host = interner.ty(TypeData::Dialect(DialectType { def: &HOST, params }));
            let function = interner.ty(FunctionType { inputs: [tensor].into(), results: Box::new([]) });
            interner.ty(TypeData::Tuple([host, function].into()))
        }
    }

    #[test]
    fn symbols_are_learned_and_substituted_at_any_depth() {
        let mut types = Types(Module::new(Arc::new(Registry::new(&[]).unwrap())));
        let (parameter, argument) = (types.nested("n"), types.nested("4"));
        let (unbound, unknown) = (types.nested("m"), types.nested("?"));
        let mut extents = Extents::new();
        assert!(extents.accept(&types.0, parameter, argument));
        assert_eq!(types.0.interner.instantiate(parameter, &extents), argument);
        assert_eq!(types.0.interner.instantiate(unbound, &extents), unknown);
        let eight = types.nested("8");
        assert!(!extents.accept(&types.0, parameter, eight), "{{n}} is 4 already");
    }

    #[test]
    fn unknown_extents_take_any_only_outside_of_other_types() {
        let mut types = Types(Module::new(Arc::new(Registry::new(&[]).unwrap())));
        let (unknown, four) = (types.tensor("?"), types.tensor("4"));
        assert!(Extents::new().accept(&types.0, unknown, four));
        assert!(!Extents::new().accept(&types.0, four, unknown));
        let (unknown, four) = (types.nested("?"), types.nested("4"));
        assert!(!Extents::new().accept(&types.0, unknown, four));
    }

    #[test]
    fn shared_types_are_looked_at_once() {
        let mut types = Types(Module::new(Arc::new(Registry::new(&[]).unwrap())));
        let mut pair = (types.tensor("n"), types.tensor("4"));
        for _ in 0..64 {
            let mut twice = |ty| types.0.interner.ty(TypeData::Tuple([ty, ty].into()));
            pair = (twice(pair.0), twice(pair.1));
        }
        let mut extents = Extents::new();
        assert!(extents.accept(&types.0, pair.0, pair.1));
        assert_eq!(types.0.interner.instantiate(pair.0, &extents), pair.1);
    }
}
