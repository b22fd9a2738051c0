//! `examples/gateway.rs` with the reference servers of the npm registry.

use serde_json::json;
use treenail::client::McpClientBuilder;
use treenail::context::Principal;
use treenail::prelude::*;

use crate::installed::reference;

#[allow(
    dead_code,
    unreachable_pub,
    reason = "its `main` reads the command line"
)]
#[path = "../../examples/gateway.rs"]
mod example;

fn client(server: &Server, user: &str) -> McpClientBuilder {
    let mut connection = server.connect();
    connection.extensions_mut().insert(Principal::new(user));
    McpClient::builder().connection(connection)
}

#[tokio::test]
async fn two_servers_are_one_with_a_tool_that_is_replaced_and_tools_that_some_see() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note.txt"), "hello").unwrap();
    let files = reference("filesystem").arg(folder.path());
    let memory = reference("memory").env("MEMORY_FILE_PATH", folder.path().join("memory.json"));
    let (server, proxy) = example::gateway(files, memory).unwrap();
    for mounted in proxy.mounts() {
        mounted.connected().await;
    }
    let user = client(&server, "anna").build().await.unwrap();
    let names: Vec<_> = user
        .tools()
        .await
        .unwrap()
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    for name in ["files.read", "files.move_file", "memory.read_graph"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    for name in [
        "files.read_text_file",
        "files.write_file",
        "memory.delete_entities",
    ] {
        assert!(
            !names.iter().any(|known| known == name),
            "{name}: {names:?}"
        );
    }
    let path = folder.path().canonicalize().unwrap().join("note.txt");
    let read = user
        .call_tool("files.read", json!({"path": path}))
        .await
        .unwrap();
    assert_eq!(read.as_text(), Some("hello"));
    let moved = json!({"source": path, "destination": folder.path().join("other.txt")});
    let moved = user.call_tool("files.move_file", moved).await.unwrap();
    assert!(
        moved.as_text().unwrap().contains("nothing is moved"),
        "{moved:?}"
    );
    let deletion = json!({"entityNames": ["a"]});
    let refused = user
        .call_tool("memory.delete_entities", &deletion)
        .await
        .unwrap_err();
    assert!(refused.as_refused().is_some(), "{refused}");
    let admin = client(&server, "admin").build().await.unwrap();
    let deleted = admin
        .call_tool("memory.delete_entities", &deletion)
        .await
        .unwrap();
    assert_ne!(deleted.is_error, Some(true), "{deleted:?}");
}
