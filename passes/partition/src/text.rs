//! Numbers and layouts as people read them.

use tofu_partition::{Objective, Stored};
use tofu_sharding::{Layouts, Mesh};

/// `1.5 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut number = bytes as f64;
    let mut unit = 0;
    while number >= 1023.95 && unit + 1 < units.len() {
        number /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{number:.1} {}", units[unit]) }
}

/// `41.2 ms`, of picoseconds.
pub(crate) fn time(picoseconds: i128) -> String {
    seconds(picoseconds as f64 / 1e12)
}

/// `41.2 ms`.
pub(crate) fn seconds(seconds: f64) -> String {
    let scales = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    // What would be written as 1000 of a unit is 1 of the next one.
    let fits = |&&(scale, _): &&(f64, &str)| seconds.abs() >= scale * 0.9995;
    let &(scale, unit) = scales.iter().find(fits).unwrap_or(&scales[3]);
    let number = seconds / scale;
    match number.abs() {
        number_abs if number_abs >= 99.95 => format!("{number:.0} {unit}"),
        number_abs if number_abs >= 9.995 => format!("{number:.1} {unit}"),
        0.0 => "0 s".to_owned(),
        _ => format!("{number:.2} {unit}"),
    }
}

/// A cost, by what is minimised.
pub(crate) fn cost(cost: i128, objective: Objective) -> String {
    match objective {
        Objective::Time => time(cost),
        Objective::Bytes => bytes(u64::try_from(cost).unwrap_or(u64::MAX)),
    }
}

/// `12,345`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A layout of a tensor, as its sharding is written.
pub(crate) fn layouts(layouts: Layouts, mesh: &Mesh, shape: &[u64]) -> String {
    layouts.sharding(mesh, shape).display(mesh).to_string()
}

/// All layouts in which a tensor is kept, as short as in a table.
pub(crate) fn stored(stored: Stored, mesh: &Mesh, shape: &[u64]) -> String {
    let short = |of: Layouts| layouts(of, mesh, shape).replace(", partial = ", " ").replace("} padded", "+}");
    stored.layouts().map(short).collect::<Vec<_>>().join(" and ")
}

/// A text in so many columns, at their beginning.
pub(crate) fn left(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// A text in so many columns, at their end.
pub(crate) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1.0 MiB", "not 1024.0 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(time(0), "0 s");
        assert_eq!(time(999_960_000_000), "1.00 s");
        assert_eq!(time(41_234_000_000), "41.2 ms");
        assert_eq!(time(123_456_000), "123 µs");
        assert_eq!(time(1), "0.00 ns");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
    }

    #[test]
    fn texts_fill_columns() {
        assert_eq!(left("ab", 4), "ab  ");
        assert_eq!(left("abcdef", 4), "abc…");
        assert_eq!(right("µs", 4), "  µs");
    }
}
