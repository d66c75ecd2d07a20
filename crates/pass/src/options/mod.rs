//! Options of passes: typed fields that are read from text and written back.
//!
//! [`pass_options!`](crate::pass_options) declares a struct, its defaults and its documentation at once. In text,
//! options are separated by blanks: `devices=8 memory=12GiB exact name="a b"`. A value goes up to the next blank; one
//! that holds blanks or brackets stands in double quotes, in which `\` escapes.

mod text;
mod values;

use tofu_diagnostics::{Diagnostic, Span, codes, suggest::did_you_mean};

pub use text::unquote;
pub(crate) use text::value_end;
pub use values::{ByteSize, MachineName};

/// A set of options.
pub trait Options: Default {
    /// The doc comment of the struct.
    const DOC: &'static str;

    /// What there is to set.
    fn specs() -> Vec<OptionSpec> {
        Vec::new()
    }

    /// Sets one option; without a value it is a flag.
    ///
    /// # Errors
    /// When there is no such option, or when it does not take the value.
    fn set(&mut self, _name: &str, _value: Option<&str>) -> Result<(), SetError> {
        Err(SetError::Unknown)
    }

    /// Every option with its value, in the order of the fields.
    fn values(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The machines that options name.
    fn machines(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One option of a set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionSpec {
    /// Its name, with dashes.
    pub name: String,
    /// The doc comment of its field.
    pub doc: String,
    /// What it takes: "a whole number from 0 to 255".
    pub kind: String,
    /// The value it has when nothing is said.
    pub default: String,
}

/// Why an option was not set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SetError {
    /// There is no such option.
    Unknown,
    /// It takes something else.
    Expected {
        /// What it takes.
        expected: String,
        /// What is wrong with the value that was given, where more is known than that.
        reason: Option<String>,
    },
}

/// A type that an option can have.
pub trait OptionValue: Sized {
    /// What is taken, as messages say it: "a whole number from 0 to 255".
    fn expected() -> String;

    /// Reads a value, quoted or not.
    fn parse(text: &str) -> Option<Self>;

    /// What is wrong with a text that [`parse`](OptionValue::parse) does not take, where more can be said than what is taken.
    fn refusal(_text: &str) -> Option<String> {
        None
    }

    /// Writes a value so that it is read as the same one.
    fn text(&self) -> String;

    /// What the name of the option alone means, if it means anything.
    fn flag() -> Option<Self> {
        None
    }

    /// The machine that the value names, if it names one.
    fn machine(&self) -> Option<&str> {
        None
    }
}

/// Declares a struct of options.
///
/// ```
/// tofu_pass::pass_options! {
///     /// Makes programs simpler.
///     pub struct Simplify {
///         /// How many rounds there are at most.
///         pub max_iterations: u32 = 10,
///     }
/// }
/// assert_eq!(Simplify::default().max_iterations, 10);
/// ```
#[macro_export]
macro_rules! pass_options {
    ($(#[doc = $doc:literal])* $vis:vis struct $name:ident;) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Debug, Default)]
        $vis struct $name;

        impl $crate::Options for $name {
            const DOC: &'static str = concat!($($doc, "\n"),*);
        }
    };
    ($(#[doc = $doc:literal])* $vis:vis struct $name:ident {
        $($(#[doc = $field_doc:literal])* $field_vis:vis $field:ident: $ty:ty = $default:expr),+ $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $($(#[doc = $field_doc])* $field_vis $field: $ty,)+
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)+ }
            }
        }

        impl $crate::Options for $name {
            const DOC: &'static str = concat!($($doc, "\n"),*);

            fn specs() -> ::std::vec::Vec<$crate::OptionSpec> {
                let defaults = <Self as ::std::default::Default>::default();
                ::std::vec![$($crate::OptionSpec::new(
                    stringify!($field),
                    concat!($($field_doc, "\n"),*),
                    &defaults.$field,
                )),+]
            }

            fn set(&mut self, name: &str, value: ::std::option::Option<&str>) -> Result<(), $crate::SetError> {
                // An option has one spelling, the one with dashes.
                if name.contains('_') {
                    return Err($crate::SetError::Unknown);
                }
                match name.replace('-', "_").as_str() {
                    $(stringify!($field) => $crate::assign(&mut self.$field, value),)+
                    _ => Err($crate::SetError::Unknown),
                }
            }

            fn values(&self) -> ::std::vec::Vec<(::std::string::String, ::std::string::String)> {
                ::std::vec![$((
                    stringify!($field).replace('_', "-"),
                    $crate::OptionValue::text(&self.$field),
                )),+]
            }

            fn machines(&self) -> ::std::vec::Vec<::std::string::String> {
                let named = [$($crate::OptionValue::machine(&self.$field)),+];
                named.into_iter().flatten().map(::std::borrow::ToOwned::to_owned).collect()
            }
        }
    };
}

/// Declares an enum that an option can have, and the name of each variant.
///
/// ```
/// tofu_pass::option_enum! {
///     /// What to look for first.
///     pub enum Order {
///         /// The fastest.
///         Time = "time",
///         /// The smallest.
///         Memory = "memory",
///     }
/// }
/// ```
#[macro_export]
macro_rules! option_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $crate::OptionValue for $name {
            fn expected() -> ::std::string::String {
                $crate::one_of(&[$($text),+])
            }

            fn parse(text: &str) -> ::std::option::Option<Self> {
                match &*$crate::unquote(text)? {
                    $($text => Some($name::$variant),)+
                    _ => None,
                }
            }

            fn text(&self) -> ::std::string::String {
                match self {
                    $($name::$variant => $text.to_owned(),)+
                }
            }
        }
    };
}

impl OptionSpec {
    #[doc(hidden)]
    pub fn new<T: OptionValue>(field: &str, doc: &str, default: &T) -> OptionSpec {
        OptionSpec {
            name: field.replace('_', "-"),
            doc: plain_doc(doc),
            kind: T::expected(),
            default: default.text(),
        }
    }
}

#[doc(hidden)]
pub fn assign<T: OptionValue>(field: &mut T, value: Option<&str>) -> Result<(), SetError> {
    let read = match value {
        Some(text) => T::parse(text),
        None => T::flag(),
    };
    let refused = || SetError::Expected { expected: T::expected(), reason: value.and_then(T::refusal) };
    *field = read.ok_or_else(refused)?;
    Ok(())
}

#[doc(hidden)]
pub fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A doc comment without the blank that each line begins with.
pub(crate) fn plain_doc(doc: &str) -> String {
    let lines: Vec<&str> = doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n").trim().to_owned()
}

/// Options as they were written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OptionText {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) span: Span,
}

/// Reads the options of `owner`; says everything that is wrong with them.
pub(crate) fn read<O: Options>(owner: &str, given: &[OptionText]) -> Result<O, Vec<Diagnostic>> {
    let mut options = O::default();
    let mut found = Vec::new();
    for (index, OptionText { name, value, span }) in given.iter().enumerate() {
        if given[..index].iter().any(|earlier| earlier.name == *name) {
            let message = format!("option `{name}` of `{owner}` is given twice");
            found.push(Diagnostic::error(&codes::BAD_PIPELINE, *span, message));
            continue;
        }
        match options.set(name, value.as_deref()) {
            Ok(()) => {}
            Err(SetError::Unknown) => found.push(unknown::<O>(owner, name, *span)),
            Err(SetError::Expected { expected, reason }) => {
                let given = value.as_ref().map_or("nothing".to_owned(), |value| format!("`{value}`"));
                let message = format!("option `{name}` of `{owner}` takes {expected}, not {given}");
                found.push(Diagnostic::error(&codes::BAD_OPTION_VALUE, *span, message).maybe_help(reason));
            }
        }
    }
    if found.is_empty() { Ok(options) } else { Err(found) }
}

fn unknown<O: Options>(owner: &str, name: &str, span: Span) -> Diagnostic {
    let specs = O::specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| match names[..] {
        [] => format!("`{owner}` has no options"),
        _ => format!("`{owner}` takes {}", one_of(&names)),
    });
    Diagnostic::error(&codes::UNKNOWN_PASS_OPTION, span, format!("`{owner}` has no option `{name}`"))
        .help(help)
}

/// The options that are not as by default, in braces; nothing if all are.
pub(crate) fn braced<O: Options>(options: &O) -> String {
    let defaults = O::default().values();
    let changed = options.values().into_iter().zip(defaults).filter(|(value, default)| value != default);
    let texts: Vec<String> = changed.map(|((name, value), _)| format!("{name}={value}")).collect();
    if texts.is_empty() { String::new() } else { format!("{{{}}}", texts.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    option_enum! {
        /// A test.
        enum Color {
            /// Red.
            Red = "red",
            /// None at all.
            Absent = "none",
        }
    }

    pass_options! {
        /// Paints.
        ///
        /// Twice, if asked.
        struct Paint {
            /// How often.
            coat_count: u32 = 1,
            /// With what.
            color: Color = Color::Red,
            /// Whether to hurry.
            hurry: bool = false,
        }
    }

    fn text(name: &str, value: Option<&str>) -> OptionText {
        OptionText { name: name.to_owned(), value: value.map(str::to_owned), span: Span::new(1, 2) }
    }

    #[track_caller]
    fn round_trip<T: OptionValue + PartialEq + std::fmt::Debug>(values: impl IntoIterator<Item = T>) {
        for value in values {
            let text = value.text();
            assert_eq!(value_end(&text, |c| c.is_whitespace() || c == '}'), Some(text.len()), "{text}");
            assert_eq!(T::parse(&text), Some(value), "{text}");
        }
    }

    #[test]
    fn every_kind_of_value_reads_as_it_was_written() {
        let strings =
            ["", "plain", "two words", "a{b}", "say \"hi\"", "\\", "[1,2]", "a,b", "none", "ü\n\t\r", "k=v"];
        round_trip([true, false]);
        round_trip([0, u32::MAX]);
        round_trip([u64::MAX]);
        round_trip([usize::MAX]);
        round_trip([i64::MIN, -1, i64::MAX]);
        round_trip([0.1, -0.0, 1e300, f64::MIN_POSITIVE, 3.0]);
        round_trip(strings.map(str::to_owned));
        round_trip(strings.map(|text| Some(text.to_owned())));
        round_trip([None, Some(7u32)]);
        round_trip([vec![], vec![strings.map(str::to_owned).to_vec(), vec![]], vec![vec![]]]);
        round_trip([vec![1u32], vec![1, 2, 3]]);
        round_trip([Color::Red, Color::Absent]);
        round_trip([None, Some(Color::Red), Some(Color::Absent)]);
        let sizes =
            [0, 1, 999, 1000, 1024, 1 << 30, 12 << 30, 1_500_000_000, 3 << 29, 1_234_567_891, u64::MAX];
        round_trip(sizes.map(ByteSize));
    }

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| ByteSize::parse(text).map(|size| size.0);
        assert_eq!(bytes("12GiB"), Some(12 << 30));
        assert_eq!(bytes("512 mib"), Some(512 << 20));
        assert_eq!(bytes("1.5GB"), Some(1_500_000_000));
        assert_eq!(bytes("0.3KiB"), Some(307));
        assert_eq!(bytes("77"), Some(77));
        for wrong in ["12G", "GiB", "-1", "1.GiB", "1e3", "", "99999PiB", "1.2.3MB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
        let shown =
            [12 << 30, 1_500_000_000, 3 << 29, 4097, 0, 1000].map(|bytes| ByteSize(bytes).to_string());
        assert_eq!(shown, ["12GiB", "1.5GB", "1.5GiB", "4097", "0", "1kB"]);
    }

    #[test]
    fn lists_may_do_without_brackets() {
        assert_eq!(Vec::<u32>::parse("1,2"), Some(vec![1, 2]));
        assert_eq!(Vec::<u32>::parse("[ 1 , 2 ]"), Some(vec![1, 2]));
        assert_eq!(Vec::<Vec<u32>>::parse("[1],[2,3]"), Some(vec![vec![1], vec![2, 3]]));
        assert_eq!(Vec::<u32>::parse("[1,x]"), None);
        assert_eq!(Vec::<u32>::parse("[1"), None);
    }

    #[test]
    fn a_declaration_gives_documentation_defaults_and_text() {
        assert_eq!(plain_doc(Paint::DOC), "Paints.\n\nTwice, if asked.");
        let specs = Paint::specs();
        assert_eq!(specs[0].name, "coat-count");
        assert_eq!(specs[0].doc, "How often.");
        assert_eq!(specs[0].kind, "a whole number from 0 to 4294967295");
        assert_eq!(specs[0].default, "1");
        assert_eq!(specs[1].kind, "`red` or `none`");
        assert_eq!(braced(&Paint::default()), "");
        let paint = Paint { coat_count: 2, hurry: true, ..Paint::default() };
        assert_eq!(braced(&paint), "{coat-count=2 hurry=true}");
        let all = [("coat-count", "2"), ("color", "red"), ("hurry", "true")];
        assert_eq!(paint.values(), all.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn options_are_read_by_name() {
        let paint: Paint = read("paint", &[text("coat-count", Some("3")), text("hurry", None)]).unwrap();
        assert_eq!(paint, Paint { coat_count: 3, color: Color::Red, hurry: true });
    }

    #[test]
    fn wrong_options_are_all_reported() {
        let given = [
            text("coat-cuont", Some("3")),
            text("colour-of-the-sky", None),
            text("color", Some("green")),
            text("coat-count", None),
            text("hurry", None),
            text("hurry", Some("false")),
        ];
        let found = read::<Paint>("paint", &given).unwrap_err();
        let found: Vec<_> =
            found.iter().map(|d| (d.code.id, d.message.as_str(), d.help.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("T0302", "`paint` has no option `coat-cuont`", Some("did you mean `coat-count`?")),
                (
                    "T0302",
                    "`paint` has no option `colour-of-the-sky`",
                    Some("`paint` takes `coat-count`, `color` or `hurry`")
                ),
                ("T0303", "option `color` of `paint` takes `red` or `none`, not `green`", None),
                (
                    "T0303",
                    "option `coat-count` of `paint` takes a whole number from 0 to 4294967295, not nothing",
                    None
                ),
                ("T0304", "option `hurry` of `paint` is given twice", None),
            ]
        );
    }
}
