//! Clients: the facts that each request declares.

use treenail::http::http_service;
use treenail::prelude::*;

use super::add;
use super::fixture::service;
use crate::client::{MODERN, Post};

#[tokio::test]
async fn requests_must_identify_their_client() {
    let service = service();
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let without = |key: &'static str| {
        add().change(|body| {
            body["params"]["_meta"].as_object_mut().unwrap().remove(key);
        })
    };
    let cases = [
        without(version),
        without(capabilities),
        add().change(|body| {
            body["params"].as_object_mut().unwrap().remove("_meta");
        }),
        add().change(|body| body["params"]["_meta"] = json!(3)),
        add().change(|body| body["params"]["_meta"][capabilities] = json!([])),
        add().change(|body| body["params"]["_meta"][version] = json!(3)),
    ];
    for post in cases {
        post.expect_rejected(&service, 400, -32602, "SRV-HTTP-23, SRV-META-02")
            .await;
    }
    let unequal = without(capabilities).with("mcp-method", "tools/list");
    unequal
        .expect_rejected(&service, 400, -32602, "annex C: `_meta` precedes equality")
        .await;
    let absent = without(capabilities).without("mcp-method");
    absent
        .expect_rejected(&service, 400, -32020, "annex C: presence precedes `_meta`")
        .await;
}

#[tokio::test]
async fn unknown_revisions_are_rejected() {
    let service = service();
    for version in ["2027-01-01", "1999-01-01", "2025-11-25", "x"] {
        let post = add()
            .change(|body| {
                body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
            })
            .with("mcp-protocol-version", version);
        let response = post.send(&service).await;
        assert_eq!(response.status, 400, "SRV-HTTP-21");
        let error = &response.json()["error"];
        assert_eq!(error["code"], -32022, "SRV-VER-01: {error}");
        assert_eq!(error["data"]["requested"], version, "SRV-ERR-02");
        assert_eq!(error["data"]["supported"][0], MODERN, "SRV-ERR-02");
    }
}

#[tokio::test]
async fn a_missing_capability_is_reported_before_any_message() {
    let service = service();
    let response = Post::tool("ask", json!({})).send(&service).await;
    assert_eq!(
        response.status, 400,
        "SRV-HTTP-24, SRV-META-04: {response:?}"
    );
    assert_eq!(response.json()["error"]["code"], -32021, "SRV-HTTP-24");
    let able = json!({"elicitation": {}});
    let params = json!({"name": "ask", "arguments": {}});
    let response = Post::modern_as("tools/call", params, &able)
        .send(&service)
        .await;
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(
        response.json()["result"]["resultType"],
        "input_required",
        "SRV-HTTP-13: a JSON response"
    );
}

/// Reports progress, then asks the client. Waits `before` that, `between` both, or not at all.
#[mcp_tool]
async fn hesitate(cx: &Context, before: bool, between: bool) -> Result<String, AskError> {
    if before {
        tokio::task::yield_now().await;
    }
    cx.progress(1).await;
    if between {
        tokio::task::yield_now().await;
    }
    cx.confirm("Sure?").await?;
    Ok("sure".to_owned())
}

#[tokio::test]
async fn progress_that_was_not_sent_does_not_hide_a_missing_capability() {
    let server = treenail::server!().tools(tools![hesitate]).build().unwrap();
    let service = http_service(server);
    let call = |before: bool, between: bool, has_token: bool| {
        let arguments = json!({"before": before, "between": between});
        Post::tool("hesitate", arguments).change(|body| {
            if has_token {
                body["params"]["_meta"]["progressToken"] = 7.into();
            }
        })
    };
    for before in [false, true] {
        for has_token in [false, true] {
            call(before, false, has_token)
                .expect_rejected(&service, 400, -32021, "SRV-HTTP-24, SRV-META-04")
                .await;
        }
    }
    let response = call(false, true, true).send(&service).await;
    assert_eq!(response.status, 200, "the head precedes the progress");
    let sent = response.events();
    assert_eq!(sent[0]["method"], "notifications/progress", "{response:?}");
    assert_eq!(sent[1]["error"]["code"], -32021, "{response:?}");
}

#[tokio::test]
async fn capabilities_of_one_client_do_not_apply_to_another() {
    let service = service();
    let params = json!({"name": "ask", "arguments": {}});
    let (able, unable) = (json!({"elicitation": {}}), json!({}));
    // Twice the same client, then the other one: a cached peer is reused only for identical `_meta`.
    for capabilities in [&able, &able, &unable, &unable, &able, &unable] {
        let post = Post::modern_as("tools/call", params.clone(), capabilities);
        let response = post.send(&service.clone()).await;
        let status = if capabilities == &able { 200 } else { 400 };
        assert_eq!(response.status, status, "SRV-META-03: {response:?}");
    }
}
