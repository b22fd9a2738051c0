//! Reading lock files, and writing results and generated files.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure};
use crate::render::{Rendered, format_size};
use crate::signals::on_thread;
use crate::terminal::Terminal;

/// Maximum size of a lock file or generated file; larger files are not read.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Maximum number of symbolic links that lead to a file.
const MAX_LINKS: usize = 40;

/// Prints the parts of a result, or saves them to `file`: the binary parts, or the text if there are none.
///
/// Several binary parts are saved to numbered files. Existing numbered files are never overwritten, because the user
/// did not name them.
pub(crate) async fn print_or_save(
    parts: &[Rendered],
    file: Option<&Path>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let Some(file) = file else {
        for part in parts {
            terminal.print_text(&part.to_text()).await?;
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
        let text = texts.collect::<Vec<_>>().join("\n");
        return save_file(file, text.as_bytes(), terminal).await;
    }
    match binary.as_slice() {
        [bytes] => save_file(file, bytes, terminal).await?,
        several => save_numbered(file, several, terminal)?,
    }
    for part in parts {
        if let Rendered::Text(_) = part {
            terminal.print_text(&part.to_text()).await?;
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

/// Saves a result to a file, and reports it.
pub(crate) async fn save_file(
    file: &Path,
    bytes: &[u8],
    terminal: &Terminal,
) -> Result<(), Failure> {
    write_result(file, bytes).await?;
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

/// Writes a result of a server as [`replace_file`] does. The reader of a pipe may stall, so a thread writes to it.
pub(crate) async fn write_result(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if !is_special(file) {
        return replace_file(file, bytes);
    }
    let (path, bytes) = (file.to_owned(), bytes.to_vec());
    on_thread(move || replace_file(&path, &bytes)).await
}

/// Replaces a file atomically, so that readers see the old content or the new content, but never a part of it.
pub(crate) fn replace_file(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace_file_with(file, bytes, FileMode::Default)
}

/// Replaces a file atomically, with permissions for a new one. Symbolic links to it stay, and so do devices and pipes, which are
/// written directly.
pub(crate) fn replace_file_with(file: &Path, bytes: &[u8], mode: FileMode) -> Result<(), Failure> {
    let written = if is_special(file) {
        fs::write(file, bytes)
    } else {
        link_target(file).and_then(|target| replace_regular(&target, bytes, mode))
    };
    written.map_err(Failure::io(format!("`{}`", file.display())))
}

/// Returns whether a file is a device or a pipe. The file behind `/dev/stdout` is open in other processes, too.
fn is_special(file: &Path) -> bool {
    let is_other = |file: fs::Metadata| !file.is_file() && !file.is_dir();
    file.starts_with("/dev") || fs::metadata(file).is_ok_and(is_other)
}

/// Follows the symbolic links of a file, which may not exist yet.
fn link_target(file: &Path) -> io::Result<PathBuf> {
    let mut target = file.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&target) else {
            return Ok(target);
        };
        target = target.with_file_name(next);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Replaces a file that is no link, or creates it. A file that cannot be replaced is written directly: one that is mounted, or in a
/// folder in which the user may not create files.
fn replace_regular(file: &Path, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    // A file that the user may not write is not replaced.
    let permissions = match File::options().write(true).open(file) {
        Ok(old) => Some(old.metadata()?.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let exists = permissions.is_some();
    let replaced = new_beside(file, mode).and_then(|mut new| {
        write_new(new.as_file_mut(), bytes, permissions)?;
        new.persist(file)?;
        Ok(())
    });
    match replaced {
        Err(error) if exists && is_refused(&error) => fs::write(file, bytes),
        replaced => replaced,
    }
}

/// Creates a file in the folder of another, which is deleted unless it takes its place.
fn new_beside(file: &Path, mode: FileMode) -> io::Result<NamedTempFile> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let builder = &mut tempfile::Builder::new();
    #[cfg(unix)]
    if mode == FileMode::Default {
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        builder.permissions(all);
    }
    #[cfg(not(unix))]
    let _ = mode;
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::ResourceBusy
    )
}

fn write_new(new: &mut File, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        new.set_permissions(permissions)?;
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
mod tests;
