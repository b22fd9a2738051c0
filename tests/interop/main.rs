//! Clients that others wrote list and call the tools of `examples/files.rs` over stdio.
//!
//! The clients are the official TypeScript SDKs, pinned in `package-lock.json`; `scenario.mjs` says
//! what each of them must be able to do.

// Cargo does not run the tests inside of examples; those of this one run here.
#[path = "../../examples/files/mod.rs"]
#[allow(dead_code, unused_imports, reason = "only its tests are used here")]
mod directory;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn typescript_v2_client_in_its_modern_mode() {
    run(&["client-v2.mjs", "modern"]);
}

#[test]
fn typescript_v2_client_in_its_legacy_mode() {
    run(&["client-v2.mjs", "legacy"]);
}

#[test]
fn typescript_v1_client() {
    run(&["client-v1.mjs"]);
}

/// Runs a client program against the example; the program prints one line per check.
fn run(client: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    assert!(
        folder.join("node_modules").is_dir(),
        "the clients are not installed; run `npm ci --prefix tests/interop`"
    );
    let output = Command::new("node")
        .args(client)
        .arg(example())
        .current_dir(folder)
        .output()
        .expect("`node` (20 or newer) is on the PATH");
    assert!(
        output.status.success(),
        "`node {}` failed\n{}{}",
        client.join(" "),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The example beside this test binary. `cargo test` builds it first; `cargo test --test interop` does
/// not, and runs the one that is there.
fn example() -> PathBuf {
    let test = env::current_exe().expect("this test binary has a path");
    let profile = test
        .ancestors()
        .nth(2)
        .expect("target/<profile>/deps/<test binary>");
    let name = format!("files{}", env::consts::EXE_SUFFIX);
    let example = profile.join("examples").join(name);
    assert!(
        example.is_file(),
        "the example is not built; run `cargo build --example files`"
    );
    example
}
