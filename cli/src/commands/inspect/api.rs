//! JSON interface of the page.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;
use treenail::client::ClientRequest;
use treenail::form::parse_form_content;
use treenail::schema::{
    CallToolResult, CompleteRequestParams, ElicitAction, ElicitRequestParams, ElicitResult,
    LoggingLevel, Request, Root,
};
use treenail::{ClientError, McpClient};

use super::http::{Guard, ResponseBody, failure, json_response};
use super::hub::{AskKind, Hub, NewCall, Outcome};
use super::link::Link;
use crate::server::{RequestTimer, UNBOUNDED};

/// Interval of empty lines, which reveal a tab that has disconnected.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Number of lines that wait for a tab to read.
const QUEUED_LINES: usize = 16;

/// Page with its connection.
#[derive(Debug)]
pub(super) struct App {
    pub(super) hub: Arc<Hub>,
    pub(super) link: Arc<Link>,
    pub(super) guard: Guard,
}

/// Refusal of a request, with the status and a message.
type Refused = (StatusCode, String);

/// Answers a request of the page.
pub(super) async fn answer(
    app: &App,
    (method, route): (&Method, &str),
    input: Value,
) -> Response<ResponseBody> {
    if (method, route) == (&Method::GET, "events") {
        return stream_events(&app.hub);
    }
    let segments: Vec<_> = route.split('/').collect();
    let answered = match (method.as_str(), segments.as_slice()) {
        ("GET", _) => get(app, &segments).await,
        ("POST", _) => post(app, &segments, input).await,
        _ => Err(not_found()),
    };
    match answered {
        Ok(value) => json_response(&value),
        Err((status, message)) => failure(status, &message),
    }
}

async fn get(app: &App, segments: &[&str]) -> Result<Value, Refused> {
    match segments {
        ["lists", list] => read_list(app, list).await,
        ["calls", id] => {
            let state = app.hub.state();
            let (call, outcome) = state.calls.get(number(id)?).ok_or_else(not_found)?;
            let outcome: Value = serde_json::from_str(outcome).unwrap_or_default();
            Ok(json!({"call": call, "outcome": outcome}))
        }
        ["messages", seq] => {
            let state = app.hub.state();
            let text = state.log.text(number(seq)?).ok_or_else(not_found)?;
            Ok(json!({ "text": text }))
        }
        _ => Err(not_found()),
    }
}

async fn post(app: &App, segments: &[&str], input: Value) -> Result<Value, Refused> {
    let done = json!({});
    match segments {
        ["token"] => redeem(app, input),
        ["lists"] => {
            let client = connected(app)?;
            client.refresh_all().await.map_err(of_server)?;
            Ok(done)
        }
        ["calls"] => start_call(app, input),
        ["calls", id, "cancel"] => match app.hub.cancel_call(number(id)?) {
            true => Ok(done),
            false => Err((StatusCode::CONFLICT, "the call is not running".to_owned())),
        },
        ["complete"] => complete(app, input).await,
        ["asks", id] => answer_ask(app, number(id)?, input),
        ["subscriptions"] => {
            let Subscription { uri, active } = parse(input)?;
            app.link
                .set_subscribed(&uri, active)
                .await
                .map_err(of_server)?;
            Ok(done)
        }
        ["roots"] => {
            let roots: Vec<Root> = parse(input)?;
            app.link.set_roots(roots).await.map_err(of_server)?;
            Ok(done)
        }
        ["log-level"] => {
            let level: LoggingLevel = parse(input)?;
            app.link.set_log_level(level).await.map_err(of_server)?;
            Ok(done)
        }
        ["ping"] => ping(app).await,
        ["reconnect"] => {
            app.link.connect().await;
            Ok(done)
        }
        ["messages", "clear"] => {
            let mut state = app.hub.state();
            state.log.clear();
            app.hub.send(&state, &json!({"type": "cleared"}));
            Ok(done)
        }
        _ => Err(not_found()),
    }
}

#[derive(Deserialize)]
struct Subscription {
    uri: String,
    active: bool,
}

/// Returns the token for a one-time code.
fn redeem(app: &App, input: Value) -> Result<Value, Refused> {
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }

    let Code { code } = parse(input)?;
    match app.guard.redeem(&code) {
        Some(token) => Ok(json!({ "token": token })),
        None => Err((
            StatusCode::UNAUTHORIZED,
            "the code is invalid, or was used already".to_owned(),
        )),
    }
}

async fn read_list(app: &App, list: &str) -> Result<Value, Refused> {
    fn items<T: Serialize>(listed: Result<Vec<T>, ClientError>) -> Result<Value, Refused> {
        listed.map(|items| json!(items)).map_err(of_server)
    }

    let client = connected(app)?;
    match list {
        "tools" => items(deref(client.tools().await)),
        "prompts" => items(deref(client.prompts().await)),
        "resources" => items(deref(client.resources().await)),
        "templates" => {
            let templates = client.url_templates().await.map_err(of_server)?;
            Ok(templates.iter().map(|it| json!(it.listed())).collect())
        }
        _ => Err(not_found()),
    }
}

/// Returns the JSON of shared items.
fn deref<T: Serialize>(items: Result<Vec<Arc<T>>, ClientError>) -> Result<Vec<Value>, ClientError> {
    Ok(items?.iter().map(|item| json!(**item)).collect())
}

fn start_call(app: &App, input: Value) -> Result<Value, Refused> {
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
    let timer = RequestTimer::new(app.link.timeout());
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

async fn complete(app: &App, input: Value) -> Result<Value, Refused> {
    let params: CompleteRequestParams = parse(input)?;
    let client = connected(app)?;
    let completed = client.session().completion_complete(&params).await;
    Ok(json!(completed.map_err(of_server)?.completion))
}

/// Answers a request of the server, after a check of the content.
fn answer_ask(app: &App, id: u64, input: Value) -> Result<Value, Refused> {
    #[derive(Deserialize)]
    struct Input {
        result: Option<Value>,
        error: Option<String>,
    }

    let gone = || {
        (
            StatusCode::CONFLICT,
            "the request is no longer open".to_owned(),
        )
    };
    let Input { result, error } = parse(input)?;
    let answer = match (result, error) {
        (Some(result), None) => {
            let state = app.hub.state();
            let (kind, params) = state.asks.get(id).ok_or_else(gone)?;
            if kind == AskKind::Elicitation {
                check_elicitation(params, &result)?;
            }
            Ok(result)
        }
        (None, Some(error)) => Err(error),
        _ => return Err(bad_request("expected either `result` or `error`")),
    };
    match app.hub.answer(id, answer) {
        true => Ok(json!({})),
        false => Err(gone()),
    }
}

/// Checks the content of a form, so that the user can correct it.
fn check_elicitation(params: &Value, result: &Value) -> Result<(), Refused> {
    let unprocessable = |message| (StatusCode::UNPROCESSABLE_ENTITY, message);
    let result: ElicitResult = parse(result.clone())?;
    if result.action != ElicitAction::Accept {
        return Ok(());
    }
    let ElicitRequestParams::Form(form) = parse(params.clone())? else {
        return Ok(());
    };
    let checked = parse_form_content(&form.requested_schema, result.content.unwrap_or_default());
    checked
        .map(drop)
        .map_err(|error| unprocessable(error.to_string()))
}

/// Measures the time of a request without work: `ping`, or `server/discover` in the modern era.
async fn ping(app: &App) -> Result<Value, Refused> {
    let client = connected(app)?;
    let session = client.session();
    let started = Instant::now();
    let answered = if session.protocol_version().is_modern() {
        session.server_discover().await.map(drop)
    } else {
        session.ping().await.map(drop)
    };
    answered.map_err(of_server)?;
    Ok(json!({"ms": started.elapsed().as_secs_f64() * 1_000.0}))
}

/// Returns a response with a snapshot and all later events, as lines of JSON.
fn stream_events(hub: &Arc<Hub>) -> Response<ResponseBody> {
    let (snapshot, mut events) = hub.subscribe();
    let (lines, received) = mpsc::channel(QUEUED_LINES);
    let hub = Arc::clone(hub);
    tokio::spawn(async move {
        let mut next = snapshot;
        while lines.send(next).await.is_ok() {
            next = match timeout(KEEP_ALIVE, events.recv()).await {
                Ok(Ok(event)) => event,
                Ok(Err(broadcast::error::RecvError::Lagged(_))) => hub.resubscribe(&mut events),
                Ok(Err(broadcast::error::RecvError::Closed)) => return,
                Err(_) => "".into(),
            };
        }
    });
    Response::new(ResponseBody::Lines(received))
}

fn connected(app: &App) -> Result<McpClient, Refused> {
    let missing = || {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "there is no connection to the server".to_owned(),
        )
    };
    app.link.client().ok_or_else(missing)
}

fn parse<T: DeserializeOwned>(input: Value) -> Result<T, Refused> {
    serde_json::from_value(input).map_err(|error| bad_request(&error.to_string()))
}

fn number(text: &str) -> Result<u64, Refused> {
    text.parse().map_err(|_| not_found())
}

fn not_found() -> Refused {
    (StatusCode::NOT_FOUND, "not found".to_owned())
}

fn bad_request(message: &str) -> Refused {
    (StatusCode::BAD_REQUEST, message.to_owned())
}

/// Returns the refusal for an error of the server.
#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
fn of_server(error: ClientError) -> Refused {
    (StatusCode::BAD_GATEWAY, error.to_string())
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
        ClientError::Closed(_) => json!({"kind": "closed", "message": error.to_string()}),
        ClientError::Protocol(_) => json!({"kind": "protocol", "message": error.to_string()}),
        _ => json!({"kind": "client", "message": error.to_string()}),
    }
}
