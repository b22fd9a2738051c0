//! Servers that require authorization.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{HttpServer, session_server};
use crate::inspect::inspector::Inspector;
use crate::process::{Outcome, outcome_of, test_server};
use crate::terminal::open_terminal;

/// A protected server, and a user with a home directory and a browser.
struct Fixture {
    server: HttpServer,
    home: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self::with_server("protected")
    }

    fn with_server(mode: &str) -> Self {
        let fixture = Self {
            server: HttpServer::start_mode(mode),
            home: TempDir::new().unwrap(),
        };
        fixture.write_browser("");
        fixture
    }

    /// Creates the browser, which runs `delay` before it signs the user in.
    fn write_browser(&self, delay: &str) {
        let browser = self.home.path().join("xdg-open");
        let server = test_server();
        let script = format!(
            "#!/bin/sh\n{delay}\nexec '{}' browse \"$1\"\n",
            server.display()
        );
        fs::write(&browser, script).unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn configure(&self, command: &mut Command) {
        let path = format!("{}:/usr/bin:/bin", self.home.path().display());
        command
            .env("XDG_DATA_HOME", self.home.path())
            .env("PATH", path);
    }

    fn run(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        self.configure(&mut command);
        outcome_of(command.args(args).stdin(Stdio::null()).output().unwrap())
    }

    fn status(&self) -> Value {
        let status = self.run(&["auth", "status", &self.server.url, "--json"]);
        assert_eq!(status.code, 0, "{}", status.stderr);
        serde_json::from_str(&status.stdout).unwrap()
    }
}

#[test]
fn a_user_signs_in_once_and_signs_out() {
    let fixture = Fixture::new();
    let url = &*fixture.server.url;
    let call = ["call", "add", "a=1", "b=2", "--url", url];

    let before = fixture.run(&call);
    assert_eq!(before.code, 4, "{before:?}");
    assert!(before.stderr.contains("treenail auth login"), "{before:?}");
    let never = fixture.run(&[&call[..], &["--auth", "never"]].concat());
    assert_eq!(never.code, 4, "{never:?}");
    assert!(
        never.stderr.contains("the server requires authorization"),
        "{never:?}"
    );
    assert_eq!(fixture.status(), Value::Null);

    let login = fixture.run(&["auth", "login", url]);
    assert_eq!(login.code, 0, "{login:?}");
    assert!(
        login.stdout.starts_with("signed in at  http://127.0.0.1:"),
        "{login:?}"
    );
    let status = fixture.status();
    assert_eq!(status["scopes"], json!(["basic"]), "{status}");
    assert_eq!(status["canRefresh"], true, "{status}");
    fixture.run(&call).check(0, "3\n", "");
    let again = fixture.run(&["auth", "login", url, "--scope", "basic"]);
    assert_eq!(again.code, 0, "{again:?}");
    let json = fixture.run(&["auth", "login", url, "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["scopes"], status["scopes"], "{json}");
    let more = fixture.run(&["auth", "login", url, "--scope", "more"]);
    assert_eq!(more.code, 2, "{more:?}");
    assert!(more.stderr.contains("treenail auth logout"), "{more:?}");

    fixture
        .run(&["auth", "logout", url])
        .check(0, "signed out\n", "");
    assert_eq!(fixture.status(), Value::Null);
    fixture
        .run(&["auth", "logout", url])
        .check(0, "not signed in\n", "");
    let json = fixture.run(&["auth", "logout", url, "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json, json!({"signedOut": false}));
    assert_eq!(fixture.run(&call).code, 4);
}

#[test]
fn no_token_is_in_the_output_or_in_plain_text_on_disk() {
    let fixture = Fixture::new();
    let login = fixture.run(&["auth", "login", &fixture.server.url, "-vv"]);
    assert_eq!(login.code, 0, "{login:?}");
    let output = format!("{}{}", login.stdout, login.stderr);
    assert!(
        !output.contains("access_token") && !output.contains("eyJ"),
        "{output}"
    );
    let directory = fixture.home.path().join("treenail/authorization");
    assert!(fs::read_dir(&directory).unwrap().count() > 1);
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{entry:?}");
        let bytes = fs::read(entry.path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.contains("eyJ") && !text.contains("access"),
            "{entry:?}"
        );
    }
}

#[test]
fn the_chain_to_a_token_is_checked() {
    let fixture = Fixture::new();
    let checked = fixture.run(&["auth", "check", &fixture.server.url]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let expected = [
        "ok       challenge: names the metadata \"http://127.0.0.1:",
        "ok       resource metadata: resource \"http://127.0.0.1:",
        "ok       authorization server: issuer \"http://127.0.0.1:",
        "ok       proof key: supports `S256`",
        "ok       registration: accepts",
    ];
    for line in expected {
        assert!(checked.stdout.contains(line), "{line}: {}", checked.stdout);
    }
    let json = fixture.run(&["auth", "check", &fixture.server.url, "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["findings"][0]["level"], "ok", "{json}");

    let open = HttpServer::start_mode("http");
    let checked = fixture.run(&["auth", "check", &open.url]);
    checked.check(0, "the server requires no authorization\n", "");
}

#[test]
fn the_session_of_a_check_is_closed() {
    let (url, requests) = session_server();
    let fixture = Fixture::new();
    let checked = fixture.run(&["auth", "check", &url]);
    checked.check(0, "the server requires no authorization\n", "");
    let deleted = requests.try_iter().any(|head| {
        head.starts_with("DELETE ") && head.to_lowercase().contains("mcp-session-id: one\r\n")
    });
    assert!(deleted);
}

#[test]
fn a_call_of_the_inspector_waits_while_the_user_signs_in() {
    let fixture = Fixture::with_server("step-up");
    let url = &*fixture.server.url;
    let login = fixture.run(&["auth", "login", url]);
    assert_eq!(login.code, 0, "{login:?}");
    // Longer than the timeout of a request.
    fixture.write_browser("sleep 4");
    let (keyboard, tty) = open_terminal();
    let arguments = ["--no-open", "--timeout", "2s", "--url", url];
    let inspector = Inspector::start_with(&arguments, |command| {
        fixture.configure(command);
        command.stdin(tty.try_clone().unwrap()).stderr(tty);
    });
    let mut events = inspector.events();
    events.wait_for("connected");
    let call = json!({"kind": "tool", "target": "vault", "arguments": {}});
    assert_eq!(inspector.post("calls", &call).0, 200);
    let running = events.wait_for("call");
    assert_eq!(running["status"], "running");
    assert_eq!(events.wait_for("call")["status"], "done");
    drop(keyboard);
}

#[test]
fn only_commands_about_tokens_need_their_store() {
    let fixture = Fixture::new();
    fs::write(
        fixture.home.path().join("treenail"),
        "a file in place of the directory",
    )
    .unwrap();
    let open = HttpServer::start_mode("http");
    let call = fixture.run(&["call", "add", "a=1", "b=2", "--url", &open.url]);
    assert_eq!((call.code, &*call.stdout), (0, "3\n"), "{call:?}");
    assert!(call.stderr.contains("no stored tokens"), "{call:?}");
    for command in ["login", "status", "logout"] {
        let refused = fixture.run(&["auth", command, &fixture.server.url]);
        assert_eq!(refused.code, 8, "{command}: {refused:?}");
    }
    assert_eq!(fixture.run(&["auth", "check", &fixture.server.url]).code, 0);
}
