//! Servers over HTTP.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

#[cfg(unix)]
use serde_json::{Value, json};

use crate::process::{outcome_of, run_alone, test_server};

/// Test server over HTTP, which stops on drop.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) url: String,
}

impl HttpServer {
    fn start() -> Self {
        Self::start_mode("http")
    }

    /// Starts the test server in a mode that prints its URL.
    pub(crate) fn start_mode(mode: &str) -> Self {
        Self::start_with(&[mode])
    }

    pub(crate) fn start_with(args: &[&str]) -> Self {
        let mut server = Command::new(test_server());
        server
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = server.spawn().unwrap();
        let mut url = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn all_commands_work_over_http() {
    let server = HttpServer::start();
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let at = ["--url", &server.url, "--protocol-version", revision];
        run_alone(&[&["call", "add", "a=1", "b=2"][..], &at].concat()).check(0, "3\n", "");
        run_alone(&[&["read", "note://Oslo/3"][..], &at].concat()).check(0, "Oslo on day 3", "");
        let book = [
            "call",
            "book",
            "--answer",
            "name=Ada",
            "--answer",
            "room=Single",
        ];
        let expected = "Ada, 2 nights, single, note: none\n";
        run_alone(&[&book[..], &at].concat()).check(0, expected, "");
        let late = run_alone(&[&["call", "wait", "--timeout", "2s"][..], &at].concat());
        late.check(5, "", "error: no answer within 2s\n");
        let listed = run_alone(&[&["list", "tools"][..], &at].concat());
        assert!(
            listed.stdout.starts_with("add  [read-only]\n"),
            "{revision}: {}",
            listed.stderr
        );
    }
}

/// Starts a server that answers every request with `status` and forwards the request heads.
pub(crate) fn rejecting_server(
    status: &'static str,
) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (sender, heads) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            let head = read_head(&stream);
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            // The client may have closed the connection.
            let _ = (&stream).write_all(answer.as_bytes());
            if sender.send(head).is_err() {
                return;
            }
        }
    });
    (url, heads)
}

/// Starts a relay to a server. It answers requests with this method with status 503.
pub(crate) fn relay_without(method: &'static str, url: &str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let own = format!("http://{}/mcp", listener.local_addr().unwrap());
    let target = url.strip_prefix("http://").unwrap();
    let target = target.strip_suffix("/mcp").unwrap().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            let target = target.clone();
            thread::spawn(move || pass_on(&client, &target, method));
        }
    });
    own
}

fn pass_on(mut client: &TcpStream, target: &str, method: &str) -> io::Result<()> {
    let head = read_head(client);
    if head.contains(&format!("mcp-method: {method}\r\n")) {
        let answer = "HTTP/1.1 503 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return client.write_all(answer.as_bytes());
    }
    let mut server = TcpStream::connect(target)?;
    let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    server.write_all(head.as_bytes())?;
    let (mut reading, mut writing) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || io::copy(&mut reading, &mut writing));
    io::copy(&mut server, &mut client)?;
    client.shutdown(Shutdown::Both)
}

fn read_head(mut stream: &TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Starts a server of a legacy revision without features, with the session `one`, and forwards the request heads.
#[cfg(unix)]
pub(crate) fn session_server() -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (sender, heads) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            let head = read_head(&stream);
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let mut lengths = lines.filter(|line| line.0.eq_ignore_ascii_case("content-length"));
            let length = lengths.next().map_or(0, |line| line.1.parse().unwrap());
            let mut body = vec![0; length];
            (&stream).read_exact(&mut body).unwrap();
            let (status, body) = answer_of_session(&body);
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nmcp-session-id: one\r\n\
                 connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            // Recorded first, since the client may end when it has the answer.
            if sender.send(head).is_err() {
                return;
            }
            // The client may have closed the connection.
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    (url, heads)
}

#[cfg(unix)]
fn answer_of_session(body: &[u8]) -> (&'static str, String) {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(id) = request.get("id") else {
        return ("202 Accepted", String::new());
    };
    let mut answer = json!({"jsonrpc": "2.0", "id": id});
    if request["method"] == "initialize" {
        answer["result"] = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "session", "version": "1"},
        });
    } else {
        answer["error"] = json!({"code": -32601, "message": "unknown method"});
    }
    ("200 OK", answer.to_string())
}

#[test]
fn headers_are_sent_and_secrets_come_from_the_environment() {
    let (url, heads) = rejecting_server("401 Unauthorized");
    let mut list = Command::new(env!("CARGO_BIN_EXE_treenail"));
    list.args(["list", "--url", &url, "--header", "X-Team: a: b"]);
    list.args(["--header-env", "Authorization=TOKEN"])
        .env("TOKEN", "Bearer s3cret");
    let refused = outcome_of(list.stdin(Stdio::null()).output().unwrap());
    assert_eq!(
        (refused.code, &*refused.stdout),
        (4, ""),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("HTTP status 401"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("s3cret"), "{}", refused.stderr);
    let head = heads.recv().unwrap().to_lowercase();
    assert!(head.contains("\r\nx-team: a: b\r\n"), "{head}");
    assert!(
        head.contains("\r\nauthorization: bearer s3cret\r\n"),
        "{head}"
    );
}

#[test]
fn url_without_a_listener_exits_with_3() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let outcome = run_alone(&["list", "--url", &url]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    for wrong in ["no url", "ftp://localhost/"] {
        let outcome = run_alone(&["list", "--url", wrong]);
        assert_eq!(outcome.code, 2, "{wrong}: {}", outcome.stderr);
    }
}

/// A server over `http` on another computer receives no token. The address 0.0.0.0 is not a loopback address, but leads to one.
#[cfg(target_os = "linux")]
#[test]
fn a_server_without_encryption_needs_no_option() {
    let elsewhere = |url: String| url.replace("127.0.0.1", "0.0.0.0");
    let (url, _heads) = session_server();
    let url = elsewhere(url);
    run_alone(&["list", "tools", "--url", &url]).check(0, "", "nothing to list\n");
    let warned = run_alone(&["proxy", "--url", &url]).stderr;
    let warning = "no token is sent over `http` to another computer (host: 0.0.0.0)";
    assert_eq!(warned.matches(warning).count(), 1, "{warned}");
    let error = "error: no authorization: tokens are sent over `https` only, or over `http` to this computer; change the URL of the server\n \
                 note: if the server expects other credentials, use --header-env to send a header from an environment variable\n";
    let (url, _heads) = rejecting_server("401 Unauthorized");
    let url = elsewhere(url);
    run_alone(&["list", "--url", &url]).check(4, "", error);
    let error = "error: tokens are sent over `https` only, or over `http` to this computer; change the URL of the server\n";
    for option in ["--client-id=planner", "--scope=read"] {
        run_alone(&["list", "--url", &url, option]).check(2, "", error);
    }
}

#[test]
fn http_errors_have_advice() {
    let sign_in = "no authorization: not authorized: no user can be asked, since standard input is not a terminal; run `treenail auth login URL` first\n \
                   note: if the server expects other credentials, use --header-env to send a header from an environment variable";
    let credentials = "the server requires authorization (HTTP status 401)\n \
                       note: run `treenail auth login URL`, or use --header-env to send a header from an environment variable";
    let path = "URL answered with HTTP status 404\n \
                note: check the path of the URL; there may be no MCP server at this path";
    let modern = "not supported: revision 2026-07-28 is not supported at this URL: URL answered with HTTP status 405; \
                  the path may be wrong, or the server may support only older revisions";
    let cases = [
        ("401 Unauthorized", None, sign_in),
        ("401 Unauthorized", Some("--auth=never"), credentials),
        ("404 Not Found", None, path),
        (
            "405 Method Not Allowed",
            Some("--protocol-version=2026-07-28"),
            modern,
        ),
    ];
    for (status, option, error) in cases {
        let (url, _heads) = rejecting_server(status);
        let mut args = vec!["list", "--url", &url];
        args.extend(option);
        let error = error.replace("URL answered", &format!("{url} answered"));
        run_alone(&args).check(4, "", &format!("error: {error}\n"));
    }
}
