//! Iteration over the files below a directory, in a stable order.

use std::io;
use std::rc::Rc;

use cap_std::fs::{Dir, DirEntry};

use super::visible::Visible;
use super::{Directory, FilesError, normalize, or_dot};

/// Maximum number of files and directories that a walk examines.
const MAX_ENTRIES: usize = 100_000;

/// Iterator over the paths of visible regular files, sorted name by name.
///
/// Symbolic links are not followed. Unreadable directories and names that are not UTF-8 are skipped.
pub(super) struct Walk<'a> {
    root: &'a Dir,
    /// Entries that are still to be visited, in reverse order.
    pending: Vec<Entry>,
    entries_left: usize,
}

struct Entry {
    path: String,
    kind: Kind,
}

enum Kind {
    File,
    /// Directory with the rules of its parent.
    Directory(Option<Rc<Visible>>),
}

impl Directory {
    /// Walks the directory at `path`, even if the directory itself is hidden or ignored.
    pub(super) fn walk(&self, path: &str) -> Result<Walk<'_>, FilesError> {
        let start = normalize(path)?;
        self.root
            .open_dir(or_dot(&start))
            .map_err(|source| match source.kind() {
                io::ErrorKind::NotADirectory => FilesError::NotADirectory(path.to_owned()),
                _ => FilesError::from_io(path, source),
            })?;

        let kind = Kind::Directory(self.visible_around(&start));
        let pending = vec![Entry { path: start, kind }];
        Ok(Walk {
            root: &self.root,
            pending,
            entries_left: MAX_ENTRIES,
        })
    }

    /// Returns the combined rules of all parents of `path`.
    fn visible_around(&self, path: &str) -> Option<Rc<Visible>> {
        let ends = path.match_indices('/').map(|(end, _)| end);
        let above = ends.map(|end| &path[..end]);
        let root = (!path.is_empty()).then_some("");
        root.into_iter().chain(above).fold(None, |outer, path| {
            let dir = self.root.open_dir(or_dot(path)).ok()?;
            Some(Visible::read(&dir, path, outer))
        })
    }
}

impl Walk<'_> {
    /// Returns whether the walk stopped at the limit of entries.
    pub(super) fn is_truncated(&self) -> bool {
        self.entries_left == 0
    }

    /// Schedules the entries of a directory before all other pending entries.
    fn enter(&mut self, path: &str, outer: Option<Rc<Visible>>) {
        if self.is_truncated() {
            return;
        }
        let Ok(dir) = self.root.open_dir(or_dot(path)) else {
            return;
        };
        let visible = Visible::read(&dir, path, outer);
        let Ok(entries) = dir.entries() else {
            return;
        };
        let first_new = self.pending.len();
        for entry in entries.flatten() {
            if self.entries_left == 0 {
                break;
            }
            self.entries_left -= 1;
            self.pending.extend(visible_entry(path, &entry, &visible));
        }
        self.pending[first_new..].sort_unstable_by(|one, other| other.path.cmp(&one.path));
    }
}

impl Iterator for Walk<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let Entry { path, kind } = self.pending.pop()?;
            match kind {
                Kind::File => return Some(path),
                Kind::Directory(outer) => self.enter(&path, outer),
            }
        }
    }
}

/// Converts a directory entry, unless the walk skips it.
fn visible_entry(parent: &str, entry: &DirEntry, visible: &Rc<Visible>) -> Option<Entry> {
    let name = entry.file_name().into_string().ok()?;
    let file_type = entry.file_type().ok()?;
    if name.starts_with('.') || !(file_type.is_file() || file_type.is_dir()) {
        return None;
    }
    let path = if parent.is_empty() {
        name
    } else {
        format!("{parent}/{name}")
    };
    if !visible.shows(&path, file_type.is_dir()) {
        return None;
    }
    let kind = if file_type.is_dir() {
        Kind::Directory(Some(Rc::clone(visible)))
    } else {
        Kind::File
    };
    Some(Entry { path, kind })
}
