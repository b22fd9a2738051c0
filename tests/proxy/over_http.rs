//! Servers over HTTP: lost messages, outdated headers, and another server at the same address.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{sleep, timeout};
use treenail::RpcError;
use treenail::client::{
    ClientError, ClientLimits, IncomingHandler, McpClientBuilder, Session, SessionFuture,
    SessionNotification, SessionRequest, TransportKind,
};
use treenail::prelude::*;
use treenail::proxy::Remote;

use crate::script::{Line, scripted, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway, impatient};
use crate::subscription_faults::{REPORT, answer, next};

const PATIENCE: Duration = Duration::from_secs(60 * 60);
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Session that declares to be one over HTTP. Calls without headers are refused while `needs_headers` is set.
#[derive(Debug)]
struct OverHttp {
    session: Arc<dyn Session>,
    needs_headers: Arc<AtomicBool>,
}

impl Session for OverHttp {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.session.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        let needs_headers = self.needs_headers.load(Ordering::SeqCst);
        if request.method == "tools/call" && needs_headers && request.headers.is_empty() {
            let error = RpcError::new(HEADER_MISMATCH, "`Mcp-Param-City` is missing");
            return Box::pin(async { Err(ClientError::Refused(error)) });
        }
        self.session.request(request)
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.session.notify(notification)
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Http
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        self.session.close()
    }
}

fn over_http(builder: McpClientBuilder, needs_headers: &Arc<AtomicBool>) -> McpClientBuilder {
    let needs_headers = Arc::clone(needs_headers);
    builder.wrap_session(move |session| {
        let needs_headers = Arc::clone(&needs_headers);
        Arc::new(OverHttp {
            session,
            needs_headers,
        })
    })
}

fn acknowledge(listen: &Value, line: &Line) {
    line.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": {"io.modelcontextprotocol/subscriptionId": listen["id"]},
            "notifications": listen["params"]["notifications"],
        },
    }));
}

#[tokio::test(start_paused = true)]
async fn changes_between_two_subscriptions_are_not_lost() {
    for is_http in [true, false] {
        let (methods, mut received) = unbounded_channel();
        let remote = Remote::new("script", move || {
            let methods = methods.clone();
            let react = move |message: &Value, line: &Line| {
                let method = message["method"].as_str().unwrap();
                if matches!(method, "tools/list" | "subscriptions/listen") {
                    methods.send(method.to_owned()).unwrap();
                }
                match method {
                    "subscriptions/listen" => acknowledge(message, line),
                    _ => answer(message, line),
                }
                true
            };
            let builder = scripted(Box::new(react), &ClientLimits::default());
            let builder = builder.protocol_version(MODERN);
            if is_http {
                over_http(builder, &Arc::default())
            } else {
                builder
            }
        });
        let (gateway, proxy) = gateway();
        let mounted = proxy.limits(impatient()).mount(remote).unwrap();
        mounted.connected().await;
        // Changes before the first subscription are unknown too.
        for expected in ["tools/list", "subscriptions/listen", "tools/list"] {
            assert_eq!(next(&mut received).await.as_deref(), Some(expected));
        }
        let client = client_of(&gateway, LEGACY).build().await.unwrap();
        client.session().resources_subscribe(REPORT).await.unwrap();
        let listen = next(&mut received).await;
        assert_eq!(listen.as_deref(), Some("subscriptions/listen"));
        let list = next(&mut received).await;
        assert_eq!(list.as_deref(), is_http.then_some("tools/list"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_outdated_headers_is_sent_once_more() {
    // CLI-HDR-13
    let needs_headers = Arc::<AtomicBool>::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let (flag, count) = (Arc::clone(&needs_headers), Arc::clone(&calls));
    let remote = Remote::new("script", move || {
        let (needs_headers, calls) = (Arc::clone(&flag), Arc::clone(&count));
        let react = move |message: &Value, line: &Line| {
            let mut city = json!({"type": "string"});
            if needs_headers.load(Ordering::SeqCst) {
                city["x-mcp-header"] = "City".into();
            }
            let schema = json!({"type": "object", "properties": {"city": city}});
            match message["method"].as_str().unwrap() {
                "tools/list" => line.answer(
                    message,
                    &json!({
                        "tools": [{"name": "go", "inputSchema": schema}],
                        "resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "public",
                    }),
                ),
                "subscriptions/listen" => acknowledge(message, line),
                method => {
                    calls.fetch_add(usize::from(method == "tools/call"), Ordering::SeqCst);
                    answer(message, line);
                }
            }
            true
        };
        let builder = scripted(Box::new(react), &ClientLimits::default());
        over_http(builder.protocol_version(MODERN), &flag)
    });
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for _ in 0..2 {
        let arguments = json!({"city": "Oslo"});
        let result = client.call_tool("script.go", arguments).await.unwrap();
        assert_eq!(result.as_text(), Some("good"));
        needs_headers.store(true, Ordering::SeqCst);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

/// Server that is of the legacy era while the flag is set. Its subscriptions end with the era.
fn of_changing_era(is_legacy: &Arc<AtomicBool>) -> Remote {
    let is_legacy = Arc::clone(is_legacy);
    Remote::new("script", move || {
        let is_legacy = Arc::clone(&is_legacy);
        let react = move |message: &Value, line: &Line| {
            let legacy = is_legacy.load(Ordering::SeqCst);
            let meta = &message["params"]["_meta"];
            let is_modern = meta["io.modelcontextprotocol/protocolVersion"].is_string();
            let refuse = |error: &Value| {
                line.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
            };
            match message["method"].as_str().unwrap() {
                _ if message.get("id").is_none() => {}
                _ if legacy && is_modern => refuse(&json!({"code": -32000, "message": "Bad Request"})),
                _ if !legacy && !is_modern => refuse(&json!({
                    "code": UNSUPPORTED_VERSION, "message": "unsupported",
                    "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"},
                })),
                "subscriptions/listen" => {
                    acknowledge(message, line);
                    let (listen, line, is_legacy) = (message.clone(), line.clone(), Arc::clone(&is_legacy));
                    tokio::spawn(async move {
                        while !is_legacy.load(Ordering::SeqCst) {
                            sleep(Duration::from_millis(10)).await;
                        }
                        line.answer(&listen, &json!({"resultType": "complete"}));
                    });
                }
                "tools/call" => line.answer(message, &text(if legacy { "legacy" } else { "modern" })),
                "tools/list" => line.answer(message, &json!({
                    "tools": tools(&["era"]), "resultType": "complete", "ttlMs": 0, "cacheScope": "public",
                })),
                _ => answer(message, line),
            }
            true
        };
        let builder = scripted(Box::new(react), &ClientLimits::default());
        over_http(builder, &Arc::default())
    })
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_of_another_era_later_is_connected_again() {
    for starts_legacy in [true, false] {
        let is_legacy = Arc::new(AtomicBool::new(starts_legacy));
        let (gateway, proxy) = gateway();
        let remote = of_changing_era(&is_legacy);
        let mounted = proxy.limits(impatient()).mount(remote).unwrap();
        mounted.connected().await;
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        let eras = ["modern", "legacy"];
        for legacy in [starts_legacy, !starts_legacy] {
            is_legacy.store(legacy, Ordering::SeqCst);
            let expected = eras[usize::from(legacy)];
            let answered = async {
                loop {
                    let result = client.call_tool("script.era", ()).await;
                    if result.is_ok_and(|result| result.as_text() == Some(expected)) {
                        return;
                    }
                    // Its tools stay listed.
                    client.refresh_tools().await.unwrap();
                    assert!(client.tool("script.era").await.unwrap().is_some());
                    sleep(Duration::from_millis(10)).await;
                }
            };
            let answered = timeout(PATIENCE, answered).await;
            assert!(answered.is_ok(), "{expected}: {}", mounted.status());
        }
    }
}
