//! `treenail install` and `treenail uninstall`, in a home directory of the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Outcome, outcome_of, test_server};

/// Home directory, and a project in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self(home)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// Runs the program in the project, with the output free of the name of the home directory.
    fn run(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
        command.args(args).current_dir(self.path("project"));
        command
            .env("HOME", self.0.path())
            .env("USERPROFILE", self.0.path());
        command.env("APPDATA", self.path("config"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command.env_remove("CLAUDE_CONFIG_DIR");
        let mut outcome = outcome_of(command.stdin(Stdio::null()).output().unwrap());
        let home = format!("{}/", self.0.path().display());
        for text in [&mut outcome.stdout, &mut outcome.stderr] {
            *text = text.replace(&home, "~/");
        }
        outcome
    }

    #[track_caller]
    fn installed(&self, args: &[&str]) -> Outcome {
        let outcome = self.run(args);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome
    }
}

fn server() -> String {
    test_server().to_str().unwrap().to_owned()
}

#[test]
fn each_host_gets_its_own_format() {
    let home = Home::new();
    let server = server();
    let hosts = ["claude-code", "vscode", "cursor", "zed"];
    let hosts: Vec<_> = hosts.iter().flat_map(|host| ["--host", host]).collect();
    let install = [
        &["install", "--scope", "project", "--env", "A=b"],
        &hosts[..],
    ]
    .concat();
    home.installed(&[&install[..], &["--", &server, "--verbose"]].concat());
    let plain = json!({"command": server, "args": ["--verbose"], "env": {"A": "b"}});
    let mut typed = plain.clone();
    typed["type"] = "stdio".into();
    let name = "cli-test-server";
    let key = |file: &str, key: &str| home.json(&format!("project/{file}"))[key][name].clone();
    assert_eq!(key(".mcp.json", "mcpServers"), typed);
    assert_eq!(key(".vscode/mcp.json", "servers"), typed);
    assert_eq!(key(".cursor/mcp.json", "mcpServers"), plain);
    assert_eq!(key(".zed/settings.json", "context_servers"), plain);

    let url = [
        "install",
        "https://mcp.example.com/mcp",
        "--header",
        "Authorization: Bearer ${T}",
    ];
    for host in ["claude-code", "windsurf"] {
        home.installed(&[&url[..], &["--host", host]].concat());
    }
    let headers = json!({"Authorization": "Bearer ${T}"});
    assert_eq!(
        home.json(".claude.json")["mcpServers"]["mcp-example-com"],
        json!({"type": "http", "url": "https://mcp.example.com/mcp", "headers": headers})
    );
    assert_eq!(
        home.json(".codeium/windsurf/mcp_config.json")["mcpServers"]["mcp-example-com"],
        json!({"serverUrl": "https://mcp.example.com/mcp", "headers": headers})
    );
    let refused = home.run(&[&url[..], &["--host", "claude-desktop"]].concat());
    refused.check(2, "", "error: Claude Desktop has no servers with a URL in its file; add it in Settings → Connectors\n");
}

#[test]
fn rest_of_the_file_stays_and_the_old_one_is_a_backup() {
    let home = Home::new();
    let old = "{\n    // mine\n    \"servers\": {\n        \"other\": {\"command\": \"x\"}, // theirs\n    },\n    \"inputs\": [],\n}\n";
    home.write("project/.vscode/mcp.json", old);
    let server = server();
    let install = [
        "install", "--host", "vscode", "--scope", "project", "--name", "test", "--", &server,
    ];
    let notes = "installed `test` in `.vscode/mcp.json`\nthe old file is `~/project/.vscode/mcp.json.bak`\nnext: start the server with \"MCP: List Servers\"\n";
    let outcome = home.installed(&install);
    outcome.check(0, "", notes);
    let new = format!(
        "{{\n    // mine\n    \"servers\": {{\n        \"other\": {{\"command\": \"x\"}}, // theirs\n        \"test\": {{\n            \"type\": \"stdio\",\n            \"command\": \"{server}\",\n            \"args\": []\n        }},\n    }},\n    \"inputs\": [],\n}}\n"
    );
    assert_eq!(home.read("project/.vscode/mcp.json"), new);
    assert_eq!(home.read("project/.vscode/mcp.json.bak"), old);
    // The second time nothing is written.
    home.run(&install)
        .check(0, "", "`test` is already installed in `.vscode/mcp.json`\n");
    assert_eq!(home.read("project/.vscode/mcp.json.bak"), old);

    let uninstall = [
        "uninstall",
        "test",
        "--host",
        "vscode",
        "--scope",
        "project",
    ];
    home.installed(&uninstall);
    assert_eq!(home.read("project/.vscode/mcp.json"), old);
    home.run(&uninstall)
        .check(0, "", "`.vscode/mcp.json` has no server `test`\n");
}

#[test]
fn dry_run_prints_the_change_without_secrets() {
    let home = Home::new();
    let old = "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\",\n      \"env\": {\"TOKEN\": \"secret\"}\n    }\n  }\n}\n";
    home.write(".cursor/mcp.json", old);
    let server = server();
    let diff = "\
--- ~/.cursor/mcp.json
+++ ~/.cursor/mcp.json
@@ -3,6 +3,13 @@
     \"other\": {
       \"command\": \"x\",
       \"env\": {\"TOKEN\": \"…\"}
+    },
+    \"test\": {
+      \"command\": \"SERVER\",
+      \"args\": [],
+      \"env\": {
+        \"KEY\": \"…\"
+      }
     }
   }
 }
";
    // Cursor is the only host in this home directory.
    let args = [
        "install",
        "--dry-run",
        "--name",
        "test",
        "--env",
        "KEY=hidden",
        "--",
        &server,
    ];
    let outcome = home.installed(&args);
    assert_eq!(outcome.stdout.replace(&server, "SERVER"), diff);
    assert_eq!(home.read(".cursor/mcp.json"), old);
    assert!(!home.path(".cursor/mcp.json.bak").exists());
}

#[test]
fn other_server_of_the_same_name_needs_force() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        "{\"mcpServers\": {\"test\": {\"command\": \"x\", \"disabled\": true}}}",
    );
    let server = server();
    let install = [
        "install", "--host", "cursor", "--name", "test", "--", &server,
    ];
    let refusal = "error: `~/.cursor/mcp.json` has another server `test`\n note: use --name to give the new one another name, or --force to replace it\n";
    home.run(&install).check(2, "", refusal);
    home.installed(&[
        "install", "--force", "--host", "cursor", "--name", "test", "--", &server,
    ]);
    assert_eq!(
        home.json(".cursor/mcp.json")["mcpServers"]["test"]["command"],
        server
    );
}

#[test]
fn unreadable_file_is_reported_with_its_position_and_stays() {
    let home = Home::new();
    let server = server();
    for (text, error) in [
        (
            "{\n  \"mcpServers\": {,}\n}",
            "line 2, column 18: key must be a string",
        ),
        ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
        ("[]", "expected a JSON object"),
    ] {
        home.write(".cursor/mcp.json", text);
        // The other file is not written either.
        let outcome = home.run(&[
            "install", "--host", "windsurf", "--host", "cursor", "--", &server,
        ]);
        outcome.check(8, "", &format!("error: `~/.cursor/mcp.json`: {error}\n"));
        assert_eq!(home.read(".cursor/mcp.json"), text);
        assert!(!home.path(".codeium").exists());
    }
}

#[test]
fn mistakes_on_the_command_line_name_the_cure() {
    let home = Home::new();
    let error = |args: &[&str]| {
        let outcome = home.run(args);
        assert_eq!(outcome.code, 2);
        outcome.stderr
    };
    let server = server();
    assert!(error(&["install", "--", &server]).starts_with("error: no host was found"));
    home.write(".cursor/mcp.json", "");
    home.write(".claude.json", "{}");
    let several = error(&["install", "--", &server]);
    assert!(
        several.contains("use --host with one or more of claude-code, cursor\n"),
        "{several}"
    );
    let missing = error(&[
        "install",
        "--host",
        "cursor",
        "--",
        "target/release/missing",
    ]);
    assert!(missing.contains("cargo build --release"), "{missing}");
    let runner = error(&["install", "--host", "cursor", "--", "npx", "-y", "server"]);
    assert!(runner.contains("give one with --name"), "{runner}");
    let name = error(&[
        "install", "--host", "cursor", "--name", "a b", "--", &server,
    ]);
    assert!(name.contains("hosts accept 1 to 64"), "{name}");
    let word = error(&["install", "--host", "cursor", "my-server"]);
    assert!(word.contains("give a command after `--`"), "{word}");
    let credentials = error(&["install", "--host", "cursor", "https://u:p@example.com/mcp"]);
    assert!(!credentials.contains("u:p"), "{credentials}");
    let scope = error(&[
        "install", "--host", "windsurf", "--scope", "project", "--", &server,
    ]);
    assert!(scope.contains("omit `--scope project`"), "{scope}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_preserved() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = Home::new();
    let server = server();
    home.write("dotfiles/mcp.json", "{}");
    fs::set_permissions(
        home.path("dotfiles/mcp.json"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", home.path(".cursor/mcp.json")).unwrap();
    home.installed(&[
        "install", "--host", "cursor", "--host", "windsurf", "--", &server,
    ]);
    assert!(home.path(".cursor/mcp.json").is_symlink());
    assert_eq!(
        home.json("dotfiles/mcp.json")["mcpServers"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
    for file in ["dotfiles/mcp.json", "dotfiles/mcp.json.bak"] {
        assert_eq!(mode(&home.path(file)), 0o640);
    }
    // A new file of the user may hold credentials.
    assert_eq!(mode(&home.path(".codeium/windsurf/mcp_config.json")), 0o600);

    // A link to a missing file is not replaced.
    fs::remove_file(home.path("dotfiles/mcp.json")).unwrap();
    assert_eq!(
        home.run(&["install", "--host", "cursor", "--", &server])
            .code,
        8
    );
    assert!(home.path(".cursor/mcp.json").is_symlink());
}

#[cfg(unix)]
#[test]
fn program_is_stored_with_its_absolute_path() {
    use std::os::unix::fs::symlink;

    let home = Home::new();
    symlink(test_server(), home.path("project/linked")).unwrap();
    let command = |args: &[&str], file: &str| {
        home.installed(
            &[
                &["install", "--force", "--name", "test", "--host", "cursor"],
                args,
            ]
            .concat(),
        );
        let command = home.json(file)["mcpServers"]["test"]["command"].clone();
        command.as_str().unwrap().to_owned()
    };
    let linked = fs::canonicalize(home.path("project"))
        .unwrap()
        .join("linked");
    assert_eq!(
        command(&["--", "./linked"], ".cursor/mcp.json"),
        linked.to_str().unwrap()
    );
    assert!(command(&["--", "env"], ".cursor/mcp.json").ends_with("/env"));
    let project = ["--scope", "project", "--", "env"];
    assert_eq!(command(&project, "project/.cursor/mcp.json"), "env");
}
