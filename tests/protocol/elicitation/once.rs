//! Work of `once` beside questions: it runs to its end, and once.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use tokio::task::yield_now;
use treenail::Limits;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

#[derive(Clone, Default)]
struct Shop {
    paid: Arc<AtomicUsize>,
}

impl Shop {
    async fn charge(&self) -> Result<usize, AskError> {
        let paid = self.paid.fetch_add(1, Ordering::SeqCst) + 1;
        yield_now().await;
        Ok(paid)
    }

    async fn fail(&self) -> Result<usize, AskError> {
        self.charge().await?;
        Err(AskError::Cancelled)
    }
}

#[mcp_tool]
impl Shop {
    #[tool]
    async fn pay_first(&self, cx: &Context) -> Result<usize, AskError> {
        let asked = async { cx.confirm("Sure?").await };
        let (paid, ()) = tokio::try_join!(cx.once("pay", self.charge()), asked)?;
        Ok(paid)
    }

    #[tool]
    async fn ask_first(&self, cx: &Context) -> Result<usize, AskError> {
        let asked = async { cx.confirm("Sure?").await };
        let ((), paid) = tokio::try_join!(asked, cx.once("pay", self.charge()))?;
        Ok(paid)
    }

    #[tool]
    async fn pay_elsewhere(&self, cx: &Context) -> Result<usize, AskError> {
        let (shop, clone) = (self.clone(), cx.clone());
        let paid = tokio::spawn(async move { clone.once("pay", shop.charge()).await });
        // The work has begun.
        yield_now().await;
        cx.confirm("Sure?").await?;
        paid.await.expect("it does not panic")
    }

    /// Fails to pay in each round.
    #[tool]
    async fn fail_beside(&self, cx: &Context) -> Result<usize, AskError> {
        let asked = async { cx.confirm("Sure?").await };
        let (paid, asked) = tokio::join!(cx.once("pay", self.fail()), asked);
        assert_eq!(paid, Err(AskError::Cancelled));
        asked?;
        Ok(self.paid.load(Ordering::SeqCst))
    }

    #[tool]
    async fn give_up(&self, cx: &Context) -> Result<&'static str, AskError> {
        tokio::select! {
            biased;
            paid = cx.once("pay", std::future::pending::<Result<(), AskError>>()) => paid?,
            () = yield_now() => {}
        }
        cx.confirm("Go on without it?").await?;
        Ok("without it")
    }

    #[tool]
    async fn withdraw(&self, cx: &Context) -> Result<usize, AskError> {
        let paid = tokio::select! {
            biased;
            asked = async { cx.confirm("Cancel?").await } => asked.map(|()| 0),
            paid = cx.once("pay", self.charge()) => paid,
        }?;
        yield_now().await;
        Ok(paid)
    }

    /// Asks within the work.
    #[tool]
    async fn inside(&self, cx: &Context) -> Result<(), AskError> {
        cx.once("pay", async { cx.confirm("Sure?").await }).await
    }

    #[tool]
    async fn inside_and_outside(&self, cx: &Context) -> Result<String, AskError> {
        let asked = async { cx.confirm("Really?").await };
        let inside = cx.once("pay", async { cx.confirm("Sure?").await });
        let (inside, asked) = tokio::join!(inside, asked);
        asked?;
        Ok(inside.map_or_else(|error| error.to_string(), |()| "paid".to_owned()))
    }

    /// Asks while it does not poll its work.
    #[tool]
    async fn stuck(&self, cx: &Context) -> Result<(), AskError> {
        let mut paid = pin!(cx.once("pay", self.charge()));
        let polled = poll_fn(|context| Poll::Ready(paid.as_mut().poll(context))).await;
        assert!(polled.is_pending());
        cx.confirm("Sure?").await
    }
}

const ASKED: [Revision; 2] = [Revision::V2025_11_25, MODERN];

async fn shop(revision: Revision) -> (Shop, Peer) {
    let shop = Shop::default();
    let limits = Limits::default().elicitation_timeout(Duration::from_secs(60));
    let server = treenail::server!().limits(limits).mount(shop.clone());
    let server = server.build().unwrap();
    let capabilities = json!({"elicitation": {}});
    (
        shop,
        Peer::connect_as(&server, revision, capabilities).await,
    )
}

#[tokio::test]
async fn a_question_does_not_interrupt_work_beside_it() {
    for revision in covering("SRV-MRTR-01 in 2025-11-25, 2026-07-28") {
        for tool in ["pay_first", "ask_first", "pay_elsewhere"] {
            let (shop, mut peer) = shop(revision).await;
            let (answer, questions) = peer.call_and_agree(tool, json!({})).await;
            assert_eq!(text(&answer["result"]), "1", "{revision} {tool}");
            assert_eq!(shop.paid.load(Ordering::SeqCst), 1, "{revision} {tool}");
            assert_eq!(questions.len(), 1, "{revision} {tool}");
        }
    }
}

#[tokio::test]
async fn work_that_fails_or_is_dropped_does_not_hold_up_a_question() {
    for (tool, legacy, modern) in [
        ("fail_beside", "1", "2"),
        ("give_up", "without it", "without it"),
    ] {
        for (revision, expected) in ASKED.into_iter().zip([legacy, modern]) {
            let (_, mut peer) = shop(revision).await;
            let (answer, questions) = peer.call_and_agree(tool, json!({})).await;
            assert_eq!(text(&answer["result"]), expected, "{revision}");
            assert_eq!(questions.len(), 1, "{revision}");
        }
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_while_it_waits_for_work_is_withdrawn() {
    let (_, mut peer) = shop(MODERN).await;
    assert_eq!(text(&peer.call("withdraw", json!({})).await), "1");
}

#[tokio::test]
async fn work_cannot_ask() {
    let reason = "this cannot be asked: a question is inside of the work of `once`";
    for revision in ASKED {
        for (tool, count) in [("inside", 0), ("inside_and_outside", 1)] {
            let (_, mut peer) = shop(revision).await;
            let (answer, questions) = peer.call_and_agree(tool, json!({})).await;
            assert_eq!(text(&answer["result"]), reason, "{revision} {tool}");
            assert_eq!(questions.len(), count, "{revision} {tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_does_not_wait_for_ever_for_work_that_nothing_polls() {
    let (_, mut peer) = shop(MODERN).await;
    let result = peer.call("stuck", json!({})).await;
    assert_eq!(text(&result), "there was no answer in time");
}
