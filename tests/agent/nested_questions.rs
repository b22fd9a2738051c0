//! Tools that are agents, with the model of the calling client, and that ask its user.

use serde_json::json;
use treenail::agent::{RunEvent, ScriptedModel, ScriptedReply};
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use crate::fixture::Log;

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

/// Calls `bank`, and checks that each call of the model has run once.
async fn check(revision: Revision, tool_asks: bool) {
    let log = Log::default();
    let banker = Banker {
        tool_asks,
        log: log.clone(),
    };
    let server = treenail::server!().mount(banker).build().unwrap();
    let balance = || ScriptedReply::call("balance", json!({}));
    let pay = ScriptedReply::call("pay", json!({}));
    let model = ScriptedModel::new([pay, balance(), balance(), "Done.".into()]);
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
    let at = format!("{revision}, {tool_asks}");
    assert_eq!(text, "Done.", "{at}");
    assert_eq!(asked.lines(), ["asked"], "{at}");
    let pays = log.lines().into_iter().filter(|line| line == "pay");
    assert_eq!(pays.count(), 1, "{at}");
    if !tool_asks {
        assert_eq!(log.lines(), ["pay", "balance", "balance"], "{at}");
        assert_eq!(model.requests().len(), 4, "{at}");
    }
}

#[tokio::test]
async fn questions_between_messages_do_not_repeat_calls() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        for tool_asks in [false, true] {
            check(revision, tool_asks).await;
        }
    }
}
