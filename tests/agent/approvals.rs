//! Approval of calls, with and without a consumer of events.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use treenail::agent::{
    Approval, RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoop, ToolSource,
};
use treenail::client::{McpClient, MockSession};
use treenail::schema::JsonObject;

use crate::fixture::{assert_well_formed, desk, failure, results};
use crate::slow_model::SlowModel;

fn delete(name: &str) -> ScriptedReply {
    ScriptedReply::call("delete", json!({"name": name}))
}

#[tokio::test]
async fn a_call_without_an_approver_is_denied() {
    for tool in ["delete", "unsaid", "look_up"] {
        let (server, log) = desk();
        let input =
            json!({"delete": {"name": "a"}, "unsaid": {}, "look_up": {"word": "a"}})[tool].clone();
        let model = ScriptedModel::new([ScriptedReply::call(tool, input), "I see.".into()]);
        let agent = ToolLoop::new(model).source("desk", server);
        let report = agent.run("Go").await.unwrap();
        let reported = failure(&report);
        assert!(
            reported.contains(tool) && reported.contains("no one is available to approve it"),
            "CLI-TOOL-06: {reported}"
        );
        assert_eq!(log.lines(), [] as [&str; 0]);
    }
}

#[tokio::test]
async fn a_call_waits_until_it_is_approved() {
    let (server, log) = desk();
    let model = ScriptedModel::new([
        delete("a").and_call("delete", json!({"name": "b"})),
        "Done".into(),
    ]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    let mut asked = Vec::new();
    while let Some(event) = run.next().await {
        let RunEvent::ApprovalRequested(request) = event else {
            continue;
        };
        assert_eq!(log.lines(), [] as [&str; 0], "CLI-TOOL-06");
        assert_eq!(request.tool.name, "delete");
        assert_eq!(request.call.source.as_deref(), Some("desk"));
        asked.push(request.call);
        if asked.len() == 2 {
            assert_eq!(
                asked[0].input["name"], "a",
                "CLI-TOOL-06: inputs are shown first"
            );
            run.approve("nobody");
            run.deny(&asked[0].id, "a is mine");
            run.approve(&asked[1].id);
        }
    }
    let report = run.await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(log.lines(), ["delete b"]);
    let results = results(&report);
    assert!(
        results[0].1 && results[0].2.contains("a is mine"),
        "{results:?}"
    );
    assert_eq!(results[1].2, "b is gone");
}

#[tokio::test]
async fn other_calls_run_while_one_awaits_approval() {
    let (server, log) = desk();
    let model = ScriptedModel::new([
        delete("a").and_call("echo", json!({"text": "b"})),
        ScriptedReply::text("Done"),
    ]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    let mut waiting = None;
    while let Some(event) = run.next().await {
        match event {
            RunEvent::ApprovalRequested(request) => waiting = Some(request.call.id),
            RunEvent::CallFinished { .. } => {
                if let Some(id) = waiting.take() {
                    assert_eq!(log.lines(), ["echo b"]);
                    run.approve(&id);
                }
            }
            _ => {}
        }
    }
    let report = run.await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(log.lines(), ["echo b", "delete a"]);
}

#[tokio::test]
async fn pending_approvals_are_denied_when_reading_stops() {
    let (server, log) = desk();
    let model = ScriptedModel::new([delete("a"), "I see.".into()]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ApprovalRequested(_)) {
            break;
        }
    }
    let report = run.await.unwrap();
    assert!(failure(&report).contains("no one is available to approve it"));
    assert_eq!(log.lines(), [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn time_awaiting_approval_does_not_count() {
    let (server, _) = desk();
    let model = ScriptedModel::new([delete("a"), ScriptedReply::never()]);
    let agent = ToolLoop::new(model).source("desk", server);
    let mut run = agent.timeout(Duration::from_secs(10)).run("Go");
    while let Some(event) = run.next().await {
        if let RunEvent::ApprovalRequested(request) = event {
            let nothing = tokio::time::timeout(Duration::from_secs(3600), run.next()).await;
            assert!(nothing.is_err(), "it waits: {nothing:?}");
            run.approve(&request.call.id);
        }
    }
    let report = run.await.unwrap();
    assert_eq!(results(&report)[0].2, "a is gone");
    assert_eq!(
        report.stop_reason,
        StopReason::Timeout,
        "of the model that never answers"
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_consumer_that_asks_its_user_does_not_count() {
    for (waits_first, millis) in [(true, 10), (false, 10), (true, 800)] {
        let (server, log) = desk();
        let wait = json!({"name": "b", "millis": millis});
        let calls = if waits_first {
            ScriptedReply::call("wait", wait).and_call("delete", json!({"name": "a"}))
        } else {
            delete("a").and_call("wait", wait)
        };
        let model = ScriptedModel::new([calls, ScriptedReply::text("Done")]);
        let agent = ToolLoop::new(model).source("desk", server);
        let mut run = agent.timeout(Duration::from_secs(1)).run("Go");
        while let Some(event) = run.next().await {
            if let RunEvent::ApprovalRequested(request) = event {
                tokio::time::sleep(Duration::from_secs(2)).await;
                run.approve(&request.call.id);
            }
        }
        let report = run.await.unwrap();
        assert_eq!(report.stop_reason, StopReason::Finished, "{millis}");
        assert!(log.lines().contains(&"delete a".to_owned()));
        assert!(results(&report).iter().all(|it| !it.1), "{report:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_restarts_after_a_denial() {
    let (server, log) = desk();
    let model = ScriptedModel::new([
        delete("a"),
        ScriptedReply::call("echo", json!({"text": "b"})),
        ScriptedReply::text("Done"),
    ]);
    let agent = ToolLoop::new(SlowModel::new(model, Duration::from_secs(6))).source("desk", server);
    let mut run = agent.timeout(Duration::from_secs(16)).run("Go");
    let mut denied = None;
    while let Some(event) = run.next().await {
        if let RunEvent::ApprovalRequested(request) = event {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            denied = Some(tokio::time::Instant::now());
            run.deny(&request.call.id, "a is mine");
        }
    }
    let report = run.await.unwrap();
    assert_eq!(
        report.stop_reason,
        StopReason::Timeout,
        "two messages take too long"
    );
    assert_eq!(denied.unwrap().elapsed().as_secs(), 10);
    assert_eq!(log.lines(), ["echo b"]);
    assert_well_formed(&report.transcript);
}

#[tokio::test]
async fn the_trust_level_of_a_source_decides_about_approval() {
    type Trusting = fn(ToolSource) -> ToolSource;
    let cases: [(Trusting, bool, bool); 3] = [
        (|source| source, true, false),
        (ToolSource::auto_approve, true, true),
        (ToolSource::untrusted, false, false),
    ];
    for (trusting, echoes, deletes) in cases {
        let (server, _) = desk();
        let model = ScriptedModel::new([
            delete("a").and_call("echo", json!({"text": "b"})),
            ScriptedReply::text("Done"),
        ]);
        let source = trusting(ToolSource::from(server));
        let report = ToolLoop::new(model).source("desk", source).run("Go").await;
        let results = results(&report.unwrap());
        let trusted = "CLI-TOOL-03: annotations count of a source that the program vouches for, and of no other";
        assert_eq!(results[0].1, !deletes, "{trusted}");
        assert_eq!(results[1].1, !echoes, "{trusted}");
    }
}

#[tokio::test]
async fn the_reason_for_skipped_validation_is_reported() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}});
    let tool = json!({"name": "odd", "inputSchema": schema});
    let session = MockSession::new()
        .answer("tools/list", move |_| {
            Ok(json!({"resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private"}))
        })
        .answer("tools/call", |_| {
            Ok(json!({"resultType": "complete", "content": []}))
        });
    let client = McpClient::builder().session(Arc::new(session)).build();
    let client = client.await.unwrap();
    let model = ScriptedModel::new([
        ScriptedReply::call("odd", json!({"a": "b"})),
        ScriptedReply::text("Done"),
    ]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let agent = ToolLoop::new(model).source("own", &client).approve({
        let asked = Arc::clone(&asked);
        move |request| {
            let unchecked = request.unchecked.clone();
            asked.lock().unwrap().push(unchecked.unwrap_or_default());
            Approval::Allow
        }
    });
    agent.run("Go").await.unwrap();
    let asked = asked.lock().unwrap();
    assert!(asked.len() == 1 && asked[0].contains("regex"), "{asked:?}");
}

#[tokio::test]
async fn a_policy_replaces_annotations() {
    let (server, log) = desk();
    let model = ScriptedModel::new([
        delete("a").and_call("echo", json!({"text": "b"})),
        ScriptedReply::text("Done"),
    ]);
    let agent = ToolLoop::new(model)
        .source("desk", server)
        .approve(|request| {
            assert_ne!(request.call.input, JsonObject::new());
            assert_eq!(request.unchecked, None);
            match &*request.tool.name {
                "delete" => Approval::Allow,
                _ => Approval::Deny(String::new()),
            }
        });
    let report = agent.run("Go").await.unwrap();
    assert_eq!(log.lines(), ["delete a"]);
    assert!(results(&report)[1].1);
}
