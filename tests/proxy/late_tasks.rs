//! Calls that become tasks while they run, and questions that their servers withdraw.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;
use treenail::prelude::*;
use treenail::proxy::{Proxy, ProxyLimits, Remote};
use treenail::schema::{ElicitAction, ElicitResult};
use treenail::tasks::{Tasks, ToolTask};

use crate::script::{Line, legacy_server, text, tools};
use crate::station::{MODERN, client_of, gateway};

type Log = Arc<Mutex<Vec<String>>>;

fn question() -> Value {
    let params =
        json!({"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}});
    json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params})
}

/// Server that asks 300 ms after the start of a call, withdraws the question 300 ms later if `withdraws`, and answers the call
/// 300 ms after that or after the answer. The log has the methods of its messages.
fn asking_late(log: &Log, withdraws: bool) -> Remote {
    let (log, called) = (Arc::clone(log), Arc::new(Mutex::new(Value::Null)));
    legacy_server(&tools(&["ask"]), move |message, line| {
        let method = message["method"].as_str().unwrap_or("answer");
        log.lock().unwrap().push(method.to_owned());
        match method {
            "tools/call" => {
                *called.lock().unwrap() = message.clone();
                tokio::spawn(ask(message.clone(), line.clone(), withdraws));
            }
            "answer" if !withdraws => {
                let action = message["result"]["action"].as_str();
                let answer = action.or(message["error"]["message"].as_str()).unwrap();
                line.answer(&called.lock().unwrap(), &text(answer));
            }
            _ => {}
        }
        true
    })
}

async fn ask(call: Value, line: Line, withdraws: bool) {
    let step = Duration::from_millis(300);
    sleep(step).await;
    line.send(&question());
    if withdraws {
        sleep(step).await;
        let params = json!({"requestId": 7});
        line.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        sleep(step).await;
        line.answer(&call, &text("withdrawn"));
    }
}

async fn task_gateway(remote: Remote, limits: ProxyLimits) -> (Server, Proxy) {
    let server = Server::builder("gateway", "1").dynamic();
    let server = server.extension(Tasks::new()).build().unwrap();
    let proxy = Proxy::new(&server).limits(limits);
    let remote = remote.task(ToolTask::new().after(Duration::from_millis(50)));
    proxy.mount(remote).unwrap().connected().await;
    (server, proxy)
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_call_pauses_while_the_client_of_its_task_is_asked() {
    let log = Log::default();
    let limits = ProxyLimits::default().call_timeout(Duration::from_secs(5));
    let (gateway, _proxy) = task_gateway(asking_late(&log, false), limits).await;
    let client = client_of(&gateway, MODERN).tasks().on_elicit(|_| async {
        sleep(Duration::from_secs(30)).await;
        Ok(ElicitResult::new(ElicitAction::Accept))
    });
    let client = client.build().await.unwrap();
    let result = client.call_tool("script.ask", ()).await.unwrap();
    assert_eq!(result.as_text(), Some("accept"), "{:?}", log.lock());
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_task_with_an_open_question_cancels_the_call() {
    let log = Log::default();
    let (gateway, _proxy) = task_gateway(asking_late(&log, false), ProxyLimits::default()).await;
    let client = client_of(&gateway, MODERN).tasks();
    let client = client.on_elicit(|_| pending()).build().await.unwrap();
    let task = client.call_tool("script.ask", ()).task().await.unwrap();
    assert!(task.id().is_some());
    sleep(Duration::from_secs(1)).await;
    task.cancel().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let log = log.lock().unwrap();
    let cancelled = log.iter().any(|one| one == "notifications/cancelled");
    assert!(cancelled, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_its_server_withdraws_has_no_answer() {
    let log = Log::default();
    let slow = |_| async {
        sleep(Duration::from_secs(3)).await;
        Ok(ElicitResult::new(ElicitAction::Accept))
    };
    let remote = asking_late(&log, true);
    let (tasks, _proxy) = task_gateway(remote, ProxyLimits::default()).await;
    let client = client_of(&tasks, MODERN).tasks().on_elicit(slow);
    let client = client.build().await.unwrap();
    let result = client.call_tool("script.ask", ()).await.unwrap();
    assert_eq!(result.as_text(), Some("withdrawn"));
    let (plain, proxy) = gateway();
    let mounted = proxy.mount(asking_late(&log, true)).unwrap();
    mounted.connected().await;
    let client = client_of(&plain, MODERN).on_elicit(slow);
    let client = client.build().await.unwrap();
    let result = client.call_tool("script.ask", ()).await.unwrap();
    assert_eq!(result.as_text(), Some("withdrawn"));
    sleep(Duration::from_secs(10)).await;
    let log = log.lock().unwrap();
    assert!(!log.iter().any(|one| one == "answer"), "{log:?}");
}
