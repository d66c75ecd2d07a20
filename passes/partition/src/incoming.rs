//! What a program says already of how its tensors lie.
//!
//! Shardings of `dist` and of Shardy stand at arguments and results of functions and at ops; Shardy also has ops that only say
//! how a value lies. All become [`Pin`]s on one mesh.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_dialect_dist as dist;
use tofu_dialect_func::{body, signature};
use tofu_dialect_stablehlo::{
    MESH as SDY_MESH, SDY_SHARDING, converts_sharding, read_shardy, shardings_per_value, shardy_mesh,
};
use tofu_ir::{ARGUMENT_ATTRIBUTES, Attr, AttrData, Module, OpId, RESULT_ATTRIBUTES, ValueId};
use tofu_sharding::{Mesh, Sharding};

/// A sharding that the program asks for.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    pub(crate) place: Place,
    pub(crate) mesh: Mesh,
    pub(crate) sharding: Sharding,
    pub(crate) span: Span,
}

/// Of what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Value(ValueId),
    /// The result of this number.
    Result(usize),
}

/// What a program says.
#[derive(Default, Debug)]
pub(crate) struct Incoming {
    /// Its mesh, if it has one of more than one device.
    pub(crate) mesh: Option<Mesh>,
    /// The op that names the mesh.
    pub(crate) named: Option<OpId>,
    /// What is asked for, function by function.
    pub(crate) pins: Vec<Vec<Pin>>,
}

impl Incoming {
    /// # Errors
    /// Shardings that cannot be read, and several meshes.
    pub(crate) fn of(module: &Module, functions: &[OpId]) -> Result<Incoming, Vec<Diagnostic>> {
        let mut walk = Walk { module, incoming: Incoming::default(), span: Span::NONE, found: Vec::new() };
        for &function in functions {
            walk.incoming.pins.push(Vec::new());
            walk.function(function);
        }
        if walk.incoming.mesh.is_none() {
            walk.only_mesh();
        }
        if walk.found.is_empty() { Ok(walk.incoming) } else { Err(walk.found) }
    }
}

struct Walk<'m> {
    module: &'m Module,
    incoming: Incoming,
    /// Where the mesh was first used.
    span: Span,
    found: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn function(&mut self, function: OpId) {
        let module = self.module;
        let arguments = body(module, function).map_or(&[][..], |block| module.arguments(block));
        for (index, &argument) in arguments.iter().enumerate() {
            let span = module.value_span(argument);
            if let Some(attr) = dist::sharding_of(module, argument) {
                self.dist(function, Place::Value(argument), attr, span);
            }
            if let Some(attr) = listed(module, function, ARGUMENT_ATTRIBUTES, index) {
                self.shardy(function, Place::Value(argument), attr, span);
            }
        }
        let results = signature(module, function).map_or(0, |signature| signature.results.len());
        for index in 0..results {
            let span = module.span(function);
            if let Some(attr) = dist::result_sharding(module, function, index) {
                self.dist(function, Place::Result(index), attr, span);
            }
            if let Some(attr) = listed(module, function, RESULT_ATTRIBUTES, index) {
                self.shardy(function, Place::Result(index), attr, span);
            }
        }
        for op in module.walk(function).filter(|&op| op != function) {
            self.op(op);
        }
    }

    fn op(&mut self, op: OpId) {
        let module = self.module;
        let span = module.span(op);
        if module.attr(op, dist::SHARDING).is_some() {
            for result in module.results(op) {
                if let Some(attr) = dist::sharding_of(module, result) {
                    self.dist(op, Place::Value(result), attr, span);
                }
            }
        }
        if let Some(attr) = module.attr(op, SDY_SHARDING) {
            let each = shardings_per_value(module, attr).map_or(vec![attr], <[Attr]>::to_vec);
            for (result, attr) in module.results(op).zip(each) {
                self.shardy(op, Place::Value(result), attr, span);
            }
        }
        if converts_sharding(module, op)
            && let Some(attr) = module.attr(op, "sharding")
        {
            self.shardy(op, Place::Value(module.result(op, 0)), attr, span);
        }
    }

    fn dist(&mut self, user: OpId, place: Place, attr: Attr, span: Span) {
        if let Some((op, mesh, sharding)) = dist::read_sharding(self.module, user, attr) {
            self.pin(place, mesh, Some(op), sharding, span);
        }
    }

    fn shardy(&mut self, user: OpId, place: Place, attr: Attr, span: Span) {
        match read_shardy(self.module, user, attr) {
            Some(Ok(read)) => self.pin(place, read.mesh, read.named, read.sharding, span),
            Some(Err(message)) => {
                let message = format!("this sharding cannot be kept: {message}");
                self.found.push(Diagnostic::error(&codes::WRONG_CONSTRAINT, span, message));
            }
            None => {}
        }
    }

    fn pin(&mut self, place: Place, mesh: Mesh, named: Option<OpId>, sharding: Sharding, span: Span) {
        // On one device there is nothing to say.
        if mesh.devices() <= 1 {
            return;
        }
        match &self.incoming.mesh {
            None => {
                self.incoming.mesh = Some(mesh.clone());
                self.incoming.named = named;
                self.span = span;
            }
            Some(known) if *known != mesh => {
                let message = "shardings of one program lie on one mesh, but this one lies on another";
                let error = Diagnostic::error(&codes::WRONG_CONSTRAINT, span, message);
                self.found.push(error.secondary(self.span, "the first mesh is used here"));
                return;
            }
            Some(_) => {
                self.incoming.named = self.incoming.named.or(named);
            }
        }
        if let Some(pins) = self.incoming.pins.last_mut() {
            pins.push(Pin { place, mesh, sharding, span });
        }
    }

    /// The mesh of a program that names one, but does not use it.
    fn only_mesh(&mut self) {
        let module = self.module;
        let mut meshes = Vec::new();
        for op in module.ops(module.body()) {
            let mesh = match shardy_mesh(module, op) {
                Some(mesh) => mesh.ok(),
                None => dist::mesh(module, op),
            };
            meshes.extend(mesh.filter(|mesh| mesh.devices() > 1).map(|mesh| (op, mesh)));
        }
        if let [(op, mesh)] = &meshes[..] {
            self.incoming.mesh = Some(mesh.clone());
            self.incoming.named = Some(*op);
        }
    }
}

/// Whether an op names a mesh.
pub(crate) fn is_mesh(module: &Module, op: OpId) -> bool {
    module.is(op, &dist::MESH) || module.is(op, &SDY_MESH)
}

/// The sharding of Shardy's that an argument or a result has.
fn listed(module: &Module, function: OpId, list: &str, index: usize) -> Option<Attr> {
    let AttrData::Array(items) = module.attr_value(function, list)? else { return None };
    module.dict_entry(*items.get(index)?, SDY_SHARDING)
}
