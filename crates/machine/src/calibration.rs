//! Measured times, which override the formulas.
//!
//! A table holds times for some sizes of one kind of work. Between two sizes the logarithm of the time is a straight line
//! over the logarithm of the size, which is exact for any power law; beyond the smallest and the largest size, the
//! formula goes on, scaled so that it meets the table. The logarithms are those of `libm`, the same on every machine.

use tofu_diagnostics::Span;
use tofu_ir::ElementType;

use crate::{Collective, Direction, Kernel, Time};

/// The measured times of a machine; at most one table for each kind of work.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Calibration {
    pub(crate) kernels: Vec<KernelTable>,
    pub(crate) collectives: Vec<CollectiveTable>,
    pub(crate) copies: Vec<CopyTable>,
}

/// Times of an op.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct KernelTable {
    pub(crate) op: Box<str>,
    /// Where the op is named.
    pub(crate) span: Span,
    pub(crate) element: ElementType,
    pub(crate) size: KernelSize,
    pub(crate) points: Points,
}

/// What the size of a kernel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KernelSize {
    Flops,
    Bytes,
}

/// Times of a collective.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CollectiveTable {
    pub(crate) collective: Collective,
    /// How many blocks the group touches: see [`Machine::blocks`](crate::Machine::blocks).
    pub(crate) blocks: Box<[u64]>,
    pub(crate) points: Points,
}

/// Times of a copy.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CopyTable {
    pub(crate) direction: Direction,
    pub(crate) points: Points,
}

/// Sizes in ascending order, each with its time; none is zero, and there is at least one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Points(pub(crate) Box<[(u64, Time)]>);

impl Calibration {
    /// The measured time of a kernel, if its op was measured. `model` is the formula.
    pub(crate) fn kernel(&self, kernel: &Kernel<'_>, model: impl Fn(&Kernel<'_>) -> Time) -> Option<Time> {
        let (points, size) = self.points_of(kernel)?;
        if size == 0 {
            return None;
        }
        let part = |amount: u64, of: u64| {
            let scaled = u128::from(amount) * u128::from(of) / u128::from(size);
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Some(points.time(size, |size| {
            model(&Kernel { flops: part(kernel.flops, size), bytes: part(kernel.bytes, size), ..*kernel })
        }))
    }

    /// What all kernels take at least that are no smaller than this one, if its op was measured.
    pub(crate) fn least_kernel(&self, kernel: &Kernel<'_>) -> Option<Time> {
        self.points_of(kernel).map(|(points, size)| points.least(size))
    }

    /// The table for a kernel, and the kernel's size in it.
    fn points_of(&self, kernel: &Kernel<'_>) -> Option<(&Points, u64)> {
        let is_of = |table: &&KernelTable| *table.op == *kernel.op && table.element == kernel.element;
        let table = self.kernels.iter().find(is_of)?;
        let size = match table.size {
            KernelSize::Flops => kernel.flops,
            KernelSize::Bytes => kernel.bytes,
        };
        Some((&table.points, size))
    }

    /// The measured time of a collective, if it was measured on such a group.
    pub(crate) fn collective(
        &self,
        collective: Collective,
        blocks: &[u64],
        bytes: u64,
        model: impl Fn(u64) -> Time,
    ) -> Option<Time> {
        let is_of = |table: &&CollectiveTable| table.collective == collective && *table.blocks == *blocks;
        Some(self.collectives.iter().find(is_of)?.points.time(bytes, model))
    }

    /// The measured time of a copy, if copies were measured.
    pub(crate) fn copy(&self, direction: Direction, bytes: u64, model: impl Fn(u64) -> Time) -> Option<Time> {
        let table = self.copies.iter().find(|table| table.direction == direction)?;
        Some(table.points.time(bytes, model))
    }
}

impl Points {
    fn time(&self, size: u64, model: impl Fn(u64) -> Time) -> Time {
        let after = self.0.partition_point(|&(other, _)| other < size);
        let beyond = |(end, measured): (u64, Time)| match model(end) {
            Time::ZERO => measured,
            modelled => Time::from_seconds(model(size).seconds() * (measured.seconds() / modelled.seconds())),
        };
        match (after.checked_sub(1).and_then(|before| self.0.get(before)), self.0.get(after)) {
            (_, Some(&(exact, time))) if exact == size => time,
            (Some(&before), Some(&after)) => between(before, after, size),
            (Some(&end), None) | (None, Some(&end)) => beyond(end),
            (None, None) => model(size),
        }
    }

    /// What any work takes at least that has this size or more, whatever the formula. Measured times need not rise with the
    /// size. Below the smallest measured size, a formula that rises from a fixed part is at least proportional to the
    /// size; above the largest one it is at least what was measured there.
    fn least(&self, size: u64) -> Time {
        let after = self.0.partition_point(|&(other, _)| other < size);
        let own = match (after.checked_sub(1).and_then(|before| self.0.get(before)), self.0.get(after)) {
            (Some(&before), Some(&after)) => between(before, after, size),
            (Some(&(_, measured)), None) => measured,
            (None, Some(&(end, measured))) => {
                let part = u128::from(measured.picoseconds()) * u128::from(size) / u128::from(end.max(1));
                Time::from_picoseconds(u64::try_from(part).unwrap_or(u64::MAX))
            }
            (None, None) => Time::ZERO,
        };
        self.0[after..].iter().fold(own, |least, &(_, time)| least.min(time))
    }
}

fn between((low, fast): (u64, Time), (high, slow): (u64, Time), size: u64) -> Time {
    let log = |number: u64| libm::log(number as f64);
    let at = (log(size) - log(low)) / (log(high) - log(low));
    let (fast, slow) = (libm::log(fast.seconds()), libm::log(slow.seconds()));
    Time::from_seconds(libm::exp(fast + at * (slow - fast)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[(u64, u64)]) -> Points {
        Points(points.iter().map(|&(size, ps)| (size, Time::from_picoseconds(ps))).collect())
    }

    #[test]
    fn between_points_a_power_law_is_met() {
        // Time = 1000 · size^1.5.
        let table = points(&[(100, 1_000_000), (10_000, 1_000_000_000)]);
        let time = |size| table.time(size, |_| panic!("there is a measured time")).picoseconds();
        assert_eq!(time(100), 1_000_000);
        assert_eq!(time(10_000), 1_000_000_000);
        let middle = time(1000);
        assert!(middle.abs_diff(31_622_777) <= 1, "{middle}");
    }

    #[test]
    fn beyond_the_points_the_model_goes_on_from_them() {
        let table = points(&[(100, 2000), (1000, 30_000)]);
        let model = |size: u64| Time::from_picoseconds(10 * size);
        let time = |size| table.time(size, model).picoseconds();
        assert_eq!(time(50), 1000, "twice the model at the lower end");
        assert_eq!(time(2000), 60_000, "three times the model at the upper end");
    }

    #[test]
    fn kernels_are_found_by_op_and_type_and_scaled() {
        let table = KernelTable {
            span: Span::NONE,
            op: "t.dot".into(),
            element: ElementType::F32,
            size: KernelSize::Flops,
            points: points(&[(1000, 5000)]),
        };
        let calibration = Calibration { kernels: vec![table], ..Calibration::default() };
        let kernel = Kernel { op: "t.dot", element: ElementType::F32, flops: 2000, bytes: 600 };
        // The bytes of the kernel that the table was made with are scaled along.
        let model = |kernel: &Kernel<'_>| Time::from_picoseconds(kernel.flops + kernel.bytes);
        assert_eq!(calibration.kernel(&kernel, model), Some(Time::from_picoseconds(10_000)));
        assert_eq!(calibration.kernel(&Kernel { op: "t.add", ..kernel }, model), None);
        assert_eq!(calibration.kernel(&Kernel { element: ElementType::F64, ..kernel }, model), None);
    }

    /// Whatever was measured, also where larger kernels took less time, no larger kernel takes less than is said.
    #[test]
    fn larger_kernels_take_no_less_than_the_least() {
        let mut random = fastrand::Rng::with_seed(1);
        for case in 0..2000 {
            let mut sizes: Vec<u64> = (0..random.usize(1..=4)).map(|_| random.u64(1..1000)).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let measured: Vec<(u64, u64)> =
                sizes.into_iter().map(|size| (size, random.u64(1_000_000..1_000_000_000))).collect();
            let size = if random.bool() { KernelSize::Flops } else { KernelSize::Bytes };
            let table = KernelTable {
                span: Span::NONE,
                op: "t.dot".into(),
                element: ElementType::F32,
                size,
                points: points(&measured),
            };
            let calibration = Calibration { kernels: vec![table], ..Calibration::default() };
            let launch = random.u64(0..1_000_000);
            let model = |kernel: &Kernel<'_>| {
                Time::from_picoseconds(launch + (kernel.flops * 10_000).max(kernel.bytes * 20_000))
            };
            let (flops, bytes) = (random.u64(0..1500), random.u64(0..1500));
            let kernel = Kernel { op: "t.dot", element: ElementType::F32, flops, bytes };
            let least = calibration.least_kernel(&kernel).unwrap();
            for _ in 0..20 {
                let larger =
                    Kernel { flops: flops + random.u64(0..500), bytes: bytes + random.u64(0..500), ..kernel };
                // What has no size in the table is not measured.
                let time = calibration.kernel(&larger, model).unwrap_or_else(|| model(&larger));
                let rounding = 2 + time.picoseconds() / 1_000_000_000;
                assert!(least.picoseconds() <= time.picoseconds() + rounding, "case {case}: {least} {time}");
            }
        }
    }
}
