//! Updates of resources over HTTP, in both eras.

use std::time::Duration;

use tokio::time::timeout;
use treenail::prelude::*;
use treenail::schema::Revision;

struct Notes;

#[mcp_tool]
impl Notes {
    #[resource("notes://{id}", subscribable)]
    fn note(id: u32) -> Value {
        json!({"id": id})
    }
}

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Note {
    id: u32,
}

#[tokio::test]
async fn updates_arrive_in_both_eras() {
    const PATIENCE: Duration = Duration::from_secs(20);

    let server = Server::builder("notes", "1").mount(Notes).build().unwrap();
    let http = server.clone().bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        let builder = McpClient::builder().url(&url).protocol_version(revision);
        let client = builder.build().await.unwrap();
        let opened = client.resource_updates(["notes://1", "notes://2"]);
        let mut updates = opened.await.unwrap();
        for id in [3, 2, 1] {
            let uri = format!("notes://{id}");
            server.resource_updated(&uri);
            if id == 3 {
                continue;
            }
            let item = timeout(PATIENCE, updates.next()).await.unwrap();
            assert_eq!(item.unwrap().unwrap(), uri, "{revision}");
            let note = client.read_resource(&uri).await.unwrap();
            assert_eq!(note.json::<Note>().unwrap(), Note { id });
            assert!(note.json::<u32>().is_err());
        }
        client.close().await.unwrap();
        assert!(updates.next().await.unwrap().is_err());
        assert!(updates.next().await.is_none());
    }
}
