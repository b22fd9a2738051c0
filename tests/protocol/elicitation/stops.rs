//! Functions that a question stops, or that fail for another reason after a question.

use std::error::Error;
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{Limits, Server};

use super::hotel::{agree, guest, hotel_with};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{Peer, error, text};

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("a secret");
    }
}

#[mcp_form]
struct Name {
    name: String,
}

#[derive(Debug)]
struct Reworded(AskError);

impl fmt::Display for Reworded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the order was not placed")
    }
}

impl Error for Reworded {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(Default)]
struct Clumsy {
    returned: Arc<Notify>,
}

#[mcp_tool]
impl Clumsy {
    #[tool]
    async fn drops_badly(&self, cx: &Context, later: bool) -> Result<(), AskError> {
        let _guard = PanicsWhenDropped;
        if later {
            tokio::task::yield_now().await;
        }
        cx.confirm("Sure?").await
    }

    #[tool(timeout = Duration::from_secs(3_600), max_concurrency = 1)]
    async fn drops_badly_alone(&self, cx: &Context) -> Result<(), AskError> {
        self.drops_badly(cx, false).await
    }

    #[tool]
    async fn recovers(&self, cx: &Context, fails: bool) -> Result<String, ToolError> {
        let name = cx.elicit::<Name>("Who?").await;
        let name = name.map_or_else(|_| "unknown".to_owned(), |it| it.name);
        if fails {
            return Err(ToolError::new(format!("`{name}` cannot be stored")));
        }
        cx.elicit::<Name>("And who else?").await?;
        Ok(name)
    }

    #[tool]
    async fn rewords(&self, cx: &Context) -> Result<(), Reworded> {
        cx.confirm("Sure?").await.map_err(Reworded)
    }

    #[tool]
    async fn asks_at_once(&self, cx: &Context, count: usize) -> Result<(), AskError> {
        let asks = (0..count).map(|at| cx.confirm("Sure?").key(at.to_string()).into_future());
        let mut asks: Vec<_> = asks.collect();
        std::future::poll_fn(|context| {
            for ask in &mut asks {
                if let Poll::Ready(Err(error)) = ask.as_mut().poll(context) {
                    return Poll::Ready(Err(error));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Asks after its end.
    #[tool]
    async fn returns_early(&self, cx: &Context) {
        let (cx, returned) = (cx.clone(), Arc::clone(&self.returned));
        tokio::spawn(async move {
            // The call has ended.
            tokio::task::yield_now().await;
            let _ = cx.confirm("Sure?").await;
            returned.notify_one();
        });
    }
}

fn server() -> (Server, Arc<Notify>) {
    let clumsy = Clumsy::default();
    let returned = Arc::clone(&clumsy.returned);
    let server = Server::builder("clumsy", "1").mount(clumsy);
    (server.build().unwrap(), returned)
}

#[tokio::test]
async fn a_panic_in_a_function_that_a_question_drops_ends_no_session() {
    let revision = covering_one("SRV-MRTR-04 in 2026-07-28");
    let mut peer = guest(&server().0, revision).await;
    for (name, arguments) in [
        ("drops_badly", json!({"later": false})),
        ("drops_badly", json!({"later": true})),
        ("drops_badly_alone", json!({})),
        ("drops_badly_alone", json!({})),
    ] {
        let answer = peer.round(name, arguments, json!({})).await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    }
    assert_eq!(peer.finish().await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_handled_error_of_a_question_does_not_replace_a_later_one() {
    let revision = covering_one("SRV-ERR-03 in 2026-07-28");
    let mut peer = Peer::connect(&server().0, revision).await;
    let answer = peer.call("recovers", json!({"fails": true})).await;
    assert_eq!(text(&answer), "`unknown` cannot be stored");
    for (name, arguments) in [
        ("recovers", json!({"fails": false})),
        ("rewords", json!({})),
    ] {
        let params = json!({"name": name, "arguments": arguments});
        let answer = peer.request("tools/call", params).await;
        assert_eq!(error(&answer).0, -32021, "SRV-ERR-03");
    }
}

#[tokio::test]
async fn a_question_that_was_never_sent_is_not_cancelled() {
    for revision in covering("ALL-CANC-07 in 2025-06-18, 2025-11-25") {
        let (server, returned) = server();
        let mut peer = guest(&server, revision).await;
        peer.call("returns_early", json!({})).await;
        returned.notified().await;
        assert_eq!(peer.finish().await, [] as [Value; 0], "ALL-CANC-07");
    }
}

#[tokio::test]
async fn a_timeout_may_be_shorter_than_a_second() {
    let revision = covering_one("SRV-MRTR-10 in 2026-07-28");
    let limits = Limits::default().elicitation_timeout(Duration::from_millis(900));
    let (_, server) = hotel_with(limits);
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("book", json!({"city": "Oslo"}), json!({})).await;
    let result = &answer["result"];
    let responses = json!({"question-1": agree(&result["inputRequests"]["question-1"])});
    let state = &result["requestState"];
    let extra = json!({"requestState": state, "inputResponses": responses});
    let answer = peer.round("book", json!({"city": "Oslo"}), extra).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}

#[tokio::test]
async fn questions_are_limited_in_number() {
    let mut peer = guest(&server().0, Revision::V2026_07_28).await;
    let answer = peer
        .round("asks_at_once", json!({"count": 256}), json!({}))
        .await;
    let questions = answer["result"]["inputRequests"].as_object();
    assert_eq!(questions.map(serde_json::Map::len), Some(256));
    let answer = peer
        .round("asks_at_once", json!({"count": 257}), json!({}))
        .await;
    let reason = text(&answer["result"]);
    assert!(reason.contains("more than 256 questions"), "{reason}");
}

#[tokio::test]
async fn answers_are_limited_in_number() {
    let (_, server) = hotel_with(Limits::default());
    let mut peer = guest(&server, Revision::V2026_07_28).await;
    for (count, code) in [(256, None), (257, Some(-32602))] {
        let responses = (0..count).map(|it| (it.to_string(), json!({})));
        let responses: serde_json::Map<String, Value> = responses.collect();
        let extra = json!({"inputResponses": responses});
        let answer = peer.round("book", json!({"city": "Oslo"}), extra).await;
        assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
    }
}
