//! Reading of a folder with skills.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::limits::{MAX_BYTES, MAX_DEPTH, check_total};
use crate::set::Unchecked;
use crate::skill::SKILL_FILE;

/// Reads the files of all skills below `folder`. Files that belong to no skill are not read.
pub(crate) fn read(folder: &Path) -> Result<Unchecked, String> {
    let root = folder
        .canonicalize()
        .map_err(|error| failed(folder, "could not be opened", &error))?;
    let mut walk = Walk {
        shown: folder,
        root,
        found: Unchecked {
            origin: format!("{}/", folder.display()),
            ..Unchecked::default()
        },
        open: Vec::new(),
        entries: 0,
        bytes: 0,
    };
    let root = walk.root.clone();
    walk.folder(&root, "", false)?;
    Ok(walk.found)
}

/// Returns true for a name that starts with a dot.
fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn failed(path: &Path, action: &str, error: &io::Error) -> String {
    format!("`{}` {action}: {error}", path.display())
}

/// State of a reading.
struct Walk<'a> {
    /// The folder as the user wrote it, for messages.
    shown: &'a Path,
    /// The folder without symbolic links. Nothing outside of it is read.
    root: PathBuf,
    found: Unchecked,
    /// The folders that are being read, without symbolic links.
    open: Vec<PathBuf>,
    entries: usize,
    bytes: usize,
}

impl Walk<'_> {
    /// Reads a folder: its real path, and the path that clients see.
    fn folder(&mut self, real: &Path, path: &str, in_skill: bool) -> Result<(), String> {
        if self.open.len() > MAX_DEPTH {
            return Err(self.problem(path, "the folder is more than 16 levels deep"));
        }
        if self.open.iter().any(|open| open == real) {
            let problem = "the symbolic link leads to a folder around it; remove it";
            return Err(self.problem(path, problem));
        }
        let entries = self.entries(real, path)?;
        let in_skill = in_skill || entries.iter().any(|(name, _)| name == SKILL_FILE);
        if in_skill && !path.is_empty() {
            self.found.folders.push(path.to_owned());
        }
        self.open.push(real.to_owned());
        for (name, entry) in entries {
            let inner = match path {
                "" => name,
                _ => format!("{path}/{name}"),
            };
            self.entry(&entry, &inner, in_skill)?;
        }
        self.open.pop();
        Ok(())
    }

    /// Returns the entries of a folder that are not hidden, by name.
    fn entries(&mut self, real: &Path, path: &str) -> Result<Vec<(String, DirEntry)>, String> {
        let unreadable =
            |error: io::Error| failed(&self.shown.join(path), "could not be read", &error);
        let mut entries = Vec::new();
        for entry in fs::read_dir(real).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            self.entries += 1;
            self.check_total()?;
            let name = entry.file_name();
            if is_hidden(&name) {
                continue;
            }
            let Some(name) = name.to_str().map(str::to_owned) else {
                let shown = format!("{path}/{}", name.to_string_lossy());
                return Err(self.problem(&shown, "the name is not UTF-8; rename the file"));
            };
            entries.push((name, entry));
        }
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(entries)
    }

    fn entry(&mut self, entry: &DirEntry, path: &str, in_skill: bool) -> Result<(), String> {
        let unreadable =
            |error: io::Error| failed(&self.shown.join(path), "could not be read", &error);
        let mut kind = entry.file_type().map_err(unreadable)?;
        let mut real = entry.path();
        if kind.is_symlink() {
            real = real.canonicalize().map_err(unreadable)?;
            let Ok(inside) = real.strip_prefix(&self.root) else {
                let problem = "the symbolic link leads out of the folder of the skills; copy its target into the folder";
                return Err(self.problem(path, problem));
            };
            if inside.iter().any(is_hidden) {
                let problem = "the symbolic link leads to a hidden file or folder; remove it";
                return Err(self.problem(path, problem));
            }
            kind = fs::metadata(&real).map_err(unreadable)?.file_type();
        }
        if kind.is_dir() {
            return self.folder(&real, path, in_skill);
        }
        if !in_skill {
            return Ok(());
        }
        if !kind.is_file() {
            return Err(self.problem(path, "it is neither a file nor a folder; remove it"));
        }
        let bytes = read_file(&real).map_err(unreadable)?;
        if bytes.len() > MAX_BYTES {
            let problem =
                format!("the file has more than {MAX_BYTES} bytes, the maximum of a skill");
            return Err(self.problem(path, &problem));
        }
        self.bytes += bytes.len();
        self.check_total()?;
        self.found.files.push((path.to_owned(), bytes));
        Ok(())
    }

    /// Ends the reading as soon as there is too much.
    fn check_total(&self) -> Result<(), String> {
        check_total(self.entries, self.bytes).map_err(|problem| self.problem("", &problem))
    }

    fn problem(&self, path: &str, problem: &str) -> String {
        let shown = match path {
            "" => self.shown.to_owned(),
            path => self.shown.join(path),
        };
        format!("`{}`: {problem}", shown.display())
    }
}

/// Reads a file, at most one byte more than a skill may have.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
