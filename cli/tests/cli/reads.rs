//! `treenail read` and `treenail prompt`.

use std::fs;
use std::process::Stdio;

use crate::run::{command, run, test_server};

#[test]
fn a_pipe_gets_a_resource_as_it_is() {
    let mut read = command(&test_server(), &["read", "data://bytes"]);
    let output = read.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.stdout, [0, 27, 91, 109, 255]);
    assert!(output.stderr.is_empty() && output.status.success());
    run(&["read", "note://today"]).check(0, "rain\x1b[0m\n", "");
    run(&["read", "note://Oslo/3"]).check(0, "Oslo on day 3", "");
}

#[test]
fn a_resource_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes");
    let name = path.to_str().unwrap();
    let note = format!("5 bytes saved in `{name}`\n");
    run(&["read", "data://bytes", "-o", name]).check(0, "", &note);
    assert_eq!(fs::read(&path).unwrap(), [0, 27, 91, 109, 255]);

    let lost = run(&["read", "data://bytes", "-o", "/no/such/directory/file"]);
    assert_eq!(lost.code, 8, "{}", lost.stderr);
}

#[test]
fn numbered_files_take_the_next_free_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("plot-1.png"), "mine").unwrap();
    fs::write(path("plot-3.png"), "mine").unwrap();
    let plot = path("plot.png");
    let saved = run(&["call", "picture", "count=2", "-o", plot.to_str().unwrap()]);
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    for (name, bytes) in [
        ("plot-1.png", &b"mine"[..]),
        ("plot-2.png", &[1, 2, 3]),
        ("plot-3.png", b"mine"),
        ("plot-4.png", &[1, 2, 3]),
    ] {
        assert_eq!(fs::read(path(name)).unwrap(), bytes, "{name}");
        let is_told = saved.stderr.contains(&format!("{name}`\n"));
        assert_eq!(is_told, bytes != b"mine", "{name}: {}", saved.stderr);
    }
}

#[test]
fn what_is_not_there_is_refused_by_the_server() {
    let refused = run(&["read", "note://nowhere"]);
    assert_eq!((refused.code, &*refused.stdout), (4, ""));
    assert!(
        refused.stderr.starts_with("error: the server refused:"),
        "{}",
        refused.stderr
    );
}

#[test]
fn whoever_has_read_enough_may_leave() {
    let mut read = command(&test_server(), &["read", "data://large"]);
    read.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = read.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_messages_of_a_prompt_are_shown() {
    let shown = run(&["prompt", "greeting", "name=Anna"]);
    assert_eq!(
        (shown.code, &*shown.stdout),
        (0, "user: Hello Anna\n"),
        "{}",
        shown.stderr
    );
    let wrong = run(&["prompt", "greeting", "nam=Anna"]);
    assert_eq!(wrong.code, 2);
    let expected = "- there is no argument `nam`; did you mean `name`?\n- `name` is missing\n";
    assert!(wrong.stderr.ends_with(expected), "{}", wrong.stderr);
}
