//! Errors that a `treenail::Error` carries out of a function or a layer: they are answered as without it.

use serde_json::{Value, json};
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::layer::{BoxError, LogLayer, Request, RequestService};
use treenail::prelude::*;
use treenail::schema::{ContentBlock, Revision};
use treenail::scope::{Access, Authority, RequiredScopes};
use treenail::{Error, RpcError, ServerBuilder};

use crate::support::covering::covering;
use crate::support::log::Log;
use crate::support::peer::{MODERN, Peer, error, text};

fn refusal() -> RpcError {
    RpcError::invalid_params("no such note").with_data(json!({"id": 7}))
}

fn screenshot() -> ToolError {
    ToolError::with_content(vec![
        ContentBlock::text("the page does not load"),
        ContentBlock::image("AQID", "image/png"),
    ])
}

struct Notes;

#[mcp_tool]
impl Notes {
    #[tool]
    fn open() -> treenail::Result<String> {
        Err(screenshot())?
    }

    #[tool(stream)]
    fn follow() -> treenail::Result<tokio_stream::Iter<std::vec::IntoIter<String>>> {
        Err(screenshot())?
    }

    #[tool(stream)]
    fn scroll() -> tokio_stream::Iter<std::vec::IntoIter<treenail::Result<String>>> {
        tokio_stream::iter(vec![Err(screenshot().into())])
    }

    #[tool]
    fn refuse() -> treenail::Result<String> {
        Err(refusal())?
    }

    #[prompt]
    async fn ask() -> treenail::Result<String> {
        Err(refusal())?
    }

    #[resource("notes://refused")]
    fn note() -> treenail::Result<String> {
        Err(refusal())?
    }

    #[resource("notes://nested")]
    fn nested() -> treenail::Result<String> {
        Err(Error::Other(Box::new(Error::from(refusal()))))
    }

    #[resource("notes://admin")]
    fn admin(cx: &Context) -> Result<String, RpcError> {
        cx.require_scope("notes:admin")?;
        Ok("opened".to_owned())
    }

    #[resource("notes://audited")]
    fn audited(cx: &Context) -> treenail::Result<String> {
        cx.require_scope("notes:admin")?;
        Ok("opened".to_owned())
    }

    #[resource("notes://broken")]
    fn broken() -> treenail::Result<String> {
        Err(std::io::Error::other("the disk is full"))?
    }
}

fn builder() -> ServerBuilder {
    treenail::server!().mount(Notes)
}

fn server() -> Server {
    builder().build().unwrap()
}

/// Adds a layer that fails calls of `open` with a `treenail::Error`.
fn failing(server: ServerBuilder, error: fn() -> Error) -> Server {
    let layer = layer_fn(move |inner: RequestService| {
        service_fn(move |request: Request| {
            let inner = inner.clone();
            async move {
                if request.target() == "open" {
                    return Err(BoxError::from(error()));
                }
                inner.oneshot(request).await
            }
        })
    });
    server.layer(layer).build().unwrap()
}

fn kinds(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().unwrap();
    let kinds = blocks.iter().map(|block| block["type"].as_str().unwrap());
    kinds.collect()
}

#[tokio::test]
async fn an_rpc_error_keeps_its_code_and_data() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (method, params) in [
            ("resources/read", json!({"uri": "notes://refused"})),
            ("resources/read", json!({"uri": "notes://nested"})),
            ("prompts/get", json!({"name": "ask"})),
        ] {
            let answer = peer.request(method, params).await;
            let expected = (-32602, "no such note".to_owned());
            assert_eq!(error(&answer), expected, "{method} in {revision}");
            assert_eq!(answer["error"]["data"], json!({"id": 7}), "{method}");
        }
        let uri = json!({"uri": "notes://broken"});
        let (code, message) = peer.refused("resources/read", uri).await;
        assert_eq!(code, -32603);
        assert_eq!(message, "the disk is full");
    }
}

#[tokio::test]
async fn a_tool_error_keeps_its_content() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for tool in ["open", "follow", "scroll"] {
            let result = peer.call(tool, json!({})).await;
            assert_eq!(kinds(&result), ["text", "image"], "{tool}: {result}");
            assert_eq!(result["isError"], true, "{tool}");
        }
        assert_eq!(screenshot().content().len(), 2);
        let result = peer.call("refuse", json!({})).await;
        assert_eq!(text(&result), "no such note (code -32602)");
    }
}

#[tokio::test]
async fn the_error_of_a_layer_is_answered_as_without_it() {
    let refused = failing(builder(), || refusal().into());
    let shown = failing(builder(), || screenshot().into());
    for revision in Revision::ALL {
        let call = json!({"name": "open", "arguments": {}});
        let mut peer = Peer::connect(&refused, revision).await;
        let answer = peer.request("tools/call", call).await;
        assert_eq!(error(&answer), (-32602, "no such note".to_owned()));
        assert_eq!(answer["error"]["data"], json!({"id": 7}));
        let mut peer = Peer::connect(&shown, revision).await;
        let result = peer.call("open", json!({})).await;
        assert_eq!(kinds(&result), ["text", "image"], "{result}");
    }
}

#[tokio::test]
async fn the_log_has_the_code_of_the_error() {
    let server = failing(builder().layer(LogLayer::new()), || refusal().into());
    let mut peer = Peer::connect(&server, MODERN).await;
    Log::start();
    let call = json!({"name": "open", "arguments": {}});
    peer.request("tools/call", call).await;
    let lines = Log::take();
    assert!(
        lines[0].contains(r#"outcome="-32602""#),
        "the outcome is the code: {lines:?}"
    );
}

#[tokio::test]
async fn the_log_has_the_panic_of_a_layer() {
    let server = failing(builder().layer(LogLayer::new()), || {
        panic!("a broken layer")
    });
    let mut peer = Peer::connect(&server, MODERN).await;
    Log::start();
    let call = json!({"name": "open", "arguments": {}});
    peer.request("tools/call", call).await;
    let lines = Log::take();
    let failed = |line: &String| line.contains(r#"outcome="failed""#);
    assert!(lines.iter().any(failed), "{lines:?}");
}

/// Authority without scopes.
#[derive(Debug, Default)]
struct NoScopes(RequiredScopes);

impl Authority for NoScopes {
    fn has_scope(&self, _: &str) -> bool {
        false
    }

    fn base(&self) -> &RequiredScopes {
        &self.0
    }

    fn refusal(&self, scopes: &str) -> Value {
        json!({ "needs": scopes })
    }
}

#[tokio::test]
async fn a_missing_scope_is_refused_as_such() {
    for revision in covering("ALL-ERR-04, ALL-ERR-05, ALL-ERR-08") {
        let mut connection = server().connect();
        let access = Access::new(NoScopes::default());
        connection.extensions_mut().insert(access);
        let mut peer = Peer::over(connection, revision);
        if !revision.is_modern() {
            peer.shake_hands().await;
        }
        for uri in ["notes://admin", "notes://audited"] {
            let refused = peer.request("resources/read", json!({"uri": uri})).await;
            assert_eq!(error(&refused).0, 403, "ALL-ERR-08: {refused}");
            assert_eq!(refused["error"]["data"], json!({"needs": "notes:admin"}));
        }
    }
}
