//! Runs that are paused, stored and resumed.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use treenail::Server;
use treenail::agent::{
    Conversation, PausedRun, Run, RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoop,
    ToolLoopError, Usage,
};
use treenail::client::{LineSession, McpClient};
use treenail::schema::{ElicitResult, Revision};

use crate::fixture::{assert_well_formed, desk, results};

fn used(tokens: u64) -> Usage {
    Usage::new(tokens, 1)
}

fn agent(server: &Server, replies: impl IntoIterator<Item = ScriptedReply>) -> ToolLoop {
    ToolLoop::new(ScriptedModel::new(replies)).source("desk", server)
}

/// A stored run that awaits an approval.
async fn stored(mut run: Run) -> String {
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ApprovalRequested(_)) {
            let paused = run.pause().await.unwrap();
            return serde_json::to_string(&paused).unwrap();
        }
    }
    panic!("nothing was asked");
}

fn read(stored: &str) -> PausedRun {
    serde_json::from_str(stored).unwrap()
}

fn asking() -> ScriptedReply {
    ScriptedReply::call("echo", json!({"text": "a"}))
        .and_call("delete", json!({"name": "b"}))
        .and_call("nope", json!({}))
        .usage(used(5))
}

#[tokio::test]
async fn a_stored_run_resumes_in_another_process() {
    let (server, log) = desk();
    let stored = stored(agent(&server, [asking()]).run("Go")).await;

    let mut paused = read(&stored);
    let waiting: Vec<_> = paused.pending_approvals().cloned().collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].input["name"], "b");
    assert!(paused.approve(&waiting[0].id));
    assert!(!paused.approve(&waiting[0].id), "it is decided");
    assert!(!paused.deny("nobody", "no"));

    let done = ScriptedReply::text("Done").usage(used(7));
    let report = agent(&server, [done]).resume(paused).await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(report.text(), "Done");
    assert_eq!(report.iterations, 2);
    assert_eq!(report.usage.unwrap().input_tokens, 12);
    let reported: Vec<_> = results(&report)
        .into_iter()
        .map(|it| (it.1, it.2))
        .collect();
    assert_eq!(
        reported[..2],
        [(false, "a".to_owned()), (false, "b is gone".to_owned())]
    );
    assert!(reported[2].0);
    assert_eq!(log.lines(), ["echo a", "delete b"], "each is made once");
}

#[tokio::test]
async fn undecided_approvals_are_requested_again() {
    let (server, log) = desk();
    let stored = stored(agent(&server, [asking()]).run("Go")).await;
    let mut run = agent(&server, ["Done".into()]).resume(read(&stored));
    let mut asked = 0;
    while let Some(event) = run.next().await {
        if let RunEvent::ApprovalRequested(request) = event {
            asked += 1;
            run.approve(&request.call.id);
        }
    }
    assert_eq!(asked, 1);
    assert_eq!(run.await.unwrap().text(), "Done");
    assert_eq!(log.lines(), ["echo a", "delete b"]);

    let mut denied = read(&stored);
    let id = denied.pending_approvals().next().unwrap().id.clone();
    assert!(denied.deny(&id, "b stays"));
    let report = agent(&server, ["I see.".into()])
        .resume(denied)
        .await
        .unwrap();
    assert!(results(&report)[1].2.contains("b stays"));
}

#[tokio::test(start_paused = true)]
async fn pausing_finishes_calls_in_flight_and_starts_no_others() {
    let (server, log) = desk();
    let wait = |name: &str, millis: u64| json!({"name": name, "millis": millis});
    let calls = ScriptedReply::call("wait", wait("a", 100)).and_call("wait", wait("b", 100));
    let limits = treenail::agent::ToolLoopLimits::default().parallel_calls(1);
    let mut run = agent(&server, [calls]).limits(limits).run("Go");
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::CallStarted { .. }) {
            break;
        }
    }
    let paused = run.pause().await.unwrap();
    assert_eq!(log.lines(), ["begin a", "end a"]);
    let report = agent(&server, ["Done".into()])
        .resume(paused)
        .await
        .unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(log.lines(), ["begin a", "end a", "begin b", "end b"]);
}

#[tokio::test]
async fn a_dropped_model_request_is_repeated_after_resume() {
    let (server, _) = desk();
    let endless = ScriptedReply::never().and_text("Well, ").chunks(2);
    let mut run = agent(&server, [endless]).run("Go");
    assert!(matches!(run.next().await, Some(RunEvent::Text(_))));
    let paused = run.pause().await.unwrap();
    assert_eq!(paused.transcript().len(), 1);
    let report = agent(&server, ["Done".into()])
        .resume(paused)
        .await
        .unwrap();
    assert_eq!(report.text(), "Done");
}

#[tokio::test]
async fn unstarted_and_finished_runs_can_be_paused() {
    let (server, _) = desk();
    let untouched = agent(&server, []).run("Go").pause().await.unwrap();
    let report = agent(&server, ["Done".into()])
        .resume(untouched)
        .await
        .unwrap();
    assert_eq!(report.text(), "Done");

    let mut run = agent(&server, ["Done".into()]).run("Go");
    while run.next().await.is_some() {}
    let ended = run.pause().await.unwrap();
    let report = agent(&server, []).resume(ended).await.unwrap();
    assert_eq!(
        (report.stop_reason.clone(), report.text()),
        (StopReason::Finished, "Done".to_owned())
    );

    let mut run = agent(&server, []).run("Go");
    while run.next().await.is_some() {}
    assert!(matches!(
        run.pause().await,
        Err(ToolLoopError::Model { .. })
    ));
}

#[tokio::test]
async fn a_resumed_run_without_its_tools_can_be_continued() {
    let (server, log) = desk();
    let mut run = agent(&server, [asking()]).run("Go");
    let stored = loop {
        match run.next().await {
            Some(RunEvent::ApprovalRequested(request)) => run.approve(&request.call.id),
            Some(RunEvent::CallRequested(_)) => {}
            _ => break run.pause().await.unwrap(),
        }
    };
    let open = stored.transcript().len();

    let closed = McpClient::builder().server(&server).build().await.unwrap();
    closed.close().await.unwrap();
    let model = ScriptedModel::new([] as [ScriptedReply; 0]);
    let unreachable = ToolLoop::new(model).source("desk", closed);
    let error = unreachable.resume(stored).await.unwrap_err();
    assert!(matches!(error, ToolLoopError::Source { .. }), "{error}");
    let report = error.report().clone();
    assert_well_formed(&report.transcript);
    assert_eq!(report.transcript.len(), open + 1);
    assert_eq!(report.calls.len(), 3);

    let conversation = Conversation::from(report).user("And now?");
    let report = agent(&server, ["Done".into()]).run(conversation).await;
    assert_eq!(report.unwrap().text(), "Done");
    assert!(log.lines().len() <= 1, "nothing has run after the pause");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_user_does_not_count_while_tools_are_listed() {
    let (stream, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(asking_for_the_list(theirs));
    let (reader, writer) = tokio::io::split(stream);
    let builder = McpClient::builder().session(Arc::new(LineSession::new(reader, writer)));
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let builder = builder.on_elicit(async |_| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        ElicitResult::accept(())
    });
    let client = builder.build().await.unwrap();
    let agent = ToolLoop::new(ScriptedModel::new(["Done"])).source("desk", client);
    let report = agent
        .timeout(Duration::from_secs(1))
        .run("Go")
        .await
        .unwrap();
    assert_eq!(report.stop_reason, StopReason::Finished);
}

/// Serves a peer of the legacy era that asks the user before it lists its tools.
async fn asking_for_the_list(stream: DuplexStream) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    let mut list = Value::Null;
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let answer =
            |id: &Value, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let reply = match message["method"].as_str() {
            Some("initialize") => {
                let info = json!({"name": "desk", "version": "1"});
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": info});
                answer(&message["id"], result)
            }
            Some("tools/list") => {
                list = message["id"].clone();
                let schema = json!({"type": "object", "properties": {}});
                json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create",
                    "params": {"message": "Who?", "requestedSchema": schema}})
            }
            Some(_) => continue,
            None => answer(&list, json!({"tools": []})),
        };
        let line = format!("{reply}\n");
        writer.write_all(line.as_bytes()).await.unwrap();
    }
}
