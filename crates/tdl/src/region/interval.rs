//! Strided intervals of integers: `low, low + step, …, high`.

/// A strided interval; empty if `low > high`. A single number has the step 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) step: i64,
}

/// Large enough for every extent, small enough to be added.
pub(crate) const FAR: i64 = 1 << 61;

impl Interval {
    pub(crate) const EMPTY: Interval = Interval { low: 0, high: -1, step: 1 };

    /// The numbers from `low` to `high`, both included.
    pub(crate) fn new(low: i64, high: i64) -> Interval {
        Interval { low, high, step: 1 }.normal()
    }

    pub(crate) fn single(value: i64) -> Interval {
        let value = value.clamp(-FAR, FAR);
        Interval { low: value, high: value, step: 0 }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub(crate) fn count(self) -> i64 {
        match self.step {
            _ if self.is_empty() => 0,
            0 => 1,
            step => (self.high - self.low) / step + 1,
        }
    }

    fn normal(self) -> Interval {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        // Differences of ends must not overflow; nothing real is that far.
        let (low, high) = (self.low.clamp(-FAR, FAR), self.high.clamp(-FAR, FAR));
        let this = Interval { low, high, step: self.step.min(FAR) };
        this.aligned()
    }

    fn aligned(self) -> Interval {
        if self.step == 0 || self.high - self.low < self.step {
            return Interval::single(self.low);
        }
        Interval { high: self.low + (self.high - self.low) / self.step * self.step, ..self }
    }

    /// All sums of one number of each.
    pub(crate) fn add(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        Interval {
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
            step: gcd(self.step, other.step),
        }
        .normal()
    }

    pub(crate) fn scale(self, factor: i64) -> Interval {
        if self.is_empty() {
            return self;
        }
        let (a, b) = (self.low.saturating_mul(factor), self.high.saturating_mul(factor));
        Interval { low: a.min(b), high: a.max(b), step: self.step.saturating_mul(factor.saturating_abs()) }
            .normal()
    }

    /// The numbers from `low` to `high` that are in it.
    pub(crate) fn clip(self, low: i64, high: i64) -> Interval {
        if self.is_empty() {
            return self;
        }
        let mut clipped = self;
        let (low, high) = (low.clamp(-FAR, FAR), high.clamp(-FAR, FAR));
        if low > self.low {
            let steps = if self.step == 0 { i64::MAX } else { (low - self.low + self.step - 1) / self.step };
            clipped.low = self.step.checked_mul(steps).map_or(i64::MAX, |by| self.low.saturating_add(by));
            if self.step == 0 {
                return Interval::EMPTY;
            }
        }
        clipped.high = self.high.min(high);
        clipped.normal()
    }

    /// The numbers in it that leave `rest` when divided by `modulus`.
    pub(crate) fn congruent(self, rest: i64, modulus: i64) -> Interval {
        if self.is_empty() || modulus < 1 {
            return self;
        }
        let step = self.step.max(1);
        // Within so many steps every remainder that can occur has occurred.
        let rest = rest.rem_euclid(modulus);
        let period = modulus / gcd(step, modulus);
        let mut value = self.low;
        for _ in 0..period.min(1 << 16) {
            if value > self.high {
                return Interval::EMPTY;
            }
            if value.rem_euclid(modulus) == rest {
                return Interval { low: value, high: self.high, step: step.saturating_mul(period) }.normal();
            }
            value = value.saturating_add(step);
        }
        if period > 1 << 16 { self } else { Interval::EMPTY }
    }

    /// The smallest strided interval with all numbers of both.
    pub(crate) fn hull(self, other: Interval) -> Interval {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let step = gcd(gcd(self.step, other.step), (self.low - other.low).abs());
        Interval { low: self.low.min(other.low), high: self.high.max(other.high), step }.normal()
    }

    /// The quotients, rounded down.
    pub(crate) fn floor_div(self, divisor: i64) -> Interval {
        if self.is_empty() || divisor < 1 {
            return self;
        }
        let (low, high) = (self.low.div_euclid(divisor), self.high.div_euclid(divisor));
        let step = if self.step % divisor == 0 { self.step / divisor } else { 1 };
        Interval { low, high, step }.normal()
    }

    /// The remainders.
    pub(crate) fn modulo(self, divisor: i64) -> Interval {
        if self.is_empty() || divisor < 1 {
            return self;
        }
        if self.low.div_euclid(divisor) == self.high.div_euclid(divisor) {
            let low = self.low.rem_euclid(divisor);
            return Interval { low, high: self.high.rem_euclid(divisor), ..self };
        }
        let step = gcd(self.step, divisor);
        let low = self.low.rem_euclid(step);
        let all = Interval { low, high: (divisor - step).saturating_add(low), step }.normal();
        if self.count() >= 64 || self.count() >= divisor / step {
            return all;
        }
        // Few numbers: look at each.
        let mut hull = Interval::EMPTY;
        for number in 0..self.count() {
            hull = hull.hull(Interval::single((self.low + number * self.step).rem_euclid(divisor)));
        }
        hull
    }
}

/// The greatest common divisor of numbers that are not negative; of 0 and x it is x.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(interval: Interval) -> Vec<i64> {
        (0..interval.count()).map(|n| interval.low + n * interval.step).collect()
    }

    fn hull_of(values: impl Iterator<Item = i64>) -> Interval {
        values.fold(Interval::EMPTY, |hull, value| hull.hull(Interval::single(value)))
    }

    fn some() -> Vec<Interval> {
        let mut all = Vec::new();
        for low in -7..4 {
            for step in 1..5 {
                for count in 1..6 {
                    all.push(Interval { low, high: low + step * (count - 1), step }.normal());
                }
            }
        }
        all
    }

    #[test]
    fn every_operation_gives_the_hull_of_what_it_gives_for_each_number() {
        for a in some() {
            for divisor in 1..6 {
                let divided = hull_of(members(a).into_iter().map(|x| x.div_euclid(divisor)));
                let got = a.floor_div(divisor);
                assert_eq!((got.low, got.high), (divided.low, divided.high), "{a:?} / {divisor}");
                let rest = hull_of(members(a).into_iter().map(|x| x.rem_euclid(divisor)));
                let got = a.modulo(divisor);
                assert_eq!(
                    (got.low, got.high, got.step),
                    (rest.low, rest.high, rest.step),
                    "{a:?} % {divisor}"
                );
                for wanted in 0..divisor {
                    let kept = members(a).into_iter().filter(|x| x.rem_euclid(divisor) == wanted);
                    let kept = hull_of(kept);
                    assert_eq!(
                        members(a.congruent(wanted, divisor)),
                        members(kept),
                        "{a:?} = {wanted} % {divisor}"
                    );
                }
                let scaled = hull_of(members(a).into_iter().map(|x| x * -divisor));
                assert_eq!(a.scale(-divisor), scaled);
            }
            let clipped = hull_of(members(a).into_iter().filter(|x| (-2..=5).contains(x)));
            assert_eq!(members(a.clip(-2, 5)), members(clipped), "{a:?}");
        }
    }
}
