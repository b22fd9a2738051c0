//! Files that count as sources.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};

/// Maximum size of a file whose content is compared, in bytes.
const MAX_HASHED_BYTES: u64 = 8 << 20;

/// Maximum number of hashes.
const MAX_HASHES: usize = 20_000;

/// Directories without sources.
const IGNORED_NAMES: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// Extensions of sources in the directories of Cargo packages.
pub(in super::super) const CARGO_EXTENSIONS: [&str; 3] = ["rs", "toml", "lock"];

/// Extensions of sources of a server without Cargo. Formats of data, such as JSON, are none: servers write them.
pub(super) const LANGUAGE_EXTENSIONS: [&str; 41] = [
    "c", "cc", "cjs", "clj", "cpp", "cs", "cts", "cxx", "dart", "erl", "ex", "exs", "fs", "go",
    "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "mjs", "ml", "mts", "php",
    "pl", "ps1", "py", "pyi", "rb", "rs", "scala", "sh", "swift", "ts", "tsx", "vb", "zig",
];

/// Hashes of the files that have changed. A build that writes the same output again, beside its sources, is no change.
#[derive(Debug, Default)]
pub(super) struct Contents(HashMap<PathBuf, Option<u64>>);

impl Contents {
    /// Returns false if the file is the same as at its last change.
    pub(super) fn has_changed(&mut self, path: &Path) -> bool {
        // Files that are too large, or that do not exist any more, have no hash. A pipe would block the program.
        let is_read =
            fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MAX_HASHED_BYTES);
        let content = is_read.then(|| fs::read(path).ok()).flatten();
        let hash = content.map(|content| {
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            hasher.finish()
        });
        if self.0.len() >= MAX_HASHES {
            self.0.clear();
        }
        let old = self.0.insert(path.to_owned(), hash);
        hash.is_none() || old != Some(hash)
    }
}

/// Rules that decide which files count. All paths are absolute.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) paths: Vec<PathBuf>,
    /// Extensions of files that count wherever they are.
    pub(super) extensions: &'static [&'static str],
    pub(super) ignored: Vec<PathBuf>,
    /// Files that the last build has read.
    pub(super) files: HashSet<PathBuf>,
}

impl Rules {
    pub(super) fn is_ignored(&self, path: &Path) -> bool {
        if self.ignored.iter().any(|ignored| path.starts_with(ignored)) {
            return true;
        }
        // A directory that was named is watched, whatever its own path.
        let base = self
            .paths
            .iter()
            .find_map(|base| path.strip_prefix(base).ok());
        base.unwrap_or(path)
            .components()
            .next_back()
            .is_some_and(is_ignored_name)
    }

    pub(super) fn counts(&self, path: &Path) -> bool {
        if self.files.contains(path) {
            return true;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_temporary =
            name.starts_with('.') || name.ends_with('~') || name.starts_with('#') || name == "4913";
        if is_temporary || self.ignored.iter().any(|ignored| path.starts_with(ignored)) {
            return false;
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        self.extensions.contains(&&*extension)
            || self.paths.iter().any(|base| path.starts_with(base))
    }
}

fn is_ignored_name(component: Component<'_>) -> bool {
    let name = component.as_os_str().to_string_lossy();
    let is_hidden = name.len() > 1 && name.starts_with('.') && name != "..";
    is_hidden || IGNORED_NAMES.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::super::Watched;
    use super::*;

    #[test]
    fn sources_and_named_paths_count() {
        let rules = Rules {
            paths: vec!["/p/data".into(), "/q/.hidden".into()],
            extensions: &CARGO_EXTENSIONS,
            ignored: vec!["/p/out".into()],
            files: HashSet::from([PathBuf::from("/p/src/text.md")]),
        };
        for path in [
            "/p/src/a.rs",
            "/p/Cargo.toml",
            "/p/data/x.json",
            "/p/src/text.md",
            "/q/.hidden/a",
        ] {
            assert!(rules.counts(Path::new(path)), "{path}");
        }
        for path in [
            "/p/src/.a.rs.swp",
            "/p/src/a.rs~",
            "/p/src/other.md",
            "/p/out/a.rs",
            "/p/data/4913",
        ] {
            assert!(!rules.counts(Path::new(path)), "{path}");
        }
        for path in [
            "/p/target",
            "/p/.git",
            "/p/out/deep",
            "/p/data/node_modules",
        ] {
            assert!(rules.is_ignored(Path::new(path)), "{path}");
        }
        for path in ["/q/.hidden/sub", "/p/src", "/p/data/sub"] {
            assert!(!rules.is_ignored(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn without_cargo_the_program_and_sources_by_their_extensions_count() {
        let rules = |given: &[PathBuf]| {
            let program = Some(Path::new("Cargo.toml"));
            let watched = Watched::without_cargo(given, program);
            Rules {
                paths: watched.paths,
                extensions: watched.extensions,
                ..Rules::default()
            }
        };
        let default = rules(&[]);
        for (path, expected) in [
            ("server.py", true),
            ("src/index.ts", true),
            ("Cargo.toml", true),
            ("state.json", false),
            ("server.lock", false),
            ("pid", false),
        ] {
            assert_eq!(default.counts(Path::new(path)), expected, "{path}");
        }
        let given = rules(&["data".into()]);
        assert!(given.counts(Path::new("data/pid")));
        assert!(!given.counts(Path::new("server.py")));
    }

    #[test]
    fn a_file_with_the_same_content_has_not_changed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a");
        let mut contents = Contents::default();
        for (text, expected) in [("one", true), ("one", false), ("two", true), ("one", true)] {
            fs::write(&file, text).unwrap();
            assert_eq!(contents.has_changed(&file), expected, "{text}");
        }
        fs::remove_file(&file).unwrap();
        assert!(contents.has_changed(&file));
    }
}
