//! One violation, or more, of each rule; and what looks like one, but is none.

use super::*;
use crate::testing::{
    ANY, CASES, END, EVEN, ISOLATED, ONE_BLOCK, SAID, SAME, SCOPE, any_op, end, f32, function, module,
};
use crate::{
    Builder, DenseConstant, DenseData, DialectType, Dim, ElementType, OpDef, OpState, ParametricDef,
    Successor, TensorType, op,
};

/// A terminator that continues nowhere.
static LAST: OpDef = op("t.last").traits(&[Trait::Terminator]);

/// A type that mentions a symbol.
static HOST: ParametricDef = ParametricDef::new("t.host");

/// A change of the program below.
type Change = fn(&mut Program);

/// A program with a function `f`, and the parts that the violations are made of.
struct Program {
    module: Module,
    function: OpId,
    block: BlockId,
    source: OpId,
    /// A scalar.
    x: ValueId,
    /// A tensor of four.
    tensor: ValueId,
    end: OpId,
}

fn program() -> Program {
    let mut module = module();
    let (function, block) = function(&mut module, "f");
    let (scalar, ty) = (f32(&mut module), module.interner.tensor(&[4], ElementType::F32));
    let source = Builder::at_end(&mut module, block).op(&ANY).results([scalar, ty]).build();
    let (x, tensor) = (module.result(source, 0), module.result(source, 1));
    let end = end(&mut module, block, &[]);
    Program { module, function, block, source, x, tensor, end }
}

impl Program {
    /// Adds an op before the terminator.
    fn add(&mut self, def: &'static OpDef, operands: &[ValueId], results: &[Type], regions: u16) -> OpId {
        let state = OpState::new(def)
            .operands(operands.iter().copied())
            .results(results.iter().copied())
            .regions(regions);
        let op = self.module.create(state);
        self.module.insert_before(self.end, op);
        op
    }

    fn body_of(&mut self, op: OpId) -> BlockId {
        let region = self.module.region(op, 0);
        self.module.append_block(region)
    }

    fn host(&mut self, symbol: &str) -> Type {
        let params = self.module.interner.symbol(symbol);
        self.module.interner.ty(TypeData::Dialect(DialectType { def: &HOST, params }))
    }

    /// Another block of the function, which ends, and which the entry continues at.
    fn next(&mut self, arguments: &[Type], given: &[ValueId]) -> BlockId {
        let block = self.body_of(self.function);
        for &ty in arguments {
            self.module.append_argument(block, ty);
        }
        end(&mut self.module, block, &[]);
        self.module.set_operands(self.end, given);
        self.module.set_successors(self.end, vec![Successor { block, argument_count: given.len() as u32 }]);
        block
    }

    /// Adds a constant as an attribute.
    fn dense(&mut self, dims: &[u64], element: ElementType, data: DenseData) {
        let ty = self.module.interner.tensor(dims, element);
        self.attr("a", AttrData::Dense(DenseConstant { ty, data }));
    }

    fn attr(&mut self, name: &str, data: AttrData) {
        let attr = self.module.interner.attr(data);
        self.module.set_attr(self.source, name, attr);
    }
}

#[test]
fn a_program_without_violations_has_none() {
    let found = verify(&program().module);
    assert!(found.is_empty(), "{found:?}");
}

/// Each breaks one rule of those above, and only this one.
#[test]
fn every_rule_is_kept() {
    let violations: &[(&str, &str, Change)] = &[
        ("an operand defined by nothing", "T0229", |p| {
            let ty = f32(&mut p.module);
            let value = p.module.create_forward_value(ty);
            p.add(&ANY, &[value], &[], 0);
        }),
        ("an operand whose op stands nowhere", "T0229", |p| {
            p.add(&ANY, &[p.x], &[], 0);
            p.module.detach(p.source);
        }),
        ("an operand that was erased", "T0229", |p| {
            p.add(&ANY, &[p.x], &[], 0);
            p.module.erase(p.source);
        }),
        ("a successor given more than there is", "T0229", |p| {
            let ty = p.module.ty(p.x);
            p.next(&[ty], &[p.x]);
            p.module.set_operands(p.end, &[]);
        }),
        ("successors given more than there is, together", "T0229", |p| {
            let block = p.next(&[], &[]);
            let successor = Successor { block, argument_count: u32::MAX };
            p.module.set_successors(p.end, vec![successor; 3]);
        }),
        ("attributes that are no dictionary", "T0229", |p| {
            let unit = p.module.interner.attr(AttrData::Unit);
            p.module.set_attr_dict(p.source, unit);
        }),
        ("an operand that could not be read", "T0229", |p| {
            let ty = p.module.interner.ty(TypeData::Error);
            let value = p.module.create_forward_value(ty);
            p.add(&ANY, &[value], &[], 0);
        }),
        ("a result of the error type", "T0229", |p| {
            let ty = p.module.interner.ty(TypeData::Error);
            let op = p.add(&ANY, &[], &[ty], 0);
            let value = p.module.result(op, 0);
            p.add(&ANY, &[value], &[], 0);
        }),
        ("the error type inside of another", "T0229", |p| {
            let ty = p.module.interner.ty(TypeData::Error);
            let ty = p.module.interner.ty(TypeData::Tuple([ty].into()));
            p.attr("a", AttrData::Type(ty));
        }),
        ("regions too deep", "T0103", |p| {
            let mut block = p.block;
            for _ in 0..MAX_REGION_DEPTH {
                let op = p.module.create(OpState::new(&ONE_BLOCK).regions(1));
                match p.module.first_op(block) {
                    Some(first) => p.module.insert_before(first, op),
                    None => p.module.append(block, op),
                }
                block = p.body_of(op);
            }
        }),
        ("two blocks where one is allowed", "T0218", |p| {
            let op = p.add(&ONE_BLOCK, &[], &[], 1);
            p.body_of(op);
            p.body_of(op);
        }),
        ("no block where one is needed", "T0218", |p| {
            p.add(&ONE_BLOCK, &[], &[], 1);
        }),
        ("no region", "T0218", |p| {
            p.add(&SCOPE, &[], &[], 0);
        }),
        ("no first region before any number of others", "T0218", |p| {
            p.add(&CASES, &[], &[], 0);
        }),
        ("no block in one of any number of regions", "T0218", |p| {
            let op = p.add(&CASES, &[], &[], 3);
            for number in [0, 1] {
                let region = p.module.region(op, number);
                p.module.append_block(region);
            }
        }),
        ("a region too many", "T0218", |p| {
            p.add(&SCOPE, &[], &[], 2);
        }),
        ("no terminator", "T0219", |p| p.module.erase(p.end)),
        ("an empty block", "T0219", |p| {
            let op = p.add(&SCOPE, &[], &[], 1);
            p.body_of(op);
        }),
        ("two terminators", "T0220", |p| {
            p.add(&END, &[], &[], 0);
        }),
        ("successors of no terminator", "T0220", |p| {
            let block = p.body_of(p.function);
            end(&mut p.module, block, &[]);
            p.module.set_successors(p.source, vec![Successor { block, argument_count: 0 }]);
        }),
        ("a successor elsewhere", "T0207", |p| {
            let op = p.add(&SCOPE, &[], &[], 1);
            let block = p.body_of(op);
            end(&mut p.module, block, &[]);
            p.module.set_successors(p.end, vec![Successor { block, argument_count: 0 }]);
        }),
        ("the entry as a successor", "T0207", |p| {
            p.module.set_successors(p.end, vec![Successor { block: p.block, argument_count: 0 }]);
        }),
        ("a successor given too little", "T0223", |p| {
            let block = p.body_of(p.function);
            let ty = f32(&mut p.module);
            p.module.append_argument(block, ty);
            end(&mut p.module, block, &[]);
            p.module.set_successors(p.end, vec![Successor { block, argument_count: 0 }]);
        }),
        ("a successor given another type", "T0223", |p| {
            let block = p.body_of(p.function);
            let ty = f32(&mut p.module);
            p.module.append_argument(block, ty);
            end(&mut p.module, block, &[]);
            p.module.set_operands(p.end, &[p.tensor]);
            p.module.set_successors(p.end, vec![Successor { block, argument_count: 1 }]);
        }),
        ("a use before the definition", "T0221", |p| {
            let op = p.add(&ANY, &[p.x], &[], 0);
            p.module.move_before(p.source, op);
        }),
        ("a use in a block that can be reached without the definition", "T0221", |p| {
            let (left, right) = (p.body_of(p.function), p.body_of(p.function));
            let both = [left, right].map(|block| Successor { block, argument_count: 0 });
            p.module.set_successors(p.end, both.to_vec());
            let op = any_op(&mut p.module, left, &[], 1);
            let value = p.module.result(op, 0);
            end(&mut p.module, left, &[right]);
            any_op(&mut p.module, right, &[value], 0);
            end(&mut p.module, right, &[]);
        }),
        ("a use of a value of an inner region", "T0221", |p| {
            let op = p.add(&ONE_BLOCK, &[], &[], 1);
            let block = p.body_of(op);
            let inner = any_op(&mut p.module, block, &[], 1);
            let value = p.module.result(inner, 0);
            p.add(&ANY, &[value], &[], 0);
        }),
        ("an op that uses its own result", "T0221", |p| {
            let ty = f32(&mut p.module);
            let op = p.add(&ANY, &[], &[ty], 0);
            let own = p.module.result(op, 0);
            p.module.set_operands(op, &[own]);
        }),
        ("a value from outside an isolated op", "T0222", |p| {
            let op = p.add(&ISOLATED, &[], &[], 1);
            let block = p.body_of(op);
            any_op(&mut p.module, block, &[p.x], 0);
        }),
        ("a name twice", "T0210", |p| {
            let (_, block) = function(&mut p.module, "f");
            end(&mut p.module, block, &[]);
        }),
        ("a symbol that nothing has", "T0209", |p| {
            let symbol = p.module.interner.symbol("missing");
            let dict = [(p.module.interner.name("deep"), symbol)];
            let dict = p.module.interner.dict(&dict);
            p.attr("a", AttrData::Array(Box::new([dict])));
        }),
        ("a symbol in a result's type that nothing has", "T0209", |p| {
            let ty = p.host("missing");
            p.add(&ANY, &[], &[ty], 0);
        }),
        ("a symbol in an argument's type that nothing has", "T0209", |p| {
            let ty = p.host("missing");
            let ty = p.module.interner.ty(TypeData::Tuple([ty, ty].into()));
            let op = p.add(&ISOLATED, &[], &[], 1);
            let block = p.body_of(op);
            p.module.append_argument(block, ty);
        }),
        ("a symbol in an attribute's type that nothing has", "T0209", |p| {
            let ty = p.host("missing");
            p.attr("a", AttrData::Type(ty));
        }),
        ("a function in a function", "T0227", |p| {
            let (inner, block) = function(&mut p.module, "inner");
            end(&mut p.module, block, &[]);
            p.module.move_before(p.end, inner);
        }),
        ("too few operands", "T0211", |p| {
            let ty = p.module.ty(p.tensor);
            p.add(&SAME, &[], &[ty], 0);
        }),
        ("an operand of the wrong type", "T0213", |p| {
            let ty = p.module.ty(p.tensor);
            p.add(&SAME, &[p.x], &[ty], 0);
        }),
        ("a result too few", "T0212", |p| {
            p.add(&SAME, &[p.tensor], &[], 0);
        }),
        ("a result of another type", "T0214", |p| {
            let ty = p.module.interner.tensor(&[5], ElementType::F32);
            p.add(&SAME, &[p.tensor], &[ty], 0);
        }),
        ("a successor of an op that takes none", "T0230", |p| {
            let block = p.next(&[], &[]);
            p.module.erase(p.end);
            Builder::at_end(&mut p.module, p.block).op(&LAST).successor(block, []).build();
        }),
        ("an unknown attribute", "T0204", |p| p.attr("b", AttrData::Unit)),
        ("an attribute of the wrong kind", "T0217", |p| p.attr("list", AttrData::Unit)),
        ("a missing attribute", "T0216", |p| p.module.remove_attr(p.function, FUNCTION_TYPE)),
        ("a body that is not of the function's type", "T0226", |p| {
            let ty = f32(&mut p.module);
            p.module.append_argument(p.block, ty);
        }),
        ("what the definition itself checks", "T0225", |p| {
            let ty = p.module.ty(p.tensor);
            let op = p.add(&SAME, &[p.tensor], &[ty], 0);
            let result = p.module.result(op, 0);
            p.add(&ANY, &[result], &[], 0);
        }),
        ("a tensor too large", "T0224", |p| {
            let ty = p.module.interner.tensor(&[1 << 60], ElementType::F32);
            p.add(&ANY, &[], &[ty], 0);
        }),
        ("an integer out of range", "T0217", |p| p.attr("a", AttrData::Int(128, ElementType::I8))),
        ("an integer that is a float", "T0217", |p| p.attr("a", AttrData::Int(3, ElementType::F32))),
        ("a float that is an integer", "T0217", |p| p.attr("a", AttrData::Float(3, ElementType::I32))),
        ("a float of too many bits", "T0217", |p| p.attr("a", AttrData::Float(1 << 16, ElementType::F16))),
        ("a number out of range deep inside", "T0217", |p| {
            let number = p.module.interner.attr(AttrData::Int(2, ElementType::I1));
            let pair = p.module.interner.attr(AttrData::Pair(number, number));
            p.attr("a", AttrData::Array([pair, pair].into()));
        }),
        ("a constant that is too short", "T0217", |p| {
            p.dense(&[4], ElementType::F32, DenseData::Bytes([1, 2, 3].into()));
        }),
        ("a constant of one element that does not say so", "T0217", |p| {
            p.dense(&[4], ElementType::F32, DenseData::Bytes([1, 2, 3, 4].into()));
        }),
        ("a splat of nothing", "T0217", |p| {
            p.dense(&[4], ElementType::F32, DenseData::Splat([].into_iter().collect()));
        }),
        ("a constant whose byte is no element", "T0217", |p| {
            p.dense(&[2], ElementType::I4, DenseData::Bytes([7, 8].into()));
        }),
        ("a constant of unknown extent", "T0217", |p| {
            let dims = [Dim::Unknown].into_iter().collect();
            let ty = p.module.interner.ty(TensorType { dims, element: ElementType::I8 });
            let data = DenseData::Bytes([7, 8].into());
            p.attr("a", AttrData::Dense(DenseConstant { ty, data }));
        }),
        ("a constant that is no tensor", "T0217", |p| {
            let ty = f32(&mut p.module);
            let data = DenseData::Bytes([0; 4].into());
            p.attr("a", AttrData::Dense(DenseConstant { ty, data }));
        }),
        ("a key that occurs twice", "T0228", |p| {
            let (key, unit) = (p.module.interner.name("k"), p.module.interner.attr(AttrData::Unit));
            let one = p.module.interner.int(1);
            p.attr("a", AttrData::Dict([(key, unit), (key, one)].into()));
        }),
        ("an attribute that occurs twice", "T0228", |p| {
            let (key, unit) = (p.module.interner.name("a"), p.module.interner.attr(AttrData::Unit));
            let dict = p.module.interner.attr(AttrData::Dict([(key, unit), (key, unit)].into()));
            p.module.set_attr_dict(p.source, dict);
        }),
        ("parameters that the dialect refuses", "T0217", |p| {
            let params = p.module.interner.ints([1]);
            let ty = p.module.interner.ty(TypeData::Dialect(DialectType { def: &EVEN, params }));
            p.attr("a", AttrData::Type(ty));
        }),
    ];
    for &(what, code, violate) in violations {
        let mut program = program();
        violate(&mut program);
        let found: Vec<(&str, String)> =
            verify(&program.module).into_iter().map(|found| (found.code.id, found.message)).collect();
        assert!(found.len() == 1 && found[0].0 == code, "{what}: {found:?}");
    }
}

/// The valid twins of the violations.
#[test]
fn what_keeps_the_rules_is_not_reported() {
    let changes: &[(&str, Change)] = &[
        ("a use after the definition", |p| {
            let op = p.add(&ANY, &[p.x, p.x], &[], 0);
            p.module.move_after(p.source, op);
        }),
        ("regions as deep as allowed", |p| {
            let mut block = p.block;
            // The root and the function are around them, and the innermost op has no region.
            for _ in 0..MAX_REGION_DEPTH - 2 {
                let op = p.module.create(OpState::new(&ONE_BLOCK).regions(1));
                match p.module.first_op(block) {
                    Some(first) => p.module.insert_before(first, op),
                    None => p.module.append(block, op),
                }
                block = p.body_of(op);
            }
            any_op(&mut p.module, block, &[], 0);
        }),
        ("more regions where any number is allowed", |p| {
            for count in 1..4 {
                let op = p.add(&CASES, &[], &[], count);
                for number in 0..count {
                    let region = p.module.region(op, number.into());
                    p.module.append_block(region);
                }
            }
        }),
        ("an empty block where no terminator is needed", |p| {
            let op = p.add(&ONE_BLOCK, &[], &[], 1);
            p.body_of(op);
        }),
        ("a region without blocks where any number is allowed", |p| {
            p.add(&SCOPE, &[], &[], 1);
        }),
        ("a terminator in each block", |p| {
            let op = p.add(&SCOPE, &[], &[], 1);
            let (first, second) = (p.body_of(op), p.body_of(op));
            end(&mut p.module, second, &[second]);
            end(&mut p.module, first, &[second]);
        }),
        ("a successor given what it takes", |p| {
            let types = [p.module.ty(p.x), p.module.ty(p.tensor)];
            p.next(&types, &[p.x, p.tensor]);
        }),
        ("operands of the op's own before those of successors", |p| {
            let block = p.next(&[], &[]);
            p.module.set_operands(p.end, &[p.x, p.tensor]);
            let ty = p.module.ty(p.tensor);
            p.module.append_argument(block, ty);
            p.module.set_successors(p.end, vec![Successor { block, argument_count: 1 }]);
            assert_eq!(p.module.own_operands(p.end).collect::<Vec<_>>(), [p.x]);
        }),
        ("a terminator that continues nowhere", |p| {
            p.module.erase(p.end);
            Builder::at_end(&mut p.module, p.block).op(&LAST).build();
        }),
        ("a use in a block that is reached only with the definition", |p| {
            let block = p.next(&[], &[]);
            let last = p.module.last_op(block).unwrap();
            let user = p.module.create(OpState::new(&ANY).operands([p.x]));
            p.module.insert_before(last, user);
        }),
        ("a use of a value from around", |p| {
            let op = p.add(&ONE_BLOCK, &[], &[], 1);
            let block = p.body_of(op);
            any_op(&mut p.module, block, &[p.x], 0);
        }),
        ("a value of an isolated op, in it", |p| {
            let op = p.add(&ISOLATED, &[], &[], 1);
            let block = p.body_of(op);
            let inner = any_op(&mut p.module, block, &[], 1);
            let value = p.module.result(inner, 0);
            any_op(&mut p.module, block, &[value], 0);
        }),
        ("two names", |p| {
            let (_, block) = function(&mut p.module, "g");
            end(&mut p.module, block, &[]);
        }),
        ("a symbol that something has", |p| {
            let symbol = p.module.interner.symbol("f");
            let key = p.module.interner.name("deep");
            let dict = p.module.interner.dict(&[(key, symbol)]);
            p.attr("a", AttrData::Array([dict].into()));
        }),
        ("symbols in types that something has", |p| {
            let ty = p.host("f");
            p.add(&ANY, &[], &[ty], 0);
            p.attr("a", AttrData::Type(ty));
            let op = p.add(&ISOLATED, &[], &[], 1);
            let block = p.body_of(op);
            p.module.append_argument(block, ty);
        }),
        ("operands and results that fit", |p| {
            let ty = p.module.ty(p.tensor);
            p.add(&SAME, &[p.tensor], &[ty], 0);
        }),
        ("an attribute of the right kind", |p| {
            let list = p.module.interner.ints([1, 2]);
            p.module.set_attr(p.source, "list", list);
        }),
        ("what a dialect says about any op", |p| p.attr("t.anything", AttrData::Unit)),
        ("a body that is of the function's type", |p| {
            let scalar = f32(&mut p.module);
            let ty = p.module.interner.function(&[scalar], &[]);
            let ty = p.module.interner.attr(AttrData::Type(ty));
            p.module.set_attr(p.function, FUNCTION_TYPE, ty);
            p.module.append_argument(p.block, scalar);
        }),
        ("the largest tensor", |p| {
            let ty = p.module.interner.tensor(&[1 << 58], ElementType::F32);
            p.add(&ANY, &[], &[ty], 0);
        }),
        ("the largest integer", |p| p.attr("a", AttrData::Int(127, ElementType::I8))),
        ("a float of all bits", |p| p.attr("a", AttrData::Float(0xFFFF, ElementType::F16))),
        ("a double of all bits", |p| p.attr("a", AttrData::Float(u64::MAX, ElementType::F64))),
        ("a constant", |p| p.dense(&[2], ElementType::I16, DenseData::Bytes([1, 2, 3, 4].into()))),
        ("a splat", |p| p.dense(&[9], ElementType::I16, DenseData::Splat([1, 2].into_iter().collect()))),
        ("a constant without elements", |p| p.dense(&[0], ElementType::I16, DenseData::Bytes([].into()))),
        ("a negative narrow element", |p| {
            p.dense(&[2], ElementType::I4, DenseData::Bytes([7, 0xF8].into()));
        }),
        ("keys that differ", |p| {
            let (a, b) = (p.module.interner.name("k"), p.module.interner.name("l"));
            let unit = p.module.interner.attr(AttrData::Unit);
            p.attr("a", AttrData::Dict([(a, unit), (b, unit)].into()));
        }),
        ("parameters that the dialect takes", |p| {
            let params = p.module.interner.ints([1, 2]);
            let ty = p.module.interner.ty(TypeData::Dialect(DialectType { def: &EVEN, params }));
            p.attr("a", AttrData::Type(ty));
        }),
    ];
    for (what, change) in changes {
        let mut program = program();
        change(&mut program);
        let found = verify(&program.module);
        assert!(found.is_empty(), "{what}: {found:?}");
    }
}

#[test]
fn the_error_type_is_allowed_where_something_was_wrong_before() {
    let mut p = program();
    let ty = p.module.interner.ty(TypeData::Error);
    let value = p.module.create_forward_value(ty);
    p.add(&SAME, &[value], &[ty], 0);
    assert!(verify_damaged(&p.module, &Damage::default()).is_empty());
    assert_eq!(verify(&p.module).len(), 1);
}

#[test]
fn what_is_wrong_with_a_shared_type_is_said_once() {
    let mut p = program();
    let params = p.module.interner.ints([1]);
    let wrong = p.module.interner.ty(TypeData::Dialect(DialectType { def: &EVEN, params }));
    let mut pair = wrong;
    for _ in 0..64 {
        pair = p.module.interner.ty(TypeData::Tuple([pair, pair].into()));
    }
    p.add(&ANY, &[], &[wrong, pair], 0);
    p.add(&ANY, &[], &[pair], 0);
    assert_eq!(verify(&p.module).len(), 1);
}

#[test]
fn attributes_are_checked_wherever_they_are_used() {
    let mut p = program();
    let params = p.module.interner.ints([]);
    let said = p.module.interner.attr(AttrData::Dialect(DialectAttr { def: &SAID, params }));
    let list = p.module.interner.attr(AttrData::Array([p.module.interner.empty_dict(), said].into()));
    let key = p.module.interner.name("t.key");
    let dict = p.module.interner.dict(&[(key, said)]);
    let dicts = p.module.interner.attr(AttrData::Array([p.module.interner.empty_dict(), dict].into()));
    p.module.set_attr(p.function, ARGUMENT_ATTRIBUTES, dicts);
    p.module.set_attr(p.function, RESULT_ATTRIBUTES, dicts);
    p.module.set_attr(p.source, "a", said);
    p.module.set_attr(p.source, "t.list", list);
    let found: Vec<String> = verify(&p.module).into_iter().map(|found| found.message).collect();
    assert_eq!(found, ["t.key Argument(1)", "t.key Result(1)", "a Op", "t.list Item(1)"]);
}

#[test]
fn unknown_extents_agree_with_known_ones() {
    let mut p = program();
    let loose = TensorType { dims: [Dim::Unknown].into_iter().collect(), element: ElementType::F32 };
    let loose = p.module.interner.ty(loose);
    p.add(&SAME, &[p.tensor], &[loose], 0);
    assert!(verify(&p.module).is_empty());
}

#[test]
fn a_block_that_no_way_leads_to_may_use_anything() {
    let mut p = program();
    let block = p.body_of(p.function);
    any_op(&mut p.module, block, &[p.x], 0);
    end(&mut p.module, block, &[]);
    assert!(verify(&p.module).is_empty());
}

#[test]
fn nothing_is_said_about_the_consequences_of_known_damage() {
    let mut p = program();
    p.module.erase(p.end);
    let symbol = p.module.interner.symbol("missing");
    p.module.set_attr(p.source, "a", symbol);
    p.module.set_attr(p.function, "odd", symbol);
    let damage = Damage {
        blocks: [p.block].into_iter().collect(),
        symbols: [p.module.interner.name("missing")].into_iter().collect(),
        ops: [p.function].into_iter().collect(),
    };
    assert!(verify_damaged(&p.module, &damage).is_empty());
    assert_eq!(verify(&p.module).len(), 3);
}

#[test]
fn violations_are_counted_only_so_far() {
    let mut p = program();
    let unit = p.module.interner.attr(AttrData::Unit);
    for _ in 0..2 * MAX_VIOLATIONS {
        let op = p.add(&ANY, &[], &[], 0);
        p.module.set_attr(op, "wrong", unit);
    }
    assert_eq!(verify(&p.module).len(), MAX_VIOLATIONS);
}
