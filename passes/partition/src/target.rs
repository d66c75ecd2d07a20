//! What a program is split over: the machine, and the mesh over its devices.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_machine::Machine;
use tofu_pass::{Failed, PassContext};
use tofu_sharding::{Layouts, Mesh};

use crate::Partition;
use crate::incoming::Incoming;

/// The devices.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) machine: Machine,
    /// The axes over them; none if any will do.
    pub(crate) mesh: Option<Mesh>,
}

impl Target {
    /// # Errors
    /// When numbers of devices contradict.
    pub(crate) fn of(
        options: &Partition,
        cx: &PassContext<'_>,
        incoming: &Incoming,
    ) -> Result<Target, Failed> {
        let machine = cx.machine(options.machine.as_ref())?;
        if options.devices == Some(0) {
            let message = "`devices=0`: a program runs on at least one device";
            let help = "leave `devices` away to use all of the machine, or say how many of it";
            return Err(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message).help(help).into());
        }
        let said = options.mesh.as_ref().map(|axes| &axes.0);
        // What is said beats what the program has, if it is about as many devices.
        let own = incoming
            .mesh
            .as_ref()
            .filter(|mesh| options.devices.is_none_or(|devices| devices == mesh.devices()));
        let has_pins = incoming.pins.iter().any(|pins| !pins.is_empty());
        let mesh = match (said, own, options.devices, &incoming.mesh) {
            (Some(said), _, Some(devices), _) if said.devices() != devices => {
                let message = format!(
                    "`devices={devices}` contradicts `mesh={}`, which has {}",
                    shown(said),
                    said.devices()
                );
                return Err(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message)
                    .help("leave `devices` away: the mesh says how many there are")
                    .into());
            }
            (Some(said), ..) => Some(said),
            (None, Some(own), ..) => Some(own),
            (None, None, Some(devices), Some(own)) if has_pins => {
                let message = format!(
                    "`devices={devices}`, but the shardings in the program lie on {} devices",
                    own.devices()
                );
                return Err(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message)
                    .help(format!("leave `devices` away to use the program's own mesh, `{}`, or say another `mesh` with its axes", shown(own)))
                    .into());
            }
            (None, None, ..) => None,
        };
        if let Some(mesh) = mesh.filter(|mesh| mesh.axes().len() > Layouts::MAX_AXES) {
            let message = format!("a mesh of {} axes cannot be searched", mesh.axes().len());
            return Err(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message)
                .help(format!("at most {} axes can be told apart; join some", Layouts::MAX_AXES))
                .into());
        }
        let devices = mesh.map(Mesh::devices).or(options.devices);
        let machine = match devices {
            Some(devices) => machine.with_devices(devices, Span::NONE)?,
            None => machine,
        };
        Ok(Target { machine, mesh: mesh.cloned() })
    }
}

/// A mesh as the option says it.
pub(crate) fn shown(mesh: &Mesh) -> String {
    let axes = mesh.axes().iter().map(|axis| format!("{}:{}", axis.name, axis.size));
    axes.collect::<Vec<_>>().join(",")
}
