//! What the types and the meaning of an op follow from, as a key: ops of one profile are checked, described and analysed
//! once. A training step of 25,000 ops has some hundred profiles.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{AttrData, EntityId, Module, OpId, Trait, VALUE, ValueId};

/// An op without its place in the program: its definition, its attributes and what symbols in them mean, the types of its
/// operands and results, and its regions, in which values are numbered. Of an op with regions, operands and captured
/// values that are constants count with their content. Profiles of one module can be compared with each other, those of
/// two cannot.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Profile(SmallVec<[u32; 16]>);

impl Profile {
    /// The profile of an op; none if it refers to something with regions, such as a function, so that much of its meaning
    /// stands elsewhere.
    pub fn of(module: &Module, op: OpId) -> Option<Profile> {
        let mut profile = Profile(SmallVec::new());
        if module.region_count(op) == 0 {
            profile.head(module, op)?;
            profile.0.extend(module.operands(op).map(|operand| id(module.ty(operand))));
            return Some(profile);
        }
        let mut numbers = FxHashMap::default();
        for inner in module.walk(op) {
            profile.head(module, inner)?;
            for operand in module.operands(inner) {
                profile.value(module, operand, &mut numbers);
            }
            for result in module.results(inner).filter(|_| inner != op) {
                let number = numbers.len() as u32;
                numbers.insert(result, number);
            }
            profile.0.push(module.region_count(inner) as u32);
            for region in module.regions(inner) {
                profile.0.push(module.blocks(region).len() as u32);
                for &block in module.blocks(region) {
                    profile.0.push(module.ops(block).count() as u32);
                    profile.0.push(module.arguments(block).len() as u32);
                    for &argument in module.arguments(block) {
                        profile.value(module, argument, &mut numbers);
                    }
                }
            }
        }
        Some(profile)
    }

    fn head(&mut self, module: &Module, op: OpId) -> Option<()> {
        if !module.successors(op).is_empty() || module.has(op, Trait::Symbol) {
            return None;
        }
        self.kind(module, op);
        for &(_, attr) in module.attrs(op) {
            if let AttrData::Symbol(path) = module.attr_data(attr) {
                let target = module.resolve_symbol(op, path)?;
                if module.region_count(target) > 0 {
                    return None;
                }
                self.kind(module, target);
            }
        }
        self.0.extend([module.operand_count(op) as u32, module.result_count(op) as u32]);
        self.0.extend(module.results(op).map(|result| id(module.ty(result))));
        Some(())
    }

    fn kind(&mut self, module: &Module, op: OpId) {
        let address = std::ptr::from_ref(module.def(op)).addr() as u64;
        self.0.extend([address as u32, (address >> 32) as u32, id(module.attr_dict(op))]);
    }

    fn value(&mut self, module: &Module, value: ValueId, numbers: &mut FxHashMap<ValueId, u32>) {
        let next = numbers.len() as u32;
        let number = *numbers.entry(value).or_insert(next);
        self.0.push(number);
        if number == next {
            self.0.push(id(module.ty(value)));
            let constant = module
                .defining_op(value)
                .filter(|&op| module.has(op, Trait::Constant))
                .and_then(|op| module.attr(op, VALUE));
            self.0.push(constant.map_or(0, |attr| id(attr) + 1));
        }
    }
}

fn id(entity: impl EntityId) -> u32 {
    entity.index() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ANY, END, NAMED, SCOPE, any_op, f32, function, module};
    use crate::{BlockId, Builder, ElementType, SYMBOL_NAME, Type};

    /// A scope with one block that takes a scalar and ends with it and, perhaps, a value from outside.
    fn scope(module: &mut Module, block: BlockId, ty: Type, captured: Option<ValueId>) -> OpId {
        let op = Builder::at_end(module, block).op(&SCOPE).region().build();
        let inner = module.append_block(module.region(op, 0));
        let argument = module.append_argument(inner, ty);
        Builder::at_end(module, inner).op(&END).operands([argument].into_iter().chain(captured)).build();
        op
    }

    #[test]
    fn what_is_alike_has_one_profile() {
        let mut module = module();
        let (function, block) = function(&mut module, "f");
        let [first, second] = [0, 1].map(|_| any_op(&mut module, block, &[], 1));
        let [x, y] = [first, second].map(|op| module.result(op, 0));
        let of = |module: &Module, op| Profile::of(module, op).unwrap();
        assert_eq!(of(&module, first), of(&module, second));
        // Which values an op takes does not matter; their types and its attributes do.
        let [a, b] = [x, y].map(|value| any_op(&mut module, block, &[value], 1));
        assert_eq!(of(&module, a), of(&module, b));
        assert_ne!(of(&module, a), of(&module, first));
        let before = of(&module, a);
        let ints = module.interner.ints([1, 2]);
        module.set_attr(a, "list", ints);
        assert_ne!(of(&module, a), before);
        let tensor = module.interner.tensor(&[4], ElementType::F32);
        module.set_type(y, tensor);
        assert_ne!(of(&module, b), before);
        assert_eq!(Profile::of(&module, function), None);
    }

    #[test]
    fn regions_count_with_what_they_capture() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let scalar = f32(&mut module);
        let [x, y] = [0, 1].map(|_| {
            let op = any_op(&mut module, block, &[], 1);
            module.result(op, 0)
        });
        let [plain, again, with_x, with_y] = [None, None, Some(x), Some(y)]
            .map(|captured| scope(&mut module, block, scalar, captured))
            .map(|op| Profile::of(&module, op).unwrap());
        assert_eq!(plain, again);
        assert_eq!(with_x, with_y);
        assert_ne!(plain, with_x);
        let symbol = module.interner.symbol("f");
        let op = Builder::at_end(&mut module, block).op(&ANY).attr("a", symbol).build();
        assert_eq!(Profile::of(&module, op), None);
    }

    #[test]
    fn symbols_count_with_what_they_mean() {
        let mut module = module();
        let body = module.body();
        let (_, block) = function(&mut module, "f");
        let symbol = module.interner.symbol("named");
        let op = Builder::at_end(&mut module, block).op(&ANY).attr("a", symbol).build();
        assert_eq!(Profile::of(&module, op), None, "there is no `@named`");
        let named = Builder::at_end(&mut module, body).op(&NAMED).attr(SYMBOL_NAME, symbol).build();
        let before = Profile::of(&module, op);
        assert!(before.is_some());
        let one = module.interner.int(1);
        module.set_attr(named, "a", one);
        assert_ne!(Profile::of(&module, op), before);
        module.remove_attr(named, "a");
        assert_eq!(Profile::of(&module, op), before);
    }
}
