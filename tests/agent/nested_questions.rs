//! Tools that are agents, with the model of the calling client, and that ask its user.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{RunEvent, ScriptedModel, ScriptedReply};
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use crate::fixture::{Log, desk};

/// Account whose payments ask the user of the calling client.
struct Bank {
    cx: Option<Context>,
    log: Log,
}

#[mcp_tool]
impl Bank {
    #[tool]
    async fn pay(&self) -> Result<&'static str, AskError> {
        if let Some(cx) = &self.cx {
            cx.confirm("Pay?").await?;
        }
        self.log.write("pay");
        Ok("paid")
    }

    /// Arguments of this tool are validated on a blocking thread.
    #[tool(schema = json!({"patternProperties": {"^[a-z]+$": {"type": "string"}}}))]
    fn withdraw(&self) -> u32 {
        self.log.write("withdraw");
        3
    }

    #[tool(read_only)]
    fn balance(&self) -> u32 {
        self.log.write("balance");
        7
    }
}

/// Agent that asks the user for approval, or whose tool does.
struct Banker {
    tool_asks: bool,
    log: Log,
}

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
impl Banker {
    #[tool]
    async fn bank(&self, cx: &Context) -> Result<String, ToolError> {
        let bank = Bank {
            cx: self.tool_asks.then(|| cx.clone()),
            log: self.log.clone(),
        };
        let bank = treenail::server!().mount(bank).build()?;
        let mut run = ToolLoop::new(cx.model()).source("bank", bank).run("Go");
        while let Some(event) = run.next().await {
            if let RunEvent::ApprovalRequested(request) = event {
                if !self.tool_asks {
                    cx.confirm("Pay?").await?;
                }
                run.approve(&request.call.id);
            }
        }
        Ok(run.await?.text())
    }
}

/// Messages of a model, and what became of them.
struct Outcome {
    /// Executed calls.
    calls: Vec<String>,
    /// Number of questions to the user.
    questions: usize,
    /// Number of requests for a message.
    requests: usize,
}

/// Calls `bank` with a model that sends these messages.
async fn outcome(
    revision: Revision,
    tool_asks: bool,
    messages: impl IntoIterator<Item = ScriptedReply>,
) -> Outcome {
    let log = Log::default();
    let banker = Banker {
        tool_asks,
        log: log.clone(),
    };
    let server = treenail::server!().mount(banker).build().unwrap();
    let messages = messages.into_iter().chain(["Done.".into()]);
    let model = ScriptedModel::new(messages);
    let asked = Log::default();
    let asking = asked.clone();
    let client = McpClient::builder()
        .server(&server)
        .protocol_version(revision)
        .enable_tool_use_for_sampling(model.clone())
        .on_elicit(move |_| {
            asking.write("asked");
            async { ElicitResult::accept(()) }
        });
    let client = client.build().await.unwrap();
    let text: String = client.call_tool_as("bank", ()).await.unwrap();
    assert_eq!(text, "Done.", "{revision}, {tool_asks}");
    Outcome {
        calls: log.lines(),
        questions: asked.lines().len(),
        requests: model.requests().len(),
    }
}

fn call(tool: &str) -> ScriptedReply {
    ScriptedReply::call(tool, json!({}))
}

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::LATEST];

#[tokio::test]
async fn questions_between_messages_do_not_repeat_calls() {
    for revision in REVISIONS {
        for tool_asks in [false, true] {
            let messages = ["pay", "balance", "balance"].map(call);
            let outcome = outcome(revision, tool_asks, messages).await;
            let at = format!("{revision}, {tool_asks}");
            assert_eq!(outcome.questions, 1, "{at}");
            let pays = outcome.calls.iter().filter(|line| *line == "pay");
            assert_eq!(pays.count(), 1, "{at}");
            if !tool_asks {
                assert_eq!(outcome.calls, ["pay", "balance", "balance"], "{at}");
                assert_eq!(outcome.requests, 4, "{at}");
            }
        }
    }
}

#[tokio::test]
async fn an_approval_does_not_repeat_the_other_calls_of_its_message() {
    let cases = [
        (["balance", "pay"], 1),
        (["pay", "balance"], 1),
        // The first of two is approved while the arguments of the second are validated.
        (["pay", "withdraw"], 2),
    ];
    for revision in REVISIONS {
        for (calls, questions) in cases {
            let [first, second] = calls;
            let message = call(first).and_call(second, json!({}));
            let mut outcome = outcome(revision, false, [message]).await;
            outcome.calls.sort();
            let mut expected = calls;
            expected.sort_unstable();
            assert_eq!(outcome.calls, expected, "{revision}");
            assert_eq!(outcome.questions, questions, "{revision}, {calls:?}");
            assert_eq!(outcome.requests, 2, "{revision}, {calls:?}");
        }
    }
}

/// Agent whose run ends before its call does.
struct Hasty {
    desk: Server,
}

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
impl Hasty {
    #[tool]
    async fn hurry(&self, cx: &Context) -> Result<String, ToolError> {
        let agent = ToolLoop::new(cx.model()).source("desk", &self.desk);
        let agent = agent.timeout(Duration::from_secs(1));
        let report = agent.run("Go").await?;
        cx.confirm(format!("{:?}?", report.stop_reason)).await?;
        Ok(format!("{:?}", report.stop_reason))
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_after_a_timeout_does_not_repeat_its_calls() {
    for revision in REVISIONS {
        let (desk, log) = desk();
        let server = treenail::server!().mount(Hasty { desk }).build().unwrap();
        let slow = ScriptedReply::call("wait", json!({"name": "slow", "millis": 20_000}));
        let model = ScriptedModel::new([slow, ScriptedReply::text("never said")]);
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision)
            .enable_tool_use_for_sampling(model.clone())
            .on_elicit(|_| async { ElicitResult::accept(()) });
        let client = client.build().await.unwrap();
        let text: String = client.call_tool_as("hurry", ()).await.unwrap();
        assert_eq!(text, "Timeout", "{revision}");
        let mut begun = log.lines();
        begun.retain(|line| line.starts_with("begin"));
        assert_eq!(begun, ["begin slow"], "{revision}");
        assert_eq!(model.remaining(), 1, "{revision}");
    }
}
