//! Interned names, types, attributes and locations of one module.
//!
//! Each module has its own tables, so that functions can be worked on by several threads without locks, and so that
//! ids do not depend on what other threads do.

use std::hash::Hash;

use indexmap::Equivalent;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::{
    Attr, AttrData, DenseConstant, DenseData, ElementType, EntityId, FunctionType, Location, LocationData,
    TensorType, Type, TypeData,
};

crate::entity_ids! {
    /// An interned string: the name of a value, an attribute, a symbol or a dimension.
    Name = "name";
}

/// The tables.
#[derive(Clone, Debug)]
pub struct Interner {
    names: IndexSet<Box<str>, FxBuildHasher>,
    types: IndexSet<TypeData, FxBuildHasher>,
    attrs: IndexSet<AttrData, FxBuildHasher>,
    locations: IndexSet<LocationData, FxBuildHasher>,
    /// How deep each location nests.
    location_depths: Vec<u8>,
}

/// How deep locations nest. Inlining adds a level for each call, and a text may ask for any; what lies deeper than this
/// is forgotten.
const MAX_LOCATION_DEPTH: u8 = 64;

fn intern<K: EntityId, T: Hash + Eq>(table: &mut IndexSet<T, FxBuildHasher>, data: T) -> K {
    K::from_index(table.insert_full(data).0)
}

fn find<K: EntityId, T: Hash + Eq, Q: ?Sized + Hash + Equivalent<T>>(
    table: &IndexSet<T, FxBuildHasher>,
    data: &Q,
) -> Option<K> {
    table.get_index_of(data).map(K::from_index)
}

impl Interner {
    /// Tables that hold only what every module needs.
    pub fn new() -> Interner {
        let mut interner = Interner {
            names: IndexSet::default(),
            types: IndexSet::default(),
            attrs: IndexSet::default(),
            locations: IndexSet::default(),
            location_depths: Vec::new(),
        };
        interner.attr(AttrData::Dict(Box::new([])));
        interner.location(LocationData::Unknown);
        interner
    }

    /// The dictionary without entries.
    pub fn empty_dict(&self) -> Attr {
        Attr::from_index(0)
    }

    /// The location that says nothing.
    pub fn unknown_location(&self) -> Location {
        Location::from_index(0)
    }

    /// Interns a string.
    pub fn name(&mut self, text: &str) -> Name {
        match find(&self.names, text) {
            Some(name) => name,
            None => intern(&mut self.names, text.into()),
        }
    }

    /// The name `text`, if anything has it.
    pub fn find_name(&self, text: &str) -> Option<Name> {
        find(&self.names, text)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.names[name.index()]
    }

    /// Interns a type.
    pub fn ty(&mut self, data: impl Into<TypeData>) -> Type {
        intern(&mut self.types, data.into())
    }

    /// What a type stands for.
    pub fn type_data(&self, ty: Type) -> &TypeData {
        &self.types[ty.index()]
    }

    /// Interns a tensor type of known extents.
    pub fn tensor(&mut self, dims: &[u64], element: ElementType) -> Type {
        self.ty(TensorType::of(dims, element))
    }

    /// Interns a function type.
    pub fn function(&mut self, inputs: &[Type], results: &[Type]) -> Type {
        self.ty(FunctionType { inputs: inputs.into(), results: results.into() })
    }

    /// Interns an attribute. Arrays of `i64`s, dictionaries and constants are brought into their one form.
    pub fn attr(&mut self, data: AttrData) -> Attr {
        let data = match data {
            AttrData::Array(items) => self.packed(items),
            AttrData::Dict(entries) => self.sorted(entries),
            AttrData::Dense(dense) => AttrData::Dense(self.canonical(dense)),
            other => other,
        };
        intern(&mut self.attrs, data)
    }

    fn packed(&self, items: Box<[Attr]>) -> AttrData {
        let ints: Option<Box<[i64]>> = items
            .iter()
            .map(|&item| match self.attr_data(item) {
                AttrData::Int(value, ElementType::I64) => i64::try_from(*value).ok(),
                _ => None,
            })
            .collect();
        ints.map_or(AttrData::Array(items), AttrData::Ints)
    }

    fn sorted(&self, mut entries: Box<[(Name, Attr)]>) -> AttrData {
        entries.sort_by(|a, b| self.text(a.0).cmp(self.text(b.0)));
        AttrData::Dict(entries)
    }

    /// A constant without elements holds none, whatever it was made from; one whose elements are all the same holds
    /// that one. What does not fit its type is left as it is, for the verifier to report.
    fn canonical(&self, dense: DenseConstant) -> DenseConstant {
        let TypeData::Tensor(tensor) = self.type_data(dense.ty) else { return dense };
        let Some(count) = tensor.element_count() else { return dense };
        let size = tensor.element.storage_bytes();
        let data = match &dense.data {
            _ if count == 0 => DenseData::Bytes([].into()),
            DenseData::Bytes(bytes) if bytes.len() as u128 == u128::from(count) * size as u128 => {
                let (first, rest) = bytes.split_at(size);
                if rest.chunks_exact(size).any(|element| element != first) {
                    return dense;
                }
                DenseData::Splat(SmallVec::from_slice(first))
            }
            DenseData::Splat(_) | DenseData::Bytes(_) => return dense,
        };
        DenseConstant { data, ..dense }
    }

    /// What an attribute stands for.
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        &self.attrs[attr.index()]
    }

    /// Interns an `i64`.
    pub fn int(&mut self, value: i64) -> Attr {
        self.attr(AttrData::Int(value.into(), ElementType::I64))
    }

    /// Interns a list of `i64`s.
    pub fn ints(&mut self, values: impl IntoIterator<Item = i64>) -> Attr {
        self.attr(AttrData::Ints(values.into_iter().collect()))
    }

    /// Interns a string attribute.
    pub fn string(&mut self, text: &str) -> Attr {
        self.attr(AttrData::String(text.into()))
    }

    /// Interns a reference to the symbol `text` of the nearest table.
    pub fn symbol(&mut self, text: &str) -> Attr {
        let name = self.name(text);
        self.attr(AttrData::symbol(name))
    }

    /// Interns a dictionary; a name that occurs twice keeps its first value.
    pub fn dict(&mut self, entries: &[(Name, Attr)]) -> Attr {
        let mut kept = entries.to_vec();
        kept.sort_by(|a, b| self.text(a.0).cmp(self.text(b.0)));
        kept.dedup_by(|later, first| later.0 == first.0);
        self.attr(AttrData::Dict(kept.into()))
    }

    /// Interns a constant tensor of type `ty`.
    pub fn dense(&mut self, ty: Type, data: DenseData) -> Attr {
        self.attr(AttrData::Dense(DenseConstant { ty, data }))
    }

    /// Interns a location; what nests more than 64 levels deep in it becomes unknown.
    pub fn location(&mut self, data: LocationData) -> Location {
        let depth = |location: Location| self.location_depths[location.index()];
        let unknown = Location::from_index(0);
        let cut = |child: Location| if depth(child) < MAX_LOCATION_DEPTH { child } else { unknown };
        let (data, inner) = match data {
            LocationData::Unknown | LocationData::File { .. } => (data, 0),
            LocationData::Named { name, child } => {
                let child = cut(child);
                (LocationData::Named { name, child }, depth(child))
            }
            LocationData::Fused { parts, metadata } => {
                let parts: Box<[Location]> = parts.into_iter().map(cut).collect();
                let inner = parts.iter().map(|&part| depth(part)).max().unwrap_or(0);
                (LocationData::Fused { parts, metadata }, inner)
            }
            LocationData::Call { callee, caller } => {
                let (callee, caller) = (cut(callee), cut(caller));
                (LocationData::Call { callee, caller }, depth(callee).max(depth(caller)))
            }
        };
        let location = intern(&mut self.locations, data);
        if EntityId::index(location) == self.location_depths.len() {
            self.location_depths.push(inner + 1);
        }
        location
    }

    /// What a location stands for.
    pub fn location_data(&self, location: Location) -> &LocationData {
        &self.locations[location.index()]
    }
}

impl Default for Interner {
    fn default() -> Self {
        Interner::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_content_has_one_id_and_one_form() {
        let mut interner = Interner::new();
        assert_eq!(interner.tensor(&[2, 3], ElementType::F32), interner.tensor(&[2, 3], ElementType::F32));
        let (one, two) = (interner.int(1), interner.int(2));
        let array = interner.attr(AttrData::Array(Box::new([one, two])));
        assert_eq!(array, interner.ints([1, 2]));
        let empty = interner.tensor(&[0, 3], ElementType::I8);
        let splat = interner.dense(empty, DenseData::Splat([7].into_iter().collect()));
        assert_eq!(splat, interner.dense(empty, DenseData::from_bytes(Vec::new(), ElementType::I8)));
        let (b, a) = (interner.name("b"), interner.name("a"));
        let dict = interner.dict(&[(b, one), (a, two), (b, two)]);
        assert_eq!(interner.attr_data(dict), &AttrData::Dict(Box::new([(a, two), (b, one)])));
    }

    #[test]
    fn constants_have_one_form() {
        let mut interner = Interner::new();
        let ty = interner.tensor(&[2, 2], ElementType::I16);
        let bytes = |bytes: &[u8]| DenseData::Bytes(bytes.into());
        let splat = interner.dense(ty, DenseData::Splat(SmallVec::from_slice(&[1, 0])));
        assert_eq!(interner.dense(ty, bytes(&[1, 0, 1, 0, 1, 0, 1, 0])), splat);
        let different = interner.dense(ty, bytes(&[1, 0, 1, 0, 1, 0, 2, 0]));
        assert!(
            matches!(interner.attr_data(different), AttrData::Dense(dense) if dense.data == bytes(&[1, 0, 1, 0, 1, 0, 2, 0]))
        );
        // What is too short is not taken for a splat.
        assert_ne!(interner.dense(ty, bytes(&[1, 0])), splat);
        let one = interner.tensor(&[], ElementType::I16);
        let scalar = interner.dense(one, bytes(&[1, 0]));
        assert_eq!(interner.dense(one, DenseData::Splat(SmallVec::from_slice(&[1, 0]))), scalar);
        assert_ne!(splat, scalar);
    }

    #[test]
    fn locations_nest_so_deep_and_no_deeper() {
        let mut interner = Interner::new();
        let name = interner.name("f");
        let mut location = interner.unknown_location();
        for _ in 0..100_000 {
            location = interner.location(LocationData::Named { name, child: location });
        }
        let mut depth = 0;
        while let LocationData::Named { child, .. } = interner.location_data(location) {
            location = *child;
            depth += 1;
        }
        assert!((1..=usize::from(MAX_LOCATION_DEPTH)).contains(&depth), "{depth}");
    }

    #[test]
    fn only_lists_of_i64s_are_packed() {
        let mut interner = Interner::new();
        let (wide, narrow) = (interner.int(1), interner.attr(AttrData::Int(1, ElementType::I32)));
        let mixed = interner.attr(AttrData::Array([wide, narrow].into()));
        assert!(matches!(interner.attr_data(mixed), AttrData::Array(_)));
        let empty = interner.attr(AttrData::Array([].into()));
        assert_eq!(empty, interner.ints([]));
        let too_wide = interner.attr(AttrData::Int(i128::from(i64::MAX) + 1, ElementType::I64));
        let list = interner.attr(AttrData::Array([too_wide].into()));
        assert_eq!(interner.attr_data(list), &AttrData::Array([too_wide].into()));
    }
}
