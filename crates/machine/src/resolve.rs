//! Machines by name: a preset, or a file.

use std::collections::BTreeMap;
use std::io;

use tofu_diagnostics::{Diagnostic, SourceMap, Span, codes, suggest};

use crate::{DEFAULT_PRESET, Machine, presets};

/// The machines that a run knows: the one that is meant where none is named, and those that are named.
#[derive(Clone, PartialEq, Debug)]
pub struct Machines {
    default: Machine,
    named: BTreeMap<String, Machine>,
}

impl Machines {
    /// A run on this machine, which names no other.
    pub fn new(default: Machine) -> Machines {
        Machines { default, named: BTreeMap::new() }
    }

    /// All machines that a run names, each read once: the default one, if not the preset for that, and others.
    ///
    /// # Errors
    /// All that is wrong with any of them, as [`resolve`].
    pub fn resolve(
        default: Option<&str>,
        others: impl IntoIterator<Item = String>,
        sources: &mut SourceMap,
        load: &dyn Fn(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Machines, Vec<Diagnostic>> {
        let default = default.unwrap_or(DEFAULT_PRESET);
        let mut names: Vec<String> = others.into_iter().collect();
        names.push(default.to_owned());
        names.sort_unstable();
        names.dedup();
        let (mut named, mut found) = (BTreeMap::new(), Vec::new());
        for name in names {
            match resolve(&name, sources, load) {
                Ok(machine) => {
                    named.insert(name, machine);
                }
                Err(wrong) => found.extend(wrong),
            }
        }
        match named.get(default) {
            Some(machine) if found.is_empty() => Ok(Machines { default: machine.clone(), named }),
            _ => Err(found),
        }
    }

    /// What is wrong with the machines if there are no other ops than these, as [`Machine::unknown_ops`] says.
    pub fn unknown_ops(&self, known: &[&str]) -> Vec<Diagnostic> {
        self.named.values().flat_map(|machine| machine.unknown_ops(known)).collect()
    }

    /// The machine that is meant where none is named.
    pub fn default_machine(&self) -> &Machine {
        &self.default
    }

    /// The machine of a name: one that was resolved, or a preset.
    pub fn get(&self, name: &str) -> Option<Machine> {
        self.named.get(name).cloned().or_else(|| Machine::preset(name))
    }
}

impl Default for Machines {
    /// A run on the preset for where nothing is said.
    fn default() -> Machines {
        #[expect(clippy::expect_used, reason = "a test reads every preset")]
        Machines::new(Machine::preset(DEFAULT_PRESET).expect("the default preset can be read"))
    }
}

/// The machine of a name: a preset, or if the name is a path (one with a `/` or that ends in `.toml`), what that file
/// says. `load` gives the bytes of a file; its text is kept in `sources`, where diagnostics find it.
///
/// # Errors
/// There is no such preset, the file cannot be read, or all that is wrong with what it says.
pub fn resolve(
    name: &str,
    sources: &mut SourceMap,
    load: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<Machine, Vec<Diagnostic>> {
    if let Some(machine) = Machine::preset(name) {
        return Ok(machine);
    }
    let is_path = name.contains(['/', std::path::MAIN_SEPARATOR]) || name.ends_with(".toml");
    if !is_path {
        let message = format!("there is no machine `{name}`");
        let error = Diagnostic::error(&codes::UNKNOWN_MACHINE, Span::NONE, message);
        let near = suggest::did_you_mean(name, presets());
        let all: Vec<String> = presets().map(|name| format!("`{name}`")).collect();
        let other = format!("name a preset ({}), or a file that ends in `.toml`", all.join(", "));
        return Err(vec![error.help(near.unwrap_or(other))]);
    }
    let unreadable = |why: String| {
        let message = format!("cannot read the machine `{name}`: {why}");
        vec![Diagnostic::error(&codes::CANNOT_READ, Span::NONE, message)]
    };
    let bytes = load(name).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8 text".to_owned()))?;
    let file = sources.add(name, text).map_err(|error| unreadable(error.to_string()))?;
    Machine::parse(sources, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that exist only here.
    fn load(name: &str) -> io::Result<Vec<u8>> {
        match name {
            "six.toml" => Ok(b"inherits = \"dgx-a100\"\ndevices = 6\n".to_vec()),
            "./wrong" => Ok(b"inherits = \"dgx-a100\"\ndevices = 0\nspeed = 3\n".to_vec()),
            "bytes.toml" => Ok(vec![0xff]),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn found(name: &str) -> Vec<(&'static str, String, Option<String>)> {
        let mut sources = SourceMap::new();
        let found = resolve(name, &mut sources, &load).unwrap_err();
        found.into_iter().map(|found| (found.code.id, found.message, found.help)).collect()
    }

    #[test]
    fn machines_are_presets_or_files() {
        let mut sources = SourceMap::new();
        let all = Machines::resolve(
            Some("six.toml"),
            ["dgx-h100".to_owned(), "six.toml".to_owned()],
            &mut sources,
            &load,
        );
        let all = all.unwrap();
        assert_eq!((all.default_machine().name(), all.default_machine().devices()), ("six.toml", 6));
        assert_eq!(all.get("dgx-h100"), Machine::preset("dgx-h100"));
        assert_eq!(all.get("six.toml").as_ref(), Some(all.default_machine()));
        assert_eq!(all.get("seven.toml"), None);
        assert_eq!(Machines::default().default_machine().name(), DEFAULT_PRESET);
    }

    #[test]
    fn wrong_names_say_what_there_is() {
        let unknown = found("dgx-a10");
        assert_eq!(unknown[0].0, "T0701");
        assert_eq!(unknown[0].1, "there is no machine `dgx-a10`");
        assert!(unknown[0].2.as_ref().unwrap().contains("dgx-a100"));
        assert!(found("abacus")[0].2.as_ref().unwrap().contains("`p2.8xlarge`"));
    }

    #[test]
    fn files_say_what_is_wrong_with_them() {
        let missing = found("none/such.toml");
        assert_eq!(missing[0].0, "T0401");
        assert!(missing[0].1.starts_with("cannot read the machine `none/such.toml`: "), "{}", missing[0].1);
        assert_eq!(found("bytes.toml")[0].1, "cannot read the machine `bytes.toml`: it is no UTF-8 text");
        let mut sources = SourceMap::new();
        let wrong = resolve("./wrong", &mut sources, &load).unwrap_err();
        let lines: Vec<u32> =
            wrong.iter().map(|found| sources.position(found.primary.span).unwrap().line).collect();
        assert_eq!(lines, [2, 3]);
    }
}
