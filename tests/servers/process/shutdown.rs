//! Shutdown of servers: by the end of their input, by signals, and with their child processes.

use std::time::Duration;

use treenail::client::ClientError;
use treenail::prelude::*;

use super::{Lifelines, connect, connect_with};

/// Shutdown timeout for servers that do not exit by themselves.
const SHORT_TIMEOUT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn server_exits_when_its_input_closes() {
    let lifelines = Lifelines::open().await;
    let session = connect(lifelines.server(&["heeds-sigterm"])).await;
    let waiting = tokio::spawn(session.tools_call("wait", ()).into_future());
    let mut life = lifelines.next().await;
    while life.0.next_line().await.unwrap().unwrap() != "tools/call" {}
    session.close().await.unwrap();
    assert_eq!(
        life.events_until_exit().await,
        Vec::<String>::new(),
        "no signal was sent"
    );
    let error = waiting.await.unwrap().unwrap_err();
    assert!(
        error.to_string().ends_with("has exited with status 0"),
        "{error}"
    );
    session.close().await.expect("closing twice succeeds");
}

#[tokio::test]
async fn lingering_server_is_terminated_and_then_killed() {
    // The first needs time to react to the signal.
    let cases = [
        ("heeds-sigterm", "was terminated", 5_000),
        ("ignores-sigterm", "was killed", 200),
    ];
    for (behaviour, reason, millis) in cases {
        let lifelines = Lifelines::open().await;
        let command = lifelines.server(&["ignores-end-of-input", behaviour]);
        let session = connect_with(command, Duration::from_millis(millis)).await;
        let life = lifelines.next().await;
        session.close().await.unwrap();
        let events = life.events_until_exit().await;
        assert_eq!(
            events.last().unwrap(),
            "SIGTERM",
            "CLI-STDIO-08: {behaviour}"
        );
        let error = session.tools_list(None).await.unwrap_err();
        assert!(error.to_string().ends_with(reason), "{error}");
    }
}

#[tokio::test]
async fn server_that_closes_its_output_is_terminated() {
    let lifelines = Lifelines::open().await;
    let behaviours = ["ignores-end-of-input", "ignores-sigterm"];
    let session = connect_with(lifelines.server(&behaviours), SHORT_TIMEOUT).await;
    let life = lifelines.next().await;
    let error = session.tools_call("close-output", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error}");
    life.events_until_exit().await;
}

#[tokio::test]
async fn child_processes_of_a_server_exit_with_it() {
    // After an exit, after a close, and if the child shares the output of the server.
    for (behaviour, tool) in [("", "exit"), ("", ""), ("shares-output", "exit")] {
        let lifelines = Lifelines::open().await;
        let session = connect(lifelines.server(&["leaves-a-child", behaviour])).await;
        let (mut one, mut other) = (lifelines.next().await, lifelines.next().await);
        // A child is connected before it reports its start, and could be stopped between.
        let first = [one.next_event().await, other.next_event().await];
        assert!(first.contains(&"child".to_owned()), "{first:?}");
        if !tool.is_empty() {
            let error = session.tools_call(tool, ()).await.unwrap_err();
            assert!(error.to_string().ends_with("status 3"), "{error}");
        }
        session.close().await.unwrap();
        one.events_until_exit().await;
        other.events_until_exit().await;
    }
}

#[tokio::test]
async fn dropping_the_client_stops_the_server() {
    let lifelines = Lifelines::open().await;
    let builder = McpClient::builder().command(lifelines.server(&["leaves-a-child"]));
    let client = builder.build().await.unwrap();
    let (one, other) = (lifelines.next().await, lifelines.next().await);
    drop(client);
    one.events_until_exit().await;
    other.events_until_exit().await;
}

#[test]
fn dropping_the_runtime_stops_the_server() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let outer = runtime();
    let lifelines = outer.block_on(Lifelines::open());
    let inner = runtime();
    let behaviours = ["leaves-a-child", "ignores-end-of-input", "ignores-sigterm"];
    let session = inner.block_on(connect_with(lifelines.server(&behaviours), SHORT_TIMEOUT));
    let (one, other) = outer.block_on(async { (lifelines.next().await, lifelines.next().await) });
    drop(inner);
    outer.block_on(async {
        (
            one.events_until_exit().await,
            other.events_until_exit().await,
        )
    });
    let error = outer.block_on(session.tools_list(None).into_future());
    assert!(matches!(error, Err(ClientError::Closed(_))));
}
