//! Responses, errors and changes of layers, for every kind of request.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tower::ServiceExt;
use treenail::RpcError;
use treenail::layer::{Request, RequestService};
use treenail::schema::{
    AudioContent, CompleteResult, Completion, ContentBlock, GetPromptResult, ListPromptsResult,
    ListToolsResult, PromptMessage, ReadResourceResult, Revision, TextResourceContents,
};

use super::super::reception::Tenant;
use super::server;
use crate::support::hotel::agree;
use crate::support::peer::{MODERN, Peer, error, text};

#[tokio::test]
async fn a_layer_responds_to_every_kind() {
    let server = server(async |request: Request, inner: RequestService| {
        Ok(match request.method().as_str() {
            "prompts/get" => GetPromptResult::new([PromptMessage::user(ContentBlock::from(
                AudioContent::new("UklGRg==", "audio/wav"),
            ))])
            .into(),
            "resources/read" => {
                let contents = TextResourceContents::new("desk://other", "made");
                ReadResourceResult::new([contents.into()]).into()
            }
            "completion/complete" => {
                CompleteResult::new(Completion::new(["one".to_owned()])).into()
            }
            "prompts/list" => ListPromptsResult::new([]).into(),
            "tools/list" => {
                let response = inner.oneshot(request).await?;
                let mut list: ListToolsResult = response.result().expect("lists are complete");
                list.tools.retain(|tool| tool.name != "hidden");
                list.into()
            }
            _ => inner.oneshot(request).await?,
        })
    });
    for revision in Revision::ALL {
        // Each answer is validated against the schema of the revision.
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("prompts/get", json!({"name": "greet"})).await;
        let content = &answer["result"]["messages"][0]["content"];
        let kind = if revision < Revision::V2025_03_26 {
            "text"
        } else {
            "audio"
        };
        assert_eq!(content["type"], kind, "{revision}: {answer}");
        let answer = peer
            .request("resources/read", json!({"uri": "no:such"}))
            .await;
        assert_eq!(answer["result"]["contents"][0]["text"], "made");
        assert_eq!(
            answer["result"].get("ttlMs").is_some(),
            revision.is_modern()
        );
        assert_eq!(
            answer["result"].get("resultType").is_some(),
            revision.is_modern()
        );
        let reference = json!({"type": "ref/prompt", "name": "greet"});
        let params = json!({"ref": reference, "argument": {"name": "name", "value": ""}});
        let answer = peer.request("completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["one"]));
        let answer = peer.request("prompts/list", json!({})).await;
        assert_eq!(answer["result"]["prompts"], json!([]));
        let answer = peer.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 1, "{answer}");
        assert_eq!(tools[0]["name"], "echo");
    }
}

#[tokio::test]
async fn errors_and_panics_of_layers_become_json_rpc_errors() {
    let server =
        server(
            async |request: Request, inner: RequestService| match request.method().as_str() {
                "tools/list" => Err(RpcError::new(-31042, "slow down").into()),
                "prompts/get" => Err("not now".into()),
                "resources/read" => panic!("a secret"),
                _ => inner.oneshot(request).await,
            },
        );
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("tools/list", json!({})).await;
        assert_eq!(error(&answer), (-31042, "slow down".to_owned()));
        let answer = peer.request("prompts/get", json!({"name": "greet"})).await;
        assert_eq!(error(&answer), (-32603, "not now".to_owned()));
        let answer = peer.request("resources/read", json!({"uri": "a:b"})).await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32603);
        assert!(
            message.starts_with("the request `resources/read a:b` failed"),
            "{message}"
        );
        assert!(!message.contains("secret"));
        assert_eq!(text(&peer.call("echo", json!({"text": "on"})).await), "on");
    }
}

#[tokio::test]
async fn layers_change_arguments_and_attach_values() {
    let server = server(async |mut request: Request, inner: RequestService| {
        request.extensions_mut().insert(Tenant(7));
        if request.prompt().is_some() {
            let arguments = json!({"name": "Bob"});
            request.set_arguments(arguments.as_object().unwrap().clone());
        }
        inner.oneshot(request).await
    });
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let params = json!({"name": "greet", "arguments": {"name": "Ada"}});
        let answer = peer.request("prompts/get", params).await;
        assert_eq!(
            answer["result"]["messages"][0]["content"]["text"],
            "Hello Bob"
        );
        let answer = peer
            .request("resources/read", json!({"uri": "desk://tenant"}))
            .await;
        assert_eq!(answer["result"]["contents"][0]["text"], "7");
    }
}

#[tokio::test]
async fn requests_for_input_pass_through_layers() {
    let incomplete: Arc<Mutex<usize>> = Arc::default();
    let count = Arc::clone(&incomplete);
    let server = server(move |request: Request, inner: RequestService| {
        let count = Arc::clone(&count);
        async move {
            let response = inner.oneshot(request).await?;
            if !response.is_complete() {
                assert_eq!(response.result::<GetPromptResult>(), None);
                *count.lock().unwrap() += 1;
            }
            Ok(response)
        }
    });
    for revision in [Revision::V2025_11_25, MODERN] {
        let capabilities = json!({"elicitation": {}});
        let mut peer = Peer::connect_as(&server, revision, capabilities).await;
        let (answer, questions) = peer
            .converse("prompts/get", json!({"name": "ask"}), agree)
            .await;
        assert_eq!(
            answer["result"]["messages"][0]["content"]["text"], "agreed",
            "{answer}"
        );
        assert_eq!(questions.len(), 1);
    }
    assert_eq!(
        *incomplete.lock().unwrap(),
        1,
        "the round of the modern era"
    );
}
