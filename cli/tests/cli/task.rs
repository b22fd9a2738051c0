//! `treenail call --task` and `--detach`, and `treenail task`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::http::{HttpServer, relay_without};
use crate::process::{Outcome, outcome_of};

/// Server with tasks, and the state directory of a user.
struct Yard {
    server: HttpServer,
    state: tempfile::TempDir,
    revision: &'static str,
}

impl Yard {
    fn start(revision: &'static str) -> Self {
        Self {
            server: HttpServer::start_mode("tasks"),
            state: tempfile::tempdir().unwrap(),
            revision,
        }
    }

    /// Runs the program with the server.
    fn run(&self, args: &[&str]) -> Outcome {
        let at = [
            "--url",
            &self.server.url,
            "--protocol-version",
            self.revision,
        ];
        self.run_alone(&[args, &at].concat())
    }

    fn run_alone(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        command.env("XDG_DATA_HOME", env!("CARGO_TARGET_TMPDIR"));
        command.env("XDG_STATE_HOME", self.state.path());
        outcome_of(command.args(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Starts a task and returns its id.
    fn detach(&self, tool: &str) -> String {
        let started = self.run(&["call", tool, "--detach"]);
        assert_eq!(started.code, 0, "{}", started.stderr);
        assert!(
            started.stderr.contains("treenail task wait"),
            "{}",
            started.stderr
        );
        started.stdout.trim().to_owned()
    }

    fn folder(&self) -> std::path::PathBuf {
        self.state.path().join("treenail").join("tasks")
    }
}

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

#[test]
fn a_detached_task_is_awaited_by_another_process() {
    for revision in REVISIONS {
        let yard = Yard::start(revision);
        let id = yard.detach("report");
        let listed = yard.run_alone(&["task", "list"]);
        for part in [&*id, "report", &yard.server.url] {
            assert!(
                listed.stdout.contains(part),
                "{revision}: {}",
                listed.stdout
            );
        }
        yard.run(&["task", "get", &id]).check(0, "working\n", "");
        assert_eq!(yard.run(&["call", "release"]).code, 0);
        yard.run(&["task", "wait", &id[..6]])
            .check(0, "released\n", "");
        yard.run_alone(&["task", "list"])
            .check(0, "", "no task is stored\n");
    }
}

#[test]
fn a_tool_that_runs_only_as_a_task_has_a_note() {
    // Only this revision lists the support of tools for tasks.
    let yard = Yard::start("2025-11-25");
    let refused = yard.run(&["call", "dry"]);
    assert_ne!(refused.code, 0);
    let note = "the tool runs only as a task; add `--task`\n";
    assert!(refused.stderr.contains(note), "{}", refused.stderr);
    let called = yard.run(&["call", "dry", "--task"]);
    assert_eq!((called.code, &*called.stdout), (0, "dry\n"));
    assert!(!called.stderr.contains(note), "{}", called.stderr);
}

#[test]
fn questions_of_a_task_are_answered() {
    for revision in REVISIONS {
        let yard = Yard::start(revision);
        let id = yard.detach("ask");
        let state = loop {
            let got = yard.run(&["task", "get", &id]);
            assert_eq!(got.code, 0, "{revision}: {}", got.stderr);
            if !got.stdout.starts_with("working") {
                break got.stdout;
            }
        };
        assert!(state.starts_with("input_required"), "{revision}: {state}");
        let answered = yard.run(&["task", "answer", &id, "--yes"]);
        assert_eq!(answered.code, 0, "{revision}: {}", answered.stderr);
        assert!(
            !answered.stdout.contains("input_required"),
            "{revision}: {}",
            answered.stdout
        );
        yard.run(&["task", "wait", &id]).check(0, "launched\n", "");
    }
}

#[test]
fn a_call_waits_for_its_task() {
    for revision in REVISIONS {
        let yard = Yard::start(revision);
        let called = yard.run(&["call", "ask", "--task", "--yes"]);
        assert_eq!(
            (called.code, &*called.stdout),
            (0, "launched\n"),
            "{revision}: {}",
            called.stderr
        );
        yard.run(&["call", "sink", "--task"])
            .check(1, "", "error: the tool failed: it leaks\n");
        // A tool without tasks answers directly.
        let direct = yard.run(&["call", "release", "--detach"]);
        assert_eq!(direct.code, 0, "{revision}: {}", direct.stderr);
        let note = "there is no task, because the server answered directly\n";
        assert!(direct.stderr.contains(note), "{}", direct.stderr);
        yard.run_alone(&["task", "list"])
            .check(0, "", "no task is stored\n");
    }
}

#[test]
fn a_cancelled_task_is_forgotten() {
    for revision in REVISIONS {
        let yard = Yard::start(revision);
        let id = yard.detach("report");
        yard.run(&["task", "cancel", &id])
            .check(0, "", "the task was cancelled\n");
        let error = format!(
            "error: no task `{id}` of this server is stored; run `treenail task list` to see all tasks\n"
        );
        yard.run(&["task", "get", &id]).check(2, "", &error);
    }
}

#[test]
fn a_task_whose_state_cannot_be_read_keeps_its_ticket() {
    let mut yard = Yard::start("2026-07-28");
    yard.server.url = relay_without("tasks/get", &yard.server.url);
    let id = yard.detach("report");
    let cancelled = yard.run(&["task", "cancel", &id]);
    assert_eq!(cancelled.code, 3, "{}", cancelled.stderr);
    let note = "the cancellation was requested";
    assert!(cancelled.stderr.contains(note), "{}", cancelled.stderr);
    let listed = yard.run_alone(&["task", "list"]);
    assert!(listed.stdout.contains(&id), "{}", listed.stdout);
}

#[test]
fn a_finished_task_keeps_its_ticket() {
    for revision in REVISIONS {
        let yard = Yard::start(revision);
        let id = yard.detach("report");
        assert_eq!(yard.run(&["call", "release"]).code, 0);
        while yard.run(&["task", "get", &id]).stdout != "completed\n" {}
        let note = "the task was not cancelled, because it had ended: completed; `treenail task wait` prints its result\n";
        yard.run(&["task", "cancel", &id]).check(0, "", note);
        let nowhere = yard.state.path().join("missing").join("file");
        let nowhere = nowhere.to_str().unwrap();
        let unsaved = yard.run(&["task", "wait", &id, "-o", nowhere]);
        assert_eq!(unsaved.code, 8, "{revision}: {}", unsaved.stderr);
        yard.run(&["task", "wait", &id]).check(0, "released\n", "");
    }
}

#[test]
fn only_a_result_is_saved_to_a_file() {
    let yard = Yard::start(REVISIONS[1]);
    for args in [
        &["call", "report", "--detach", "-o", "file"][..],
        &["task", "get", "7f3c", "-o", "file"],
        &["task", "answer", "7f3c", "-o", "file"],
        &["task", "cancel", "7f3c", "-o", "file"],
    ] {
        let refused = yard.run(args);
        assert_eq!(refused.code, 2, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("-o"), "{}", refused.stderr);
    }
}

#[test]
fn an_id_may_start_with_a_hyphen() {
    let yard = Yard::start("2026-07-28");
    yard.run(&["task", "get", "-8zTqUn0"]).check(
        2,
        "",
        "error: no task `-8zTqUn0` of this server is stored; run `treenail task list` to see all tasks\n",
    );
}

#[test]
fn an_empty_id_selects_no_task() {
    let yard = Yard::start("2026-07-28");
    let id = yard.detach("report");
    for command in ["get", "wait", "answer", "cancel"] {
        let refused = yard.run(&["task", command, ""]);
        refused.check(2, "", "error: the id of the task is empty\n");
    }
    yard.run(&["task", "get", &id]).check(0, "working\n", "");
}

#[test]
fn a_task_that_was_cancelled_elsewhere_has_an_exit_code() {
    let yard = Yard::start("2026-07-28");
    let id = yard.detach("report");
    // A copy of the tickets, as of another computer.
    let (mine, copy) = (yard.folder(), tempfile::tempdir().unwrap());
    copy_files(&mine, copy.path());
    assert_eq!(yard.run(&["task", "cancel", &id]).code, 0);
    copy_files(copy.path(), &mine);
    let waited = yard.run(&["task", "wait", &id]);
    assert_eq!(waited.code, 13, "{}", waited.stderr);
}

#[test]
fn no_task_is_started_whose_ticket_cannot_be_stored() {
    let yard = Yard::start(REVISIONS[1]);
    let blocked = yard.state.path().join("treenail");
    std::fs::write(&blocked, "").unwrap();
    let refused = yard.run(&["call", "report", "--detach"]);
    assert_eq!((refused.code, &*refused.stdout), (8, ""), "{refused:?}");
    std::fs::remove_file(&blocked).unwrap();
    assert!(!yard.detach("report").is_empty());
}

fn copy_files(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn tickets_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let yard = Yard::start("2026-07-28");
    yard.detach("report");
    let folder = yard.folder();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert_eq!(files.len(), 2, "the tickets and the lock");
    for file in files {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}
