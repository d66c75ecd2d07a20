//! Numbers with units, as they are written in machine files: `16GiB`, `21GB/s`, `200Gb/s`, `19.5TFLOP/s`, `5us`.

/// What a quantity measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// In bytes.
    Bytes,
    /// In bytes a second.
    Bandwidth,
    /// In floating-point operations.
    Flops,
    /// In floating-point operations a second.
    FlopRate,
    /// In picoseconds.
    Time,
}

/// A unit, and how many of the base unit it is, as a fraction.
type Unit = (&'static str, u64, u64);

const BYTES: &[Unit] = &[
    ("B", 1, 1),
    ("kB", 1_000, 1),
    ("MB", 1_000_000, 1),
    ("GB", 1_000_000_000, 1),
    ("TB", 1_000_000_000_000, 1),
    ("KiB", 1 << 10, 1),
    ("MiB", 1 << 20, 1),
    ("GiB", 1 << 30, 1),
    ("TiB", 1 << 40, 1),
];

const BANDWIDTHS: &[Unit] = &[
    ("B/s", 1, 1),
    ("kB/s", 1_000, 1),
    ("MB/s", 1_000_000, 1),
    ("GB/s", 1_000_000_000, 1),
    ("TB/s", 1_000_000_000_000, 1),
    ("KiB/s", 1 << 10, 1),
    ("MiB/s", 1 << 20, 1),
    ("GiB/s", 1 << 30, 1),
    ("TiB/s", 1 << 40, 1),
    ("Mb/s", 1_000_000, 8),
    ("Gb/s", 1_000_000_000, 8),
    ("Tb/s", 1_000_000_000_000, 8),
];

const FLOPS: &[Unit] = &[
    ("FLOP", 1, 1),
    ("kFLOP", 1_000, 1),
    ("MFLOP", 1_000_000, 1),
    ("GFLOP", 1_000_000_000, 1),
    ("TFLOP", 1_000_000_000_000, 1),
    ("PFLOP", 1_000_000_000_000_000, 1),
];

const FLOP_RATES: &[Unit] = &[
    ("FLOP/s", 1, 1),
    ("MFLOP/s", 1_000_000, 1),
    ("GFLOP/s", 1_000_000_000, 1),
    ("TFLOP/s", 1_000_000_000_000, 1),
    ("PFLOP/s", 1_000_000_000_000_000, 1),
];

const TIMES: &[Unit] = &[
    ("ps", 1, 1),
    ("ns", 1_000, 1),
    ("us", 1_000_000, 1),
    ("ms", 1_000_000_000, 1),
    ("s", 1_000_000_000_000, 1),
];

impl Kind {
    /// Its units.
    fn units(self) -> &'static [Unit] {
        match self {
            Kind::Bytes => BYTES,
            Kind::Bandwidth => BANDWIDTHS,
            Kind::Flops => FLOPS,
            Kind::FlopRate => FLOP_RATES,
            Kind::Time => TIMES,
        }
    }

    /// What a message says was expected.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Kind::Bytes => "a size such as \"16GiB\"",
            Kind::Bandwidth => "a bandwidth such as \"21GB/s\"",
            Kind::Flops => "a number of operations such as \"2GFLOP\"",
            Kind::FlopRate => "a rate such as \"19.5TFLOP/s\"",
            Kind::Time => "a time such as \"5us\"",
        }
    }
}

/// Why a text is no quantity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// It does not begin with a decimal number.
    NoNumber,
    /// There is no such unit, or none was written.
    UnknownUnit {
        /// What was written.
        written: String,
        /// The units there are.
        units: Vec<&'static str>,
    },
    /// It does not fit into 64 bits.
    TooLarge,
}

/// Reads a quantity in its base unit; a part of a base unit is dropped.
pub(crate) fn parse(text: &str, kind: Kind) -> Result<u64, Problem> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, written) = (&text[..unit_at], text[unit_at..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return Err(Problem::NoNumber);
    }
    let known = kind.units();
    // The micro sign is what some keyboards and data sheets write.
    let unit = known.iter().find(|(name, ..)| *name == written || written == "µs" && *name == "us");
    let Some(&(_, numerator, denominator)) = unit else {
        let units = known.iter().map(|&(name, ..)| name).collect();
        return Err(Problem::UnknownUnit { written: written.to_owned(), units });
    };
    // Eighteen decimals are a base unit in every unit.
    let decimals = &fraction[..fraction.len().min(18)];
    let scale = 10u128.pow(decimals.len() as u32);
    let value = || -> Option<u64> {
        let (whole, part): (u128, u128) = (whole.parse().ok()?, decimals.parse().ok()?);
        let scaled = whole.checked_mul(scale)?.checked_add(part)?.checked_mul(numerator.into())?;
        u64::try_from(scaled / scale / u128::from(denominator)).ok()
    };
    value().ok_or(Problem::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_base_units() {
        let check = |text: &str, kind, expected: u64| assert_eq!(parse(text, kind), Ok(expected), "{text}");
        check("16GiB", Kind::Bytes, 16 << 30);
        check("1.5 kB", Kind::Bytes, 1500);
        check("21GB/s", Kind::Bandwidth, 21_000_000_000);
        check("200Gb/s", Kind::Bandwidth, 25_000_000_000);
        check("19.5TFLOP/s", Kind::FlopRate, 19_500_000_000_000);
        check("2GFLOP", Kind::Flops, 2_000_000_000);
        check("5us", Kind::Time, 5_000_000);
        check("0.25 µs", Kind::Time, 250_000);
        check("0s", Kind::Time, 0);
    }

    #[test]
    fn what_is_no_quantity_says_why() {
        let unknown = |text: &str, kind| match parse(text, kind) {
            Err(Problem::UnknownUnit { written, .. }) => written,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(unknown("16", Kind::Bytes), "");
        assert_eq!(unknown("16GiBs", Kind::Bytes), "GiBs");
        assert_eq!(unknown("16GiB", Kind::Bandwidth), "GiB");
        for text in ["", "GiB", "-1GiB", "1.GiB", ".5GiB", "1.2.3GiB"] {
            assert_eq!(parse(text, Kind::Bytes), Err(Problem::NoNumber), "{text}");
        }
        assert_eq!(parse("99999999999TiB", Kind::Bytes), Err(Problem::TooLarge));
        assert_eq!(parse(&"9".repeat(100), Kind::Bytes).unwrap_err(), unknown_unit());
        assert_eq!(parse(&format!("{}B", "9".repeat(100)), Kind::Bytes), Err(Problem::TooLarge));
    }

    fn unknown_unit() -> Problem {
        Problem::UnknownUnit { written: String::new(), units: BYTES.iter().map(|&(name, ..)| name).collect() }
    }
}
