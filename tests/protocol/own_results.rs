//! Results and errors that functions and layers build themselves, in the format of each revision.

use serde_json::{Value, json};
use tower::ServiceExt;
use tower::layer::layer_fn;
use treenail::RpcError;
use treenail::layer::{Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, Revision, error_code};

use crate::support::covering::covering;
use crate::support::peer::{Peer, error, text};

/// A result without content blocks.
fn bare(value: Value) -> CallToolResult {
    CallToolResult::new([]).with_structured_content(value)
}

struct Own;

#[mcp_tool]
impl Own {
    #[tool]
    fn list() -> CallToolResult {
        bare(json!([1, 2]))
    }

    #[tool]
    fn object() -> CallToolResult {
        bare(json!({"a": 1}))
    }

    #[tool]
    fn of_layer() {}

    #[resource("own://missing")]
    fn missing() -> Result<String, RpcError> {
        Err(RpcError::new(error_code::RESOURCE_NOT_FOUND, "gone"))
    }

    #[resource("own://url")]
    async fn url() -> Result<String, RpcError> {
        tokio::task::yield_now().await;
        let code = error_code::URL_ELICITATION_REQUIRED;
        Err(RpcError::new(code, "sign in").with_data(json!({"elicitations": []})))
    }

    #[resource("own://argument")]
    fn argument() -> Result<String, RpcError> {
        Err(RpcError::invalid_params("no such page"))
    }
}

fn server() -> Server {
    treenail::server!().mount(Own).build().unwrap()
}

fn layered() -> Server {
    let layer = layer_fn(|inner: RequestService| {
        tower::service_fn(move |request: Request| {
            let inner = inner.clone();
            async move {
                if request.name() == Some("of_layer") {
                    return Ok(Response::from(bare(json!([3]))));
                }
                inner.oneshot(request).await
            }
        })
    });
    treenail::server!().mount(Own).layer(layer).build().unwrap()
}

#[tokio::test]
async fn structured_content_alone_has_a_text_copy() {
    let of_layer = ("of_layer", json!([3]));
    let table = [("list", json!([1, 2])), ("object", json!({"a": 1}))];
    let tables = [
        (server(), table.to_vec()),
        (layered(), [&table[..], &[of_layer]].concat()),
    ];
    for revision in covering("SRV-TOOL-13, SRV-TOOL-14") {
        for (server, table) in &tables {
            let mut peer = Peer::connect(server, revision).await;
            for (name, value) in table {
                let result = peer.call(name, json!({})).await;
                let copy: Value = serde_json::from_str(text(&result)).unwrap();
                assert_eq!(copy, *value, "SRV-TOOL-14 {revision}");
                let is_structured = revision.is_modern()
                    || (revision >= Revision::V2025_06_18 && value.is_object());
                let structured = is_structured.then_some(value);
                assert_eq!(result.get("structuredContent"), structured, "{revision}");
            }
        }
    }
}

#[tokio::test]
async fn retired_codes_of_functions_become_current_ones() {
    for server in [server(), layered()] {
        for revision in Revision::ALL {
            let mut peer = Peer::silent(&server, revision);
            if !revision.is_modern() {
                peer.shake_hands().await;
            }
            for (uri, code, current) in [
                ("own://missing", -32002, -32602),
                ("own://url", -32042, -32603),
                ("own://argument", -32602, -32602),
            ] {
                peer.begin("resources/read", json!({ "uri": uri })).await;
                let answer = peer.receive_any().await.unwrap();
                let expected = if revision.is_modern() { current } else { code };
                assert_eq!(error(&answer).0, expected, "ALL-ERR-07 {revision} {uri}");
            }
        }
    }
}
