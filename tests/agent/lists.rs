//! Lists of tools that change while a run lasts.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use treenail::agent::{ScriptedModel, ScriptedReply, ToolSource};
use treenail::client::{
    IncomingHandler, MockSession, Session, SessionFuture, SessionNotification, SessionRequest,
    TransportKind,
};
use treenail::prelude::*;

use crate::fixture::results;

/// A session whose server lists its tools once. It announces a change during its first call.
#[derive(Debug)]
struct ListedOnce(MockSession);

impl Session for ListedOnce {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.0.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        let is_first = self.0.requests(&request.method).is_empty();
        if is_first && request.method == "tools/call" {
            let method = "notifications/tools/list_changed";
            self.0.notify(method, &json!({}));
        }
        let is_repeated = !is_first && request.method == "tools/list";
        let answer = self.0.request(request);
        Box::pin(async move {
            let answer = answer.await;
            if is_repeated {
                pending::<()>().await;
            }
            answer
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Session::notify(&self.0, notification)
    }

    fn transport(&self) -> TransportKind {
        self.0.transport()
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        self.0.close()
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_answered_again_delays_one_message() {
    let mock = MockSession::new().tool("look", |_| Ok(json!({"seen": true})));
    let session = Arc::new(ListedOnce(mock));
    let client = McpClient::builder().session(Arc::clone(&session) as _);
    let client = client.build().await.unwrap();
    let look = || ScriptedReply::call("look", json!({}));
    let model = ScriptedModel::new([look(), look(), look(), "Done.".into()]);
    let agent = ToolLoop::new(model).source("desk", ToolSource::from(client).auto_approve());
    let start = Instant::now();
    let agent = agent.call_timeout(Duration::from_secs(2));
    let report = agent.run("Go").await.unwrap();
    assert_eq!(report.text(), "Done.");
    assert!(results(&report).iter().all(|(_, is_error, _)| !is_error));
    assert_eq!(session.0.requests("tools/list").len(), 2);
    assert_eq!(start.elapsed().as_secs(), 2);
}
