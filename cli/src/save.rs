//! Files: saving what a server has sent, and reading it again.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::show::{Shown, size};

/// Bytes of a lock file, and of what is generated from it; a longer file is not read.
const LARGEST: u64 = 64 << 20;

/// Prints the parts of a result, or saves them in a file if one is named: the bytes, or the text if there are none. Several
/// that are bytes get files with numbers; a file that is there already keeps its number, because its name was not given.
pub(crate) fn print_or_save(
    parts: &[Shown],
    file: Option<&Path>,
    screen: &Screen,
) -> Result<(), Failure> {
    let Some(file) = file else {
        for part in parts {
            screen.print(&part.line())?;
        }
        return Ok(());
    };
    let binary: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Shown::Bytes { bytes, .. } => Some(bytes.as_slice()),
            Shown::Text(_) => None,
        })
        .collect();
    if binary.is_empty() {
        let texts = parts.iter().filter_map(|part| match part {
            Shown::Text(text) => Some(text.as_str()),
            Shown::Bytes { .. } => None,
        });
        return save(
            file,
            texts.collect::<Vec<_>>().join("\n").as_bytes(),
            screen,
        );
    }
    match binary.as_slice() {
        [bytes] => save(file, bytes, screen)?,
        several => save_numbered(file, several, screen)?,
    }
    for part in parts {
        if let Shown::Text(_) = part {
            screen.print(&part.line())?;
        }
    }
    Ok(())
}

fn save(file: &Path, bytes: &[u8], screen: &Screen) -> Result<(), Failure> {
    fs::write(file, bytes).map_err(Failure::local(format!("`{}`", file.display())))?;
    saved(file, bytes, screen);
    Ok(())
}

/// Saves each of several in a file with the next number that is free.
fn save_numbered(file: &Path, several: &[&[u8]], screen: &Screen) -> Result<(), Failure> {
    let mut number = 0;
    for bytes in several {
        let (path, mut new) = loop {
            number += 1;
            let path = numbered(file, number);
            match File::create_new(&path) {
                Ok(new) => break (path, new),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::local(format!("`{}`", path.display()))(error)),
            }
        };
        let written = new.write_all(bytes);
        written.map_err(Failure::local(format!("`{}`", path.display())))?;
        saved(&path, bytes, screen);
    }
    Ok(())
}

fn saved(file: &Path, bytes: &[u8], screen: &Screen) {
    let size = size(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
    screen.note(&format!("{size} saved in `{}`", file.display()));
}

/// Writes a file in one step: whoever reads it has the old one or the new one, and never a part.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = file.display();
    // What a link refers to is replaced, and not the link.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mut new = target.file_name().unwrap_or_default().to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let new = target.with_file_name(new);
    let written = write_new(&new, bytes, &target).and_then(|()| fs::rename(&new, &target));
    if written.is_err() {
        // It may not be there at all.
        let _ = fs::remove_file(&new);
    }
    written.map_err(Failure::local(format!("`{name}`")))
}

/// Writes a file that is not there yet, with the permissions of the one that it is to replace.
fn write_new(file: &Path, bytes: &[u8], old: &Path) -> io::Result<()> {
    let mut new = File::options().write(true).create_new(true).open(file)?;
    if let Ok(old) = fs::metadata(old) {
        new.set_permissions(old.permissions())?;
    }
    new.write_all(bytes)?;
    new.sync_all()
}

/// The text of a file, if it is not longer than a lock file may be.
pub(crate) fn read(file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let open = File::open(file).map_err(Failure::local(format!("`{name}`")))?;
    let mut text = String::new();
    let read = open.take(LARGEST + 1).read_to_string(&mut text);
    let read = read.map_err(Failure::local(format!("`{name}`")))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > LARGEST {
        let message = format!("`{name}` has more than {LARGEST} bytes");
        return Err(Failure::new(Exit::Local, message));
    }
    Ok(text)
}

/// `plot.png` becomes `plot-1.png`.
fn numbered(file: &Path, number: usize) -> PathBuf {
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

    #[test]
    fn numbers_stand_before_the_extension() {
        assert_eq!(
            numbered(Path::new("a/plot.png"), 2),
            Path::new("a/plot-2.png")
        );
        assert_eq!(numbered(Path::new("plot"), 1), Path::new("plot-1"));
    }
}
