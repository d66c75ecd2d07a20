//! What is asked for, as the search takes it: layouts of tensors, axis by axis.

use std::collections::BTreeMap;

use tofu_diagnostics::{Diagnostic, Label, Span, codes, suggest};
use tofu_partition::{Constraints, Graph, TensorId};
use tofu_sharding::{AxisRef, Layout, Mesh, share};

use crate::incoming::{Pin, Place};
use crate::rules::Ruled;

/// What is asked of some tensors, each with who asks.
#[derive(Default, Debug)]
pub(crate) struct Pins {
    asked: BTreeMap<(TensorId, usize), (Layout, Span)>,
    found: Vec<Diagnostic>,
}

impl Pins {
    /// What shardings in the program and rules ask for on a mesh.
    ///
    /// # Errors
    /// What the mesh does not have, what contradicts, and what makes no tensor smaller.
    pub(crate) fn of(
        graph: &Graph<'_>,
        mesh: &Mesh,
        shardings: &[Pin],
        rules: &[Ruled],
    ) -> Result<Constraints, Vec<Diagnostic>> {
        let mut pins = Pins::default();
        for pin in shardings {
            pins.sharding(graph, mesh, pin);
        }
        for rule in rules {
            pins.ask(
                graph,
                mesh,
                rule.tensor,
                rule.axis,
                Layout::Split(rule.dim),
                rule.span,
                Some(&rule.rule),
            );
        }
        if !pins.found.is_empty() {
            return Err(pins.found);
        }
        let mut constraints = Constraints::default();
        for (&(tensor, axis), &(layout, _)) in &pins.asked {
            constraints.pin(tensor, axis, layout);
        }
        Ok(constraints)
    }

    fn sharding(&mut self, graph: &Graph<'_>, mesh: &Mesh, pin: &Pin) {
        let tensor = match pin.place {
            Place::Value(value) => graph.tensor_of(value),
            Place::Result(index) => graph.results.get(index).copied().flatten(),
        };
        let Some(tensor) = tensor else { return };
        let sharding = match pin.sharding.map_axes(|axis| axis_on(mesh, &pin.mesh, axis)) {
            Ok(sharding) => sharding,
            Err((message, help)) => {
                self.wrong(pin.span, message, help);
                return;
            }
        };
        let in_order = sharding.dims.iter().all(|dim| dim.axes.is_sorted());
        if !in_order {
            let help = format!("the order is that of the mesh, `{}`", crate::target::shown(mesh));
            self.wrong(
                pin.span,
                "a dimension is split by axes in another order than the mesh has them".to_owned(),
                Some(help),
            );
            return;
        }
        let is_closed = sharding.dims.iter().all(|dim| !dim.open);
        let uses: Vec<(AxisRef, Layout)> = sharding.uses().collect();
        for (axis, layout) in &uses {
            self.ask(graph, mesh, tensor, axis.axis, *layout, pin.span, None);
        }
        for axis in 0..mesh.axes().len() {
            let is_used = uses.iter().any(|(other, _)| other.axis == axis);
            let is_replicated = sharding.replicated.iter().any(|other| other.axis == axis);
            // An open dimension may be split by what is left.
            if !is_used && (is_closed || is_replicated) {
                self.ask(graph, mesh, tensor, axis, Layout::Replicated, pin.span, None);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a request is all of this, and is made in two places")]
    fn ask(
        &mut self,
        graph: &Graph<'_>,
        mesh: &Mesh,
        tensor: TensorId,
        axis: usize,
        layout: Layout,
        span: Span,
        rule: Option<&str>,
    ) {
        let of = &graph.tensors[tensor as usize];
        let name = named(graph, tensor);
        let axis_name = &mesh.axes()[axis].name;
        let size = mesh.axes()[axis].size;
        let by = rule.map_or(String::new(), |rule| format!("rule `{rule}`: "));
        match layout {
            Layout::Split(dim) if share(of.shape[dim], size) >= of.shape[dim] && size > 1 => {
                let message = format!(
                    "{by}dimension {dim} of {name} has extent {}: `{axis_name}` does not split it",
                    of.shape[dim]
                );
                return self.wrong(span, message, None);
            }
            Layout::Partial(reducer)
                if is_returned(graph, tensor) && of.partials & 1 << reducer as u8 == 0 =>
            {
                let message =
                    format!("{by}{name} cannot be partial along `{axis_name}`: the function returns it");
                let help = "leave `partial` out: what a function gives is whole, since nobody else can reduce its terms";
                return self.wrong(span, message, Some(help.to_owned()));
            }
            Layout::Partial(reducer) if of.partials & 1 << reducer as u8 == 0 => {
                let message = format!(
                    "{by}{name} cannot be partial: nothing makes terms of it by `{}`",
                    reducer.name()
                );
                let help =
                    "only what an op reduces can lie as terms; arguments come whole, and results go whole";
                return self.wrong(span, message, Some(help.to_owned()));
            }
            _ => {}
        }
        match self.asked.get(&(tensor, axis)) {
            Some(&(other, first)) if other != layout => {
                let told = |layout: Layout| match layout {
                    Layout::Replicated => format!("the same along `{axis_name}`"),
                    Layout::Split(dim) => format!("split along dimension {dim} by `{axis_name}`"),
                    Layout::Partial(reducer) => {
                        format!("partial by `{}` along `{axis_name}`", reducer.name())
                    }
                };
                let message = format!("{by}{name} is to be {}, but also {}", told(layout), told(other));
                let error = Diagnostic::error(&codes::WRONG_CONSTRAINT, span, message);
                let error = if first == span {
                    error
                } else {
                    Diagnostic {
                        secondary: vec![Label {
                            span: first,
                            text: "the other one is asked for here".to_owned(),
                        }],
                        ..error
                    }
                };
                self.found.push(error.help(
                    "take one of the two away; a `sdy.sharding_constraint` between them makes it two tensors",
                ));
            }
            _ => {
                self.asked.insert((tensor, axis), (layout, span));
            }
        }
    }

    fn wrong(&mut self, span: Span, message: String, help: Option<String>) {
        self.found.push(Diagnostic::error(&codes::WRONG_CONSTRAINT, span, message).maybe_help(help));
    }
}

/// A tensor, as messages name it.
/// Whether a tensor that is made in a function is what it gives, or becomes that.
fn is_returned(graph: &Graph<'_>, tensor: TensorId) -> bool {
    let module = graph.module;
    let block = module.regions(graph.function).next().and_then(|region| module.entry(region));
    let last = block.and_then(|block| module.last_op(block));
    let mut returned = last.into_iter().flat_map(|last| module.operands(last));
    let is_it = |value| graph.tensor_of(value) == Some(tensor);
    !graph.arguments.contains(&Some(tensor)) && returned.any(is_it)
}

fn named(graph: &Graph<'_>, tensor: TensorId) -> String {
    match graph.tensors[tensor as usize].values.first() {
        Some(&value) => graph.module.quoted_value(value),
        None => {
            let result = graph.results.iter().position(|&result| result == Some(tensor));
            format!("result {}", result.unwrap_or_default())
        }
    }
}

/// The axis of the plan's mesh that an axis of the program's is.
fn axis_on(mesh: &Mesh, own: &Mesh, axis: AxisRef) -> Result<AxisRef, (String, Option<String>)> {
    let name = &own.axes()[axis.axis].name;
    if axis != own.whole(axis.axis) {
        let message = format!("a part of an axis, `{}`, cannot be planned with", axis.text(own));
        return Err((message, Some(format!("make two axes of `{name}`: plans use axes as a whole"))));
    }
    match mesh.axis(name) {
        Some(found) if found.size == axis.size => Ok(found),
        Some(found) => {
            let message = format!(
                "`{name}` has {} devices in the program, but {} in the mesh of the plan",
                axis.size, found.size
            );
            Err((message, Some(format!("the program's mesh is `{}`", crate::target::shown(own)))))
        }
        None => {
            let near = suggest::did_you_mean(name, mesh.axes().iter().map(|axis| &*axis.name));
            let help = near.unwrap_or_else(|| {
                format!("leave `mesh` away to plan on the program's own, `{}`", crate::target::shown(own))
            });
            Err((format!("the mesh of the plan has no axis `{name}`"), Some(help)))
        }
    }
}
