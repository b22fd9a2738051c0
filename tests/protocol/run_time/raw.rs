//! Raw handlers: the JSON text of arguments in, the JSON text of a result out.

use serde_json::{Value, json};
use treenail::dynamic::{RawResult, Tool};
use treenail::limits::Limits;
use treenail::schema::Revision;
use treenail::{RpcError, Server};

use crate::support::peer::Peer;

/// Builds a server with a tool that returns its argument `result`.
fn echo(limits: Limits) -> Server {
    let descriptor = json!({
        "name": "echo",
        "inputSchema": {"type": "object", "properties": {"result": {"type": "string"}}},
        "outputSchema": {"type": "array"},
    });
    let descriptor: treenail::schema::Tool = serde_json::from_value(descriptor).unwrap();
    let echo = Tool::from(descriptor).raw(|_, arguments| async move {
        match arguments.get("result") {
            Some(result) => Ok(RawResult::from(result)),
            None => Err(RpcError::invalid_params("no `result`")),
        }
    });
    let server = treenail::server!().limits(limits);
    server
        .namespace("remote", |it| it.add(echo))
        .build()
        .unwrap()
}

async fn call(peer: &mut Peer, result: &str) -> Value {
    let arguments = json!({"result": result});
    let params = json!({"name": "remote.echo", "arguments": arguments});
    peer.request("tools/call", params).await
}

#[tokio::test]
async fn raw_results_are_adapted_to_the_revision() {
    let result = "{\n\"structuredContent\":[1.50],\"content\":[{\"type\":\"resource_link\",\"uri\":\"a://b\",\"name\":\"b\"}],\
                  \"resultType\":\"complete\",\"x\":{\"y\":1}}";
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&echo(Limits::default()), revision).await;
        let result = call(&mut peer, result).await["result"].take();
        let content = &result["content"][0]["type"];
        let structured = &result["structuredContent"];
        let (kind, expected) = match revision.as_str() {
            "2026-07-28" => ("resource_link", json!([1.5])),
            "2025-06-18" | "2025-11-25" => ("resource_link", json!({"result": [1.5]})),
            _ => ("text", Value::Null),
        };
        assert_eq!(content, kind, "{revision}");
        assert_eq!(*structured, expected, "{revision}");
        assert_eq!(result["x"], json!({"y": 1}));
        assert_eq!(result["resultType"] == "complete", revision.is_modern());
    }
}

#[tokio::test]
async fn a_block_that_cannot_be_read_keeps_no_other_from_being_adapted() {
    // These revisions do not define the member, so that it may have any value.
    let odd = json!({"type": "text", "text": "a", "_meta": 5});
    let audio = json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"});
    let result = json!({"content": [odd, audio]}).to_string();
    for (revision, kind) in [
        (Revision::V2024_11_05, "text"),
        (Revision::V2025_03_26, "audio"),
    ] {
        let mut peer = Peer::connect(&echo(Limits::default()), revision).await;
        let result = call(&mut peer, &result).await["result"].take();
        let content = &result["content"];
        assert_eq!(content[0], odd, "{revision}");
        assert_eq!(content[1]["type"], kind, "{revision}");
    }
}

#[tokio::test]
async fn structured_content_that_a_peer_cannot_read_becomes_text() {
    let text = json!([{"type": "text", "text": "[1.5]"}]);
    for (result, content) in [
        (r#"{"structuredContent":[1.5],"content":[ ]}"#, json!([])),
        (r#"{"content":[],"structuredContent":[1.5]}"#, json!([])),
        (r#"{"structuredContent":[1.5]}"#, text.clone()),
    ] {
        for revision in Revision::ALL {
            let mut peer = Peer::connect(&echo(Limits::default()), revision).await;
            let result = call(&mut peer, result).await["result"].take();
            let expected = match result.get("structuredContent") {
                Some(_) => &content,
                None => &text,
            };
            assert_eq!(result["content"], *expected, "{revision}");
        }
    }
}

#[tokio::test]
async fn invalid_raw_results_become_failures_for_the_model() {
    let limits = Limits::default().raw_result_bytes(1_000);
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&echo(limits.clone()), revision).await;
        for (result, reason) in [
            ("", "not valid"),
            ("[]", "not valid"),
            ("{\"content\":[]", "not valid"),
            ("{\"content\":[]} {}", "not valid"),
            ("{\"resultType\":\"input_required\"}", "`resultType`"),
            (
                &format!("{{\"a\":\"{}\"}}", "x".repeat(1_000)),
                "larger than 1000 bytes",
            ),
        ] {
            let answer = call(&mut peer, result).await;
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(reason), "{result}: {text}");
            assert_eq!(answer["result"]["isError"], true);
        }
    }
}

#[tokio::test]
async fn errors_of_raw_handlers_become_json_rpc_errors() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&echo(Limits::default()), revision).await;
        let params = json!({"name": "remote.echo", "arguments": {"other": 1}});
        let (code, message) = peer.refused("tools/call", params).await;
        assert_eq!((code, &*message), (-32602, "no `result`"));
    }
}
