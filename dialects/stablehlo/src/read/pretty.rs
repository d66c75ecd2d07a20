//! The pretty forms of ops.

use smallvec::SmallVec;
use tofu_diagnostics::{Span, codes};
use tofu_dialect_tensor::YIELD;
use tofu_ir::{Attr, AttrData, ElementType, OpState, ParametricDef, Type, VALUE, ValueId};
use tofu_syntax::literals::number;

use super::{
    Read, Reader, Reported,
    regions::Argument,
    statement::{Kind as OpKind, Op},
};
use crate::{
    dialect::SHARDING,
    syntax::{AttributeSyntax, Form, Kind, NO_TYPE},
};

impl<'s> Reader<'s> {
    pub(super) fn pretty(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        // Of an op that is not known neither is its form.
        if kind.def.is_none() && !op.name.starts_with("stablehlo.") && !op.name.starts_with("chlo.") {
            let diagnostic = self.unknown(op.name, op.name_span);
            let help =
                "an unknown op can be kept if it is written in the generic form, `\"op\"(…) : (…) -> …`";
            let is_kept = self.options.allow_unregistered;
            self.report(if is_kept { diagnostic.help(help) } else { diagnostic });
            return Err(Reported);
        }
        match kind.syntax.form {
            Form::Plain
            | Form::Functional
            | Form::Result
            | Form::Each
            | Form::NoResult
            | Form::Alike
            | Form::Chlo
            | Form::Rng
            | Form::Select
            | Form::Generic => self.plain(op, kind)?,
            Form::Call => self.call(op)?,
            Form::Collective => self.collective(op, kind)?,
            Form::Compare => self.compare(op, kind)?,
            Form::Composite => self.composite(op)?,
            Form::Constant => self.constant(op)?,
            Form::Convolution | Form::DynamicConvolution => self.convolution(op, kind)?,
            Form::CustomCall => self.custom_call(op)?,
            Form::Expect => self.expect_constant(op)?,
            Form::Function => self.function(op)?,
            Form::ManualComputation => self.manual_computation(op)?,
            Form::Mesh => self.mesh(op)?,
            Form::Module => self.module_op(op)?,
            Form::NamedComputation => self.named_computation(op)?,
            Form::Reduce => self.reduce(op)?,
            Form::ReducePrecision => self.reduce_precision(op)?,
            Form::Sharding => self.sharding_op(op)?,
            Form::Slice => self.slice(op, kind)?,
            Form::TopK => self.top_k(op, kind)?,
            Form::TupleElement => self.tuple_element(op)?,
            Form::While => self.while_loop(op)?,
        }
        if op.location.is_none() {
            op.location = self.optional_location()?;
        }
        self.end_of_statement()
    }

    /// `%x, %y, key = value {attributes} : types`.
    fn plain(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        let form = kind.syntax.form;
        let line = self.text[self.at..].trim_start_matches([' ', '\t']);
        if form == Form::NoResult && line.starts_with(['\n', '\r']) {
            return Ok(());
        }
        let mut is_asked_for = false;
        loop {
            let word = self.peek_word();
            match kind.syntax.keyed(word) {
                Some(attribute) => self.keyed_attribute(op, attribute)?,
                None if self.next() == b'%' => {
                    let operand = self.value()?;
                    op.operand(operand);
                }
                None if is_asked_for => return self.expected("a value (`%name`) or an attribute after `,`"),
                None => break,
            }
            is_asked_for = self.take(b',');
        }
        self.attribute_dictionary(op)?;
        if form == Form::NoResult && self.next() != b':' {
            return Ok(());
        }
        self.plain_types(op, form)
    }

    /// `{attributes}`, if it stands here.
    pub(super) fn attribute_dictionary(&mut self, op: &mut Op<'s>) -> Read {
        if self.next() == b'{' { self.entries(&mut op.attributes) } else { Ok(()) }
    }

    /// `: types`.
    fn plain_types(&mut self, op: &mut Op<'s>, form: Form) -> Read {
        if !self.take(b':') {
            return self.expected("`:` and the types");
        }
        self.next();
        let start = self.at;
        let mut types: SmallVec<[Type; 4]> = SmallVec::new();
        if self.take(b'(') {
            types = self.types_until(b')')?;
        } else {
            loop {
                types.push(self.ty()?);
                if !self.take(b',') {
                    break;
                }
            }
        }
        if self.take_text("->") {
            self.check_inputs(op, &types, start);
            op.types = self.result_types()?;
            return Ok(());
        }
        match form {
            Form::NoResult => self.check_inputs(op, &types, start),
            Form::Alike => {
                let types = vec![types[0]; op.operands.len()];
                self.check_inputs(op, &types, start);
            }
            Form::Each => {
                self.check_inputs(op, &types, start);
                op.types = types;
            }
            _ => op.types.extend(types.last().copied()),
        }
        Ok(())
    }

    /// `key = value`.
    pub(super) fn keyed_attribute(&mut self, op: &mut Op<'s>, attribute: &'static AttributeSyntax) -> Read {
        let start = self.at;
        self.expect_word(attribute.key)?;
        self.expect(b'=')?;
        let attr = self.keyed_value(attribute.kind)?;
        let span = self.span(start, self.at);
        self.push(op, attribute.ours, attr, span);
        Ok(())
    }

    fn keyed_value(&mut self, kind: Kind) -> Read<Attr> {
        let data = match kind {
            Kind::Ints => AttrData::Ints(self.integers()?.into()),
            Kind::Bools => AttrData::Ints(self.booleans()?.into()),
            Kind::Padding => return self.rows_of_two(),
            Kind::Bool => match self.peek_word() {
                word @ ("true" | "false") => {
                    self.at += word.len();
                    AttrData::Bool(word == "true")
                }
                _ => return self.expected("`true` or `false`"),
            },
            Kind::Float => return self.float(),
            Kind::Int(_) => return self.integer().map(|value| self.module.interner.int(value)),
            Kind::Word(_) => AttrData::String(self.word("a word")?.into()),
            Kind::Words(def) => return self.words(def),
            Kind::Fields(def) => return self.bare_attribute(def),
            Kind::Sharding => return self.bare_attribute(&SHARDING),
            Kind::Choice(words) => {
                let (_, span) = self.token();
                let word = self.word("a word")?;
                let Some(index) = words.iter().position(|&choice| choice == word) else {
                    let message = format!("expected {}, found `{word}`", words.join(", "));
                    return self.fail(&codes::SYNTAX, span, message);
                };
                return Ok(self.module.interner.int(index as i64));
            }
            Kind::Pair(..) => {
                let left = self.integers()?;
                self.expect_word("x")?;
                let right = self.integers()?;
                return Ok(self.pair(&left, &right));
            }
            Kind::Conv => AttrData::String(self.dimension_numbers()?.into()),
            Kind::Axes(_) | Kind::Same | Kind::Dot | Kind::Flat(..) => return self.attribute(),
        };
        Ok(self.module.interner.attr(data))
    }

    /// `0.1`, of 64 bits.
    fn float(&mut self) -> Read<Attr> {
        self.next();
        let (start, text) = (self.at, self.peek_number());
        self.at += text.len();
        match number(text, ElementType::F64) {
            Ok(data) => Ok(self.module.interner.attr(data)),
            Err(message) => self.fail(&codes::BAD_LITERAL, self.span(start, self.at), message),
        }
    }

    /// `[true, false]`, or with numbers.
    fn booleans(&mut self) -> Read<Vec<i64>> {
        self.expect(b'[')?;
        let mut values = Vec::new();
        while !self.take(b']') {
            if !values.is_empty() {
                self.comma_or("]")?;
            }
            let value = if self.take_word("true") {
                1
            } else if self.take_word("false") {
                0
            } else {
                i64::from(self.integer()? != 0)
            };
            values.push(value);
        }
        Ok(values)
    }

    /// `[[1, 2], [3, 4]]` as a pair of lists.
    fn rows_of_two(&mut self) -> Read<Attr> {
        self.expect(b'[')?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while !self.take(b']') {
            if !left.is_empty() {
                self.comma_or("]")?;
            }
            self.expect(b'[')?;
            left.push(self.integer()?);
            self.expect(b',')?;
            right.push(self.integer()?);
            self.expect(b']')?;
        }
        Ok(self.pair(&left, &right))
    }

    /// `[HIGH, HIGH]`, words of an enumeration.
    fn words(&mut self, def: &'static ParametricDef) -> Read<Attr> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        while !self.take(b']') {
            if !items.is_empty() {
                self.comma_or("]")?;
            }
            self.next();
            let start = self.at;
            let word = self.word("a word")?;
            let params = self.module.interner.string(word);
            let span = self.span(start, self.at);
            items.push(self.checked(def, params, span)?);
        }
        Ok(self.module.interner.attr(AttrData::Array(items.into())))
    }

    /// Adds an attribute that the generic form calls `name`.
    fn push_known(&mut self, op: &mut Op<'s>, kind: OpKind, name: &str, attr: Attr, start: usize) {
        let span = self.span(start, self.at);
        let ours = kind.syntax.attribute(name).map_or(name, |attribute| attribute.ours);
        self.push(op, ours, attr, span);
    }

    /// `compare LT, %x, %y, SIGNED : (types) -> type`.
    fn compare(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        self.next();
        let start = self.at;
        let direction = self.word("a direction (`LT`)")?;
        let direction = self.module.interner.string(direction);
        self.push_known(op, kind, "comparison_direction", direction, start);
        for _ in 0..2 {
            self.expect(b',')?;
            let operand = self.value()?;
            op.operand(operand);
        }
        if self.take(b',') {
            self.next();
            let start = self.at;
            let ty = self.word("a type of comparison (`FLOAT`)")?;
            if ty != NO_TYPE {
                let ty = self.module.interner.string(ty);
                self.push_known(op, kind, "compare_type", ty, start);
            }
        }
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `constant dense<…> : type`.
    fn constant(&mut self, op: &mut Op<'s>) -> Read {
        self.attribute_dictionary(op)?;
        self.next();
        let start = self.at;
        let attr = self.attribute()?;
        let AttrData::Dense(dense) = self.module.attr_data(attr) else {
            let message = "the value of a constant must be `dense<…>` of a tensor type";
            return self.fail(&codes::WRONG_ATTRIBUTE, self.span(start, self.at), message);
        };
        op.types.push(dense.ty);
        let span = self.span(start, self.at);
        self.push(op, VALUE, attr, span);
        Ok(())
    }

    /// `expect_eq_const %x, dense<…> : type`.
    fn expect_constant(&mut self, op: &mut Op<'s>) -> Read {
        let operand = self.value()?;
        op.operand(operand);
        self.expect(b',')?;
        self.next();
        let start = self.at;
        let attr = self.attribute()?;
        let span = self.span(start, self.at);
        self.push(op, VALUE, attr, span);
        self.attribute_dictionary(op)
    }

    /// `slice %x [0:4, 1:8:2] : (type) -> type`.
    fn slice(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        let operand = self.value()?;
        op.operand(operand);
        self.next();
        let place = self.at;
        self.expect(b'[')?;
        let (mut start, mut limit, mut stride) = (Vec::new(), Vec::new(), Vec::new());
        while !self.take(b']') {
            if !start.is_empty() {
                self.comma_or("]")?;
            }
            start.push(self.integer()?);
            self.expect(b':')?;
            limit.push(self.integer()?);
            stride.push(if self.take(b':') { self.integer()? } else { 1 });
        }
        for (name, values) in [("start_indices", start), ("limit_indices", limit), ("strides", stride)] {
            let attr = self.module.interner.ints(values);
            self.push_known(op, kind, name, attr, place);
        }
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `get_tuple_element %x[0] : (type) -> type`.
    fn tuple_element(&mut self, op: &mut Op<'s>) -> Read {
        let operand = self.value()?;
        op.operand(operand);
        self.expect(b'[')?;
        let start = self.at;
        let index = self.integer()?;
        let index = self.module.interner.int(index);
        let span = self.span(start, self.at);
        self.push(op, "index", index, span);
        self.expect(b']')?;
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `reduce_precision %x, format = e5m10 : type`.
    fn reduce_precision(&mut self, op: &mut Op<'s>) -> Read {
        let operand = self.value()?;
        op.operand(operand);
        self.expect(b',')?;
        self.expect_word("format")?;
        self.expect(b'=')?;
        self.next();
        let start = self.at;
        let format = self.word("a format (`e5m10`)")?;
        let span = self.span(start, self.at);
        let bits = format.strip_prefix('e').and_then(|rest| rest.split_once('m'));
        let bits =
            bits.and_then(|(exponent, mantissa)| Some((exponent.parse().ok()?, mantissa.parse().ok()?)));
        let Some((exponent, mantissa)) = bits else {
            return self.fail(&codes::SYNTAX, span, format!("expected a format (`e5m10`), found `{format}`"));
        };
        for (name, bits) in [("exponent_bits", exponent), ("mantissa_bits", mantissa)] {
            let attr = self.module.interner.int(bits);
            self.push(op, name, attr, span);
        }
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `top_k(%x, k = 8) : type -> (types)`.
    fn top_k(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        self.expect(b'(')?;
        let operand = self.value()?;
        op.operand(operand);
        self.expect(b',')?;
        match kind.syntax.keyed(self.peek_word()) {
            Some(attribute) => self.keyed_attribute(op, attribute)?,
            None => return self.expected("`k`"),
        }
        self.expect(b')')?;
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `composite "name" %x, %y {attributes} : (types) -> types`.
    fn composite(&mut self, op: &mut Op<'s>) -> Read {
        self.next();
        let start = self.at;
        let name = tofu_syntax::literals::unescape(self.quoted()?);
        let name = self.module.interner.string(&name);
        let span = self.span(start, self.at);
        self.push(op, "name", name, span);
        while self.next() == b'%' {
            let operand = self.value()?;
            op.operand(operand);
            self.take(b',');
        }
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `custom_call @target(%x) {attributes} : (types) -> types`.
    fn custom_call(&mut self, op: &mut Op<'s>) -> Read {
        self.next();
        let start = self.at;
        let target = self.symbol()?;
        let target = self.module.interner.string(&target);
        let span = self.span(start, self.at);
        self.push(op, "call_target_name", target, span);
        self.operands(op, b'(', b')')?;
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `convolution(%x, %w) dim_numbers = […]x[…]->[…], window = {key = value, …} {attributes} : (types) -> type`.
    fn convolution(&mut self, op: &mut Op<'s>, kind: OpKind) -> Read {
        self.operands(op, b'(', b')')?;
        self.next();
        let start = self.at;
        self.expect_word("dim_numbers")?;
        self.expect(b'=')?;
        let dimensions = self.dimension_numbers()?;
        let dimensions = self.module.interner.string(&dimensions);
        self.push_known(op, kind, "dimension_numbers", dimensions, start);
        self.expect(b',')?;
        self.expect_word("window")?;
        self.expect(b'=')?;
        self.expect(b'{')?;
        let mut is_first = true;
        while !self.take(b'}') {
            if !std::mem::take(&mut is_first) {
                self.comma_or("}")?;
            }
            let word = self.peek_word();
            match kind.syntax.keyed(word) {
                Some(attribute) => self.keyed_attribute(op, attribute)?,
                None => return self.expected("`stride`, `pad`, `lhs_dilate`, `rhs_dilate` or `reverse`"),
            }
        }
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` as `b01f_01io->b01f`; also with `raw` and each dimension by name.
    pub(super) fn dimension_numbers(&mut self) -> Read<String> {
        if self.take_word("raw") {
            return self.raw_dimension_numbers();
        }
        let mut text = String::new();
        self.dimension_list(&mut text)?;
        self.expect_word("x")?;
        text.push('_');
        self.dimension_list(&mut text)?;
        if !self.take_text("->") {
            return self.expected("`->`");
        }
        text.push_str("->");
        self.dimension_list(&mut text)?;
        Ok(text)
    }

    fn dimension_list(&mut self, text: &mut String) -> Read {
        self.expect(b'[')?;
        let mut is_first = true;
        while !self.take(b']') {
            if !std::mem::take(&mut is_first) {
                self.comma_or("]")?;
            }
            match self.peek_word() {
                word @ ("b" | "f" | "i" | "o") => {
                    self.at += word.len();
                    text.push_str(word);
                }
                _ => {
                    let (token, span) = self.token();
                    match self.peek_number().parse::<u8>() {
                        Ok(digit @ 0..=9) => {
                            self.at += 1;
                            text.push(char::from(b'0' + digit));
                        }
                        _ => {
                            let message = format!(
                                "expected a dimension (`b`, `f`, `i`, `o` or one digit), found {token}"
                            );
                            return self.fail(&codes::SYNTAX, span, message);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// `input_batch_dimension = 0, input_spatial_dimensions = [1, 2], …`.
    fn raw_dimension_numbers(&mut self) -> Read<String> {
        let (_, place) = self.token();
        let mut tensors: [Vec<(i64, char)>; 3] = Default::default();
        let mut is_first = true;
        while !matches!(self.next(), b'>' | 0) {
            if !std::mem::take(&mut is_first) {
                self.expect(b',')?;
            }
            let (_, span) = self.token();
            let name = self.word("a name")?;
            self.expect(b'=')?;
            let dims = if self.next() == b'[' { self.integers()? } else { vec![self.integer()?] };
            let (tensor, role) = match name.split_once('_') {
                Some((tensor @ ("input" | "kernel" | "output"), role)) => (tensor, role),
                _ => return self.fail(&codes::SYNTAX, span, format!("there is no `{name}`")),
            };
            let letter = match (tensor, role) {
                (_, "spatial_dimensions") => None,
                ("kernel", "input_feature_dimension") => Some('i'),
                ("kernel", "output_feature_dimension") => Some('o'),
                ("input" | "output", "batch_dimension") => Some('b'),
                ("input" | "output", "feature_dimension") => Some('f'),
                _ => return self.fail(&codes::SYNTAX, span, format!("there is no `{name}`")),
            };
            let tensor = &mut tensors[match tensor {
                "input" => 0,
                "kernel" => 1,
                _ => 2,
            }];
            for (index, dim) in (0..10u8).zip(dims) {
                tensor.push((dim, letter.unwrap_or(char::from(b'0' + index))));
            }
        }
        let mut parts = Vec::new();
        for mut dims in tensors {
            dims.sort_unstable();
            if dims.iter().zip(0..).any(|(&(dim, _), index)| dim != index) {
                return self.fail(&codes::WRONG_ATTRIBUTE, place, "each dimension must be named once");
            }
            parts.push(dims.into_iter().map(|(_, letter)| letter).collect::<String>());
        }
        Ok(format!("{}_{}->{}", parts[0], parts[1], parts[2]))
    }

    /// `reduce(%x init: %c), (%y init: %d) across dimensions = [0] : (types) -> types reducer(…) (…) { … }`, or with
    /// `applies op` instead of a reducer.
    fn reduce(&mut self, op: &mut Op<'s>) -> Read {
        let mut inits = Vec::new();
        loop {
            self.expect(b'(')?;
            let input = self.value()?;
            op.operand(input);
            self.expect_word("init")?;
            self.expect(b':')?;
            inits.push(self.value()?);
            self.expect(b')')?;
            if !self.take(b',') {
                break;
            }
        }
        inits.iter().for_each(|&init| op.operand(init));
        let mut applied = None;
        if self.take_word("applies") {
            self.next();
            let (_, span) = self.token();
            applied = Some((self.word("an op")?, span));
        }
        self.expect_word("across")?;
        self.next();
        let start = self.at;
        self.expect_word("dimensions")?;
        self.expect(b'=')?;
        let dimensions = self.integers()?;
        let dimensions = self.module.interner.ints(dimensions);
        let span = self.span(start, self.at);
        self.push(op, "dimensions", dimensions, span);
        self.attribute_dictionary(op)?;
        self.plain_types(op, Form::Plain)?;
        op.is_damaged |= std::mem::take(&mut self.is_doubtful);
        match applied {
            Some((name, span)) => {
                op.location = self.optional_location()?;
                self.applied(op, name, span, &inits);
                Ok(())
            }
            None => self.reducer(op, inits.len()),
        }
    }

    /// The body of a reduction that applies one op.
    fn applied(&mut self, op: &mut Op<'s>, name: &'s str, span: Span, inits: &[(ValueId, Span)]) {
        let Some(def) = self.kind(name).def else {
            let diagnostic = self.unknown(name, span);
            self.report(diagnostic);
            op.is_damaged = true;
            return;
        };
        let block = self.module.create_block();
        let types: SmallVec<[Type; 2]> = inits.iter().map(|&(init, _)| self.module.ty(init)).collect();
        let arguments: SmallVec<[ValueId; 4]> =
            types.iter().chain(&types).map(|&ty| self.module.append_argument(block, ty)).collect();
        let mut state = OpState::new(def).operands(arguments.iter().copied()).results(types.iter().copied());
        state.location = op.location;
        let inner = self.module.create(state);
        let results: SmallVec<[ValueId; 2]> = self.module.results(inner).collect();
        let end = self.module.create(OpState::new(&YIELD).operands(results));
        for inner in [inner, end] {
            self.module.set_spans(inner, span, span, &[], &[]);
            self.module.append(block, inner);
        }
        op.regions.push(vec![block]);
    }

    /// `reducer(%a: type, %b: type) (%c: type, %d: type) { … }`: for each input a pair of arguments.
    fn reducer(&mut self, op: &mut Op<'s>, inputs: usize) -> Read {
        self.expect_word("reducer")?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for _ in 0..inputs {
            self.next();
            let start = self.at;
            let pair = self.arguments()?;
            let Ok([a, b]) = <[Argument<'s>; 2]>::try_from(pair) else {
                let message = "a reducer takes two arguments for each input";
                return self.fail(&codes::WRONG_BLOCK_ARGUMENTS, self.span(start, self.at), message);
            };
            left.push(a);
            right.push(b);
        }
        left.extend(right);
        let blocks = self.region(Some(&left))?;
        op.regions.push(blocks);
        Ok(())
    }

    /// `while(%a = %x, …) : types attributes {…} cond { … } do { … }`.
    fn while_loop(&mut self, op: &mut Op<'s>) -> Read {
        self.expect(b'(')?;
        let mut names = Vec::new();
        while !self.take(b')') {
            if !names.is_empty() {
                self.comma_or(")")?;
            }
            names.push(self.argument_name()?);
            self.expect(b'=')?;
            let operand = self.value()?;
            op.operand(operand);
        }
        if self.next() == b':' {
            self.plain_types(op, Form::Each)?;
        }
        if self.take_word("attributes") {
            self.entries(&mut op.attributes)?;
        }
        op.is_damaged |= std::mem::take(&mut self.is_doubtful);
        let argument = |(&(name, span), &ty): (&(&'s str, _), &Type)| Argument { name, span, ty };
        let arguments: Vec<Argument<'s>> = names.iter().zip(&op.types).map(argument).collect();
        for word in ["cond", "do"] {
            self.expect_word(word)?;
            let blocks = self.region(Some(&arguments))?;
            op.regions.push(blocks);
        }
        Ok(())
    }
}
