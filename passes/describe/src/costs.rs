//! `--print-costs`.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use tofu_dialect_func::Func;
use tofu_ir::{OpId, Profile};
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};
use tofu_tdl::{Cost, OpaqueRegistry, Part, cost};

use crate::listing::Listing;

pass_options! {
    /// Prints what each op costs: floating-point and other operations on elements, and the bytes that are read and
    /// written.
    ///
    /// The last line adds them up; an op in a region counts once, however often the region runs.
    pub struct PrintCosts {
        /// Only of ops of this name (`tensor.dot_general`), or of the one that defines this value (`%y`).
        pub op: String = String::new(),
    }
}

impl Pass for PrintCosts {
    const NAME: &'static str = "print-costs";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}",
        effect: "`%y` takes 128 operations, a product and a sum for each of its 8 elements and each of 8 terms; it reads \
                 192 bytes and writes 32.",
    };

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let listing = Listing::new(cx.module, cx.op());
        let registry = OpaqueRegistry::builtin();
        let mut known: FxHashMap<Profile, Option<Cost>> = FxHashMap::default();
        let mut cost_of = |op: OpId| {
            let profile = Profile::of(cx.module, op);
            if let Some(&cost) = profile.as_ref().and_then(|profile| known.get(profile)) {
                return cost;
            }
            let cost = cost_of(&listing, op, &registry);
            known.extend(profile.map(|profile| (profile, cost)));
            cost
        };
        let mut out = listing.title();
        let _ = writeln!(out, "  {:>20} {:>20} {:>20}", "operations", "bytes read", "bytes written");
        let mut total = Cost::default();
        for op in listing.ops(&self.op) {
            let cost = cost_of(op);
            if let Some(cost) = cost {
                total.flops = total.flops.saturating_add(cost.flops);
                total.bytes_read = total.bytes_read.saturating_add(cost.bytes_read);
                total.bytes_written = total.bytes_written.saturating_add(cost.bytes_written);
            }
            line(&mut out, cost, &listing.head(op));
        }
        line(&mut out, Some(total), "in all");
        cx.print(out);
        Ok(Changed::No)
    }
}

/// What all of an op costs, if its description and its extents are known.
fn cost_of(listing: &Listing<'_>, op: OpId, registry: &OpaqueRegistry) -> Option<Cost> {
    let described = listing.describe(op).ok()?;
    let instance = described.instance?;
    let whole = Part::default();
    Some(cost(&described.description, &instance.extents, &instance.types, &whole, registry))
}

fn line(out: &mut String, cost: Option<Cost>, what: &str) {
    let [flops, read, written] = match cost {
        Some(cost) => [cost.flops, cost.bytes_read, cost.bytes_written].map(|number| number.to_string()),
        None => ["?", "?", "?"].map(str::to_owned),
    };
    // Writing into a string cannot fail.
    let _ = writeln!(out, "  {flops:>20} {read:>20} {written:>20}  {what}");
}
