//! The pretty forms of ops.

use std::fmt::Write as _;

use tofu_ir::{AttrData, OpId, RegionId, Trait, VALUE, ValueId, write_string, write_word};

use super::{Foreign, Writer, attributes::dimension_numbers};
use crate::syntax::{Form, foreign_name};

impl Writer<'_> {
    /// Writes an op in its pretty form. False, with a part of it written, if it has none that says all of it.
    pub(super) fn pretty(&mut self, foreign: &Foreign, shape: Option<&str>) -> bool {
        if foreign.def.is_none() {
            return false;
        }
        let form = foreign.syntax.form;
        let has_regions = self.module.region_count(foreign.op) > 0;
        let written = match form {
            Form::Plain
            | Form::Functional
            | Form::Result
            | Form::Each
            | Form::NoResult
            | Form::Alike
            | Form::Chlo
            | Form::Rng
            | Form::Select => (!has_regions).then(|| self.plain(foreign, shape)).flatten(),
            Form::Call => self.call(foreign),
            Form::Collective => self.collective(foreign),
            Form::Compare => self.compare(foreign),
            Form::Composite => self.composite(foreign),
            Form::Constant => self.constant(foreign),
            Form::Convolution => self.convolution(foreign),
            Form::CustomCall => self.custom_call(foreign),
            Form::Expect => self.expect_constant(foreign),
            Form::Function => self.function(foreign),
            Form::DynamicConvolution | Form::Generic => None,
            Form::ManualComputation => self.computation(foreign, false),
            Form::Mesh => self.mesh(foreign),
            Form::Module => self.module_op(foreign),
            Form::NamedComputation => self.computation(foreign, true),
            Form::Reduce => self.reduce(foreign),
            Form::ReducePrecision => self.reduce_precision(foreign),
            Form::Sharding => self.sharding_op(foreign),
            Form::Slice => self.slice(foreign),
            Form::TopK => self.top_k(foreign),
            Form::TupleElement => self.tuple_element(foreign),
            Form::While => self.while_loop(foreign),
        };
        written.is_some()
    }

    fn name(&mut self, foreign: &Foreign) {
        self.out.push_str(if foreign.name == "func.return" { "return" } else { &foreign.name });
    }

    /// `{attributes}` but for those in `except`, if there are any.
    pub(super) fn dictionary(&mut self, foreign: &Foreign, except: &[&str]) {
        let (mut all, others) = self.attributes(foreign, except);
        all.extend(others);
        if !all.is_empty() {
            self.out.push(' ');
            self.braced(&all);
        }
    }

    /// `op %x, %y, key = value {attributes} : types`.
    fn plain(&mut self, foreign: &Foreign, shape: Option<&str>) -> Option<()> {
        let module = self.module;
        let op = foreign.op;
        self.name(foreign);
        self.out.push(' ');
        self.values(module.operands(op));
        let mut count = module.operand_count(op);
        if let Some(shape) = shape {
            let _ = write!(self.out, ", {shape}");
        }
        let mut written = vec![];
        let commas = foreign.name.starts_with("stablehlo.") || foreign.name.starts_with("check.");
        for syntax in foreign.syntax.attributes.iter().filter(|syntax| !syntax.key.is_empty()) {
            let value = match module.attr(op, syntax.ours) {
                Some(attr) => self.keyed_value(syntax, attr)?,
                None => match self.default_items(foreign, syntax) {
                    Some(items) => format!("[{}]", items.join(", ")),
                    None => continue,
                },
            };
            let separator = match count {
                0 => "",
                _ if commas => ", ",
                _ => " ",
            };
            let equals = if commas { " = " } else { "=" };
            let _ = write!(self.out, "{separator}{}{equals}{value}", syntax.key);
            written.push(syntax.ours);
            count += 1;
        }
        self.dictionary(foreign, &written);
        if self.out.ends_with(' ') {
            self.out.pop();
        }
        self.plain_types(foreign, shape)
    }

    fn plain_types(&mut self, foreign: &Foreign, shape: Option<&str>) -> Option<()> {
        let module = self.module;
        let op = foreign.op;
        let operands: Vec<_> = module.operands(op).map(|operand| module.ty(operand)).collect();
        let results: Vec<_> = module.results(op).map(|result| module.ty(result)).collect();
        if foreign.syntax.form == Form::NoResult && operands.is_empty() {
            return Some(());
        }
        self.out.push_str(" : ");
        match foreign.syntax.form {
            Form::Plain => match results[..] {
                [result] if !operands.is_empty() && operands.iter().all(|&operand| operand == result) => {
                    self.ty(result);
                }
                _ => self.functional_type(op, shape),
            },
            Form::Functional | Form::Rng => self.functional_type(op, shape),
            Form::Select => match (&operands[..], &results[..]) {
                (&[predicate, left, right], &[result]) if left == result && right == result => {
                    self.type_list([predicate, result].into_iter());
                }
                _ => self.functional_type(op, shape),
            },
            Form::Result | Form::Each => match results[..] {
                [] => return None,
                _ => self.type_list(results.into_iter()),
            },
            Form::NoResult => self.type_list(operands.into_iter()),
            Form::Alike => match operands[..] {
                [first, ref rest @ ..] if rest.iter().all(|&ty| ty == first) => self.ty(first),
                _ => return None,
            },
            Form::Chlo => {
                self.type_list(operands.into_iter());
                self.out.push_str(" -> ");
                self.result_types(op);
            }
            _ => return None,
        }
        Some(())
    }

    fn string(&self, op: OpId, name: &str) -> Option<String> {
        match self.module.attr_value(op, name)? {
            AttrData::String(text) => Some(text.to_string()),
            _ => None,
        }
    }

    fn ints(&self, op: OpId, name: &str) -> Option<Vec<i64>> {
        match self.module.attr_value(op, name)? {
            AttrData::Ints(items) => Some(items.to_vec()),
            _ => None,
        }
    }

    /// `{attributes} : (types) -> types`.
    fn rest(&mut self, foreign: &Foreign, except: &[&str]) -> Option<()> {
        self.dictionary(foreign, except);
        self.out.push_str(" : ");
        self.functional_type(foreign.op, None);
        Some(())
    }

    /// `func.call @f(%x) {attributes} : (types) -> types`.
    fn call(&mut self, foreign: &Foreign) -> Option<()> {
        let callee = self.module.attr(foreign.op, tofu_dialect_func::CALLEE)?;
        self.name(foreign);
        self.out.push(' ');
        self.attr(callee);
        self.parenthesized_operands(foreign.op);
        self.rest(foreign, &[tofu_dialect_func::CALLEE])
    }

    pub(super) fn parenthesized_operands(&mut self, op: OpId) {
        self.out.push('(');
        self.values(self.module.operands(op));
        self.out.push(')');
    }

    /// `compare LT, %x, %y, SIGNED : (types) -> type`.
    fn compare(&mut self, foreign: &Foreign) -> Option<()> {
        let direction = self.string(foreign.op, "direction")?;
        self.name(foreign);
        let _ = write!(self.out, " {direction}, ");
        self.values(self.module.operands(foreign.op));
        if let Some(ty) = self.string(foreign.op, "compare_type") {
            let _ = write!(self.out, ", {ty}");
        }
        self.rest(foreign, &["direction", "compare_type"])
    }

    /// `expect_eq_const %x, dense<…> : type`.
    fn expect_constant(&mut self, foreign: &Foreign) -> Option<()> {
        let value = self.module.attr(foreign.op, VALUE)?;
        self.name(foreign);
        self.out.push(' ');
        self.values(self.module.operands(foreign.op));
        self.out.push_str(", ");
        self.attr(value);
        self.dictionary(foreign, &[VALUE]);
        Some(())
    }

    /// `composite "name" %x, %y {attributes} : (types) -> types`.
    fn composite(&mut self, foreign: &Foreign) -> Option<()> {
        let name = self.string(foreign.op, "name")?;
        self.name(foreign);
        self.out.push(' ');
        write_string(&mut self.out, &name);
        self.out.push(' ');
        self.values(self.module.operands(foreign.op));
        self.rest(foreign, &["name"])
    }

    /// `constant dense<…> : type`.
    fn constant(&mut self, foreign: &Foreign) -> Option<()> {
        let AttrData::Dense(dense) = self.module.attr_value(foreign.op, VALUE)? else { return None };
        self.name(foreign);
        self.dictionary(foreign, &[VALUE]);
        self.out.push(' ');
        self.typed_dense(dense);
        Some(())
    }

    /// `convolution(%x, %w) dim_numbers = […]x[…]->[…], window = {…} {attributes} : (types) -> type`.
    fn convolution(&mut self, foreign: &Foreign) -> Option<()> {
        let dimensions = self.string(foreign.op, "dimensions")?;
        self.name(foreign);
        self.parenthesized_operands(foreign.op);
        let _ = write!(self.out, " dim_numbers = {}, window = {{", dimension_numbers(&dimensions));
        let mut written = vec!["dimensions"];
        for syntax in foreign.syntax.attributes.iter().filter(|syntax| !syntax.key.is_empty()) {
            let Some(attr) = self.module.attr(foreign.op, syntax.ours) else { continue };
            let value = self.keyed_value(syntax, attr)?;
            self.separate(written.len() - 1);
            let _ = write!(self.out, "{} = {value}", syntax.key);
            written.push(syntax.ours);
        }
        self.out.push('}');
        self.rest(foreign, &written)
    }

    /// `custom_call @target(%x) {attributes} : (types) -> types`.
    fn custom_call(&mut self, foreign: &Foreign) -> Option<()> {
        let target = self.string(foreign.op, "call_target_name")?;
        self.name(foreign);
        self.out.push_str(" @");
        write_word(&mut self.out, &target);
        self.parenthesized_operands(foreign.op);
        self.rest(foreign, &["call_target_name"])
    }

    /// `reduce(%x init: %c) applies op across dimensions = [0] : (types) -> types`, or with a reducer.
    fn reduce(&mut self, foreign: &Foreign) -> Option<()> {
        let module = self.module;
        let op = foreign.op;
        let operands: Vec<ValueId> = module.operands(op).collect();
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        let dimensions = module.attr(op, "dimensions")?;
        let body = module.only_region(op)?;
        self.name(foreign);
        for (index, (&input, &init)) in inputs.iter().zip(inits).enumerate() {
            self.out.push_str(if index > 0 { ", (" } else { "(" });
            self.value(input);
            self.out.push_str(" init: ");
            self.value(init);
            self.out.push(')');
        }
        // The short form has no place for a body that computes in wider types.
        let types = |values: &[ValueId]| values.iter().map(|&value| module.ty(value)).collect::<Vec<_>>();
        let is_plain = (module.entry(body))
            .is_some_and(|block| types(module.arguments(block)) == [types(inits), types(inits)].concat());
        let applied = if inputs.len() == 1 && is_plain { self.applied(body) } else { None };
        if let Some(applied) = &applied {
            let _ = write!(self.out, " applies {applied}");
        }
        let dimensions = self.attr_text(dimensions);
        let _ = write!(self.out, " across dimensions = {dimensions}");
        self.rest(foreign, &["dimensions"])?;
        if applied.is_some() {
            return Some(());
        }
        let [block] = *module.blocks(body) else { return None };
        let arguments = module.arguments(block);
        if arguments.len() != operands.len() {
            return None;
        }
        self.out.push('\n');
        self.line();
        self.out.push_str(" reducer");
        let (left, right) = arguments.split_at(inputs.len());
        for (index, (&left, &right)) in left.iter().zip(right).enumerate() {
            self.out.push_str(if index > 0 { " " } else { "" });
            self.arguments(&[left, right]);
        }
        self.out.push(' ');
        self.region(body, true);
        Some(())
    }

    /// The name of the one op that a reduction's body applies to its two arguments, if it is a commutative one.
    fn applied(&self, body: RegionId) -> Option<String> {
        let module = self.module;
        let [block] = *module.blocks(body) else { return None };
        let mut ops = module.ops(block);
        let (Some(inner), Some(end), None) = (ops.next(), ops.next(), ops.next()) else { return None };
        let is_plain = module.has(inner, Trait::Commutative)
            && module.attrs(inner).is_empty()
            && module.attrs(end).is_empty()
            && module.region_count(inner) == 0
            && module.result_count(inner) == 1
            && module.operands(inner).eq(module.arguments(block).iter().copied())
            && module.operands(end).eq(module.results(inner));
        let name = foreign_name(module.def(inner).name)?;
        (is_plain && name.starts_with("stablehlo.")).then_some(name)
    }

    /// `reduce_precision %x, format = e5m10 : type`.
    fn reduce_precision(&mut self, foreign: &Foreign) -> Option<()> {
        let bits = |name| match self.module.attr_value(foreign.op, name)? {
            AttrData::Int(value, _) => Some(*value),
            _ => None,
        };
        let (exponent, mantissa) = (bits("exponent_bits")?, bits("mantissa_bits")?);
        self.name(foreign);
        self.out.push(' ');
        self.values(self.module.operands(foreign.op));
        let _ = write!(self.out, ", format = e{exponent}m{mantissa}");
        self.rest(foreign, &["exponent_bits", "mantissa_bits"])
    }

    /// `slice %x [0:4, 1:8:2] : (type) -> type`.
    fn slice(&mut self, foreign: &Foreign) -> Option<()> {
        let op = foreign.op;
        let (start, limit) = (self.ints(op, "start")?, self.ints(op, "limit")?);
        let stride = self.ints(op, "stride").unwrap_or_else(|| vec![1; start.len()]);
        self.name(foreign);
        self.out.push(' ');
        self.values(self.module.operands(op));
        self.out.push_str(" [");
        for (index, ((start, limit), stride)) in start.iter().zip(&limit).zip(&stride).enumerate() {
            self.separate(index);
            let _ = write!(self.out, "{start}:{limit}");
            if *stride != 1 {
                let _ = write!(self.out, ":{stride}");
            }
        }
        self.out.push(']');
        self.rest(foreign, &["start", "limit", "stride"])
    }

    /// `top_k(%x, k = 8) : type -> (types)`.
    fn top_k(&mut self, foreign: &Foreign) -> Option<()> {
        let op = foreign.op;
        let k = foreign.syntax.of_ours("k")?;
        let value = self.module.attr(op, "k").and_then(|attr| self.keyed_value(k, attr))?;
        self.name(foreign);
        self.out.push('(');
        self.values(self.module.operands(op));
        let _ = write!(self.out, ", k = {value})");
        self.dictionary(foreign, &["k"]);
        self.out.push_str(" : ");
        self.type_list(
            self.module.operands(op).map(|operand| self.module.ty(operand)).collect::<Vec<_>>().into_iter(),
        );
        self.out.push_str(" -> ");
        self.result_types(op);
        Some(())
    }

    /// `get_tuple_element %x[0] : (type) -> type`.
    fn tuple_element(&mut self, foreign: &Foreign) -> Option<()> {
        let AttrData::Int(index, _) = self.module.attr_value(foreign.op, "index")? else { return None };
        self.name(foreign);
        self.out.push(' ');
        self.values(self.module.operands(foreign.op));
        let _ = write!(self.out, "[{index}]");
        self.rest(foreign, &["index"])
    }

    /// `while(%a = %x, …) : types attributes {…} cond { … } do { … }`. Both regions name their arguments alike.
    fn while_loop(&mut self, foreign: &Foreign) -> Option<()> {
        let module = self.module;
        let op = foreign.op;
        let regions: Vec<RegionId> = module.regions(op).collect();
        let [cond, body] = regions[..] else { return None };
        let arguments = |region| module.entry(region).map_or(&[][..], |block| module.arguments(block));
        let name = |writer: &Self, value: &ValueId| {
            let mut text = String::new();
            writer.names.write_value(&mut text, module, *value);
            text
        };
        let names: Vec<String> = arguments(cond).iter().map(|value| name(self, value)).collect();
        let are_alike = arguments(body).iter().map(|value| name(self, value)).eq(names.iter().cloned());
        if !are_alike || names.len() != module.operand_count(op) {
            return None;
        }
        self.name(foreign);
        self.out.push('(');
        for (index, (name, operand)) in names.iter().zip(module.operands(op)).enumerate() {
            self.separate(index);
            let _ = write!(self.out, "%{name} = ");
            self.value(operand);
        }
        self.out.push(')');
        if !names.is_empty() {
            self.out.push_str(" : ");
            self.type_list(module.results(op).map(|result| module.ty(result)));
        }
        let (mut all, others) = self.attributes(foreign, &[]);
        all.extend(others);
        if !all.is_empty() {
            self.out.push_str(" attributes ");
            self.braced(&all);
        }
        self.out.push('\n');
        self.line();
        self.out.push_str("cond ");
        self.region(cond, true);
        self.out.push_str(" do ");
        self.region(body, true);
        Some(())
    }
}
