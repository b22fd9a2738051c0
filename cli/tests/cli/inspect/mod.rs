//! The interface behind the page of `treenail inspect`.

pub(crate) mod inspector;

use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use self::inspector::Inspector;
use crate::http::HttpServer;
use crate::process::test_server;

#[test]
fn requests_without_token_or_of_other_pages_are_refused() {
    let server = test_server();
    let inspector = Inspector::start(&["--", server.to_str().unwrap()]);
    let (host, bearer) = (inspector.host(), inspector.bearer());
    let status = |line: &str, headers: &[&str]| inspector.send(line, headers, "").status;
    for line in [
        "GET /api/events",
        "GET /api/lists/tools",
        "POST /api/reconnect",
    ] {
        assert_eq!(status(line, &[&host]), 401, "{line}");
        let wrong = "authorization: Bearer wrong";
        assert_eq!(status(line, &[&host, wrong]), 401, "{line}");
        let query = line.to_owned() + "?token=" + &inspector.token;
        assert_eq!(status(&query, &[&host]), 401, "{line}");
        let rebound = "host: evil.example";
        assert_eq!(status(line, &[rebound, &bearer]), 403, "{line}");
        let foreign = "origin: http://evil.example";
        assert_eq!(status(line, &[&host, &bearer, foreign]), 403, "{line}");
        let site = "sec-fetch-site: cross-site";
        assert_eq!(status(line, &[&host, &bearer, site]), 403, "{line}");
    }
    assert_eq!(inspector.post("token", &json!({"code": "guess"})).0, 401);
    assert_eq!(inspector.get("nothing").0, 404);
}

#[test]
fn the_page_allows_no_scripts_of_others() {
    let server = test_server();
    let inspector = Inspector::start(&["--", server.to_str().unwrap()]);
    let page = inspector.send("GET /", &[&inspector.host()], "");
    assert_eq!(page.status, 200);
    assert!(!page.body.contains(&inspector.token));
    for expected in [
        "content-security-policy: default-src 'none'; script-src 'self';",
        "frame-ancestors 'none'",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(page.head.contains(expected), "{expected}: {}", page.head);
    }
    assert_eq!(
        inspector.send("GET /", &["host: evil.example"], "").status,
        403
    );
    assert_eq!(
        inspector.send("GET /none", &[&inspector.host()], "").status,
        404
    );
    assert_eq!(
        inspector.send("DELETE /", &[&inspector.host()], "").status,
        405
    );
}

#[test]
fn calls_and_messages_are_reported_as_events() {
    let inspector = Inspector::connected();
    let (status, tools) = inspector.get("lists/tools");
    assert_eq!(status, 200);
    assert_eq!(tools[0]["name"], "add");

    let mut events = inspector.events();
    events.wait_for("snapshot");
    let call = json!({"kind": "tool", "target": "add", "arguments": {"a": 1, "b": 2}});
    let (status, started) = inspector.post("calls", &call);
    assert_eq!((status, &started), (200, &json!({"id": 1})));
    let sent = events.wait_for("request");
    assert_eq!(
        (&sent["method"], &sent["subject"]),
        (&json!("tools/call"), &json!("add"))
    );
    let received = events.wait_for("result");
    assert!(received["ms"].is_number() && !received["sent"].as_bool().unwrap());
    assert_eq!(events.wait_for("done")["id"], 1);
    let (_, finished) = inspector.get("calls/1");
    assert_eq!(finished["outcome"]["result"]["content"][0]["text"], "3");
    let text = inspector.get(&format!("messages/{}", sent["seq"])).1;
    assert!(
        text["text"]
            .as_str()
            .unwrap()
            .contains("\"jsonrpc\":\"2.0\"")
    );

    let wait = json!({"kind": "tool", "target": "wait", "arguments": {}});
    inspector.post("calls", &wait);
    events.wait_for("running");
    assert_eq!(inspector.post("calls/2/cancel", &json!({})).0, 200);
    events.wait_for("cancelled");
    assert_eq!(inspector.post("calls/2/cancel", &json!({})).0, 409);
}

#[test]
fn invalid_answers_to_a_form_are_returned_to_the_user() {
    let inspector = Inspector::connected();
    let mut events = inspector.events();
    inspector.post("calls", &json!({"kind": "tool", "target": "book"}));
    let asks = loop {
        let event = events.wait_for("asks");
        if event["asks"][0]["kind"] == "elicitation" {
            break event;
        }
    };
    let path = format!("asks/{}", asks["asks"][0]["id"]);
    let accept = |content: Value| json!({"result": {"action": "accept", "content": content}});
    let (status, refused) = inspector.post(&path, &accept(json!({"name": "Ada"})));
    assert_eq!(status, 422);
    assert!(
        refused["error"].as_str().unwrap().contains("`room`"),
        "{refused}"
    );
    let content = json!({"name": "Ada", "nights": 3, "room": "double"});
    assert_eq!(inspector.post(&path, &accept(content.clone())).0, 200);
    events.wait_for("done");
    assert_eq!(inspector.post(&path, &accept(content)).0, 409);
}

#[test]
fn a_server_over_http_is_inspected_too() {
    let server = HttpServer::start_mode("http");
    let inspector = Inspector::start(&["--url", &server.url]);
    let connected = inspector.events().wait_for("connected");
    assert_eq!(connected["server"]["transport"], "Streamable HTTP");
    assert_eq!(inspector.get("lists/prompts").1[0]["name"], "greeting");
}

#[test]
fn the_level_of_log_messages_is_set_again_on_a_new_connection() {
    let server = test_server();
    let revision = ["--protocol-version", "2025-11-25"];
    let target = ["--", server.to_str().unwrap(), "boatyard"];
    let inspector = Inspector::start(&[&revision[..], &target].concat());
    let mut events = inspector.events();
    events.wait_for("connected");
    assert_eq!(inspector.post("log-level", &json!("debug")).0, 200);
    while events.wait_for("request")["method"] != "logging/setLevel" {}
    assert_eq!(inspector.post("reconnect", &json!({})).0, 200);
    let mut methods = Vec::new();
    let connected = loop {
        let event = events.next();
        match event["status"].as_str() {
            Some("connected") if !methods.is_empty() => break event,
            _ if event["kind"] == "request" => methods.push(event["method"].clone()),
            _ => {}
        }
    };
    assert_eq!(connected["logLevel"], "debug");
    assert!(methods.contains(&json!("logging/setLevel")), "{methods:?}");
}

#[test]
fn a_connection_is_opened_again_although_its_request_was_aborted() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate");
    assert!(
        Command::new("mkfifo")
            .arg(&gate)
            .status()
            .unwrap()
            .success()
    );
    let (server, path) = (test_server(), gate.display());
    let slow = format!("{} boatyard; read go < {path}", server.display());
    let inspector = Inspector::start(&["--", "sh", "-c", &slow]);
    let mut events = inspector.events();
    events.wait_for("connected");
    let mut tab = TcpStream::connect(&inspector.address).unwrap();
    let (host, bearer) = (inspector.host(), inspector.bearer());
    let head = format!("POST /api/reconnect HTTP/1.1\r\n{host}\r\n{bearer}\r\n");
    write!(tab, "{head}content-length: 2\r\n\r\n{{}}").unwrap();
    events.wait_for("connecting");
    drop(tab);
    // The old server has ended once it reads.
    std::fs::write(&gate, "go\n").unwrap();
    events.wait_for("connected");
}

#[test]
fn a_server_that_does_not_start_is_reported() {
    let inspector = Inspector::start(&["--", "/does/not/exist"]);
    let closed = inspector.events().wait_for("closed");
    assert!(
        closed["reason"]
            .as_str()
            .unwrap()
            .contains("could not connect"),
        "{closed}"
    );
    let call = json!({"kind": "tool", "target": "add"});
    assert_eq!(inspector.post("calls", &call).0, 503);
}

/// A program `xdg-open` that writes its arguments to a pipe.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_started_with_a_private_file_that_is_deleted_after_its_use() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    let (opener, pipe) = (folder.path().join("xdg-open"), folder.path().join("pipe"));
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    fs::write(&opener, "#!/bin/sh\necho \"$*\" > \"$PIPE\"\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o700)).unwrap();

    let inspector = Inspector::start_with(&["--", "/does/not/exist"], |command| {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", folder.path().display());
        command.env("PATH", path).env("PIPE", &pipe);
    });
    let arguments = fs::read_to_string(&pipe).unwrap();
    let file = Path::new(arguments.trim_end());
    assert_eq!(
        fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let text = fs::read_to_string(file).unwrap();
    let url = text
        .split('"')
        .find_map(|part| part.strip_prefix("0; url=http://"));
    let (address, code) = url.unwrap().split_once("/#code=").unwrap();
    assert_eq!(address, inspector.address);

    let code = json!({ "code": code });
    let (status, token) = inspector.post("token", &code);
    assert_eq!((status, token), (200, json!({ "token": inspector.token })));
    assert!(!file.exists());
    assert_eq!(inspector.post("token", &code).0, 401);
}
