//! Visibility of files in a walk: hidden files and files excluded by a `.gitignore` are skipped.

use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::open_to_read;

/// Maximum number of bytes read from a `.gitignore`.
const MAX_RULES_BYTES: u64 = 64 << 10;

/// Rules of a directory and its parents.
pub(super) struct Visible {
    rules: Gitignore,
    outer: Option<Rc<Self>>,
}

impl Visible {
    /// Reads the `.gitignore` of `dir`, which is at `path`. Invalid rules are ignored, as in git.
    pub(super) fn read(dir: &Dir, path: &str, outer: Option<Rc<Self>>) -> Rc<Self> {
        let mut text = Vec::new();
        if let Ok(file) = open_to_read(dir, ".gitignore") {
            // After an error, the part that was read counts. A directory of that name has no rules.
            let _ = file.take(MAX_RULES_BYTES).read_to_end(&mut text);
        }
        let mut builder = GitignoreBuilder::new(Path::new(path));
        for line in String::from_utf8_lossy(&text).lines() {
            let _ = builder.add_line(None, line);
        }
        let rules = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Rc::new(Self { rules, outer })
    }

    /// Returns whether `path` is visible. The innermost matching rule decides.
    pub(super) fn shows(&self, path: &str, is_dir: bool) -> bool {
        match self.rules.matched(path, is_dir) {
            Match::Ignore(_) => false,
            Match::Whitelist(_) => true,
            Match::None => match &self.outer {
                Some(outer) => outer.shows(path, is_dir),
                None => true,
            },
        }
    }
}
