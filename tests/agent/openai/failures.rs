//! Failures: retries and errors.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{Model, ModelError};

use super::fake::{Endpoint, Reply, content};
use super::{ask, left, limits, model, question, text_of};

/// Kind and message of an error.
pub(super) fn reported(error: &ModelError) -> (&'static str, String) {
    match error {
        ModelError::Unavailable { reason, .. } => ("unavailable", reason.to_string()),
        ModelError::Refused(reason) => ("refused", reason.to_string()),
        ModelError::InvalidResponse(reason) => ("broken", reason.to_string()),
        other => ("other", other.to_string()),
    }
}

/// Checks that the request succeeds after these failures.
#[track_caller]
pub(super) fn check_recovery(
    endpoint: &Endpoint,
    reply: Result<treenail::agent::ModelReply, ModelError>,
    attempts: usize,
) {
    assert_eq!(text_of(&reply.unwrap()), "ok then");
    let asked = endpoint.all_asked();
    assert_eq!(asked.len(), attempts);
    assert!(
        asked.iter().all(|one| one.body == asked[0].body),
        "the same is asked again"
    );
}

#[tokio::test]
async fn transient_failures_are_retried() {
    let limited = Reply::error(429, "slow down", "rate_limit_exceeded");
    let failures = [
        limited.clone(),
        limited.clone().header("retry-after-ms", "3"),
        limited.header("retry-after", "0"),
        Reply::error(500, "oops", "server_error"),
        Reply::of(502, "text/html", "<html>bad gateway</html>"),
        Reply::of(503, "text/plain", "overloaded"),
        Reply::of(408, "text/plain", ""),
        Reply::error(409, "busy", "conflict"),
        // Only the start of a stream, before any text.
        Reply::text("never").broken_before("data:"),
        Reply::text("never").broken_before("never"),
        Reply::calls(&[("c1", "f", "{\"a\": 1}")]).broken_before("finish_reason\":\"tool"),
        Reply::events(
            "data: {\"error\": {\"message\": \"overloaded\", \"type\": \"server_error\"}}\n\n",
        ),
        Reply::events(
            "event: error\ndata: {\"error\": {\"message\": \"overloaded\", \"code\": 503}}\n\n",
        ),
        Reply::events(""),
    ];
    for failure in failures {
        let endpoint = Endpoint::start([failure.clone(), failure, Reply::text("ok then")]);
        let model = model(&endpoint).build().unwrap();
        let (reply, pieces) = ask(&model, &question("Why?")).await;
        assert_eq!(pieces, ["ok ", "then"]);
        check_recovery(&endpoint, reply, 3);
    }
}

#[tokio::test]
async fn retries_are_limited() {
    let limited =
        || Reply::error(429, "slow down", "rate_limit_exceeded").header("retry-after-ms", "3");
    let endpoint = Endpoint::start([limited(), limited(), limited()]);
    let model = model(&endpoint).build().unwrap();
    let failed = ask(&model, &question("Why?")).await.0.unwrap_err();
    assert_eq!(endpoint.all_asked().len(), 3);
    let ModelError::Unavailable {
        reason,
        retry_after,
        ..
    } = failed
    else {
        panic!("{failed:?}");
    };
    assert_eq!(&*reason, "HTTP status 429: slow down");
    assert_eq!(retry_after, Some(Duration::from_millis(3)));
}

#[tokio::test]
async fn an_excessive_retry_delay_fails_at_once() {
    let limited =
        Reply::error(429, "slow down", "rate_limit_exceeded").header("retry-after", "3600");
    let endpoint = Endpoint::start([limited]);
    let model = model(&endpoint).build().unwrap();
    let failed = ask(&model, &question("Why?")).await.0.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "the model is unavailable for 3600 s: HTTP status 429: slow down"
    );
    assert_eq!(endpoint.all_asked().len(), 1);
}

#[tokio::test]
async fn no_retry_after_streamed_text() {
    let endpoint = Endpoint::start([Reply::text("one two three").broken_before("three")]);
    let model = model(&endpoint).build().unwrap();
    let (failed, pieces) = ask(&model, &question("Why?")).await;
    assert_eq!(pieces, ["one ", "two "]);
    let (kind, why) = reported(&failed.unwrap_err());
    assert_eq!(kind, "unavailable");
    assert!(why.starts_with("the response was interrupted: "), "{why}");
    assert_eq!(endpoint.all_asked().len(), 1);
}

/// Checks that these replies fail with these messages, without a retry.
async fn check_told<'a>(kind: &str, cases: impl IntoIterator<Item = (Reply, &'a str)>) {
    for (reply, why) in cases {
        let endpoint = Endpoint::start([reply]);
        let model = model(&endpoint).build().unwrap();
        let failed = ask(&model, &question("Why?")).await.0.unwrap_err();
        assert_eq!(reported(&failed), (kind, why.to_owned()));
        assert_eq!(endpoint.all_asked().len(), 1, "{why}");
    }
}

fn stream(data: &str) -> Reply {
    Reply::events(&format!("data: {data}\n\n"))
}

#[tokio::test]
async fn rejections_are_not_retried() {
    let long = "x".repeat(2_000);
    let cases = [
        (
            Reply::error(401, "Incorrect API key provided", "invalid_api_key"),
            "HTTP status 401: Incorrect API key provided",
        ),
        (
            Reply::error(404, "no such model\u{1b}[2J\nat all", "model_not_found"),
            "HTTP status 404: no such model\\u{1b}[2J at all",
        ),
        (
            Reply::error(400, "too long", "context_length_exceeded"),
            "HTTP status 400: too long",
        ),
        (
            Reply::error(429, "no money", "insufficient_quota"),
            "HTTP status 429: no money",
        ),
        (
            Reply::of(302, "text/plain", "").header("location", "https://evil.example/v1?a=b"),
            "a redirect to https://evil.example/v1, which is not followed",
        ),
        (
            stream(r#"{"error": {"message": "bad", "type": "invalid_request_error"}}"#),
            "an error in the stream: bad",
        ),
        (
            Reply::error(400, &long, "x"),
            &format!("HTTP status 400: {}…", "x".repeat(483)),
        ),
    ];
    check_told("refused", cases).await;
}

#[tokio::test]
async fn invalid_responses_are_not_retried() {
    let cases = [
        (
            Reply::of(200, "text/html", "<html>"),
            "the response has the content type `text/html`, expected JSON or an event stream",
        ),
        (
            Reply::text("a").header("content-encoding", "gzip"),
            "the response is compressed, although that was not requested",
        ),
        (
            stream("{"),
            "EOF while parsing an object at line 1 column 1",
        ),
        (
            stream(r#"{"choices": [{"delta": {"content": "a", "tool_calls": 7}}]}"#),
            "invalid type: integer `7`, expected a sequence at line 1 column 55",
        ),
        (stream("[DONE]"), "the response contains no message"),
        (
            Reply::json(200, &json!({"choices": []})),
            "the response contains no message",
        ),
        (
            Reply::of(200, "application/json", "{} {}"),
            "trailing characters at line 1 column 4",
        ),
    ];
    check_told("broken", cases).await;
}

#[tokio::test]
async fn a_refused_connection_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = treenail::agent::OpenAiModel::builder("m")
        .base_url(url)
        .limits(limits());
    let failed = ask(&model.build().unwrap(), &question("Why?"))
        .await
        .0
        .unwrap_err();
    let (kind, why) = reported(&failed);
    assert_eq!(kind, "unavailable");
    assert!(why.starts_with("no connection to the server"), "{why}");
}

#[tokio::test]
async fn dropping_the_future_aborts_the_request() {
    let endpoint = Endpoint::start([
        Reply::stream([content("one "), content("two")]).held_before("data: [DONE]")
    ]);
    let model = model(&endpoint).build().unwrap();
    let request = question("Why?");
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let on_text = move |text: &str| sender.send(text.to_owned()).unwrap();
    let mut future = model.create_message(&request, &on_text);
    tokio::select! {
        ended = &mut future => panic!("{ended:?}"),
        text = seen.recv() => assert_eq!(text.as_deref(), Some("one ")),
    }
    drop(future);
    left(&endpoint).await;
}
