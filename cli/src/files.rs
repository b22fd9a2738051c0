//! Reading lock files, and writing results and generated files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::render::{Rendered, format_size};
use crate::terminal::Terminal;

/// Maximum size of a lock file or generated file; larger files are not read.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Prints the parts of a result, or saves them to `file`: the binary parts, or the text if there are none.
///
/// Several binary parts are saved to numbered files. Existing numbered files are never overwritten, because the user
/// did not name them.
pub(crate) fn print_or_save(
    parts: &[Rendered],
    file: Option<&Path>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let Some(file) = file else {
        for part in parts {
            terminal.print_text(&part.to_text())?;
        }
        return Ok(());
    };
    check_decoded(parts)?;
    let binary: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Rendered::Bytes { bytes, .. } => Some(bytes.as_slice()),
            Rendered::Text(_) | Rendered::Invalid(_) => None,
        })
        .collect();
    if binary.is_empty() {
        let texts = parts.iter().filter_map(|part| match part {
            Rendered::Text(text) => Some(text.as_str()),
            Rendered::Bytes { .. } | Rendered::Invalid(_) => None,
        });
        return save_file(
            file,
            texts.collect::<Vec<_>>().join("\n").as_bytes(),
            terminal,
        );
    }
    match binary.as_slice() {
        [bytes] => save_file(file, bytes, terminal)?,
        several => save_numbered(file, several, terminal)?,
    }
    for part in parts {
        if let Rendered::Text(_) = part {
            terminal.print_text(&part.to_text())?;
        }
    }
    Ok(())
}

/// Fails if a part cannot be saved, before a file is changed.
pub(crate) fn check_decoded(parts: &[Rendered]) -> Result<(), Failure> {
    let invalid = parts.iter().find_map(|part| match part {
        Rendered::Invalid(line) => Some(line),
        Rendered::Text(_) | Rendered::Bytes { .. } => None,
    });
    match invalid {
        Some(line) => Err(Failure::new(
            Exit::Protocol,
            format!(
                "nothing was written, because the server sent binary content that cannot be decoded: {line}"
            ),
        )),
        None => Ok(()),
    }
}

fn save_file(file: &Path, bytes: &[u8], terminal: &Terminal) -> Result<(), Failure> {
    fs::write(file, bytes).map_err(Failure::io(format!("`{}`", file.display())))?;
    note_saved(file, bytes, terminal);
    Ok(())
}

/// Saves each part to a file with the next free number.
fn save_numbered(file: &Path, several: &[&[u8]], terminal: &Terminal) -> Result<(), Failure> {
    let mut number = 0;
    for bytes in several {
        let (path, mut new) = loop {
            number += 1;
            let path = numbered_path(file, number);
            match File::create_new(&path) {
                Ok(new) => break (path, new),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::io(format!("`{}`", path.display()))(error)),
            }
        };
        let written = new.write_all(bytes);
        written.map_err(Failure::io(format!("`{}`", path.display())))?;
        note_saved(&path, bytes, terminal);
    }
    Ok(())
}

fn note_saved(file: &Path, bytes: &[u8], terminal: &Terminal) {
    let size = format_size(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
    terminal.print_note(&format!("saved {size} to `{}`", file.display()));
}

/// Permissions of a file that does not exist yet. An existing one retains its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// Those of all new files of the user.
    Default,
    /// Access for the user only, on Unix.
    Private,
}

/// Replaces a file atomically, so that readers see the old content or the new content, but never a part of it.
pub(crate) fn replace_file(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace_file_with(file, bytes, FileMode::Default)
}

/// Replaces a file atomically, with permissions for a new one.
pub(crate) fn replace_file_with(file: &Path, bytes: &[u8], mode: FileMode) -> Result<(), Failure> {
    let name = file.display();
    if fs::metadata(file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // A device, a pipe or a socket: it is written, and stays as it is.
        let written = File::options().write(true).open(file);
        let written = written.and_then(|mut file| file.write_all(bytes));
        return written.map_err(Failure::io(format!("`{name}`")));
    }
    // Replace the target of a symbolic link, not the link.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mut new = target.file_name().unwrap_or_default().to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let new = target.with_file_name(new);
    let written = write_new(&new, bytes, (&target, mode)).and_then(|()| fs::rename(&new, &target));
    if written.is_err() {
        // The file may not exist.
        let _ = fs::remove_file(&new);
    }
    written.map_err(Failure::io(format!("`{name}`")))
}

/// Creates a new file with the permissions of the file that it will replace.
fn write_new(file: &Path, bytes: &[u8], (old, mode): (&Path, FileMode)) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if mode == FileMode::Private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = mode;
    let mut new = options.open(file)?;
    if let Ok(old) = fs::metadata(old) {
        new.set_permissions(old.permissions())?;
    }
    new.write_all(bytes)?;
    new.sync_all()
}

/// Reads a file of at most [`MAX_FILE_BYTES`] as text.
pub(crate) fn read_file(file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let open = File::open(file).map_err(Failure::io(format!("`{name}`")))?;
    let mut text = String::new();
    let read = open.take(MAX_FILE_BYTES + 1).read_to_string(&mut text);
    let read = read.map_err(Failure::io(format!("`{name}`")))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        let message = format!("`{name}` is larger than {MAX_FILE_BYTES} bytes");
        return Err(Failure::new(Exit::Io, message));
    }
    Ok(text)
}

/// Inserts a number before the extension: `plot.png` becomes `plot-1.png`.
fn numbered_path(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = match file.extension() {
        Some(extension) => format!("{stem}-{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Verbosity;

    #[cfg(unix)]
    #[test]
    fn a_device_stays_a_device() {
        use std::os::unix::fs::FileTypeExt as _;

        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        replace_file(&link, b"text").unwrap();
        let kind = fs::metadata("/dev/null").unwrap().file_type();
        assert!(kind.is_char_device());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn content_that_cannot_be_decoded_overwrites_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plot.png");
        fs::write(&file, "old").unwrap();
        let parts = [Rendered::Invalid("[image]".to_owned())];
        let terminal = Terminal::new(Verbosity {
            quiet: true,
            verbose: 0,
        });
        let saved = print_or_save(&parts, Some(&file), &terminal);
        assert_eq!(saved.unwrap_err().exit(), Exit::Protocol);
        assert_eq!(fs::read(&file).unwrap(), b"old");
    }

    #[test]
    fn numbers_are_inserted_before_the_extension() {
        assert_eq!(
            numbered_path(Path::new("a/plot.png"), 2),
            Path::new("a/plot-2.png")
        );
        assert_eq!(numbered_path(Path::new("plot"), 1), Path::new("plot-1"));
    }
}
