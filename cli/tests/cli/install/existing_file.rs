//! Files of hosts that exist already: their text, servers, permissions and links.

use super::home::{Home, server};

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
fn concurrent_changes_are_all_written() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{\"mcpServers\": {\"old\": {}}}");
    let server = server();
    let names: Vec<_> = (0..12).map(|index| format!("server-{index}")).collect();
    let mut running: Vec<_> = names
        .iter()
        .map(|name| {
            let install = ["install", "--host", "cursor", "--name", name, "--", &server];
            home.command(&install).spawn().unwrap()
        })
        .collect();
    let uninstall = ["uninstall", "-q", "--host", "cursor", "old"];
    running.push(home.command(&uninstall).spawn().unwrap());
    for mut process in running {
        assert!(process.wait().unwrap().success());
    }
    let servers = home.json(".cursor/mcp.json")["mcpServers"].clone();
    let mut found: Vec<_> = servers.as_object().unwrap().keys().collect();
    let mut expected: Vec<_> = names.iter().collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_file_is_changed_without_a_lock_if_none_can_be_created() {
    let home = Home::new();
    home.write(".local/state", "no directory");
    let outcome = home.run(&[
        "install",
        "--host",
        "cursor",
        "--name",
        "a",
        "--",
        &server(),
    ]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(home.json(".cursor/mcp.json")["mcpServers"]["a"].is_object());
    if cfg!(unix) {
        let note = "other processes are not waited for: ";
        assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    }
}

#[test]
fn a_backup_that_cannot_be_written_is_named_and_the_file_stays() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{}");
    home.write(".cursor/mcp.json.bak/file", "");
    let outcome = home.run(&["install", "--host", "cursor", "--", &server()]);
    assert_eq!(outcome.code, 8);
    let place = "error: backup `~/.cursor/mcp.json.bak`: ";
    assert!(outcome.stderr.starts_with(place), "{}", outcome.stderr);
    assert_eq!(home.read(".cursor/mcp.json"), "{}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_preserved() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

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
