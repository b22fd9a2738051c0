//! Streams through a proxy: each item once, in order, and while the tool runs.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_stream::StreamExt as _;
use treenail::prelude::*;

use crate::station::{ERAS, client_of, proxied};
use crate::tasks;

#[mcp_client]
trait Words {
    /// Waits for a permit before each item.
    fn words(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
}

#[derive(Clone)]
struct Source(Arc<Semaphore>);

#[mcp_tool]
impl Words for Source {
    fn words(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        let permits = Arc::clone(&self.0);
        tokio_stream::iter(1..=to).then(move |at| {
            let permits = Arc::clone(&permits);
            async move {
                permits.acquire().await?.forget();
                Ok(format!("w{at}"))
            }
        })
    }
}

/// Returns a server whose first items have these permits.
fn source(permits: usize) -> (Server, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(permits));
    let server = treenail::server!().mount(Source(Arc::clone(&permits)));
    (server.build().unwrap(), permits)
}

#[tokio::test]
async fn items_pass_while_the_tool_runs() {
    for (caller, remote) in ERAS {
        let (server, permits) = source(0);
        let (gateway, _mounted) = proxied(&server, remote).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let mut words = WordsClient::new(&client).with_namespace("st").words(3);
        for expected in ["w1", "w2", "w3"] {
            permits.add_permits(1);
            let word = words.next().await.unwrap().unwrap();
            assert_eq!(word, expected, "{caller} {remote}");
        }
        assert!(words.next().await.is_none(), "{caller} {remote}");
    }
}

#[tokio::test]
async fn a_task_yields_each_item_once() {
    for (caller, remote) in ERAS {
        let (server, _) = source(3);
        let (gateway, _mounted) = tasks::proxied(&server, remote, &Arc::default()).await;
        let client = client_of(&gateway, caller).tasks().build().await.unwrap();
        let words = WordsClient::new(&client).with_namespace("st").words(3);
        let words: Result<Vec<_>, _> = words.collect().await;
        assert_eq!(words.unwrap(), ["w1", "w2", "w3"], "{caller} {remote}");
    }
}
