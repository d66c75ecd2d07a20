//! Time, in whole picoseconds.
//!
//! Costs are compared, summed in any order and handed to solvers that count in integers. So a time is an integer: sums
//! do not depend on the order or on the thread that makes them, and equal costs are equal. A picosecond is a hundredth of
//! what the fastest link needs for a byte; 2^64 of them are 213 days. What goes beyond saturates.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

/// A span of time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

/// Picoseconds in a second.
const SECOND: u64 = 1_000_000_000_000;

impl Time {
    /// No time at all.
    pub const ZERO: Time = Time(0);

    /// So many picoseconds.
    pub const fn from_picoseconds(picoseconds: u64) -> Time {
        Time(picoseconds)
    }

    /// So many seconds, to the nearest picosecond. What is negative or no number is zero.
    pub fn from_seconds(seconds: f64) -> Time {
        Time(libm::round(seconds * SECOND as f64) as u64)
    }

    /// What it takes to do `amount` at `rate` a second, rounded up: bytes over bytes a second, FLOP over FLOP a second.
    pub fn at_rate(amount: u128, rate: u64) -> Time {
        let picoseconds = amount.saturating_mul(SECOND.into()).div_ceil(u128::from(rate.max(1)));
        Time(u64::try_from(picoseconds).unwrap_or(u64::MAX))
    }

    /// In picoseconds.
    pub fn picoseconds(self) -> u64 {
        self.0
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }
}

impl Add for Time {
    type Output = Time;

    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}

impl Mul<u64> for Time {
    type Output = Time;

    fn mul(self, times: u64) -> Time {
        Time(self.0.saturating_mul(times))
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

/// For people: `1.25 ms`, to three decimals of the largest unit of which there is one.
impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [("s", SECOND), ("ms", SECOND / 1000), ("us", 1_000_000), ("ns", 1000)];
        match units.into_iter().find(|&(_, unit)| self.0 >= unit) {
            None => write!(f, "{} ps", self.0),
            Some((name, unit)) => {
                let thousandths = u128::from(self.0) * 1000 / u128::from(unit);
                let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
                write!(f, "{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_round_up_and_saturate() {
        assert_eq!(Time::at_rate(21_000_000_000, 21_000_000_000), Time(SECOND));
        assert_eq!(Time::at_rate(1, 3 * SECOND), Time(1));
        assert_eq!(Time::at_rate(0, 5), Time::ZERO);
        assert_eq!(Time::at_rate(u128::MAX, 1), Time(u64::MAX));
        assert_eq!(Time(u64::MAX) + Time(1), Time(u64::MAX));
        assert_eq!(Time(u64::MAX) * 2, Time(u64::MAX));
    }

    #[test]
    fn seconds_are_rounded() {
        assert_eq!(Time::from_seconds(1.5e-12), Time(2));
        assert_eq!(Time::from_seconds(-1.0), Time::ZERO);
        assert_eq!(Time::from_seconds(f64::NAN), Time::ZERO);
        assert_eq!(Time::from_seconds(5e-6).seconds(), 5e-6);
    }

    #[test]
    fn shown_in_the_largest_unit() {
        let shown = [0, 999, 1000, 1_250_000_000, 61 * SECOND].map(|ps| Time(ps).to_string());
        assert_eq!(shown, ["0 ps", "999 ps", "1 ns", "1.25 ms", "61 s"]);
    }
}
