//! Servers that have nothing but HTTP+SSE of 2024-11-05.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use treenail_runtime::client::{ClientError, Session, SessionRequest};

use super::ears::{Dialog, Heard, initialize, legacy, tool};
use super::script::{Asked, Script, Told};

type Stream = Arc<Mutex<Option<UnboundedSender<String>>>>;

fn call(id: i64) -> SessionRequest {
    legacy(id, "tools/call", &tool("a", &json!({})))
}

fn event(message: &Value) -> String {
    format!("event: message\r\ndata: {message}\r\n\r\n")
}

/// A server that refuses to be posted to with `status`, unless it is where it says with `endpoint`; and its stream.
async fn old_server(status: u16, endpoint: &'static str) -> (Script, Stream) {
    let stream = Stream::default();
    let held = Arc::clone(&stream);
    let script = Script::new(move |asked| {
        let mut held = held.lock().unwrap();
        match (&*asked.method, &*asked.path) {
            ("GET", "/mcp") => {
                let first = format!(": x\r\n\r\nevent: endpoint\r\ndata: {endpoint}\r\n\r\n");
                let (told, more) = Told::open_stream(&first);
                *held = Some(more);
                told
            }
            ("POST", "/messages?id=7") => {
                if let Some(answer) = answer(asked) {
                    held.as_ref().unwrap().send(answer).unwrap();
                }
                Told::response(202, "content-type: text/plain", "Accepted")
            }
            _ => Told::response(status, "content-type: text/plain", "no"),
        }
    });
    (script.await, stream)
}

fn answer(asked: &Asked) -> Option<String> {
    let id = asked.body.get("id")?;
    let answered = matches!(asked.rpc(), "initialize" | "tools/list");
    answered.then(|| event(&json!({"jsonrpc": "2.0", "id": id, "result": {"of": asked.rpc()}})))
}

#[tokio::test]
async fn messages_are_posted_where_the_server_says() {
    for status in [400, 404, 405] {
        let (mut script, stream) = old_server(status, "/messages?id=7").await;
        let mut dialog = Dialog::legacy(&script.url).await;
        let result = dialog
            .send(legacy(1, "tools/list", &json!({})))
            .await
            .unwrap();
        assert_eq!(result, json!({"of": "tools/list"}), "CLI-SSE-01");
        for (method, path, rpc) in [
            ("POST", "/mcp", "initialize"),
            ("GET", "/mcp", ""),
            ("POST", "/messages?id=7", "initialize"),
            ("POST", "/messages?id=7", "notifications/initialized"),
            ("POST", "/messages?id=7", "tools/list"),
        ] {
            let asked = script.asked().await;
            let got = (&*asked.method, &*asked.path, asked.rpc());
            assert_eq!(
                got,
                (method, path, rpc),
                "CLI-ERA-11, CLI-SSE-01, CLI-SSE-02: {status}"
            );
        }

        let more = stream.lock().unwrap().clone().unwrap();
        let ask =
            json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}});
        more.send(event(&ask)).unwrap();
        let heard = dialog.heard().await;
        let Heard::Request(method, _, responder) = heard else {
            panic!("{heard:?}");
        };
        assert_eq!(method, "sampling/createMessage");
        responder.respond(Ok(r#"{"role":"user"}"#.to_owned()));
        let asked = script.asked().await;
        assert_eq!(asked.path, "/messages?id=7", "CLI-SSE-01");
        assert_eq!(
            asked.body,
            json!({"jsonrpc": "2.0", "id": "q", "result": {"role": "user"}})
        );

        let waiting = dialog.begin(call(2));
        script.asked_to("tools/call").await;
        waiting.abort();
        let asked = script.asked().await;
        assert_eq!(
            asked.body["params"],
            json!({"requestId": 2}),
            "CLI-LHTTP-04"
        );
        assert_eq!(asked.path, "/messages?id=7", "CLI-SSE-01");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_request_at_once() {
    let (mut script, stream) = old_server(404, "/messages?id=7").await;
    let dialog = Dialog::legacy(&script.url).await;
    let more = stream.lock().unwrap().clone().unwrap();
    let long = "x".repeat(9 << 20);
    let answers = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"a":}}"#.to_owned(),
        r#"{"result":{"a":NaN},"jsonrpc":"2.0","id":ID}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":"{long}"}}}}"#),
    ];
    for (id, answer) in (1..).zip(answers) {
        let waiting = dialog.begin(call(id));
        script.asked_to("tools/call").await;
        let answer = answer.replacen("ID", &id.to_string(), 1);
        more.send(format!("data: {answer}\n\n")).unwrap();
        let error = waiting.await.unwrap().unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{id}: {error}");
    }
}

#[tokio::test]
async fn the_end_of_the_stream_is_the_end_of_the_session() {
    let (mut script, stream) = old_server(405, "/messages?id=7").await;
    let mut dialog = Dialog::legacy(&script.url).await;
    let waiting = dialog.begin(call(1));
    script.asked_to("tools/call").await;
    *stream.lock().unwrap() = None;
    let lost = waiting.await.unwrap();
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
    assert!(matches!(dialog.heard().await, Heard::Closed));
    let late = dialog.send(call(2)).await;
    assert!(matches!(late, Err(ClientError::Closed(_))), "{late:?}");
    dialog.initialize().await.unwrap();
    dialog
        .send(legacy(3, "tools/list", &json!({})))
        .await
        .unwrap();
}

#[tokio::test]
async fn an_address_of_another_origin_is_not_posted_to() {
    for endpoint in [
        "http://evil.example/messages?id=7",
        "//127.0.0.1:1/messages?id=7",
        "https://127.0.0.1/messages?id=7",
    ] {
        let (mut script, _stream) = old_server(405, endpoint).await;
        let dialog = Dialog::with(&script.url);
        let error = dialog.send(initialize()).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Protocol(_)),
            "{endpoint}: {error:?}"
        );
        assert!(error.to_string().contains("another origin"), "{error}");
        script.asked_to("GET").await;
        // It gives up listening too.
        script.left.notified().await;
    }
}

#[tokio::test]
async fn a_server_that_speaks_neither_is_told_of_with_its_first_words() {
    let answers: [fn() -> Told; 4] = [
        || Told::response(405, "", ""),
        || Told::stream("data: {}\n\n"),
        || Told::response(200, "content-type: application/json", "{}"),
        || Told::response(200, "content-type: text/html", "x"),
    ];
    for answer in answers {
        let script = Script::new(move |asked| match &*asked.method {
            "GET" => answer(),
            _ => Told::response(404, "content-type: text/plain", "no such page"),
        })
        .await;
        let error = Dialog::with(&script.url)
            .send(initialize())
            .await
            .unwrap_err();
        let shown =
            matches!(&error, ClientError::Http { status: 404, body } if **body == *"no such page");
        assert!(shown, "{error:?}");
    }
}

#[tokio::test]
async fn other_failures_are_no_sign_of_an_old_server() {
    let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no"}}"#;
    for (status, body) in [(400, error), (401, ""), (403, ""), (500, ""), (307, "")] {
        let mut script = Script::new(move |_| Told::response(status, "", body)).await;
        let dialog = Dialog::with(&script.url);
        dialog.send(initialize()).await.unwrap_err();
        // The next thing that the server hears of is the next request.
        dialog.send(legacy(1, "x", &json!({}))).await.unwrap_err();
        assert_eq!(script.asked().await.rpc(), "initialize");
        assert_eq!(script.asked().await.rpc(), "x", "CLI-ERA-11: {status}");
        dialog.session.close().await.unwrap();
    }
}
