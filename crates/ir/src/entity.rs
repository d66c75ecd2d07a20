//! Dense ids and the tables they index.
//!
//! An id is a `u32` that counts from zero inside one [`Arena`]; it is stored plus one, so that `Option<Id>` is no
//! larger than the id. Ids are handed out in order and never again, which makes the order of creation a stable
//! tie-break. Facts that only some algorithm needs live outside the arena in a [`SecondaryMap`].

use std::fmt::Debug;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// A dense id.
pub trait EntityId: Copy + Eq + Ord + Debug {
    /// The id with this number.
    fn from_index(index: usize) -> Self;
    /// Its number, from zero.
    fn index(self) -> usize;
}

/// Declares id types.
#[macro_export]
macro_rules! entity_ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(::std::num::NonZeroU32);

        impl $crate::EntityId for $name {
            fn from_index(index: usize) -> Self {
                $name($crate::id_number(index))
            }

            fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), $crate::EntityId::index(*self))
            }
        }
    )*};
}

/// How the id of this number is stored.
#[doc(hidden)]
pub fn id_number(index: usize) -> NonZeroU32 {
    let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
    #[expect(
        clippy::expect_used,
        reason = "2^32 entities of a kind exceed the memory of any machine this runs on"
    )]
    number.expect("fewer than 2^32 entities of a kind")
}

/// The table that owns the entities of one kind.
#[derive(Clone, Debug)]
pub struct Arena<K, V> {
    items: Vec<V>,
    key: PhantomData<fn() -> K>,
}

impl<K: EntityId, V> Arena<K, V> {
    /// An empty arena.
    pub fn new() -> Self {
        Arena { items: Vec::new(), key: PhantomData }
    }

    /// Adds an entity.
    pub fn push(&mut self, value: V) -> K {
        let key = K::from_index(self.items.len());
        self.items.push(value);
        key
    }

    /// How many were ever made.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if none was made.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The id that the next entity will get.
    pub fn next_key(&self) -> K {
        K::from_index(self.items.len())
    }

    /// All entities, in the order of their making.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.items.iter().enumerate().map(|(index, value)| (K::from_index(index), value))
    }
}

impl<K: EntityId, V> Default for Arena<K, V> {
    fn default() -> Self {
        Arena::new()
    }
}

impl<K: EntityId, V> Index<K> for Arena<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        &self.items[key.index()]
    }
}

impl<K: EntityId, V> IndexMut<K> for Arena<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.index()]
    }
}

/// A dense side table: every id has a value, the default one until it is set.
#[derive(Clone, Debug)]
pub struct SecondaryMap<K, V> {
    items: Vec<V>,
    default: V,
    key: PhantomData<fn() -> K>,
}

impl<K: EntityId, V: Clone> SecondaryMap<K, V> {
    /// A table in which every id has `default`.
    pub fn with_default(default: V) -> Self {
        SecondaryMap { items: Vec::new(), default, key: PhantomData }
    }

    /// A table in which every id has `V`'s default.
    pub fn new() -> Self
    where
        V: Default,
    {
        SecondaryMap::with_default(V::default())
    }
}

impl<K: EntityId, V: Clone + Default> Default for SecondaryMap<K, V> {
    fn default() -> Self {
        SecondaryMap::new()
    }
}

impl<K: EntityId, V: Clone> Index<K> for SecondaryMap<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        self.items.get(key.index()).unwrap_or(&self.default)
    }
}

impl<K: EntityId, V: Clone> IndexMut<K> for SecondaryMap<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        let index = key.index();
        if index >= self.items.len() {
            self.items.resize(index + 1, self.default.clone());
        }
        &mut self.items[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(unreachable_pub, reason = "the macro is for ids that other crates use")]
    mod things {
        entity_ids! {
            /// A test id.
            Thing = "thing";
        }
    }
    use things::Thing;

    #[test]
    fn optional_ids_cost_nothing() {
        assert_eq!(size_of::<Option<Thing>>(), size_of::<Thing>());
    }

    #[test]
    fn side_tables_answer_for_ids_never_set() {
        let mut arena: Arena<Thing, char> = Arena::new();
        let (a, b) = (arena.push('a'), arena.push('b'));
        let mut table = SecondaryMap::with_default(7);
        assert_eq!(table[b], 7);
        table[b] = 8;
        assert_eq!((table[a], table[b]), (7, 8));
        assert_eq!(format!("{b:?}"), "thing1");
    }
}
