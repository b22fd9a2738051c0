//! Calls that wait for the answer of a user: their timeouts, and the bound of their number.

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use treenail::client::{LineSession, McpClientBuilder};
use treenail::prelude::*;
use treenail::proxy::{ProxyLimits, Remote};
use treenail::schema::{ElicitAction, ElicitResult, Revision};

use crate::questions::{accepting, asking, settle};
use crate::script::{legacy_server, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway, impatient, remote, station};

/// A client whose user answers when `answer` is notified; `asked` is notified before.
pub(crate) fn slow_user(
    builder: McpClientBuilder,
    asked: &Arc<Notify>,
    answer: &Arc<Notify>,
) -> McpClientBuilder {
    let (asked, answer) = (Arc::clone(asked), Arc::clone(answer));
    builder.on_elicit(move |_| {
        let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
        async move {
            asked.notify_one();
            answer.notified().await;
            Ok(ElicitResult::new(ElicitAction::Accept))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_too_long_is_cancelled_and_its_caller_learns_so() {
    let (gateway, proxy) = gateway();
    let limits = ProxyLimits::default().waiting_timeout(Duration::from_secs(10));
    let cancelled = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&cancelled);
    let server = legacy_server(&tools(&["ask"]), move |message, line| {
        match message["method"].as_str() {
            Some("tools/call") => line.send(&json!({
                "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
            })),
            Some("notifications/cancelled") => {
                noted.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
        true
    });
    proxy
        .limits(limits)
        .mount(server)
        .unwrap()
        .connected()
        .await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let client = slow_user(client_of(&gateway, MODERN), &asked, &answer)
        .build()
        .await
        .unwrap();
    let call = client
        .session()
        .tools_call("script.ask", ())
        .timeout(Duration::from_secs(60));
    let call = tokio::spawn(call.into_future());
    asked.notified().await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
    answer.notify_one();
    let result = call.await.unwrap().unwrap();
    let text = result.as_text().unwrap();
    assert!(
        text.starts_with("the call at the server `script` does not wait"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_call_pauses_while_its_client_is_asked() {
    for caller in [LEGACY, MODERN] {
        let (gateway, proxy) = gateway();
        let limits = ProxyLimits::default().call_timeout(Duration::from_secs(5));
        proxy
            .limits(limits)
            .mount(asking(1))
            .unwrap()
            .connected()
            .await;
        let (asked, answer) = (Arc::default(), Arc::default());
        let client = slow_user(client_of(&gateway, caller), &asked, &answer)
            .build()
            .await
            .unwrap();
        let call = tokio::spawn(client.session().tools_call("script.ask", ()).into_future());
        asked.notified().await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        answer.notify_one();
        let result = call.await.unwrap().unwrap();
        assert_eq!(result.as_text(), Some("accept"), "{caller}");
        // Without a question, the call fails in time.
        let client = client_of(&gateway, caller).build().await.unwrap();
        let result = client.call_tool("script.idle", ()).await.unwrap();
        assert_eq!(
            result.as_text(),
            Some("the server `script` did not answer: no answer within 5s"),
            "{caller}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn progress_while_a_client_is_asked_does_not_count_the_pause_twice() {
    for caller in [LEGACY, MODERN] {
        let server = legacy_server(&tools(&["ask"]), |message, line| {
            if message["method"] == "tools/call" {
                line.send(&json!({
                    "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                    "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                }));
                let token = message["params"]["_meta"]["progressToken"].clone();
                let line = line.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(90)).await;
                    line.send(&json!({
                        "jsonrpc": "2.0", "method": "notifications/progress",
                        "params": {"progressToken": token, "progress": 1},
                    }));
                });
            }
            true
        });
        let (gateway, proxy) = gateway();
        proxy.mount(server).unwrap().connected().await;
        let (asked, answer) = (Arc::default(), Arc::default());
        let client = slow_user(client_of(&gateway, caller), &asked, &answer)
            .build()
            .await
            .unwrap();
        let start = Instant::now();
        let call = client.session().tools_call("script.ask", ());
        let call = tokio::spawn(call.timeout(Duration::from_secs(86_400)).into_future());
        asked.notified().await;
        tokio::time::sleep(Duration::from_secs(100)).await;
        answer.notify_one();
        let result = call.await.unwrap().unwrap();
        assert_eq!(
            result.as_text(),
            Some("the server `script` did not answer: no answer within 60s"),
            "{caller}"
        );
        let elapsed = start.elapsed().as_secs();
        assert_eq!(elapsed, 160, "{caller}");
    }
}

#[tokio::test]
async fn waiting_calls_are_bounded() {
    let (gateway, proxy) = gateway();
    let limits = ProxyLimits::default().waiting_calls(1);
    let (station, _) = station();
    proxy
        .limits(limits)
        .mount(remote("st", &station, LEGACY))
        .unwrap()
        .connected()
        .await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let slow = slow_user(client_of(&gateway, MODERN), &asked, &answer)
        .build()
        .await
        .unwrap();
    let first = tokio::spawn(slow.session().tools_call("st.book", ()).into_future());
    asked.notified().await;
    let result = slow.call_tool("st.book", ()).await.unwrap();
    assert!(
        result
            .as_text()
            .unwrap()
            .contains("too many calls of this proxy wait"),
        "{result:?}"
    );
    first.abort();
}

#[tokio::test(start_paused = true)]
async fn the_rounds_of_a_call_leave_no_task() {
    const ROUNDS: usize = 10;
    let mut waiting = None;
    let server = legacy_server(&tools(&["ask"]), move |message, line| {
        let is_answer = message["method"].is_null();
        match (&mut waiting, is_answer) {
            (Some((call, ROUNDS)), true) => {
                line.answer(call, &text("done"));
                return true;
            }
            (Some((_, round)), true) => *round += 1,
            _ if message["method"] == "tools/call" => waiting = Some((message.clone(), 1)),
            _ => return true,
        }
        line.send(&json!({
            "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
            "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
        }));
        true
    });
    let (gateway, proxy) = gateway();
    proxy.mount(server).unwrap().connected().await;
    let asked = Arc::default();
    let client = accepting(client_of(&gateway, MODERN), &asked).build().await;
    let client = client.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..5 {
        let result = client.call_tool("script.ask", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("done"));
        settle().await;
        tasks.push(Handle::current().metrics().num_alive_tasks());
    }
    assert_eq!(asked.lock().unwrap().len(), 5 * ROUNDS);
    assert!(tasks[4] < tasks[0] + ROUNDS, "{tasks:?}");
}

/// Serves a station over a stream in one era, and in the other one after `restart`.
fn restarting(station: Server, eras: [Revision; 2], restart: &Arc<Notify>) -> Remote {
    let (starts, restart) = (AtomicUsize::new(0), Arc::clone(restart));
    Remote::new("st", move || {
        let revision = eras[starts.fetch_add(1, Ordering::SeqCst).min(1)];
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (station, restart) = (station.clone(), Arc::clone(&restart));
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            tokio::select! {
                () = restart.notified() => {}
                _ = station.serve(reader, writer) => {}
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        let session = Arc::new(LineSession::new(reader, writer));
        McpClient::builder()
            .session(session)
            .protocol_version(revision)
    })
}

#[tokio::test]
async fn a_call_is_not_made_again_at_a_server_that_returns_in_the_other_era() {
    for eras in [[LEGACY, MODERN], [MODERN, LEGACY]] {
        let ((station, counters), (gateway, proxy)) = (station(), gateway());
        let restart = Arc::default();
        let remote = restarting(station, eras, &restart);
        let mounted = proxy.limits(impatient()).mount(remote).unwrap();
        mounted.connected().await;
        let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        let (notify, may_answer) = (Arc::clone(&asked), Arc::clone(&answer));
        let client = client_of(&gateway, MODERN).on_elicit(move |_| {
            let (notify, may_answer) = (Arc::clone(&notify), Arc::clone(&may_answer));
            async move {
                notify.notify_one();
                let _permit = may_answer.acquire().await.unwrap();
                ElicitResult::accept(json!({"nights": 2}))
            }
        });
        let client = client.build().await.unwrap();
        let call = tokio::spawn(client.session().tools_call("st.book", ()).into_future());
        asked.notified().await;
        restart.notify_one();
        mounted.disconnected().await;
        mounted.connected().await;
        answer.add_permits(1);
        let result = call.await.unwrap().unwrap();
        assert_eq!(result.is_error, Some(true), "{eras:?}: {result:?}");
        assert_eq!(counters.runs.load(Ordering::SeqCst), 1, "{eras:?}");
    }
}
