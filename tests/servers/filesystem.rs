//! `@modelcontextprotocol/server-filesystem`, in a temporary folder.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use treenail::McpClient;
use treenail::client::Stderr;
use treenail::schema::{Revision, Root};

use crate::installed::reference;
use crate::results::text;

/// Creates a folder with a few files, and returns its canonical path.
fn create_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::write(path.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::create_dir(path.join("sub")).unwrap();
    fs::write(path.join("sub/b ü.md"), "# Title\n").unwrap();
    fs::write(path.join("dot.png"), b"\x89PNG").unwrap();
    fs::write(path.join("beep.wav"), b"RIFF").unwrap();
    (folder, path)
}

/// Calls a tool and returns its text, which equals its structured content.
async fn call_text(client: &McpClient, tool: &str, arguments: Value) -> String {
    let result = client.call_tool(tool, arguments).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{tool}: {}", text(&result));
    let structured = result.structured_content.as_ref().unwrap();
    let content = structured["content"].as_str().unwrap();
    assert_eq!(text(&result), content, "{tool}");
    content.to_owned()
}

#[tokio::test]
async fn files_and_folders_are_read() {
    let (_folder, path) = create_folder();
    let at = |name: &str| path.join(name).to_str().unwrap().to_owned();
    let command = reference("filesystem").arg(&path);
    let client = McpClient::builder().command(command).build().await.unwrap();
    let tools = client.tools().await.unwrap();
    assert_eq!(tools.len(), 14);
    let reading = client.tool("read_text_file").await.unwrap().unwrap();
    let hints = json!(reading.annotations);
    assert_eq!(hints["readOnlyHint"], true);

    let allowed = call_text(&client, "list_allowed_directories", json!({})).await;
    assert!(allowed.contains(path.to_str().unwrap()));
    for tool in ["read_file", "read_text_file"] {
        let content = call_text(&client, tool, json!({"path": at("a.txt")})).await;
        assert_eq!(content, "one\ntwo\nthree\n");
    }
    let head = json!({"path": at("a.txt"), "head": 1});
    assert_eq!(call_text(&client, "read_text_file", head).await, "one");
    let both = json!({"paths": [at("a.txt"), at("sub/b ü.md"), at("missing")]});
    let both = call_text(&client, "read_multiple_files", both).await;
    assert!(both.contains("three") && both.contains("# Title") && both.contains("Error"));

    // The data is the magic number of each file type.
    for (name, kind, data) in [
        ("dot.png", "image", "iVBORw=="),
        ("beep.wav", "audio", "UklGRg=="),
    ] {
        let media = client.call_tool("read_media_file", json!({"path": at(name)}));
        let media = json!(media.await.unwrap());
        assert_eq!(media["content"][0]["type"], kind);
        assert_eq!(media["content"][0]["data"], data);
    }

    let listed = call_text(&client, "list_directory", json!({"path": at("")})).await;
    assert!(listed.contains("[FILE] a.txt") && listed.contains("[DIR] sub"));
    let sizes = json!({"path": at(""), "sortBy": "size"});
    let sizes = call_text(&client, "list_directory_with_sizes", sizes).await;
    assert!(sizes.contains("Total: 3 files, 1 directories"), "{sizes}");
    let tree = call_text(&client, "directory_tree", json!({"path": at("")})).await;
    let tree: Value = serde_json::from_str(&tree).unwrap();
    let sub = tree
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "sub");
    assert_eq!(sub.unwrap()["children"][0]["name"], "b ü.md");
    let search = json!({"path": at(""), "pattern": "**/*.md"});
    assert_eq!(
        call_text(&client, "search_files", search).await,
        at("sub/b ü.md")
    );
    let info = call_text(&client, "get_file_info", json!({"path": at("a.txt")})).await;
    assert!(info.contains("size: 14"), "{info}");

    let outside = client.call_tool("read_text_file", json!({"path": "/etc/hostname"}));
    let outside = outside.await.unwrap();
    assert_eq!(outside.is_error, Some(true));
    assert!(
        text(&outside).contains("Access denied"),
        "{}",
        text(&outside)
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn files_are_written_edited_and_moved() {
    let (_folder, path) = create_folder();
    let at = |name: &str| path.join(name).to_str().unwrap().to_owned();
    let command = reference("filesystem").arg(&path);
    let client = McpClient::builder().command(command).build().await.unwrap();
    let writing = json!({"path": at("new.txt"), "content": "alpha\nbeta\n"});
    call_text(&client, "write_file", writing).await;
    assert_eq!(fs::read_to_string(at("new.txt")).unwrap(), "alpha\nbeta\n");
    let edits = json!([{"oldText": "beta", "newText": "gamma"}]);
    let dry = json!({"path": at("new.txt"), "edits": edits, "dryRun": true});
    assert!(
        call_text(&client, "edit_file", dry)
            .await
            .contains("+gamma")
    );
    assert_eq!(fs::read_to_string(at("new.txt")).unwrap(), "alpha\nbeta\n");
    call_text(
        &client,
        "edit_file",
        json!({"path": at("new.txt"), "edits": edits}),
    )
    .await;
    assert_eq!(fs::read_to_string(at("new.txt")).unwrap(), "alpha\ngamma\n");

    call_text(&client, "create_directory", json!({"path": at("deep/er")})).await;
    assert!(path.join("deep/er").is_dir());
    let moving = json!({"source": at("new.txt"), "destination": at("deep/er/moved.txt")});
    call_text(&client, "move_file", moving).await;
    assert!(path.join("deep/er/moved.txt").is_file());
    client.close().await.unwrap();
}

#[tokio::test]
async fn roots_set_the_allowed_directories() {
    let (_folder, path) = create_folder();
    let elsewhere = tempfile::tempdir().unwrap();
    let uri = format!("file://{}", path.display());
    let (updated, mut is_updated) = tokio::sync::watch::channel(false);
    let stderr = Stderr::lines(move |line| {
        if line.starts_with("Updated allowed directories from MCP roots") {
            updated.send_replace(true);
        }
    });
    let command = reference("filesystem").arg(elsewhere.path());
    let client = McpClient::builder().command(command.stderr(stderr));
    let client = client.roots([Root::new(uri)]).build().await.unwrap();
    assert_eq!(client.session().protocol_version(), Revision::V2025_11_25);
    // The server requests the roots after the handshake, and logs when it has received them.
    is_updated.wait_for(|is_updated| *is_updated).await.unwrap();
    let allowed = call_text(&client, "list_allowed_directories", json!({})).await;
    assert!(
        allowed.contains(path.to_str().unwrap()),
        "CLI-ROOT-01: {allowed}"
    );
    client.close().await.unwrap();
}
