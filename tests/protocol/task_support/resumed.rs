//! Calls that run again after a restart.

use serde_json::json;
use serde_json::value::RawValue;
use treenail::RpcError;
use treenail::context::Principal;
use treenail::dynamic::Tool;
use treenail::prelude::*;
use treenail::scope::{Access, Authority, RequiredScopes};
use treenail::server::Component;
use treenail_runtime::internal::task::{StoredCall, resume};

use super::link::{Link, Record};
use super::support::Support;
use super::{Gate, detach, serve, tool, waiting};
use crate::support::peer::{MODERN, Peer};

async fn run(server: &Server, stored: &StoredCall) -> Result<Box<RawValue>, RpcError> {
    let (link, _questions) = Link::new(Record::default());
    resume(server, stored, link)?.await
}

/// Returns the stored call of a tool without its own behaviour.
async fn stored(name: &str) -> StoredCall {
    let (support, gate) = (Support::default(), Gate::new());
    let server = serve([waiting(name, (&support, &gate), || 7)]);
    let mut peer = Peer::connect(&server, MODERN).await;
    let stored = detach(&mut peer, &support, name).await.stored;
    let text = serde_json::to_string(&stored).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_resumed_call_uses_the_link_from_its_start() {
    let support = Support::default();
    let ask = tool("ask", &support, |cx, _| async move {
        let kept = cx.once("kept", async { Ok::<_, AskError>(0) }).await?;
        cx.confirm("Sure?").await?;
        let who = cx
            .principal()
            .map_or("nobody", Principal::as_str)
            .to_owned();
        let client = cx.client_info().map(|info| info.name.clone());
        Ok::<_, AskError>(format!(
            "{kept} {who} {client:?} {}",
            cx.meta().contains_key("progressToken")
        ))
    });
    let server = serve([ask]);
    let mut stored = stored("ask").await;
    stored.principal = Some("alice".to_owned());
    stored.capabilities = serde_json::from_value(json!({"elicitation": {}})).unwrap();
    let mut record = Record::default();
    record.once.insert("kept".to_owned(), "5".to_owned());
    let (link, mut questions) = Link::new(record);
    let run = tokio::spawn(resume(&server, &stored, link).unwrap());
    let asked = questions.recv().await.unwrap();
    assert_eq!(asked.question.key, "question-1");
    asked.answer(&json!({"action": "accept", "content": {}}));
    let result = run.await.unwrap().unwrap();
    assert!(
        result.get().contains(r#"5 alice Some(\"test\")"#),
        "{result}"
    );
    assert_eq!(support.calls("ask"), 0, "the wrapper is passed by");
}

#[tokio::test]
async fn interrupted_work_that_must_not_run_twice_fails_the_task() {
    let support = Support::default();
    let pay = tool("pay", &support, |cx, _| async move {
        cx.once("pay", async { Ok::<_, AskError>(1) }).await
    });
    let server = serve([pay]);
    let record = Record {
        begun_before: vec!["pay".to_owned()],
        ..Record::default()
    };
    let (link, _questions) = Link::new(record);
    let error = resume(&server, &stored("pay").await, link)
        .unwrap()
        .await
        .unwrap_err();
    let expected = "interrupted by a restart while `once(\"pay\")` ran; it may have happened";
    assert_eq!((error.code, &*error.message), (-32603, expected));
}

#[tokio::test]
async fn a_tool_that_is_not_available_any_more_cannot_be_resumed() {
    let (support, gate) = (Support::default(), Gate::new());
    gate.open();
    let number = || waiting("number", (&support, &gate), || 7);
    let stored = stored("number").await;
    let server = treenail::server!()
        .dynamic()
        .add([number()])
        .build()
        .unwrap();
    assert!(run(&server, &stored).await.is_ok());

    let hidden = treenail::server!()
        .add([number()])
        .visible(|_, caller| caller.principal().is_some());
    let hidden = hidden.build().unwrap();
    let mut of_alice = stored.clone();
    of_alice.principal = Some("alice".to_owned());
    gate.open();
    assert!(run(&hidden, &of_alice).await.is_ok());

    server
        .edit(|edit| edit.disable(Component::tool("number")))
        .unwrap();
    for server in [&server, &hidden, &serve([])] {
        let error = run(server, &stored).await.unwrap_err();
        let expected = "the task cannot continue: the tool `number` does not exist any more, or is not available to its caller";
        assert_eq!((error.code, &*error.message), (-32603, expected));
    }
}

#[tokio::test]
async fn arguments_of_another_schema_are_reported_as_those_of_a_call() {
    let support = Support::default();
    let input = json!({"type": "object", "properties": {"wait": {"type": "integer"}}});
    let number = Tool::new("number").input(input).task(support.clone());
    let server = serve([number.handler(|_, _| async { 7 })]);
    let result = run(&server, &stored("number").await).await.unwrap();
    let expected = r#""isError":true"#;
    assert!(result.get().contains(expected), "{result}");
    assert!(
        result
            .get()
            .contains("Wrong arguments for the tool `number`"),
        "{result}"
    );
}

#[tokio::test]
async fn an_unknown_revision_is_an_error() {
    let mut stored = stored("number").await;
    stored.revision = "2031-01-01".to_owned();
    let error = run(&serve([]), &stored).await.unwrap_err();
    assert_eq!(
        error.message,
        "the record of the task has the unknown protocol revision `2031-01-01`"
    );
}

/// Authority with one listed scope, and one that only a rule implies.
#[derive(Debug, Default)]
struct Reader(RequiredScopes);

impl Authority for Reader {
    fn has_scope(&self, scope: &str) -> bool {
        scope == "read" || scope == "list"
    }

    fn base(&self) -> &RequiredScopes {
        &self.0
    }

    fn refusal(&self, _: &str) -> Value {
        Value::Null
    }

    fn granted(&self) -> Vec<String> {
        vec!["read".to_owned()]
    }
}

#[tokio::test]
async fn a_resumed_call_has_the_scopes_that_were_granted() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let check = |scope: &'static str, support: &Support| {
        let gate = wait.clone();
        let tool = Tool::new("check").scope(scope).task(support.clone());
        let input = json!({"type": "object", "properties": {"wait": {"type": "boolean"}}});
        tool.input(input).handler(move |cx, _| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                let check = ["read", "list", "write"].map(|scope| cx.require_scope(scope).is_ok());
                Ok::<_, ToolError>(format!("{check:?}"))
            }
        })
    };
    let server = serve([check("list", &support)]);
    let mut connection = server.connect();
    connection
        .extensions_mut()
        .insert(Access::new(Reader::default()));
    let mut peer = Peer::over(connection, MODERN);
    let stored = detach(&mut peer, &support, "check").await.stored;
    assert_eq!(
        serde_json::to_value(&stored).unwrap()["scopes"],
        json!(["list", "read"])
    );
    gate.0.add_permits(8);
    let result = run(&server, &stored).await.unwrap();
    assert!(result.get().contains("[true, true, false]"), "{result}");

    let error = run(&serve([check("write", &support)]), &stored)
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "insufficient scope: the request needs `write`"
    );
}
