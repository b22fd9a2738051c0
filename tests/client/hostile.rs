//! Limits of the time and the memory that a server can make a client spend.

use std::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use treenail::RpcError;
use treenail::agent::ModelError;
use treenail::client::{
    ClientError, ClientLimits, ContractError, IncomingHandler, Session, SessionFuture,
    SessionNotification, SessionRequest, TransportKind,
};
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult};

use crate::script::{Reply, answer, discovered, initialized, scripted_with_limits};

/// Creates a session with a modern server whose messages are not limited.
async fn modern(
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> Result<McpClient, ClientError> {
    let limits = ClientLimits::default();
    let (session, _) =
        scripted_with_limits(&limits, move |message| match message["method"].as_str() {
            Some("server/discover") => discovered(message),
            _ => reply(message),
        });
    McpClient::builder().session(session).build().await
}

#[tokio::test]
async fn a_dense_message_is_rejected_before_parsing() {
    // Each of its numbers takes 2 bytes as text and about 80 bytes in memory.
    let numbers = format!("[{}0]", "0,".repeat(2_500_000));
    let client = modern(move |message| {
        let result = format!(r#"{{"content":[],"structuredContent":{numbers}}}"#);
        let id = &message["id"];
        Reply::Lines(vec![format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        )])
    });
    let client = client.await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(error.to_string().contains("memory"), "{error}");
}

#[tokio::test]
async fn an_error_with_dense_data_is_rejected() {
    let numbers = format!("[{}0]", "0,".repeat(2_500_000));
    let client = modern(move |message| {
        let id = &message["id"];
        let error = format!(r#"{{"code":-1,"message":"no","data":{numbers}}}"#);
        Reply::Lines(vec![format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#
        )])
    });
    let client = client.await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
}

#[tokio::test]
async fn messages_are_limited_to_8_mib_and_handshakes_to_1_mib() {
    let client = modern(|message| {
        let text = "x".repeat(8 << 20);
        let content = json!([{"type": "text", "text": text}]);
        Reply::result(message, &json!({"content": content}))
    });
    let client = client.await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err().to_string();
    assert!(error.contains("8388608 bytes"), "{error}");
    for is_modern in [true, false] {
        let limits = ClientLimits::default();
        let (session, _) = scripted_with_limits(&limits, move |message| {
            let mut result = json!({
                "supportedVersions": ["2026-07-28"], "protocolVersion": "2025-11-25",
                "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
            });
            result["instructions"] = json!("x".repeat(1 << 20));
            match message["method"].as_str() {
                Some("server/discover") if is_modern => Reply::result(message, &result),
                Some("initialize") if !is_modern => Reply::result(message, &result),
                _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
            }
        });
        let built = McpClient::builder().session(session).build().await;
        let error = built.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
        assert!(error.to_string().contains("1048576"), "{error}");
    }
}

#[tokio::test]
async fn the_requests_of_an_input_round_are_limited() {
    let questions: serde_json::Map<_, _> = (0..10_000)
        .map(|number| {
            let params = json!({"message": "?", "mode": "url", "url": "https://a.example/",
                "elicitationId": "e"});
            let question = json!({"method": "elicitation/create", "params": params});
            (format!("q{number}"), question)
        })
        .collect();
    let (session, _) =
        scripted_with_limits(
            &ClientLimits::default(),
            move |message| match message["method"].as_str() {
                Some("server/discover") => discovered(message),
                _ => Reply::result(
                    message,
                    &json!({"resultType": "input_required", "inputRequests": questions}),
                ),
            },
        );
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let builder = McpClient::builder().session(session).on_elicit(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok(ElicitResult::new(ElicitAction::Decline)) }
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(error.to_string().contains("questions"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 0, "none is asked");
}

/// A handler that panics.
fn panicking() -> Ready<Result<ElicitResult, RpcError>> {
    let answers = Vec::<ElicitResult>::new();
    ready(Ok(answers[answers.len()].clone()))
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_returns_an_error_and_frees_its_slot() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&answers);
    let mut call = Value::Null;
    let (session, _) = scripted_with_limits(&ClientLimits::default(), move |message| {
        let method = message["method"].as_str();
        match method {
            Some("initialize") => initialized(message, "2025-11-25"),
            Some("tools/call") => {
                call = message.clone();
                let id = format!("q{}", message["id"]);
                let params = json!({"message": "?", "requestedSchema":
                    {"type": "object", "properties": {}}});
                Reply::Lines(vec![
                    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
                        .to_string(),
                ])
            }
            None => {
                received
                    .lock()
                    .unwrap()
                    .push(message["error"]["code"].clone());
                Reply::result(&call, &json!({"content": []}))
            }
            Some("notifications/initialized" | "notifications/cancelled") => Reply::nothing(),
            Some(_) => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        }
    });
    let client = McpClient::builder()
        .session(session)
        .on_elicit(|_| panicking())
        .build()
        .await
        .unwrap();
    // More requests than slots.
    for _ in 0..40 {
        client.call_tool("t", ()).await.unwrap();
    }
    assert_eq!(*answers.lock().unwrap(), vec![json!(-32603); 40]);
}

#[tokio::test]
async fn a_panicking_handler_in_a_round_fails_only_its_request() {
    let limits = ClientLimits::default();
    let (session, _) = scripted_with_limits(&limits, |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/call") => {
            let params = json!({"message": "?", "requestedSchema":
                {"type": "object", "properties": {}}});
            let question = json!({"method": "elicitation/create", "params": params});
            let asked = json!({"resultType": "input_required", "inputRequests": {"q": question}});
            Reply::result(message, &asked)
        }
        _ => Reply::result(message, &json!({"resultType": "complete", "tools": []})),
    });
    let client = McpClient::builder()
        .session(session)
        .on_elicit(|_| panicking())
        .build()
        .await
        .unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unanswered(_)), "{error}");
    client.tools().await.unwrap();
}

#[tokio::test]
async fn the_pages_of_a_list_share_a_byte_limit() {
    let pages = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&pages);
    let client = modern(move |message| {
        let page = counter.fetch_add(1, Ordering::Relaxed);
        let tool = json!({"name": format!("t{page}"), "inputSchema": {"type": "object"},
            "description": "x".repeat(4 << 20)});
        let mut result = json!({"resultType": "complete", "tools": [tool]});
        if page < 30 {
            result["nextCursor"] = json!("more");
        }
        Reply::result(message, &result)
    });
    let client = client.await.unwrap();
    let error = client.tools().await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(error.to_string().contains("bytes"), "{error}");
    let pages = pages.load(Ordering::Relaxed);
    assert!(pages <= 17, "{pages} pages of 4 MiB were fetched");
}

#[tokio::test]
async fn all_lists_share_a_byte_limit() {
    let client = modern(move |message| {
        let text = "x".repeat(2 << 20);
        let method = message["method"].as_str().unwrap_or_default();
        let page = message["params"]["cursor"].as_str().map_or(0, str::len);
        let items: Vec<_> = (0..2)
            .map(|item| {
                let name = format!("{page}-{item}");
                json!({"name": name, "description": text, "uri": format!("a:{name}"),
                    "uriTemplate": "a:{b}", "inputSchema": {"type": "object"}})
            })
            .collect();
        let kind = match method {
            "tools/list" => "tools",
            "prompts/list" => "prompts",
            "resources/list" => "resources",
            _ => "resourceTemplates",
        };
        let mut result = json!({"resultType": "complete"});
        result[kind] = json!(items);
        if page < 5 {
            result["nextCursor"] = json!("x".repeat(page + 1));
        }
        Reply::result(message, &result)
    });
    let client = client.await.unwrap();
    // Each list takes 24 MiB.
    client.tools().await.unwrap();
    client.prompts().await.unwrap();
    let error = client.resources().await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    client.refresh_tools().await.unwrap();
    client.tools().await.unwrap();
}

/// Session with a server that takes 50 seconds for each page.
#[derive(Debug)]
struct Slow;

impl Session for Slow {
    fn listen(&self, _: Arc<dyn IncomingHandler>) {}

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            if request.method == "server/discover" {
                let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}}});
                return Ok(result.to_string());
            }
            sleep(Duration::from_secs(50)).await;
            let params: Value = serde_json::from_str(&request.params).unwrap();
            let page = params["cursor"].as_str().map_or(0, str::len);
            let mut result = json!({"resultType": "complete", "tools": []});
            if page < 20 {
                result["nextCursor"] = json!("x".repeat(page + 1));
            }
            Ok(result.to_string())
        })
    }

    fn notify(&self, _: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Stream
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test(start_paused = true)]
async fn slow_pages_share_one_deadline() {
    let client = McpClient::builder().session(Arc::new(Slow)).build();
    let client = client.await.unwrap();
    let start = Instant::now();
    let error = client.tools().await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
    assert!(start.elapsed() < Duration::from_secs(61), "{start:?}");
}

/// Malformed responses with a readable id.
fn malformed_responses() -> Vec<String> {
    let deep = format!("{}0{}", "[".repeat(200), "]".repeat(200));
    vec![
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{"a":NaN}}"#.to_owned(),
        r#"{"result":{"a":Infinity},"jsonrpc":"2.0","id":ID}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":{deep}}}}}"#),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_malformed_response_fails_its_request_at_once() {
    for line in malformed_responses() {
        let response = line.clone();
        let client = modern(move |message| {
            Reply::Lines(vec![response.replace("ID", &message["id"].to_string())])
        });
        let client = client.await.unwrap();
        let error = client.call_tool("t", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{line}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_response_fails_its_request_at_once_over_jsoncall() {
    for line in malformed_responses() {
        let response = line.clone();
        let (session, _) = crate::script::scripted_over_jsoncall(move |message| {
            if message["method"] == "server/discover" {
                return discovered(message);
            }
            Reply::Lines(vec![response.replace("ID", &message["id"].to_string())])
        });
        let client = McpClient::builder().session(session).build().await.unwrap();
        let error = client.call_tool("t", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{line}: {error}");
    }
}

#[tokio::test]
async fn a_malformed_server_request_fails_no_client_request() {
    let client = modern(|message| {
        let id = message["id"].to_string();
        let malformed_responses =
            r#"{"jsonrpc":"2.0","id":ID,"method":"roots/list","params":{"a":}}"#;
        Reply::Lines(vec![
            malformed_responses.replace("ID", &id),
            answer(message, &json!({"content": []})),
        ])
    });
    client.await.unwrap().call_tool("t", ()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn connection_errors_quote_the_garbage_of_a_server() {
    let quoted = "the server wrote a line that is no message: `Listening on \\u{1b}[1mport 80";
    for leaves in [false, true] {
        let reply = move |_: &Value| {
            let line = format!("Listening on \u{1b}[1mport 80 {}", "x".repeat(5_000));
            if leaves {
                return Reply::Exit(line + "\n");
            }
            Reply::Lines(vec![line])
        };
        let limits = ClientLimits::default();
        let (session, _) = scripted_with_limits(&limits, reply);
        let built = McpClient::builder().session(session).build().await;
        let error = built.unwrap_err().to_string();
        assert!(error.contains(quoted), "{error}");
        assert!(error.len() < 1_000, "{error}");

        let (session, _) = crate::script::scripted_over_jsoncall(move |message: &Value| {
            if leaves {
                return Reply::Exit("Listening on \u{1b}[1mport 80\n".to_owned());
            }
            let _ = message;
            Reply::Lines(vec!["Listening on \u{1b}[1mport 80".to_owned()])
        });
        let built = McpClient::builder().session(session).build().await;
        let error = built.unwrap_err().to_string();
        assert!(error.contains(quoted), "over jsoncall: {error}");
    }
}

/// Returns an error as `main` of a program does.
fn read_lock(text: &str) -> treenail::Result<treenail::client::Contract> {
    Ok(treenail::client::Contract::from_json(text)?)
}

fn ask_model(fails: bool) -> treenail::Result<()> {
    if fails {
        Err(ModelError::unavailable("it is asleep"))?;
    }
    Ok(())
}

#[test]
fn contract_and_model_errors_convert_to_the_crate_error() {
    let error = read_lock("{}").unwrap_err();
    assert!(matches!(&error, treenail::Error::Other(error) if error.is::<ContractError>()));
    let error = ask_model(true).unwrap_err();
    assert!(matches!(&error, treenail::Error::Other(error) if error.is::<ModelError>()));
    ask_model(false).unwrap();
}
