//! Shardy's collectives. They are said of whole tensors: each gives the tensor that it takes, lying as `out_sharding` says,
//! and says along which axes devices exchange what for that.

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    Attr, AttrClass, AttrData, Control, Module, OpDef, OpId, ParameterReader, ParameterWriter, ParametricDef,
    Trait, any, op, required,
};

use super::{
    IS_SHARDING, check, same_type,
    text::{items, list, parse_axes, print_axes, print_list},
};

/// `#sdy.axis_ref_list<{"x"}>`: axes.
pub static AXES: ParametricDef = ParametricDef::new("sdy.axis_ref_list")
    .summary("Axes of a mesh.")
    .example("#sdy.axis_ref_list<{\"x\"}>")
    .text(parse_axes, print_axes);

/// `#sdy.list_of_axis_ref_lists<[{"x"}, {}]>`: axes for each dimension of a tensor.
pub static AXES_PER_DIMENSION: ParametricDef = ParametricDef::new("sdy.list_of_axis_ref_lists")
    .summary("Axes of a mesh for each dimension of a tensor.")
    .example("#sdy.list_of_axis_ref_lists<[{\"x\"}, {}]>")
    .text(
        |reader| list(reader, "[", "]", parse_axes),
        |module, params, writer| {
            print_list(module, Some(params), ["[", "]"], writer, |axes, writer| {
                print_axes(module, axes, writer);
            });
        },
    );

/// `#sdy.all_to_all_param_list<[{"x"}: 0->1]>`: axes, each from one dimension to another.
pub static ALL_TO_ALL_PARAMS: ParametricDef = ParametricDef::new("sdy.all_to_all_param_list")
    .summary("Axes of a mesh, and from which dimension to which each goes.")
    .example("#sdy.all_to_all_param_list<[{\"x\"}: 0->1]>")
    .text(parse_moves, print_moves);

fn parse_moves(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    list(reader, "[", "]", |reader| {
        let axes = parse_axes(reader)?;
        reader.expect(":")?;
        let from = reader.integer()?;
        reader.expect("->")?;
        let to = reader.integer()?;
        let interner = &mut reader.module().interner;
        let (from, to) = (interner.int(from), interner.int(to));
        let dims = interner.attr(AttrData::Pair(from, to));
        Ok(interner.attr(AttrData::Pair(axes, dims)))
    })
}

fn print_moves(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    print_list(module, Some(params), ["[", "]"], writer, |moved, writer| {
        let AttrData::Pair(axes, dims) = module.attr_data(moved) else { return };
        print_axes(module, *axes, writer);
        if let AttrData::Pair(from, to) = module.attr_data(*dims) {
            // Writing into the printer's buffer cannot fail.
            let _ = writer.write_str(": ");
            writer.attribute(*from);
            let _ = writer.write_str("->");
            writer.attribute(*to);
        }
    });
}

macro_rules! class {
    ($def:ident, $name:literal) => {
        AttrClass {
            name: $name,
            contains: |module, attr| {
                matches!(module.attr_data(attr), AttrData::Dialect(attr) if std::ptr::eq(attr.def, &$def))
            },
        }
    };
}

const ARE_AXES: AttrClass = class!(AXES, "axes (`#sdy.axis_ref_list<{\"x\"}>`)");
const PER_DIMENSION: AttrClass =
    class!(AXES_PER_DIMENSION, "axes for each dimension (`#sdy.list_of_axis_ref_lists<[{\"x\"}, {}]>`)");
const ARE_MOVES: AttrClass =
    class!(ALL_TO_ALL_PARAMS, "axes that move (`#sdy.all_to_all_param_list<[{\"x\"}: 0->1]>`)");

macro_rules! collectives {
    ($($constant:ident = $name:literal, $summary:literal, $axes:literal: $class:ident = $example:literal;)*) => {$(
        #[doc = concat!("`sdy.", $name, "`: ", $summary)]
        pub static $constant: OpDef = op(concat!("sdy.", $name))
            .summary($summary)
            .example(concat!(
                "%r = sdy.", $name, " %x {", $axes, " = ", $example,
                ", out_sharding = #sdy.sharding<mesh<[\"x\"=2, \"y\"=2]>, [{\"y\"}, {}]>}"
            ))
            .operands(&[any("tensor")])
            .results(&[any("result")])
            .attributes(&[required($axes, $class), required(OUT_SHARDING, IS_SHARDING)])
            .traits(&[Trait::Pure])
            .infer_types(same_type)
            .verify(|module, op, found| verify(module, op, $axes, found))
            .interfaces(&[&Control::Forward]);
    )*};
}

/// The attribute of the sharding that a collective gives.
pub const OUT_SHARDING: &str = "out_sharding";

collectives! {
    SDY_ALL_GATHER = "all_gather", "Every device along `gathering_axes` gets the shares of all.",
        "gathering_axes": PER_DIMENSION = "#sdy.list_of_axis_ref_lists<[{\"x\"}, {}]>";
    SDY_ALL_REDUCE = "all_reduce", "Every device along `reduction_axes` gets the sum of all.",
        "reduction_axes": ARE_AXES = "#sdy.axis_ref_list<{\"x\"}>";
    ALL_SLICE = "all_slice", "Every device along `slicing_axes` keeps its share.",
        "slicing_axes": PER_DIMENSION = "#sdy.list_of_axis_ref_lists<[{\"x\"}, {}]>";
    SDY_ALL_TO_ALL = "all_to_all", "Axes that split one dimension come to split another.",
        "params": ARE_MOVES = "#sdy.all_to_all_param_list<[{\"x\"}: 0->1]>";
    SDY_REDUCE_SCATTER = "reduce_scatter", "Every device along `reduce_scatter_axes` gets its share of the sum of all.",
        "reduce_scatter_axes": PER_DIMENSION = "#sdy.list_of_axis_ref_lists<[{\"x\"}, {}]>";
    REPLICATED_TO_UNREDUCED = "replicated_to_unreduced", "What devices along `axes` all hold becomes terms of a sum.",
        "axes": ARE_AXES = "#sdy.axis_ref_list<{\"x\"}>";
    SHARDED_TO_UNREDUCED = "sharded_to_unreduced", "The shares of devices along `axes` become terms of a sum.",
        "axes": PER_DIMENSION = "#sdy.list_of_axis_ref_lists<[{\"x\"}, {}]>";
}

/// `sdy.collective_permute`: devices exchange their shares.
pub static SDY_COLLECTIVE_PERMUTE: OpDef = op("sdy.collective_permute")
    .summary("Devices exchange their shares, so that other axes split the same dimensions as often.")
    .example(
        "%r = sdy.collective_permute %x {out_sharding = #sdy.sharding<mesh<[\"x\"=2, \"y\"=2]>, [{\"y\"}, {}]>}",
    )
    .operands(&[any("tensor")])
    .results(&[any("result")])
    .attributes(&[required(OUT_SHARDING, IS_SHARDING)])
    .traits(&[Trait::Pure])
    .infer_types(same_type)
    .interfaces(&[&Control::Forward]);

/// The axes of a collective are those of its mesh, each is used once, and there is a list for each dimension.
fn verify(module: &Module, op: OpId, name: &str, found: &mut Vec<Diagnostic>) {
    let (Some(AttrData::Dialect(axes)), Some(sharding)) =
        (module.attr_value(op, name), module.attr(op, OUT_SHARDING))
    else {
        return;
    };
    let rank = module.tensor_type(module.result(op, 0)).map(tofu_ir::TensorType::rank);
    let checked = flat(module, axes.def, axes.params, rank)
        .and_then(|flat| check::check_axes(module, op, sharding, &flat));
    if let Err(message) = checked {
        found.push(Diagnostic::error(&codes::WRONG_SHARDING, module.attr_span(op, name), message));
    }
}

/// All axes that an attribute names.
fn flat(
    module: &Module,
    def: &ParametricDef,
    params: Attr,
    rank: Option<usize>,
) -> Result<Vec<Attr>, String> {
    let entries = items(module, Some(params));
    if std::ptr::eq(def, &AXES) {
        return Ok(entries.to_vec());
    }
    let mut axes = Vec::new();
    for &entry in entries {
        let AttrData::Pair(moved, dims) = module.attr_data(entry) else {
            axes.extend(items(module, Some(entry)));
            continue;
        };
        axes.extend(items(module, Some(*moved)));
        let AttrData::Pair(from, to) = module.attr_data(*dims) else { continue };
        for dim in [from, to] {
            if let (AttrData::Int(dim, _), Some(rank)) = (module.attr_data(*dim), rank)
                && !usize::try_from(*dim).is_ok_and(|dim| dim < rank)
            {
                return Err(format!("there is no dimension {dim} in a tensor of {rank}"));
            }
        }
    }
    match rank {
        Some(rank) if std::ptr::eq(def, &AXES_PER_DIMENSION) && entries.len() != rank => Err(format!(
            "{} for a tensor of {}",
            plural(entries.len(), "list of axes"),
            plural(rank, "dimension")
        )),
        _ => Ok(axes),
    }
}
