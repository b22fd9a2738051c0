//! Generator of `treenail-schema` from the distilled schemas of the protocol.
//!
//! The revisions are read (`load`), reduced to flat shapes (`shape`), merged into one set of
//! definitions (`merge`), typed by typify (`types`) and written as Rust (`render`). `overlay.toml`
//! contains corrections of the schemas and all documentation.

mod distil;
mod error_codes;
mod load;
mod merge;
mod methods;
mod names;
mod overlay;
mod render;
mod revisions;
mod shape;
mod types;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub use self::distil::distil;

/// The revisions to generate from, oldest first.
pub const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// One generated file.
#[derive(Debug)]
pub struct File {
    /// Its name inside `schema/src/generated/`.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// Reads the distilled schema of every revision from `<directory>/<revision>.json`.
pub fn read(directory: &Path) -> Result<Vec<String>> {
    let read = |revision| {
        let path = directory.join(format!("{revision}.json"));
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    REVISIONS.into_iter().map(read).collect()
}

/// Generates all files from the distilled schemas, given in the order of [`REVISIONS`].
pub fn generate(schemas: &[String]) -> Result<Vec<File>> {
    let overlay = overlay::Overlay::parse(include_str!("../../overlay.toml"))?;
    let revisions = REVISIONS
        .iter()
        .zip(schemas)
        .map(|(name, text)| load::revision(name, text))
        .collect::<Result<Vec<_>>>()?;
    let merged = merge::merge(revisions, &overlay)?;
    let types = types::run(&merged, &overlay)?;
    let files = render::files(&merged, &types, &overlay)?;
    overlay.check_all_used()?;
    Ok(files)
}
