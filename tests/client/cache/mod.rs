//! Cached lists and change notifications.

mod auto_refresh;
mod freshness;
mod lists;
mod missing_lists;

use serde_json::{Value, json};
use treenail::schema::Revision;

use crate::script::{Reply, discovered};

/// A modern server whose pages are the results of `page` for each cursor.
fn server_with_pages(
    mut page: impl FnMut(Option<&str>) -> Value + Send + 'static,
) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => {
            let mut result = page(message["params"]["cursor"].as_str());
            result["resultType"] = json!("complete");
            Reply::result(message, &result)
        }
        _ => Reply::nothing(),
    }
}

fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
    json!(names.iter().map(tool).collect::<Vec<_>>())
}

/// A server of either era with these capabilities, which responds with `answer` or -32601.
fn server_with_capabilities(
    revision: Revision,
    capabilities: Value,
    mut answer: impl FnMut(&str) -> Option<Value> + Send + 'static,
) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| {
        let method = message["method"].as_str().unwrap_or_default();
        let modern = revision.is_modern();
        let mut result = match method {
            "server/discover" if modern => {
                json!({"supportedVersions": [revision.as_str()], "capabilities": capabilities})
            }
            "initialize" if !modern => json!({
                "protocolVersion": revision.as_str(), "capabilities": capabilities,
                "serverInfo": {"name": "script", "version": "1"},
            }),
            _ if message["id"].is_null() => return Reply::nothing(),
            _ => match answer(method) {
                Some(result) => result,
                None => return Reply::error(message, &json!({"code": -32601, "message": "no"})),
            },
        };
        result["resultType"] = json!("complete");
        Reply::result(message, &result)
    }
}
