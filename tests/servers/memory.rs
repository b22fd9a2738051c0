//! `@modelcontextprotocol/server-memory`: a knowledge graph in a file.

use serde_json::{Value, json};
use treenail::McpClient;

use crate::installed::reference;
use crate::results::wait_for;

async fn call(client: &McpClient, tool: &str, arguments: Value) -> Value {
    let result = client.call_tool(tool, arguments).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{tool}: {result:?}");
    let output: Value = json!(result.structured_content);
    output
}

#[tokio::test]
async fn graph_is_created_searched_and_persisted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let command = reference("memory").env("MEMORY_FILE_PATH", &file);
    let connect = || McpClient::builder().command(command.clone());
    let client = connect().build().await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 9);
    let resources = client.resources().await.unwrap();
    let graph = &*resources[0].uri;
    let session = client.session();
    session.resources_subscribe(graph).await.unwrap();
    let mut notifications = session.notifications();

    let entity =
        |name: &str, kind: &str| json!({"name": name, "entityType": kind, "observations": ["old"]});
    let entities = json!({"entities": [entity("Ada", "person"), entity("Engine", "machine")]});
    let created = call(&client, "create_entities", entities).await;
    assert_eq!(created["entities"].as_array().unwrap().len(), 2);
    let updated = wait_for(
        &mut notifications,
        "notifications/resources/updated",
        |_| true,
    )
    .await;
    assert_eq!(updated["uri"], graph, "CLI-SUB-07");
    session.resources_unsubscribe(graph).await.unwrap();
    let relation = json!({"from": "Ada", "to": "Engine", "relationType": "programs"});
    let relations = json!({"relations": [relation]});
    let created = call(&client, "create_relations", relations.clone()).await;
    assert_eq!(created["relations"], json!([relation]));
    let observations =
        json!({"observations": [{"entityName": "Ada", "contents": ["countess", "old"]}]});
    let added = call(&client, "add_observations", observations).await;
    assert_eq!(
        added["results"][0]["addedObservations"],
        json!(["countess"])
    );

    let found = call(&client, "search_nodes", json!({"query": "countess"})).await;
    assert_eq!(found["entities"][0]["name"], "Ada");
    let opened = call(&client, "open_nodes", json!({"names": ["Engine"]})).await;
    assert_eq!(opened["entities"][0]["entityType"], "machine");

    let deletions = json!({"deletions": [{"entityName": "Ada", "observations": ["old"]}]});
    call(&client, "delete_observations", deletions).await;
    call(&client, "delete_relations", relations).await;
    call(
        &client,
        "delete_entities",
        json!({"entityNames": ["Engine"]}),
    )
    .await;
    let expected = json!({
        "entities": [{"name": "Ada", "entityType": "person", "observations": ["countess"]}],
        "relations": [],
    });
    assert_eq!(call(&client, "read_graph", json!({})).await, expected);
    let read = json!(client.read_resource(graph).await.unwrap().contents[0]);
    let read: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
    assert_eq!(read, expected);
    client.close().await.unwrap();

    let client = connect().build().await.unwrap();
    assert_eq!(call(&client, "read_graph", json!({})).await, expected);
    client.close().await.unwrap();
}
