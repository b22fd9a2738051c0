//! An MCP server that answers requests by a rule of the test, and a user who approves each request at once.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use treenail::client::HttpSession;
use treenail_runtime::client::{ClientError, Session, SessionRequest};
use treenail_schema::Revision;

use crate::testing::TestAuthorizationServer;
use crate::{AuthError, AuthorizationRequest, Callback, Clock, OAuth};

/// The usual path of the metadata.
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource/mcp";
pub(super) const REDIRECT_URI: &str = "http://127.0.0.1:4000/callback";

/// Answer of the server to a request for its endpoint.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Accept,
    /// Status 401 with these parameters of the challenge, beside the URL of the metadata.
    Unauthorized(String),
    /// Status 403 with this challenge.
    Forbidden(String),
}

/// Request for the endpoint of the server.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The method of the message.
    pub(super) method: String,
    /// The name of the tool.
    pub(super) name: String,
    pub(super) token: Option<String>,
}

type Rule = Box<dyn FnMut(&Seen) -> Verdict + Send>;

struct State {
    rule: Rule,
    issuers: Vec<String>,
    /// Members of the metadata beside `resource` and `authorization_servers`, with a comma in front.
    extra: String,
    /// The path of the metadata.
    path: String,
    seen: Vec<Seen>,
    documents: usize,
    strays: Vec<String>,
}

/// An MCP server at `/mcp` and below it, of a loopback address.
#[derive(Clone)]
pub(super) struct Resource {
    origin: String,
    state: Arc<Mutex<State>>,
}

impl Resource {
    /// Starts a server that accepts every token, and refuses requests without one.
    pub(super) async fn start(authorization: &TestAuthorizationServer) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let resource = Self {
            origin: format!("http://{}", socket.local_addr().unwrap()),
            state: Arc::new(Mutex::new(State {
                rule: Box::new(accept_any),
                issuers: vec![authorization.issuer()],
                extra: String::new(),
                path: WELL_KNOWN.to_owned(),
                seen: Vec::new(),
                documents: 0,
                strays: Vec::new(),
            })),
        };
        let server = resource.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = socket.accept().await {
                let server = server.clone();
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        resource
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub(super) fn rule(&self, rule: impl FnMut(&Seen) -> Verdict + Send + 'static) {
        self.state().rule = Box::new(rule);
    }

    pub(super) fn set_issuers(&self, issuers: impl IntoIterator<Item = String>) {
        self.state().issuers = issuers.into_iter().collect();
    }

    pub(super) fn set_extra(&self, members: &str) {
        members.clone_into(&mut self.state().extra);
    }

    /// Publishes the metadata at another path, which only challenges announce.
    pub(super) fn publish_at(&self, path: &str) {
        path.clone_into(&mut self.state().path);
    }

    /// Returns the paths of `POST` requests for anything else than the endpoint.
    pub(super) fn strays(&self) -> Vec<String> {
        self.state().strays.clone()
    }

    /// Returns the requests for the endpoint, in their order.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    /// Returns the tokens of these requests.
    pub(super) fn tokens(&self) -> Vec<Option<String>> {
        self.seen().into_iter().map(|seen| seen.token).collect()
    }

    /// Returns the number of requests for the metadata.
    pub(super) fn documents(&self) -> usize {
        self.state().documents
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let (head, body) = read_request(&mut stream).await?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let answer = if path == self.state().path {
            self.metadata()
        } else if path.starts_with("/mcp") {
            self.answer(&head, &body)
        } else {
            if head.starts_with("POST") {
                self.state().strays.push(path.to_owned());
            }
            response("404 Not Found", "", "")
        };
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    }

    fn metadata(&self) -> String {
        let mut state = self.state();
        state.documents += 1;
        let (url, issuers) = (self.url(), serde_json::to_string(&state.issuers).unwrap());
        let extra = &state.extra;
        let json = format!(r#"{{"resource":"{url}","authorization_servers":{issuers}{extra}}}"#);
        response("200 OK", "content-type: application/json\r\n", &json)
    }

    fn answer(&self, head: &str, body: &str) -> String {
        let mut headers = head.lines().filter_map(|line| line.split_once(": "));
        let token = headers.find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let token = token.and_then(|(_, value)| value.strip_prefix("Bearer "));
        let message: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let seen = Seen {
            method: message["method"].as_str().unwrap_or_default().to_owned(),
            name: message["params"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            token: token.map(Into::into),
        };
        let mut state = self.state();
        state.seen.push(seen.clone());
        let challenge = match (state.rule)(&seen) {
            Verdict::Accept => {
                let id = &message["id"];
                let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
                return response("200 OK", "content-type: application/json\r\n", &json);
            }
            Verdict::Unauthorized(parameters) => {
                let metadata = format!("{}{}", self.origin, state.path);
                let challenge = format!(r#"Bearer resource_metadata="{metadata}"{parameters}"#);
                ("401 Unauthorized", challenge)
            }
            Verdict::Forbidden(challenge) => ("403 Forbidden", challenge),
        };
        let header = format!("www-authenticate: {}\r\n", challenge.1);
        response(challenge.0, &header, "")
    }
}

fn accept_any(seen: &Seen) -> Verdict {
    match seen.token {
        Some(_) => Verdict::Accept,
        None => Verdict::Unauthorized(String::new()),
    }
}

pub(super) async fn read_request(stream: &mut TcpStream) -> io::Result<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut headers = head.lines().filter_map(|line| line.split_once(": "));
            let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let length = length.map_or(0, |(_, value)| value.parse().unwrap());
            if body.len() >= length {
                return Ok((head.to_owned(), body.to_owned()));
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

pub(super) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Returns a client whose user approves each request at once.
pub(super) fn oauth() -> OAuth {
    OAuth::callback("test client", Callback::new(REDIRECT_URI, approve))
}

/// Requests the URL as a browser would, and returns the `Location` of the response.
pub(super) async fn approve(request: AuthorizationRequest) -> Result<String, AuthError> {
    let failed = |error: io::Error| AuthError::NotAuthorized(error.to_string().into());
    location(request.url()).await.map_err(failed)
}

async fn location(url: &str) -> io::Result<String> {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, target) = rest.split_at(rest.find('/').unwrap());
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let mut headers = response.lines().filter_map(|line| line.split_once(": "));
    let location = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let missing = || io::Error::other(format!("no redirect: {response}"));
    Ok(location.ok_or_else(missing)?.1.to_owned())
}

/// Returns a session with the server.
pub(super) fn session(resource: &Resource, oauth: &OAuth) -> HttpSession {
    session_at(resource.url(), oauth)
}

/// Returns a session with the server at a URL.
pub(super) fn session_at(url: String, oauth: &OAuth) -> HttpSession {
    let builder = HttpSession::builder(url);
    builder.authorization(oauth.clone()).build().unwrap()
}

/// Sends one request of the modern era.
pub(super) async fn call(
    session: &HttpSession,
    method: &'static str,
) -> Result<String, ClientError> {
    send(session, method, "tool").await
}

/// Calls a tool.
pub(super) async fn call_tool(session: &HttpSession, name: &str) -> Result<String, ClientError> {
    send(session, "tools/call", name).await
}

async fn send(
    session: &HttpSession,
    method: &'static str,
    name: &str,
) -> Result<String, ClientError> {
    let params = serde_json::json!({"name": name, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let mut request = SessionRequest::new(1, method, params.to_string());
    request.revision = Some(Revision::LATEST);
    session.request(request).await
}

/// Returns a clock that both sides can use, at the current time.
pub(super) fn clock() -> Clock {
    Clock::manual(SystemTime::now())
}
