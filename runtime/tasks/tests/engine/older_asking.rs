//! Server with tools that ask, and a client of revision 2025-11-25 that polls their tasks.

use serde_json::{Value, json};
use treenail::ServerBuilder;
use treenail::elicit::AskError;
use treenail::prelude::*;
use treenail::schema::{CreateMessageRequestParams, SamplingMessageContentBlock};
use treenail::tasks::Tasks;

use crate::peer::Peer;
use crate::works::limits;

pub(crate) const RELATED: &str = "io.modelcontextprotocol/related-task";

#[mcp_form]
struct Name {
    name: String,
}

/// Tools with a question of each kind.
struct Asking;

#[mcp_tool]
#[allow(deprecated, reason = "tasks of this revision use them")]
impl Asking {
    #[tool(task(always))]
    async fn elicit(&self, cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("Name?").await?;
        Ok(name)
    }

    #[tool(task(always))]
    async fn sample(&self, cx: &Context) -> Result<String, AskError> {
        let hello = json!({"role": "user", "content": {"type": "text", "text": "The capital?"}});
        let params = json!({"maxTokens": 10, "messages": [hello]});
        let params: CreateMessageRequestParams = serde_json::from_value(params).unwrap();
        let answer = cx.sample(params).await?;
        match answer.content.iter().next() {
            Some(SamplingMessageContentBlock::Text(text)) => Ok(text.text.clone()),
            _ => Ok("no text".to_owned()),
        }
    }

    #[tool(task(always))]
    async fn sample_with_tools(&self, cx: &Context) -> Result<String, AskError> {
        let hello = json!({"role": "user", "content": {"type": "text", "text": "The capital?"}});
        let tool = json!({"name": "atlas", "inputSchema": {"type": "object"}});
        let params = json!({"maxTokens": 10, "messages": [hello], "tools": [tool]});
        cx.sample(serde_json::from_value(params).unwrap()).await?;
        Ok("sampled".to_owned())
    }

    #[tool(task(always))]
    async fn roots(&self, cx: &Context) -> Result<String, AskError> {
        let roots = cx.roots().await?;
        Ok(roots.into_iter().map(|root| root.uri).collect())
    }

    #[tool(task(always))]
    async fn page(&self, cx: &Context) -> Result<String, AskError> {
        cx.elicit_url("Pay", "https://example.com/").await?;
        Ok("opened".to_owned())
    }

    /// Safe to repeat.
    #[tool(read_only, task(always))]
    async fn pay(&self, cx: &Context) -> Result<String, AskError> {
        cx.elicit_url("Pay", "https://example.com/").await?;
        cx.confirm("Keep it?").await?;
        Ok("paid".to_owned())
    }
}

pub(crate) fn server() -> Server {
    with(Tasks::new())
}

pub(crate) fn with(tasks: Tasks) -> Server {
    builder(tasks).build().unwrap()
}

pub(crate) fn builder(tasks: Tasks) -> ServerBuilder {
    let tasks = tasks.limits(limits());
    let builder = Server::builder("asking", "1.0.0").extension(tasks);
    builder.mount(Asking)
}

pub(crate) async fn able(server: &Server) -> Peer {
    let capabilities = json!({
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {},
    });
    Peer::older_with(server, &capabilities).await
}

pub(crate) async fn create(peer: &mut Peer, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {}, "task": {}});
    peer.result("tools/call", params).await["task"]["taskId"].clone()
}

pub(crate) async fn poll(peer: &mut Peer, task: &Value) -> Value {
    peer.result("tasks/get", json!({"taskId": task})).await
}

/// Polls until the task has the status.
pub(crate) async fn until(peer: &mut Peer, task: &Value, status: &str) -> Value {
    for _ in 0..100 {
        let state = poll(peer, task).await;
        if state["status"] == status {
            return state;
        }
        tokio::time::sleep(limits().poll_interval).await;
    }
    panic!("the task never became {status}");
}

/// Polls until the client is asked.
pub(crate) async fn asked(peer: &mut Peer, task: &Value) -> Value {
    for _ in 0..100 {
        poll(peer, task).await;
        if let Some(request) = peer.messages.pop_front() {
            return request;
        }
        tokio::time::sleep(limits().poll_interval).await;
    }
    panic!("the client is not asked");
}

/// Polls some times. The client must not be asked.
pub(crate) async fn is_not_asked(peer: &mut Peer, task: &Value) {
    for _ in 0..5 {
        let state = poll(peer, task).await;
        assert_eq!(state["status"], "input_required", "LTASK-S-04");
        tokio::time::sleep(limits().poll_interval).await;
    }
    assert!(peer.messages.is_empty(), "{:?}", peer.messages);
}

pub(crate) fn named(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

pub(crate) async fn text(peer: &mut Peer, task: &Value) -> String {
    let result = peer.result("tasks/result", json!({"taskId": task})).await;
    assert_eq!(result["_meta"][RELATED]["taskId"], *task, "LTASK-B-07");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
