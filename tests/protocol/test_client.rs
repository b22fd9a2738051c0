//! The client that users test their servers with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, CompleteRequestParams,
    CreateMessageRequestParams, Implementation, InputRequest, LoggingLevel, Number,
    PromptReference, Revision, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
};
use treenail::{Limits, RpcError};

use crate::peer::text;

struct Everything {
    dropped: Arc<AtomicBool>,
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Has some of everything.
#[mcp_tool(namespace = "all")]
impl Everything {
    #[tool(title = "Add")]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    #[tool]
    fn fail() -> Result<i64, String> {
        Err("no".to_owned())
    }

    #[tool]
    #[allow(deprecated, reason = "it is what is tested")]
    async fn tell(cx: &Context, steps: u32) -> String {
        for step in 1..=steps {
            cx.progress(step).total(steps).await;
            cx.log(LoggingLevel::Debug, "a step").await;
            tokio::task::yield_now().await;
        }
        cx.client_info()
            .map_or_else(String::new, |info| info.name.clone())
    }

    #[tool]
    async fn hang(&self) {
        let _on_drop = OnDrop(Arc::clone(&self.dropped));
        std::future::pending::<()>().await;
    }

    #[prompt]
    fn trip(#[arg(complete = cities)] city: String) -> String {
        format!("To {city}")
    }

    #[resource("all://one")]
    fn one() -> &'static str {
        "1"
    }

    #[resource("all://many/{name}")]
    fn many(name: String) -> Option<String> {
        (name == "a").then_some(name)
    }
}

fn cities(typed: &str) -> Vec<String> {
    let cities = ["Bergen", "Oslo"].into_iter();
    let found = cities.filter(|city| city.starts_with(typed));
    found.map(str::to_owned).collect()
}

fn server() -> (Server, Arc<AtomicBool>) {
    let dropped = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        page_size: 1,
        queued_messages: 1,
        ..Limits::default()
    };
    let everything = Everything {
        dropped: Arc::clone(&dropped),
    };
    let server = treenail::server!().mount(everything).limits(limits);
    (server.build().unwrap(), dropped)
}

#[tokio::test]
async fn every_request_has_a_method() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let mut client = server.test_client().revision(revision).await.unwrap();
        assert_eq!(client.revision(), revision);
        let tools = client.list_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        // All pages, of one each.
        assert_eq!(names, ["all.add", "all.fail", "all.tell", "all.hang"]);
        let result = client.call_tool("all.add", json!({"a": 1, "b": 2})).await;
        assert_eq!(text(&json!(result.unwrap())), "3");
        let result = client.call_tool("all.fail", ()).await.unwrap();
        assert_eq!(result.is_error, Some(true));

        assert_eq!(client.list_prompts().await.unwrap()[0].name, "all.trip");
        let prompt = client.get_prompt("all.trip", json!({"city": "Oslo"})).await;
        assert_eq!(
            json!(prompt.unwrap())["messages"][0]["content"]["text"],
            "To Oslo"
        );
        let reference = PromptReference::new("all.trip");
        let argument = json!({"name": "city", "value": "B"});
        let argument = serde_json::from_value::<treenail::schema::CompletionArgument>(argument);
        let params = CompleteRequestParams::new(reference, argument.unwrap());
        let proposed = client.complete(params).await.unwrap();
        assert_eq!(proposed.completion.values, ["Bergen"]);

        assert_eq!(client.list_resources().await.unwrap()[0].uri, "all://one");
        let templates = client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "all://many/{name}");
        let read = client.read_resource("all://many/a").await.unwrap();
        assert_eq!(json!(read)["contents"][0]["text"], "a");
        let missing = client.read_resource("all://many/b").await.unwrap_err();
        assert_eq!(missing.data.unwrap()["uri"], "all://many/b");

        // What belongs to one era is an error in the other.
        let modern = revision.is_modern();
        assert_eq!(client.discover().await.is_ok(), modern);
        assert_eq!(client.ping().await.is_ok(), !modern);
        assert_eq!(client.initialize_result().is_some(), !modern);
        let raw = client
            .request("tools/list", json!({"cursor": "all.hang"}))
            .await;
        assert_eq!(raw.unwrap()["tools"][0]["name"], "all.hang");
        let error = client.request("no/such", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601);
    }
}

#[tokio::test]
async fn what_a_call_tells_can_be_read_afterwards() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let client = server.test_client().revision(revision);
        let client = client.client_info(Implementation::new("someone", "1"));
        let client = client.capabilities(ClientCapabilities::default());
        let mut client = client.log_level(LoggingLevel::Debug).await.unwrap();
        let result = client.call_tool("all.tell", json!({"steps": 3})).await;
        assert_eq!(text(&json!(result.unwrap())), "someone");
        let progress = client.take_progress();
        let steps: Vec<_> = progress.into_iter().map(|told| told.progress).collect();
        assert_eq!(steps, [1, 2, 3].map(Number::from));
        let logs = client.take_logs();
        assert_eq!(logs.len(), 3);
        assert_eq!(logs[0].data, Value::from("a step"));
        assert_eq!(client.take_progress().len(), 0);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let (server, dropped) = server();
    let mut client = server.test_client().await.unwrap();
    {
        let mut call = std::pin::pin!(client.call_tool("all.hang", json!({})));
        tokio::select! {
            biased;
            _ = &mut call => panic!("it hangs"),
            () = tokio::task::yield_now() => {}
        }
        assert!(!dropped.load(Ordering::SeqCst));
    }
    assert!(dropped.load(Ordering::SeqCst), "SRV-CANC-03");
    let result = client.call_tool("all.add", json!({"a": 1, "b": 2})).await;
    assert_eq!(result.unwrap().structured_content, Some(json!(3)));
}

/// Asks for everything.
struct Curious;

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
impl Curious {
    #[tool]
    async fn confirm(cx: &Context) -> Result<&'static str, AskError> {
        cx.confirm("Sure?").await?;
        Ok("sure")
    }

    #[tool]
    async fn sample(cx: &Context) -> Result<String, AskError> {
        let hello = SamplingMessageContentBlock::Text(TextContent::new("Hello"));
        let messages = vec![SamplingMessage::new(Role::User, vec![hello])];
        let answer = cx
            .sample(CreateMessageRequestParams::new(messages, 9))
            .await?;
        Ok(answer.model)
    }

    #[tool]
    async fn roots(cx: &Context) -> Result<usize, AskError> {
        Ok(cx.roots().await?.len())
    }

    #[tool]
    async fn forever(cx: &Context) -> Result<(), AskError> {
        loop {
            cx.confirm("Again?").await?;
        }
    }

    #[prompt]
    async fn greet(cx: &Context) -> Result<String, AskError> {
        cx.confirm("Greet?").await?;
        Ok("Hello".to_owned())
    }

    #[resource("curious://one")]
    async fn one(cx: &Context) -> Result<String, AskError> {
        cx.confirm("Read?").await?;
        Ok("1".to_owned())
    }
}

fn curious() -> Server {
    let limits = Limits {
        question_rounds: u32::MAX,
        ..Limits::default()
    };
    let server = treenail::server!().mount(Curious).limits(limits);
    server.build().unwrap()
}

fn answered(question: &InputRequest) -> Value {
    match question {
        InputRequest::CreateMessage(_) => {
            json!({"role": "assistant", "content": {"type": "text", "text": "Hi"}, "model": "m"})
        }
        InputRequest::ListRoots(_) => json!({"roots": [{"uri": "file:///home"}]}),
        _ => json!({"action": "accept", "content": {}}),
    }
}

#[tokio::test]
async fn what_functions_ask_is_answered_in_every_revision() {
    for revision in Revision::ALL {
        let client = curious().test_client().revision(revision);
        let answer = |question: InputRequest| Ok(answered(&question));
        let mut client = client.answer(answer).await.unwrap();
        for (tool, expected) in [("sample", "m"), ("roots", "1")] {
            let result = client.call_tool(tool, ()).await.unwrap();
            assert_eq!(text(&json!(result)), expected, "{revision}");
        }
        if revision < Revision::V2025_06_18 {
            continue;
        }
        let result = client.call_tool("confirm", ()).await.unwrap();
        assert_eq!(text(&json!(result)), "sure", "{revision}");
        let prompt = client.get_prompt("greet", ()).await.unwrap();
        assert_eq!(json!(prompt)["messages"][0]["content"]["text"], "Hello");
        let read = client.read_resource("curious://one").await.unwrap();
        assert_eq!(json!(read)["contents"][0]["text"], "1");
    }
}

#[tokio::test]
async fn an_answer_that_is_an_error_is_told_to_the_server_or_ends_the_request() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let client = curious().test_client().revision(revision);
        let client = client.answer(|_| Err::<Value, _>(RpcError::new(-1, "busy")));
        let called = client.await.unwrap().call_tool("confirm", ()).await;
        if revision.is_modern() {
            assert_eq!(called.unwrap_err(), RpcError::new(-1, "busy"));
        } else {
            let expected = "the client could not answer: busy (code -1)";
            assert_eq!(text(&json!(called.unwrap())), expected);
        }
    }
}

#[tokio::test]
async fn questions_without_answers_are_errors_that_say_so() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let client = curious().test_client().revision(revision);
        let elicitation = ClientCapabilitiesElicitation::new();
        let able = ClientCapabilities::new().with_elicitation(elicitation);
        let mut client = client.capabilities(able).await.unwrap();
        let said = match client.call_tool("confirm", ()).await {
            Ok(result) => text(&json!(result)).to_owned(),
            Err(error) => error.message.into_owned(),
        };
        assert!(said.contains("see `TestClientBuilder::answer`"), "{said}");
        // What is asked can still be looked at.
        let params = json!({"name": "confirm"});
        let raw = client.request("tools/call", params).await.unwrap();
        let question = &raw["inputRequests"]["question-1"]["params"]["message"];
        assert_eq!(question == "Sure?", revision.is_modern(), "{raw}");
    }
}

#[tokio::test]
async fn questions_without_an_end_are_not_answered_without_an_end() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let client = curious().test_client().revision(revision);
        let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let client = client.answer(move |question| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(answered(&question))
        });
        let mut client = client.await.unwrap();
        let said = match client.call_tool("forever", ()).await {
            Ok(result) => text(&json!(result)).to_owned(),
            Err(error) => error.message.into_owned(),
        };
        let expected = "the test client answers at most 100 questions of one request";
        assert!(said.contains(expected), "{said}");
        assert_eq!(asked.load(Ordering::SeqCst), 100, "{revision}");
        // The next request is counted anew.
        let result = client.call_tool("confirm", ()).await.unwrap();
        assert_eq!(text(&json!(result)), "sure");
    }
}
