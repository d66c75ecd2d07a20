//! Running a nested pipeline on all ops of its kind.
//!
//! A pipeline over several functions takes each of them into a module of its own, runs on all of these in parallel, and
//! puts what has changed back in the order of the functions:
//!
//! ```text
//!  module ── copy @f ──► { @f } ── passes ──► { @f' } ── copy back ──► module
//!         ── copy @g ──► { @g } ── passes ──► { @g' } ── copy back ──►
//! ```
//!
//! Beside each function stands what its symbols mean, the functions that it calls as declarations.
//!
//! This is done on one thread as on many, so that ids, names and messages never depend on their number. One function
//! alone is worked on in place. After a failure the other functions are still worked on, again for the sake of the same
//! messages, but nothing is put back.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rustc_hash::FxHashMap;
use tofu_diagnostics::{Code, Diagnostic, codes};
use tofu_ir::{BlockId, Module, OpId, Syntax, Trait, ValueMap, copy_head_from, copy_op_from};

use super::{Ran, Runner, is, work::Stopped, work::Work};
use crate::{
    Changed, Instrument, analysis::Analyses, context::Output, instrument::describe, manager::Pipeline,
    panics::guard,
};

/// One of several ops that are worked on in parallel.
struct Task {
    op: OpId,
    indices: Vec<usize>,
    trail: Vec<String>,
    forks: Vec<Box<dyn Instrument>>,
    diagnostics: Vec<Diagnostic>,
    outputs: Vec<Output>,
    /// The module that the op is alone in, and it there; nothing if it has not changed.
    result: Result<Option<(Module, OpId)>, Stopped>,
}

impl Runner<'_> {
    pub(super) fn nested(
        &self,
        pipeline: &Pipeline,
        work: &mut Work<'_, '_>,
        analyses: &mut Analyses,
    ) -> Ran {
        let ops = match anchors(pipeline, work) {
            Ok(ops) => ops,
            Err(error) => return work.say(vec![*error]).and(Err(Stopped)),
        };
        let changed = self.watched(pipeline, ops.len(), work, |work| match ops[..] {
            [only] => self.in_place(pipeline, only, work),
            _ => self.apart(pipeline, &ops, work),
        })?;
        analyses.update(changed, &[]);
        Ok(changed)
    }

    fn in_place(&self, pipeline: &Pipeline, op: OpId, work: &mut Work<'_, '_>) -> Ran {
        let outer = std::mem::replace(&mut work.op, op);
        let depth = work.trail.len();
        work.trail.extend(trail(pipeline, &work.indices, work.module, op, 0));
        let neighbors = neighbors(work.module, op);
        let mut result = self.pipeline(pipeline, work);
        work.trail.truncate(depth);
        work.op = outer;
        if result.is_ok() && self::neighbors(work.module, op) != neighbors {
            let error = changed_around(pipeline, work.module, op);
            result = work.say(vec![error]).and(Err(Stopped));
        }
        result
    }

    /// Works on each op in a module of its own.
    fn apart(&self, pipeline: &Pipeline, ops: &[OpId], work: &mut Work<'_, '_>) -> Ran {
        let module = &*work.module;
        let new_task = |(index, &op)| Task {
            op,
            indices: work.indices.clone(),
            trail: [&work.trail[..], &trail(pipeline, &work.indices, module, op, index)].concat(),
            forks: work.instruments.iter().map(|instrument| instrument.fork()).collect(),
            diagnostics: Vec::new(),
            outputs: Vec::new(),
            result: Err(Stopped),
        };
        let mut tasks: Vec<Task> = ops.iter().enumerate().map(new_task).collect();
        let run = |task: &mut Task| self.task(pipeline, module, task);
        match self.pool() {
            Some(pool) => pool.install(|| tasks.par_iter_mut().for_each(run)),
            None => tasks.iter_mut().for_each(run),
        }

        let mut results = Vec::new();
        for task in tasks {
            let result = join(task, work);
            results.push(result);
        }
        let results: Vec<_> = results.into_iter().collect::<Result<_, Stopped>>()?;
        let mut all = Changed::No;
        for (op, (alone, copy)) in ops.iter().zip(results).filter_map(|(&op, changed)| Some((op, changed?))) {
            // What passes have broken may not be fit to be copied, if nothing has verified it.
            let new = guard(|| copy_op_from(&alone, copy, work.module, &mut ValueMap::default()));
            let new = new.or_else(|panic| {
                let error = work.panicked(panic, &pipeline.to_string());
                work.say(vec![error]).and(Err(Stopped))
            })?;
            work.module.insert_before(op, new);
            work.module.erase(op);
            all = Changed::Yes;
        }
        Ok(all)
    }

    fn task(&self, pipeline: &Pipeline, source: &Module, task: &mut Task) {
        let mut alone = Module::new(source.registry().clone());
        let copy = copy_op_from(source, task.op, &mut alone, &mut ValueMap::default());
        let body = alone.body();
        alone.append(body, copy);
        copy_surroundings(source, task.op, &mut alone);
        let surroundings = neighbors(&alone, copy);
        let mut instruments: Vec<&mut dyn Instrument> = Vec::new();
        for fork in &mut task.forks {
            instruments.push(&mut **fork);
        }
        let mut work = Work {
            op: copy,
            detached: true,
            indices: std::mem::take(&mut task.indices),
            trail: std::mem::take(&mut task.trail),
            ..Work::on_program(&mut alone, self.session, &mut instruments, &mut task.diagnostics)
        };
        let mut result = self.pipeline(pipeline, &mut work);
        task.outputs = work.outputs;
        if result.is_ok() && neighbors(&alone, copy) != surroundings {
            task.diagnostics.push(changed_around(pipeline, source, task.op));
            result = Err(Stopped);
        }
        task.result = result.map(|changed| (changed == Changed::Yes).then_some((alone, copy)));
    }

    /// The threads, if there are to be several and the machine has them.
    fn pool(&self) -> Option<&ThreadPool> {
        let threads = self.session.threads.get().min(MAX_THREADS);
        let build = || {
            // As much stack as a main thread has, so that a pass may recurse as deep on one thread as on many.
            let builder = ThreadPoolBuilder::new().num_threads(threads).stack_size(8 << 20);
            if threads == 1 { None } else { builder.build().ok() }
        };
        self.pool.get_or_init(build).as_ref()
    }
}

/// More threads than this only cost time, on any machine.
const MAX_THREADS: usize = 256;

/// The ops of the block that an op stands in.
fn neighbors(module: &Module, op: OpId) -> Vec<OpId> {
    module.block_of(op).map_or(Vec::new(), |block| module.ops(block).collect())
}

fn changed_around(pipeline: &Pipeline, module: &Module, op: OpId) -> Diagnostic {
    let message = format!("`{pipeline}` has changed what is around the op that it was given");
    Diagnostic::error(&codes::INVALID_AFTER_PASS, module.span(op), message)
}

/// What is said once, however many functions it happened to.
const ONCE: [&Code; 2] = [&codes::PASS_PANICKED, &codes::CANCELLED];

/// Takes in what a task leaves behind, and gives its result.
fn join(task: Task, work: &mut Work<'_, '_>) -> Result<Option<(Module, OpId)>, Stopped> {
    for (instrument, fork) in work.instruments.iter_mut().zip(task.forks) {
        instrument.join(fork);
    }
    for diagnostic in task.diagnostics {
        let once = ONCE.iter().find(|code| is(&diagnostic, code));
        if !once.is_some_and(|code| work.diagnostics.iter().any(|known| is(known, code))) {
            work.diagnostics.push(diagnostic);
        }
    }
    let unwritten = work.keep(task.outputs);
    work.say(unwritten)?;
    task.result
}

/// Copies what the symbols in an op mean next to it: the declarations of functions, and all of anything else, with
/// what that mentions in turn. Of a module on the way to a symbol there is only the frame.
fn copy_surroundings(source: &Module, op: OpId, alone: &mut Module) {
    let mut copies = FxHashMap::from_iter([(op, None)]);
    let mut pending = vec![op];
    while let Some(user) = pending.pop() {
        let mut mentioned = Vec::new();
        for inner in source.walk(user) {
            source.visit_symbols_of_op(inner, &mut |path| mentioned.push((inner, path.clone())));
        }
        for (inner, path) in mentioned {
            let steps = (1..=path.len()).map(|length| source.resolve_symbol(inner, &path[..length]));
            let steps: Option<Vec<OpId>> = steps.collect();
            let target = steps.as_ref().and_then(|steps| steps.last().copied());
            // What is named in the op itself has come along.
            let is_inside = |target| source.ancestors(target).any(|around| around == user);
            if let (Some(steps), false) = (steps, target.is_none_or(is_inside)) {
                copy_path(source, &steps, alone, &mut copies, &mut pending);
            }
        }
    }
}

/// Copies the ops on the way to a symbol, each into the one before it. `copies` knows what was copied where.
fn copy_path(
    source: &Module,
    steps: &[OpId],
    alone: &mut Module,
    copies: &mut FxHashMap<OpId, Option<BlockId>>,
    pending: &mut Vec<OpId>,
) {
    let mut block = alone.body();
    for &step in steps {
        if let Some(&known) = copies.get(&step) {
            match known {
                Some(inner) => block = inner,
                None => return,
            }
            continue;
        }
        let is_table = source.has(step, Trait::SymbolTable);
        let copy = if is_table || source.def(step).syntax == Syntax::Function {
            copy_head_from(source, step, alone)
        } else {
            pending.push(step);
            copy_op_from(source, step, alone, &mut ValueMap::default())
        };
        alone.append(block, copy);
        let inner = is_table.then(|| alone.append_block(alone.region(copy, 0)));
        copies.insert(step, inner);
        block = inner.unwrap_or(block);
    }
}

/// The ops directly in the op that `pipeline` is for.
fn anchors(pipeline: &Pipeline, work: &Work<'_, '_>) -> Result<Vec<OpId>, Box<Diagnostic>> {
    let (module, anchor) = (&*work.module, pipeline.anchor);
    let blocks = module.regions(work.op).flat_map(|region| module.blocks(region));
    let inner = blocks.flat_map(|&block| module.ops(block));
    let is_anchor = |&inner: &OpId| {
        let def = module.def(inner);
        def.name == anchor || def.keyword == Some(anchor)
    };
    let ops: Vec<OpId> = inner.filter(is_anchor).collect();
    if ops.is_empty() {
        let message =
            format!("there is no `{anchor}` in `{}` for `{pipeline}` to work on", describe(module, work.op));
        let error = module.error(work.op, &codes::ANCHOR_MATCHES_NOTHING, message);
        return Err(Box::new(error.help("check the input, or take the anchor out of the pipeline")));
    }
    if let Some(&op) = ops.iter().find(|&&op| !module.has(op, Trait::Isolated)) {
        let message = format!("`{anchor}` sees values from outside, so no pass can work on it alone");
        return Err(Box::new(module.error(op, &codes::BAD_PIPELINE, message)));
    }
    Ok(ops)
}

/// The directories of an op in a tree of printed programs.
fn trail(pipeline: &Pipeline, indices: &[usize], module: &Module, op: OpId, index: usize) -> [String; 2] {
    let text = describe(module, op);
    let name = text.split_once(' ').map_or("", |(_, symbol)| symbol);
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    // The number tells names apart that are too long for a file system.
    let name: String = name.trim_matches(['@', '"']).chars().map(safe).take(64).collect();
    let position = indices.last().copied().unwrap_or(0);
    [format!("{position}_{}", pipeline.anchor), format!("{index}_{name}")]
}
