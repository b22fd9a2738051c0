//! Calls of tools, prompts and resources, each in a task of its own.

use std::sync::Arc;

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use treenail::client::ClientRequest;
use treenail::schema::{CallToolResult, LoggingLevel, Request};
use treenail::{ClientError, McpClient};

use super::{App, Refused, bad_request, connected, parse};
use crate::commands::inspect::hub::{Hub, NewCall, Outcome};
use crate::server::{RequestTimer, UNBOUNDED};

/// Starts a call, and returns its number.
pub(super) fn start(app: &App, input: Value) -> Result<Value, Refused> {
    #[derive(Deserialize)]
    struct Input {
        kind: String,
        target: String,
        #[serde(default)]
        arguments: Value,
    }

    let Input {
        kind,
        target,
        arguments,
    } = parse(input)?;
    if !["tool", "prompt", "resource"].contains(&kind.as_str()) {
        return Err(bad_request("`kind`: expected tool, prompt or resource"));
    }
    let client = connected(app)?;
    let new = NewCall {
        kind,
        target,
        arguments,
    };
    let timer = RequestTimer::with_pauses(app.link.timeout(), app.hub.sign_ins().clone());
    let level = app.hub.state().log_level;
    let id = app.hub.start_call(new.clone(), &timer).ok_or_else(|| {
        let message = "too many calls are running; cancel one of them".to_owned();
        (StatusCode::TOO_MANY_REQUESTS, message)
    })?;
    let running = RunningCall {
        hub: Arc::clone(&app.hub),
        timer,
        level,
        id,
    };
    let task = tokio::spawn(running.run(client, new));
    app.hub.set_call_task(id, task.abort_handle());
    Ok(json!({ "id": id }))
}

/// A call in its task.
struct RunningCall {
    hub: Arc<Hub>,
    timer: Arc<RequestTimer>,
    level: Option<LoggingLevel>,
    id: u64,
}

impl RunningCall {
    async fn run(self, client: McpClient, new: NewCall) {
        let outcome = self.outcome(&client, &new).await;
        let outcome = outcome.unwrap_or_else(|error| Outcome::Error(error_json(&error)));
        self.hub.end_call(self.id, outcome);
    }

    async fn outcome(&self, client: &McpClient, new: &NewCall) -> Result<Outcome, ClientError> {
        let (target, arguments) = (new.target.as_str(), &new.arguments);
        Ok(match new.kind.as_str() {
            "tool" => {
                let request = client.tool_request(target, arguments).await?;
                let result: CallToolResult = self.send(request).await?;
                Outcome::Result(json!(result), result.is_error == Some(true))
            }
            "prompt" => {
                let result = self.send(client.get_prompt(target, arguments)).await?;
                Outcome::Result(json!(result), false)
            }
            _ => {
                let request = client.session().resources_read(target);
                Outcome::Result(json!(self.send(request).await?), false)
            }
        })
    }

    async fn send<R: Request + 'static>(
        &self,
        request: ClientRequest<R>,
    ) -> Result<R::Result, ClientError> {
        let (hub, id) = (Arc::clone(&self.hub), self.id);
        let mut request = request.timeout(UNBOUNDED).on_progress(move |progress| {
            let progress = json!({
                "progress": progress.progress,
                "total": progress.total,
                "message": progress.message,
            });
            hub.report_progress(id, progress);
        });
        if let Some(level) = self.level {
            request = request.log_level(level);
        }
        tokio::select! {
            result = request.into_future() => result,
            () = self.timer.expired() => Err(ClientError::Timeout(self.timer.limit())),
        }
    }
}

/// Returns the JSON of an error.
fn error_json(error: &ClientError) -> Value {
    match error {
        ClientError::Refused(refused) => json!({
            "kind": "refused",
            "message": refused.message,
            "code": refused.code,
            "data": refused.data,
        }),
        ClientError::Timeout(_) => json!({"kind": "timeout", "message": error.to_string()}),
        ClientError::Closed(_) | ClientError::Unreachable(_) => {
            json!({"kind": "closed", "message": error.to_string()})
        }
        ClientError::Protocol(_) => json!({"kind": "protocol", "message": error.to_string()}),
        _ => json!({"kind": "client", "message": error.to_string()}),
    }
}
