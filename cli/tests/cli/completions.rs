//! `treenail completions` and `treenail man`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::process::run_alone;

#[test]
fn completions_name_all_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let outcome = run_alone(&["completions", shell]);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""));
        for word in ["install", "uninstall", "pack", "--dry-run"] {
            let word = if shell == "fish" {
                word.trim_start_matches('-')
            } else {
                word
            };
            assert!(outcome.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn completions_of_bash_are_valid() {
    let script = run_alone(&["completions", "bash"]).stdout;
    let mut bash = Command::new("bash");
    let child = bash
        .arg("-n")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    // Not all computers have it.
    let Ok(mut child) = child else { return };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    assert_eq!(run_alone(&["man", pages.to_str().unwrap()]).code, 0);
    let read = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    assert!(read("treenail.1").contains("treenail\\-install(1)"));
    assert!(read("treenail-install.1").contains("\\-\\-dry\\-run"));
    assert!(read("treenail-auth-login.1").starts_with(".ie"));
}
