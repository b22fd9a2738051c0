//! `treenail read` and `treenail prompt`.

use std::fs;
use std::process::Stdio;

use crate::process::{command, run, test_server};

#[test]
fn resource_is_written_to_a_pipe_unchanged() {
    let mut read = command(&test_server(), &["read", "data://bytes"]);
    let output = read.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.stdout, [0, 27, 91, 109, 255]);
    assert!(output.stderr.is_empty() && output.status.success());
    run(&["read", "note://today"]).check(0, "rain\x1b[0m\n", "");
    run(&["read", "note://Oslo/3"]).check(0, "Oslo on day 3", "");
}

#[test]
fn resource_is_saved_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes");
    let name = path.to_str().unwrap();
    let note = format!("saved 5 bytes to `{name}`\n");
    run(&["read", "data://bytes", "-o", name]).check(0, "", &note);
    assert_eq!(fs::read(&path).unwrap(), [0, 27, 91, 109, 255]);

    let lost = run(&["read", "data://bytes", "-o", "/no/such/directory/file"]);
    assert_eq!(lost.code, 8, "{}", lost.stderr);
}

#[test]
fn json_of_a_resource_is_saved_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes.json");
    let name = path.to_str().unwrap();
    let printed = run(&["read", "data://bytes", "--json"]).stdout;
    let note = format!("saved {} bytes to `{name}`\n", printed.len());
    run(&["read", "data://bytes", "--json", "-o", name]).check(0, "", &note);
    assert_eq!(fs::read_to_string(&path).unwrap(), printed);
}

/// A limit of the size of files makes the write fail, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_retains_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    fs::write(&path, "old").unwrap();
    let read = command(&test_server(), &["read", "data://large", "-o"]);
    let words: Vec<_> = read.get_args().collect();
    let (options, server) = words.split_at(3);
    let mut limited = std::process::Command::new("sh");
    // The limit is an error of the write, and no signal.
    limited.args(["-c", "trap '' 25; ulimit -f 8; exec \"$@\"", "sh"]);
    limited.arg(read.get_program()).args(options).arg(&path);
    limited.args(server).stdin(Stdio::null());
    let failed = crate::process::outcome_of(limited.output().unwrap());
    assert_eq!(failed.code, 8, "{}", failed.stderr);
    assert_eq!(fs::metadata(&path).unwrap().len(), 3, "the old content");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_behind_standard_output_is_written_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let output = fs::File::create(&path).unwrap();
    fs::hard_link(&path, folder.path().join("other")).unwrap();
    let mut read = command(
        &test_server(),
        &["read", "note://Oslo/3", "-q", "-o", "/dev/stdout"],
    );
    let status = read.stdin(Stdio::null()).stdout(output).status().unwrap();
    assert!(status.success());
    let other = fs::read_to_string(folder.path().join("other")).unwrap();
    assert_eq!(other, "Oslo on day 3");
}

#[test]
fn several_parts_are_saved_to_the_next_free_numbers() {
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
        let is_reported = saved.stderr.contains(&format!("{name}`\n"));
        assert_eq!(is_reported, bytes != b"mine", "{name}: {}", saved.stderr);
    }
}

#[test]
fn unknown_resource_is_rejected_by_the_server() {
    let refused = run(&["read", "note://nowhere"]);
    assert_eq!((refused.code, &*refused.stdout), (4, ""));
    assert!(
        refused.stderr.starts_with("error: the server refused:"),
        "{}",
        refused.stderr
    );
}

#[test]
fn closed_pipe_is_no_error() {
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
fn messages_of_a_prompt_are_printed() {
    let output = run(&["prompt", "greeting", "name=Anna"]);
    assert_eq!(
        (output.code, &*output.stdout),
        (0, "user: Hello Anna\n"),
        "{}",
        output.stderr
    );
    let wrong = run(&["prompt", "greeting", "nam=Anna"]);
    assert_eq!(wrong.code, 2);
    let expected =
        "- unknown argument `nam`; did you mean `name`?\n- missing required argument `name`\n";
    assert!(wrong.stderr.ends_with(expected), "{}", wrong.stderr);
}
