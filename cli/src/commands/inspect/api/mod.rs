//! JSON interface of the page: `calls` runs the calls of users, `asks` answers requests of the server, and `events` streams the
//! changes of the state.

mod asks;
mod calls;
mod events;

use std::sync::Arc;
use std::time::Instant;

use http::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use treenail::schema::{CompleteRequestParams, LoggingLevel, Root};
use treenail::{ClientError, McpClient};

use super::http::{Guard, ResponseBody, failure, json_response};
use super::hub::Hub;
use super::link::Link;

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
        return events::stream(&app.hub);
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
        ["calls"] => calls::start(app, input),
        ["calls", id, "cancel"] => {
            cancel_call(app, number(id)?)?;
            Ok(done)
        }
        ["complete"] => complete(app, input).await,
        ["asks", id] => asks::answer(app, number(id)?, input),
        ["subscriptions"] => {
            set_subscribed(app, input).await?;
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
            app.link.connect();
            Ok(done)
        }
        ["messages", "clear"] => {
            clear_messages(app);
            Ok(done)
        }
        _ => Err(not_found()),
    }
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
            "the link was used already, or has expired".to_owned(),
        )),
    }
}

fn cancel_call(app: &App, id: u64) -> Result<(), Refused> {
    if app.hub.cancel_call(id) {
        return Ok(());
    }
    Err((StatusCode::CONFLICT, "the call is not running".to_owned()))
}

/// Subscribes to a resource, or ends the subscription.
async fn set_subscribed(app: &App, input: Value) -> Result<(), Refused> {
    #[derive(Deserialize)]
    struct Subscription {
        uri: String,
        active: bool,
    }

    let Subscription { uri, active } = parse(input)?;
    let changed = app.link.set_subscribed(&uri, active).await;
    changed.map_err(of_server)
}

fn clear_messages(app: &App) {
    let mut state = app.hub.state();
    state.log.clear();
    app.hub.send(&state, &json!({"type": "cleared"}));
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

async fn complete(app: &App, input: Value) -> Result<Value, Refused> {
    let params: CompleteRequestParams = parse(input)?;
    let client = connected(app)?;
    let completed = client.session().completion_complete(&params).await;
    Ok(json!(completed.map_err(of_server)?.completion))
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
