//! The types that options have.

use std::borrow::Cow;

use super::{OptionValue, one_of, text::quote, unquote, value_end};

impl OptionValue for bool {
    fn expected() -> String {
        one_of(&["true", "false"])
    }

    fn parse(text: &str) -> Option<bool> {
        unquote(text)?.parse().ok()
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn flag() -> Option<bool> {
        Some(true)
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl OptionValue for $ty {
            fn expected() -> String {
                format!("a whole number from {} to {}", <$ty>::MIN, <$ty>::MAX)
            }

            fn parse(text: &str) -> Option<$ty> {
                unquote(text)?.parse().ok()
            }

            fn text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

integers!(u32, u64, usize, i64);

impl OptionValue for f64 {
    fn expected() -> String {
        "a finite number".to_owned()
    }

    fn parse(text: &str) -> Option<f64> {
        unquote(text)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn text(&self) -> String {
        format!("{self:?}")
    }
}

impl OptionValue for String {
    fn expected() -> String {
        "a text".to_owned()
    }

    fn parse(text: &str) -> Option<String> {
        unquote(text).map(Cow::into_owned)
    }

    fn text(&self) -> String {
        let plain = |c: char| c.is_alphanumeric() || "_-+./:@%#~$^&*?!|<>=".contains(c);
        if !self.is_empty() && self.chars().all(plain) { self.clone() } else { quote(self) }
    }
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn expected() -> String {
        format!("{} or `none`", T::expected())
    }

    fn parse(text: &str) -> Option<Option<T>> {
        if text == "none" { Some(None) } else { T::parse(text).map(Some) }
    }

    fn refusal(text: &str) -> Option<String> {
        T::refusal(text)
    }

    fn text(&self) -> String {
        match self.as_ref().map(T::text) {
            None => "none".to_owned(),
            Some(text) if text == "none" => quote(&text),
            Some(text) => text,
        }
    }

    fn flag() -> Option<Option<T>> {
        T::flag().map(Some)
    }

    fn machine(&self) -> Option<&str> {
        self.as_ref()?.machine()
    }
}

impl<T: OptionValue> OptionValue for Vec<T> {
    fn expected() -> String {
        format!("a list (`[a,b]`), each item {}", T::expected())
    }

    fn parse(text: &str) -> Option<Vec<T>> {
        let mut rest = match text.strip_prefix('[') {
            // In `[1],[2]` the brackets belong to the items.
            Some(inner) if value_end(inner, |c| c == ']') == Some(inner.len() - 1) => {
                &inner[..inner.len() - 1]
            }
            _ => text,
        };
        let mut items = Vec::new();
        while !rest.trim().is_empty() {
            let end = value_end(rest, |c| c == ',')?;
            items.push(T::parse(rest[..end].trim())?);
            rest = rest.get(end + 1..).unwrap_or("");
        }
        Some(items)
    }

    fn text(&self) -> String {
        let items: Vec<String> = self.iter().map(T::text).collect();
        format!("[{}]", items.join(","))
    }
}

/// The name of a machine: a preset, or a TOML file. A pass gets the machine itself with
/// [`PassContext::machine`](crate::PassContext::machine).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineName(pub String);

impl OptionValue for MachineName {
    fn expected() -> String {
        "a machine, by the name of a preset or as a file that ends in `.toml`".to_owned()
    }

    fn parse(text: &str) -> Option<MachineName> {
        String::parse(text).filter(|name| !name.is_empty()).map(MachineName)
    }

    fn text(&self) -> String {
        self.0.text()
    }

    fn machine(&self) -> Option<&str> {
        Some(&self.0)
    }
}

/// An amount of memory, in bytes: `12GiB`, `1.5GB`, `4096`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ByteSize(pub u64);

const BYTE_UNITS: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
];

impl OptionValue for ByteSize {
    fn expected() -> String {
        "a size such as `12GiB`, `1.5GB` or a number of bytes".to_owned()
    }

    /// A part of a byte is dropped.
    fn parse(text: &str) -> Option<ByteSize> {
        let text = unquote(text)?;
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = (text[..unit_at].trim_end(), &text[unit_at..]);
        let unit = match unit {
            "" | "B" => 1,
            _ => BYTE_UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || fraction.len() > 18 {
            return None;
        }
        let part = u128::from(unit) * fraction.parse::<u128>().ok()? / 10u128.pow(fraction.len() as u32);
        let bytes = u128::from(unit).checked_mul(whole.parse().ok()?)?.checked_add(part)?;
        u64::try_from(bytes).ok().map(ByteSize)
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// The shortest text that says exactly this many bytes.
impl std::fmt::Display for ByteSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let thousandths = u128::from(self.0) * 1000;
        let exact = |&(name, unit): &(&str, u64)| {
            let unit = u128::from(unit);
            let number = thousandths / unit;
            let decimals = format!("{}.{:03}", number / 1000, number % 1000);
            let text = format!("{}{name}", decimals.trim_end_matches('0').trim_end_matches('.'));
            (thousandths % unit == 0 && number > 0).then_some(text)
        };
        let texts = BYTE_UNITS.iter().filter_map(exact);
        let shortest = texts.min_by_key(String::len).filter(|text| text.len() <= self.0.to_string().len());
        f.write_str(&shortest.unwrap_or_else(|| self.0.to_string()))
    }
}
