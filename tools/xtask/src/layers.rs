//! The layers of the house, as ARCHITECTURE.md has them: who may depend on whom.

use std::path::Path;

use crate::shell::root;

/// A layer's directory, and the directories that it must not depend on.
const LAYERS: [(&str, &[&str]); 3] = [
    ("crates", &["dialects", "passes", "tools"]),
    ("dialects", &["passes", "tools"]),
    ("passes", &["passes", "tools"]),
];

/// The packages in a directory, with the text of their manifests.
fn packages(directory: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(root().join(directory)).into_iter().flatten().flatten();
    let manifests = entries.filter_map(|entry| {
        let text = std::fs::read_to_string(entry.path().join("Cargo.toml")).ok()?;
        let name = text.lines().find_map(|line| line.strip_prefix("name = "))?.trim_matches('"').to_owned();
        Some((name, text))
    });
    let mut packages: Vec<_> = manifests.collect();
    packages.sort();
    packages
}

/// Whether a manifest names `package` among the dependencies that a user of it gets.
fn depends_on(manifest: &str, package: &str) -> bool {
    let users = manifest.split("[dev-dependencies]").next().unwrap_or(manifest);
    users.lines().any(|line| line.split(['.', ' ', '=']).next() == Some(package))
}

#[test]
fn layers_are_kept() {
    assert!(Path::new(&root().join("Cargo.toml")).exists());
    for (layer, forbidden) in LAYERS {
        let members = packages(layer);
        assert!(!members.is_empty(), "there is nothing in `{layer}`");
        for (name, manifest) in members {
            for (other, _) in forbidden.iter().flat_map(|directory| packages(directory)) {
                assert!(!depends_on(&manifest, &other), "`{name}` must not depend on `{other}`");
            }
        }
    }
}

/// Packages are called after their folders.
#[test]
fn packages_are_named_after_their_folders() {
    for (layer, prefix) in [("crates", "tofu-"), ("dialects", "tofu-dialect-"), ("passes", "tofu-pass-")] {
        for entry in std::fs::read_dir(root().join(layer)).unwrap() {
            let folder = entry.unwrap().file_name().into_string().unwrap();
            let name = format!("{prefix}{folder}");
            assert!(
                packages(layer).iter().any(|(package, _)| *package == name),
                "{layer}/{folder} is not `{name}`"
            );
        }
    }
}
