//! Versions of the dependencies of new projects: those with which Treenail is tested.

/// Names and versions. A test compares them with the workspace.
pub(super) const VERSIONS: [(&str, &str); 2] = [("axum", "0.8.9"), ("tokio", "1.54")];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn versions_are_those_of_the_workspace() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let manifest = fs::read_to_string(file).unwrap();
        for (name, version) in VERSIONS {
            let line = manifest
                .lines()
                .find(|line| line.starts_with(&format!("{name} = ")));
            let line = line.unwrap_or_else(|| panic!("the workspace does not use {name}"));
            assert!(line.contains(&format!("\"{version}\"")), "{name}: {line}");
        }
    }
}
