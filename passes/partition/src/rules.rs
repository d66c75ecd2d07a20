//! Layout rules, in the manner of Mesh-TensorFlow (Shazeer et al., NeurIPS 2018): dimensions by name, and the axes that split
//! them.
//!
//! ```text
//! rules="batch:data hidden:model"    every argument with such a dimension, by the names in its attribute `dist.dims`
//! rules="50257:model"                every argument with a dimension of this extent
//! rules="arg3.0:data %h.1:model"     one dimension of one value
//! ```
//!
//! Imported programs have no names of dimensions; there, extents and values serve. Only what is named is pinned: what becomes of
//! all other tensors is the search's business.

use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{ARGUMENT_ATTRIBUTES, AttrData, Module, OpId, ValueId};
use tofu_partition::{Graph, TensorId};
use tofu_sharding::Mesh;

use crate::names::Names;

/// The attribute of an argument that names its dimensions.
pub(crate) const DIMS: &str = "dist.dims";

/// A dimension of a tensor that an axis must split.
#[derive(Debug)]
pub(crate) struct Ruled {
    pub(crate) tensor: TensorId,
    pub(crate) dim: usize,
    pub(crate) axis: usize,
    pub(crate) span: Span,
    pub(crate) rule: String,
}

/// A rule as it is written: a dimension, however it is named, and an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule<'r> {
    text: &'r str,
    name: &'r str,
    axis: &'r str,
}

/// Reads rules, and says which are none.
pub(crate) fn read(rules: &str) -> (Vec<Rule<'_>>, Vec<Diagnostic>) {
    let (mut all, mut found) = (Vec::new(), Vec::new());
    for text in rules.split_whitespace() {
        match text.split_once(':') {
            Some((name, axis)) if !name.is_empty() && !axis.is_empty() && !axis.contains([':', ',']) => {
                all.push(Rule { text, name, axis });
            }
            _ => {
                let message = format!("`{text}` is no rule");
                let help = if text.contains(',') {
                    "blanks stand between rules: `\"batch:x hidden:y\"`"
                } else {
                    "a rule is a dimension and an axis: `batch:x`, `50257:x`, `arg3.0:x`"
                };
                found.push(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message).help(help));
            }
        }
    }
    (all, found)
}

/// The axes that rules name.
pub(crate) fn axes_of<'r>(rules: &[Rule<'r>]) -> Vec<&'r str> {
    let mut axes: Vec<&str> = rules.iter().map(|rule| rule.axis).collect();
    axes.sort_unstable();
    axes.dedup();
    axes
}

/// What rules ask for in a function. `found` is what is wrong with others.
///
/// # Errors
/// Rules that name no axis of the mesh or no dimension, and what was wrong before.
pub(crate) fn ruled(
    graph: &Graph<'_>,
    mesh: &Mesh,
    rules: &[Rule<'_>],
    mut found: Vec<Diagnostic>,
) -> Result<Vec<Ruled>, Vec<Diagnostic>> {
    let mut all = Vec::new();
    for &rule in rules {
        match one(graph, mesh, rule) {
            Ok(ruled) => all.extend(ruled),
            Err(error) => found.push(error),
        }
    }
    if found.is_empty() { Ok(all) } else { Err(found) }
}

fn one(graph: &Graph<'_>, mesh: &Mesh, rule: Rule<'_>) -> Result<Vec<Ruled>, Diagnostic> {
    let module = graph.module;
    let wrong = |message: String| Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message);
    let Rule { text: rule, name, axis: axis_name } = rule;
    let Some(axis) = mesh.axis(axis_name) else {
        let names: Vec<&str> = mesh.axes().iter().map(|axis| &*axis.name).collect();
        let near = suggest::did_you_mean(axis_name, names.iter().copied());
        let help = near.unwrap_or_else(|| format!("its axes are `{}`", names.join("`, `")));
        return Err(wrong(format!("rule `{rule}`: the mesh has no axis `{axis_name}`")).help(help));
    };
    let of = |value: ValueId, tensor: TensorId, dim: usize| Ruled {
        tensor,
        dim,
        axis: axis.axis,
        span: module.value_span(value),
        rule: rule.to_owned(),
    };
    if let Some((value_name, dim)) =
        name.rsplit_once('.').and_then(|(value, dim)| Some((value, dim.parse().ok()?)))
    {
        return value_rule(graph, rule, value_name, dim).map(|(value, tensor)| vec![of(value, tensor, dim)]);
    }
    let extent: Option<u64> = name.parse().ok();
    let mut all = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (number, (value, tensor)) in arguments(graph).into_iter().enumerate() {
        let Some(tensor) = tensor else { continue };
        let shape = &graph.tensors[tensor as usize].shape;
        let named = dims_of(module, graph.function, number);
        let mut dims = match extent {
            Some(extent) => (0..shape.len()).filter(|&dim| shape[dim] == extent).collect::<Vec<_>>(),
            None => {
                (0..shape.len()).filter(|&dim| named.get(dim).is_some_and(|other| *other == name)).collect()
            }
        };
        match extent {
            Some(_) => names.extend(shape.iter().map(u64::to_string)),
            None => names.extend(named),
        }
        if dims.len() > 1 {
            let message =
                format!("rule `{rule}` names {} dimensions of {}", dims.len(), module.quoted_value(value));
            let error = Diagnostic::error(&codes::WRONG_CONSTRAINT, module.value_span(value), message);
            return Err(error.help(format!(
                "name the one that is meant: `{}.{}:{axis_name}`",
                module.value_text(value),
                dims[0]
            )));
        }
        all.extend(dims.pop().map(|dim| of(value, tensor, dim)));
    }
    if !all.is_empty() {
        return Ok(all);
    }
    names.sort_unstable();
    names.dedup();
    let help = suggest::did_you_mean(name, names.iter().map(String::as_str)).unwrap_or_else(|| match extent {
        Some(_) => "a number is the extent of a dimension of some argument".to_owned(),
        None if names.is_empty() => {
            format!("the arguments have no names of dimensions (`{DIMS} = [\"batch\", \"hidden\"]`); name a dimension of a value (`arg0.0`) or an extent (`1024`)")
        }
        None => format!("there are `{}`", names.join("`, `")),
    });
    Err(wrong(format!("rule `{rule}` names no dimension of any argument")).help(help))
}

/// `arg3.0:x`: a value by its name, and the number of a dimension.
fn value_rule(
    graph: &Graph<'_>,
    rule: &str,
    name: &str,
    dim: usize,
) -> Result<(ValueId, TensorId), Diagnostic> {
    let module = graph.module;
    let wrong = |message: String| Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message);
    let names = Names::of(graph);
    let Some((value, tensor)) = names.find(name) else {
        let all = names.all();
        let near = suggest::did_you_mean(name.trim_start_matches('%'), all.iter().map(String::as_str));
        let some = || format!("its tensors are `{}`, …", all[..all.len().min(4)].join("`, `"));
        return Err(
            wrong(format!("rule `{rule}`: there is no tensor `{name}`")).help(near.unwrap_or_else(some))
        );
    };
    let rank = graph.tensors[tensor as usize].shape.len();
    if dim >= rank {
        let message =
            format!("rule `{rule}`: {} has {rank} dimensions, from 0 on", module.quoted_value(value));
        return Err(Diagnostic {
            primary: tofu_diagnostics::Label { span: module.value_span(value), text: String::new() },
            ..wrong(message)
        });
    }
    Ok((value, tensor))
}

fn arguments(graph: &Graph<'_>) -> Vec<(ValueId, Option<TensorId>)> {
    let module = graph.module;
    let block = tofu_dialect_func::body(module, graph.function);
    let values = block.map_or(&[][..], |block| module.arguments(block));
    values.iter().copied().zip(graph.arguments.iter().copied()).collect()
}

/// The names of the dimensions of an argument.
fn dims_of(module: &Module, function: OpId, argument: usize) -> Vec<String> {
    let Some(AttrData::Array(items)) = module.attr_value(function, ARGUMENT_ATTRIBUTES) else {
        return Vec::new();
    };
    let names = items.get(argument).and_then(|&dict| module.dict_entry(dict, DIMS));
    let Some(AttrData::Array(names)) = names.map(|names| module.attr_data(names)) else { return Vec::new() };
    let text = |&name: &tofu_ir::Attr| match module.attr_data(name) {
        AttrData::String(name) => name.to_string(),
        _ => String::new(),
    };
    names.iter().map(text).collect()
}
