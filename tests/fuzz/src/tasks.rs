//! Methods of tasks: ids, cursors and answers of clients, and tasks of other callers.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::tasks::Tasks;

use crate::in_memory::{Peer, run as run_future};

/// Returns at once.
#[mcp_tool(task(always))]
async fn job() -> u8 {
    7
}

/// Asks its caller.
#[mcp_tool(task(always))]
async fn ask(cx: &Context) -> Result<String, AskError> {
    cx.confirm("Really?").await?;
    Ok("done".to_owned())
}

fn server() -> Server {
    let builder = Server::builder("jobs", "1.0.0").tools(tools![job, ask]);
    let builder = builder.extension(Tasks::new().enable_list());
    builder.build().expect("the server is valid")
}

fn capabilities() -> Value {
    json!({
        "elicitation": {"form": {}}, "tasks": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    })
}

/// Each line is a method, a blank, and the members of its parameters. `@1` and `@2` are the ids of tasks of Alice.
///
/// Both Alice and Bob send them, in both eras. Bob never learns about a task of Alice.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if text.lines().count() > 8 {
        return;
    }
    run_future(async {
        let server = server();
        let mut alice = Peer::modern(&server, capabilities()).with_principal("alice");
        let ids = [
            create(&mut alice, "job").await,
            create(&mut alice, "ask").await,
        ];
        let mut bob = Peer::modern(&server, capabilities()).with_principal("bob");
        let mut older = Peer::legacy(&server, "2025-11-25", capabilities())
            .await
            .with_principal("bob");
        for line in text.lines() {
            let line = line.replace("@1", &ids[0]).replace("@2", &ids[1]);
            let Some((method, members)) = line.split_once(' ') else {
                continue;
            };
            let params = format!("{{{members}}}");
            if serde_json::from_str::<serde_json::Map<String, Value>>(&params).is_err()
                || members.trim().is_empty()
            {
                continue;
            }
            let answers = [
                bob.modern_request(method, members).await,
                older.request(method, &params).await,
            ];
            for answer in answers {
                assert!(is_ignorant(method, &answer, &ids), "{line}: {answer}");
            }
            alice.modern_request(method, members).await;
        }
    });
}

async fn create(peer: &mut Peer, tool: &str) -> String {
    let members = format!(r#""name":"{tool}","arguments":{{}}"#);
    let answer = peer.modern_request("tools/call", &members).await;
    let id = answer["result"]["taskId"].as_str();
    id.unwrap_or_else(|| panic!("no task: {answer}")).to_owned()
}

/// Returns true if an answer to Bob reveals none of the tasks. A subscription repeats the ids of its request.
fn is_ignorant(method: &str, answer: &Value, ids: &[String; 2]) -> bool {
    let is_about_tasks = method.starts_with("tasks/");
    let text = answer["result"].to_string();
    !is_about_tasks || ids.iter().all(|id| !text.contains(&**id))
}
