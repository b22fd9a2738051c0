//! Generated clients cause no warnings, even if the program uses them partly or not at all.
//!
//! This test is a program and not a library, because the compiler warns about unused items only in a program.

#![deny(
    warnings,
    future_incompatible,
    let_underscore,
    nonstandard_style,
    unused
)]
#![deny(missing_docs, unreachable_pub, unused_qualifications, unused_lifetimes)]
#![deny(clippy::all, clippy::pedantic)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use treenail as nail;
use treenail_codegen::Client;

mod everything {
    include!(concat!(env!("OUT_DIR"), "/everything.rs"));
}
mod filesystem {
    include!(concat!(env!("OUT_DIR"), "/filesystem.rs"));
}
mod memory {
    include!(concat!(env!("OUT_DIR"), "/memory.rs"));
}
mod alternatives {
    include!(concat!(env!("OUT_DIR"), "/alternatives.rs"));
}
mod booleans {
    include!(concat!(env!("OUT_DIR"), "/booleans.rs"));
}
mod conditions {
    include!(concat!(env!("OUT_DIR"), "/conditions.rs"));
}
mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}
mod deep {
    include!(concat!(env!("OUT_DIR"), "/deep.rs"));
}
mod draft_07 {
    include!(concat!(env!("OUT_DIR"), "/draft-07.rs"));
}
mod empty {
    include!(concat!(env!("OUT_DIR"), "/empty.rs"));
}
mod hostile {
    include!(concat!(env!("OUT_DIR"), "/hostile.rs"));
}
mod keywords {
    include!(concat!(env!("OUT_DIR"), "/keywords.rs"));
}
mod lists {
    include!(concat!(env!("OUT_DIR"), "/lists.rs"));
}
mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}
mod overlaps {
    include!(concat!(env!("OUT_DIR"), "/overlaps.rs"));
}
mod recursive {
    include!(concat!(env!("OUT_DIR"), "/recursive.rs"));
}
mod united {
    include!(concat!(env!("OUT_DIR"), "/united.rs"));
}
mod wide {
    include!(concat!(env!("OUT_DIR"), "/wide.rs"));
}

/// Returns the lock files of these tests.
fn lock_files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["servers", "awkward"].map(|folder| fs::read_dir(here.join(folder)));
    let files = folders
        .into_iter()
        .flat_map(|folder| folder.expect("the folder exists"));
    files
        .map(|file| file.expect("the entry is readable").path())
        .collect()
}

#[test]
fn generated_files_are_formatted() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let mut check = Command::new(env::var_os("RUSTFMT").unwrap_or_else(|| "rustfmt".into()));
    // A line width other than the default must not matter.
    check.args(["--check", "--edition", "2024", "--config", "max_width=80"]);
    let locks = lock_files();
    assert_eq!(locks.len(), 19);
    for lock in &locks {
        let name = lock.file_name().expect("the path has a file name");
        let file = folder.path().join(name).with_extension("rs");
        let client = Client::new(lock).name("GeneratedClient");
        client.write(&file).expect("the client is generated");
        check.arg(file);
    }
    let checked = check.output().expect("rustfmt is installed");
    let diff = String::from_utf8_lossy(&checked.stdout);
    let diff: String = diff.chars().take(2_000).collect();
    assert!(checked.status.success(), "{diff}");
}
