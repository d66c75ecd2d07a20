//! The layers of the house, as ARCHITECTURE.md has them: who may depend on whom.

use std::path::PathBuf;

use serde::Deserialize;

use crate::shell::{cargo, root};

/// A layer's directory, and the directories that it must not depend on.
const LAYERS: [(&str, &[&str]); 3] = [
    ("crates", &["dialects", "passes", "tools"]),
    ("dialects", &["passes", "tools"]),
    ("passes", &["passes", "tools"]),
];

/// A package of the workspace.
#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing for what a user of the package gets.
    kind: Option<String>,
}

/// The packages in each layer, as cargo sees them.
fn packages(layer: &str) -> Vec<Package> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let output = cargo().args(["metadata", "--no-deps", "--offline", "--format-version=1"]).output().unwrap();
    let metadata: Metadata = serde_json::from_slice(&output.stdout).unwrap();
    let directory = root().canonicalize().unwrap().join(layer);
    let is_member = |package: &Package| package.manifest_path.starts_with(&directory);
    metadata.packages.into_iter().filter(is_member).collect()
}

#[test]
fn layers_are_kept() {
    for (layer, forbidden) in LAYERS {
        let members = packages(layer);
        assert!(!members.is_empty(), "there is nothing in `{layer}`");
        let others: Vec<Package> = forbidden.iter().flat_map(|layer| packages(layer)).collect();
        for member in members {
            for dependency in member.dependencies.iter().filter(|dependency| dependency.kind.is_none()) {
                let is_forbidden = others.iter().any(|other| other.name == dependency.name);
                assert!(!is_forbidden, "`{}` must not depend on `{}`", member.name, dependency.name);
            }
        }
    }
}

/// Packages are called after their folders.
#[test]
fn packages_are_named_after_their_folders() {
    for (layer, prefix) in [("crates", "tofu-"), ("dialects", "tofu-dialect-"), ("passes", "tofu-pass-")] {
        for package in packages(layer) {
            let folder = package.manifest_path.parent().unwrap().file_name().unwrap().to_str().unwrap();
            assert_eq!(package.name, format!("{prefix}{folder}"));
        }
    }
}
