//! Clients that others wrote use the examples over stdio.
//!
//! The clients are the official TypeScript SDKs, pinned in `package-lock.json`; a program for each example says what each
//! of them must be able to do.

// Cargo does not run the tests inside of examples; those of this one run here.
#[path = "../../examples/files/mod.rs"]
#[allow(dead_code, unused_imports, reason = "only its tests are used here")]
mod directory;

mod sse;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The clients that `clients.mjs` has.
const CLIENTS: [&str; 3] = ["v1", "v2-legacy", "v2-modern"];

#[test]
fn clients_use_the_files_example() {
    for client in CLIENTS {
        run("files.mjs", client, "files");
    }
}

#[test]
fn clients_answer_what_the_booking_example_asks() {
    for client in CLIENTS {
        run("asking.mjs", client, "booking");
    }
}

/// Runs a program for one client against an example; the program prints one line per check.
fn run(program: &str, client: &str, server: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    assert!(
        folder.join("node_modules").is_dir(),
        "the clients are not installed; run `npm ci --prefix tests/interop`"
    );
    let output = Command::new("node")
        .args([program, client])
        .arg(example(server))
        .current_dir(folder)
        .output()
        .expect("`node` (20 or newer) is on the PATH");
    assert!(
        output.status.success(),
        "`node {program} {client}` failed\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The example beside this test binary. `cargo test` builds it first; `cargo test --test interop` does
/// not, and runs the one that is there.
fn example(name: &str) -> PathBuf {
    let test = env::current_exe().expect("this test binary has a path");
    let profile = test
        .ancestors()
        .nth(2)
        .expect("target/<profile>/deps/<test binary>");
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let example = profile.join("examples").join(file);
    assert!(
        example.is_file(),
        "the example is not built; run `cargo build --example {name}`"
    );
    example
}
