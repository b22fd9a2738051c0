//! Subscriptions to resources that their server does not have yet: the proxy subscribes again when the resources change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use treenail::client::{ClientLimits, ServerNotification};
use treenail::prelude::*;
use treenail::proxy::Remote;
use treenail::schema::Revision;

use crate::questions::settle;
use crate::script::{Line, scripted};
use crate::station::{LEGACY, MODERN, client_of, gateway};
use crate::subscription_faults::{PATIENCE, REPORT, next};

/// Server that gets the resource [`REPORT`] late, with a template that it matches.
struct Server {
    has_report: AtomicBool,
    /// The connection, and the `_meta` of the latest subscription.
    open: Mutex<Option<(Line, Value)>>,
    /// Receives the method of each subscription to the resource.
    attempts: UnboundedSender<String>,
}

impl Server {
    fn has_report(&self) -> bool {
        self.has_report.load(Ordering::SeqCst)
    }

    fn react(&self, message: &Value, line: &Line) {
        let method = message["method"].as_str().unwrap_or_default();
        if message["params"].to_string().contains(REPORT) {
            self.attempts.send(method.to_owned()).unwrap();
        }
        match method {
            "initialize" | "server/discover" => self.open(line, json!({})),
            "subscriptions/listen" => return self.listen(message, line),
            "resources/subscribe" if !self.has_report() => {
                let error = json!({"code": -32002, "message": "no such resource"});
                return line.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
            }
            "resources/subscribe" => return line.answer(message, &json!({})),
            _ => {}
        }
        if message.get("id").is_some() {
            line.answer(message, &self.result());
        }
    }

    /// Acknowledges a subscription, without the resource before the server has it.
    fn listen(&self, message: &Value, line: &Line) {
        let mut filter = message["params"]["notifications"].clone();
        if !self.has_report() {
            filter
                .as_object_mut()
                .unwrap()
                .remove("resourceSubscriptions");
        }
        let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
        line.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": meta, "notifications": filter},
        }));
        self.open(line, meta);
    }

    fn open(&self, line: &Line, meta: Value) {
        *self.open.lock().unwrap() = Some((line.clone(), meta));
    }

    fn result(&self) -> Value {
        let mut resources = vec![json!({"name": "other", "uri": "data://other"})];
        if self.has_report() {
            resources.push(json!({"name": "report", "uri": REPORT}));
        }
        json!({
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "script", "version": "1"},
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"resources": {"subscribe": true, "listChanged": true}},
            "resultType": "complete", "ttlMs": 86_400_000, "cacheScope": "public",
            "resources": resources,
            "resourceTemplates": [{"name": "data", "uriTemplate": "data://{name}"}],
        })
    }

    fn announce_change(&self) {
        let open = self.open.lock().unwrap();
        let (line, meta) = open.as_ref().unwrap();
        let method = "notifications/resources/list_changed";
        line.send(&json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}}));
    }
}

fn remote(server: &Arc<Server>, revision: Revision) -> Remote {
    let server = Arc::clone(server);
    Remote::new("script", move || {
        let server = Arc::clone(&server);
        let react = move |message: &Value, line: &Line| {
            server.react(message, line);
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(revision)
    })
}

fn is_update(notification: &ServerNotification) -> bool {
    notification.method == "notifications/resources/updated" && notification.params.contains(REPORT)
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_subscribed_to_once_its_server_has_it() {
    for revision in [LEGACY, MODERN] {
        let (attempts, mut received) = unbounded_channel();
        let server = Arc::new(Server {
            has_report: AtomicBool::new(false),
            open: Mutex::default(),
            attempts,
        });
        let (gateway, proxy) = gateway();
        let mounted = proxy.mount(remote(&server, revision)).unwrap();
        mounted.connected().await;
        settle().await;
        let client = client_of(&gateway, LEGACY).build().await.unwrap();
        let session = client.session();
        let mut notifications = session.notifications();
        session.resources_subscribe(REPORT).await.unwrap();
        assert!(next(&mut received).await.is_some(), "{revision}");
        server.announce_change();
        let again = next(&mut received).await;
        assert_eq!(again, None, "{revision}: the resources are the same");

        server.has_report.store(true, Ordering::SeqCst);
        server.announce_change();
        assert!(next(&mut received).await.is_some(), "{revision}");
        // Updates before the subscription are unknown.
        let updated = async {
            while let Some(notification) = notifications.next().await {
                if is_update(&notification) {
                    return true;
                }
            }
            false
        };
        assert_eq!(timeout(PATIENCE, updated).await, Ok(true), "{revision}");
        assert_eq!(next(&mut received).await, None, "{revision}");
    }
}
