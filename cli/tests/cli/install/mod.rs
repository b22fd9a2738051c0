//! `treenail install` and `treenail uninstall`, in a home directory of the test.

mod existing_file;
mod home;

use serde_json::json;

use self::home::{Home, server};

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
fn dry_run_hides_secrets_of_other_projects() {
    let home = Home::new();
    let old = r#"{"projects": {"/p": {"mcpServers": {"b": {"env": {"K": "hidden"}}}}}, "env": {"T": "hidden"}}"#;
    home.write(".claude.json", old);
    let server = server();
    let install = [
        "install",
        "--dry-run",
        "--host",
        "claude-code",
        "--",
        &server,
    ];
    let stdout = home.installed(&install).stdout;
    assert!(stdout.contains(r#""env": {"T": "…"}"#), "{stdout}");
    assert!(!stdout.contains("hidden"), "{stdout}");
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
fn program_is_stored_with_its_absolute_path() {
    use std::fs;
    use std::os::unix::fs::symlink;

    use crate::process::test_server;

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

#[cfg(unix)]
#[test]
fn relative_paths_in_arguments_are_noted() {
    let home = Home::new();
    home.write("project/server.py", "");
    let note = "`server.py` is a relative path, but hosts start the server in another directory; \
                if it is meant as a path, give `~/project/server.py`";
    let script = home.path("project/server.py");
    for (scope, argument, is_noted) in [
        ("user", "server.py", true),
        ("user", "no-file.py", false),
        ("user", script.to_str().unwrap(), false),
        ("project", "server.py", false),
    ] {
        let install = ["install", "--host", "cursor", "--name", "test", "--force"];
        let server = ["--scope", scope, "--", "env", "-i", argument];
        let outcome = home.installed(&[&install[..], &server].concat());
        let found = outcome.stderr.lines().any(|line| line == note);
        assert_eq!(found, is_noted, "{scope} {argument}: {}", outcome.stderr);
    }
}

#[test]
fn what_no_host_can_send_is_refused() {
    let home = Home::new();
    let install = ["install", "--host", "cursor", "--name", "test"];
    let install = |url, header| home.run(&[&install[..], &[url, "--header", header]].concat());
    for (url, header, reason) in [
        (
            "https://a.example/mcp",
            ": c",
            "the header `` has an invalid name",
        ),
        (
            "https://a.example/mcp",
            "A B: c",
            "the header `A B` has an invalid name",
        ),
        ("https://a.example:99999/mcp", "A: c", "port"),
        ("https://a.example/m cp", "A: c", "URL"),
    ] {
        let outcome = install(url, header);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains(reason), "{outcome:?}");
    }
    // Hosts replace variables.
    let outcome = install("https://a.example:${PORT}/${input:path}", "A: ${B}");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}
