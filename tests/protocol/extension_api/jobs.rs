//! The extension under test.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use treenail::extension::{Extension, ExtensionMethod};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{RpcError, Server, ServerBuilder};

use crate::support::peer::Peer;

pub(super) const ID: &str = "com.example/jobs";

/// Signals start and end of the calls of `jobs/wait`.
#[derive(Clone, Default)]
pub(super) struct Signals {
    pub(super) begun: Arc<Notify>,
    pub(super) ended: Arc<Notify>,
}

struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    pub(super) a: i64,
    #[serde(default)]
    pub(super) more: Vec<i64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sum {
    pub(super) sum: i64,
}

#[derive(Deserialize)]
struct Nothing {}

async fn add(_: Context, add: Add) -> Result<Sum, RpcError> {
    if add.a < 0 {
        return Err(RpcError::new(7, "negative").with_data(json!({"a": add.a})));
    }
    Ok(Sum {
        sum: add.a + add.more.iter().sum::<i64>(),
    })
}

async fn caller(cx: Context, _: Nothing) -> Result<Value, ToolError> {
    let principal = cx.principal().map(treenail::context::Principal::as_str);
    Ok(json!({"settings": cx.client_extension(ID), "principal": principal}))
}

async fn report(cx: Context, _: Nothing) -> Result<(), RpcError> {
    cx.progress(1).await;
    cx.notify_extension(ID, "notifications/jobs", &json!({"id": "j1"}))
        .await
}

async fn ask(cx: Context, _: Nothing) -> Result<(), AskError> {
    cx.confirm("Sure?").await
}

#[mcp_tool]
async fn needs_jobs(cx: &Context) -> Result<String, RpcError> {
    cx.require_client_extension(ID)?;
    Ok("served".to_owned())
}

pub(super) fn extension(signals: &Signals) -> Extension {
    let signals = signals.clone();
    let wait = move |_: Context, _: Nothing| {
        let signals = signals.clone();
        async move {
            let _end = OnDrop(signals.ended);
            signals.begun.notify_one();
            std::future::pending::<()>().await;
            Ok::<_, RpcError>(())
        }
    };
    let broken = |_: Context, _: Nothing| async { Ok::<_, RpcError>(vec![1]) };
    let panics = |_: Context, _: Nothing| async {
        assert!(std::env::args().count() > 1_000_000, "a secret");
        Ok::<_, RpcError>(())
    };
    let other = |_: Context, _: Nothing| async {
        Ok::<_, RpcError>(json!({"resultType": "job", "_meta": {"com.example/a": 1}, "n": 1.50}))
    };
    let failing = |_: Context, _: Nothing| async { Err::<(), _>(ToolError::new("out of jobs")) };
    let nothing = |_: Context, _: Nothing| async { Ok::<_, RpcError>(()) };
    Extension::new(ID)
        .settings(json!({"max": 3, "nested": {"deep": [1, {"a": true}]}}))
        .method("jobs/add", add)
        .method("jobs/caller", caller)
        .method("jobs/report", report)
        .method("jobs/nothing", nothing)
        .method("jobs/ask", ask)
        .method("jobs/wait", wait)
        .method("jobs/broken", broken)
        .method("jobs/panics", panics)
        .method("jobs/other", other)
        .method("jobs/failing", failing)
        .add_method(ExtensionMethod::new("jobs/open", add).ungated())
        .add_method(ExtensionMethod::new("jobs/old", add).revisions(..=Revision::LATEST_LEGACY))
}

pub(super) fn builder(signals: &Signals) -> ServerBuilder {
    treenail::server!()
        .tools(tools![needs_jobs])
        .extension(extension(signals))
}

pub(super) fn server() -> Server {
    builder(&Signals::default()).build().unwrap()
}

/// Capabilities of a client that declares the extension.
pub(super) fn declared() -> Value {
    json!({"extensions": {ID: {"color": {"dark": [true]}}}})
}

/// Connects a client that declares the extension.
pub(super) async fn connect(server: &Server, revision: Revision) -> Peer {
    Peer::connect_as(server, revision, declared()).await
}
