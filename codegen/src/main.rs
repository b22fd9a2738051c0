//! `cargo codegen [--check]` and `cargo codegen distil <directory>`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anyhow::{Context, Result, bail};
use treenail_codegen::{REVISIONS, distil, generate, read};

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => write(),
        ["--check"] => check(),
        ["distil", directory] => distil_all(Path::new(directory)),
        _ => bail!("usage: cargo codegen [--check], or cargo codegen distil <directory>"),
    }
}

/// Writes the generated files.
fn write() -> Result<()> {
    for file in generate(&read(&json())?)? {
        save(&generated().join(file.name), &file.text)?;
    }
    Ok(())
}

/// Compares the generated files with the committed ones.
fn check() -> Result<()> {
    for file in generate(&read(&json())?)? {
        let path = generated().join(file.name);
        if fs::read_to_string(&path).ok().as_ref() != Some(&file.text) {
            bail!("{} is out of date; run `cargo codegen`", path.display());
        }
    }
    Ok(())
}

/// Reads `<directory>/<revision>/schema.json` and writes `schema/json/<revision>.json`.
fn distil_all(directory: &Path) -> Result<()> {
    for revision in REVISIONS {
        let path = directory.join(revision).join("schema.json");
        let official = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let distilled = distil(&official).with_context(|| path.display().to_string())?;
        save(&json().join(format!("{revision}.json")), &distilled)?;
    }
    Ok(())
}

fn save(path: &Path, text: &str) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())?;
    writeln!(io::stdout(), "{}", path.display())?;
    Ok(())
}

fn schema_crate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema")
}

fn json() -> PathBuf {
    schema_crate().join("json")
}

fn generated() -> PathBuf {
    schema_crate().join("src/generated")
}
