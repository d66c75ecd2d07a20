//! The problem on one axis, for other solvers.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_partition::{Constraints, Domain, Limits, Problem, Symmetry};
use tofu_sharding::Mesh;
use tofu_solver::write_json;

use crate::plan::{Planned, Setting};

/// The files for the problems of functions: the one that is asked for, or, of several functions, one for each with the name of
/// the function in its own. None if nothing is asked for.
pub(crate) fn names(settings: &[Setting<'_>], file: &str) -> Vec<String> {
    if file.is_empty() || settings.len() == 1 {
        return settings.iter().filter(|_| !file.is_empty()).map(|_| file.to_owned()).collect();
    }
    let begin = file.rfind('/').map_or(0, |place| place + 1);
    let stem = file[begin..].rfind('.').filter(|&dot| dot > 0).map_or(file.len(), |dot| begin + dot);
    let plain = |name: char| if name.is_ascii_alphanumeric() || "_-".contains(name) { name } else { '_' };
    let mut names: Vec<String> = Vec::new();
    for (number, setting) in settings.iter().enumerate() {
        let function: String = setting.function().trim_start_matches('@').chars().map(plain).collect();
        let name = format!("{}.{function}{}", &file[..stem], &file[stem..]);
        let is_taken = names.contains(&name);
        names.push(if is_taken {
            format!("{}.{function}.{number}{}", &file[..stem], &file[stem..])
        } else {
            name
        });
    }
    names
}

/// The problem of a function with all devices along one axis, in the contest's JSON. Costs are picoseconds, with
/// one more for each MiB that tensors take, so that memory breaks ties; or bytes that a device sends, and nothing else.
/// What the user pins is in it if the plan has one axis, too.
///
/// # Errors
/// When its numbers are larger than the format takes.
pub(crate) fn problem(setting: &Setting<'_>, planned: &Planned) -> Result<String, Diagnostic> {
    let plan_mesh = &planned.outcome.plan.mesh;
    let none = Constraints::default();
    let (mesh, constraints) = match plan_mesh.axes() {
        [_] => (plan_mesh.clone(), &planned.constraints),
        // The name is no other axis's, and a plan's mesh has no more devices than another may have.
        _ => (Mesh::new([("x", plan_mesh.devices())]).unwrap_or_default(), &none),
    };
    let prices = setting.prices(&mesh, setting.options.objective.objective());
    let pinned: Vec<_> = constraints.tensors().collect();
    let symmetry = Symmetry::none();
    let limits = Limits {
        domain: Domain::All(&symmetry),
        allowed: &|tensor, stored| constraints.allow(tensor, stored),
        pinned: &pinned,
        memory: None,
        ties: false,
    };
    match Problem::new(setting.graph, &prices, &limits) {
        Ok(problem) => Ok(write_json(&problem.selection)),
        Err(invalid) => {
            let message = format!("the problem of `{}` cannot be written: {invalid}", setting.function());
            Err(setting.graph.module.error(setting.graph.function, &codes::CANNOT_PARTITION, message))
        }
    }
}
