//! Messages in both directions at the same time, each larger than the output queues of both peers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split,
};
use tokio::time::timeout;
use treenail::client::{
    ClientError, ClientLimits, IncomingHandler, IncomingRequest, LineSession, Session,
    SessionRequest,
};
use treenail::jsoncall::{self, JsoncallSession};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, Revision};

use crate::script::answer;

#[mcp_form]
struct Guest {
    name: String,
}

struct Large;

#[mcp_tool]
impl Large {
    /// Returns a text of this size.
    #[tool]
    fn long(bytes: usize) -> String {
        "x".repeat(bytes)
    }

    /// Returns the length of a text.
    #[tool]
    fn length(text: String) -> usize {
        text.len()
    }

    /// Returns the length of a name that the user enters.
    #[tool]
    async fn ask(cx: &Context) -> Result<usize, AskError> {
        Ok(cx.elicit::<Guest>("Who is coming?").await?.name.len())
    }
}

fn server() -> Server {
    Server::builder("large", "1.0.0")
        .mount(Large)
        .build()
        .unwrap()
}

type Sessions = fn(DuplexStream, &ClientLimits) -> Arc<dyn Session>;

const SESSIONS: [(&str, Sessions); 2] = [
    ("line", |stream, limits| {
        let (reader, writer) = split(stream);
        Arc::new(LineSession::with_limits(reader, writer, limits))
    }),
    ("jsoncall", |stream, limits| {
        let (reader, writer) = split(stream);
        Arc::new(JsoncallSession::with_limits(reader, writer, limits))
    }),
];

/// Connects each kind of session to each kind of server.
fn connections() -> Vec<(String, Arc<dyn Session>)> {
    let limits = ClientLimits::default();
    let mut connections = Vec::new();
    for (name, session) in SESSIONS {
        for over_jsoncall in [false, true] {
            let (ours, theirs) = duplex(1 << 16);
            tokio::spawn(async move {
                let (reader, writer) = split(theirs);
                if over_jsoncall {
                    jsoncall::serve(&server(), reader, writer).await.unwrap();
                } else {
                    server().serve(reader, writer).await.unwrap();
                }
            });
            let name = format!("{name}, server over jsoncall: {over_jsoncall}");
            connections.push((name, session(ours, &limits)));
        }
    }
    connections
}

/// Returns a call that can be spawned.
fn call(
    client: &Arc<McpClient>,
    tool: &'static str,
    arguments: Value,
) -> impl Future<Output = Result<CallToolResult, ClientError>> + use<> {
    let client = Arc::clone(client);
    async move { client.call_tool(tool, arguments).await }
}

#[tokio::test(start_paused = true)]
async fn large_arguments_and_large_results_do_not_block_each_other() {
    for (name, session) in connections() {
        let builder = McpClient::builder().session(session);
        let client = Arc::new(builder.build().await.unwrap());
        let text = "y".repeat(2 << 20);
        // Two calls, and many.
        for pairs in [1, 2] {
            let long = ("long", json!({"bytes": 3 << 20}));
            let kinds = vec![[long, ("length", json!({"text": text}))]; pairs];
            let calls: Vec<_> = kinds
                .into_iter()
                .flatten()
                .map(|(tool, arguments)| tokio::spawn(call(&client, tool, arguments)))
                .collect();
            for call in calls {
                let called = call.await.unwrap();
                assert!(called.is_ok(), "{name}: {}", called.unwrap_err());
            }
        }
        client
            .call_tool("length", json!({"text": "z"}))
            .await
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn large_answers_to_the_server_and_large_results_do_not_block_each_other() {
    for (name, session) in connections() {
        let client = McpClient::builder()
            .session(session)
            .protocol_version(Revision::V2025_06_18)
            .on_elicit(|_| async {
                let content = json!({"name": "y".repeat(2 << 20)});
                let result = json!({"action": "accept", "content": content});
                Ok(serde_json::from_value(result).unwrap())
            })
            .build()
            .await
            .unwrap();
        let long = || client.call_tool("long", json!({"bytes": 3 << 20}));
        let ask = || client.call_tool_as::<usize>("ask", ());
        let (first, length, second, other) = tokio::join!(long(), ask(), long(), ask());
        for called in [first, second] {
            assert!(called.is_ok(), "{name}: {}", called.unwrap_err());
        }
        for length in [length, other] {
            assert_eq!(
                length.map_err(|error| error.to_string()),
                Ok(2 << 20),
                "{name}"
            );
        }
    }
}

struct Echo;

impl IncomingHandler for Echo {
    fn notification(&self, _: &str, _: &str) {}

    fn request(&self, request: IncomingRequest<'_>) {
        request.responder.respond(Ok("{}".to_owned()));
    }

    fn closed(&self) {}
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reads_no_answers_gets_back_pressure() {
    const MAX_BYTES: usize = 512 << 10;
    let limits = ClientLimits::default().queued_output_bytes(MAX_BYTES);
    for (name, session) in SESSIONS {
        let (ours, theirs) = duplex(1 << 10);
        let session = session(ours, &limits);
        session.listen(Arc::new(Echo));
        let (reader, mut writer) = split(theirs);
        let id = "i".repeat(1_000);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string() + "\n";
        let second = Duration::from_secs(1);
        let mut requests = 0_usize;
        while let Ok(written) = timeout(second, writer.write_all(request.as_bytes())).await {
            written.unwrap();
            requests += 1;
            // Each answer has about the size of its request. Buffers of the session add some.
            let bytes = requests * request.len();
            assert!(bytes < 4 * MAX_BYTES, "{name}: {bytes} bytes were read");
        }
        assert!(requests > 32, "{name}: {requests}");

        let mut lines = BufReader::new(reader).lines();
        for _ in 0..requests {
            let line = timeout(second, lines.next_line()).await.unwrap().unwrap();
            assert!(line.unwrap().contains("\"result\""), "{name}");
        }
    }
}

#[tokio::test]
async fn answers_count_although_the_server_exits_before_it_reads_everything() {
    // With and without room for more output.
    for (bytes, (name, session)) in [1 << 20, 1 << 24]
        .into_iter()
        .flat_map(|bytes| SESSIONS.map(|session| (bytes, session)))
    {
        let limits = ClientLimits::default().queued_output_bytes(bytes);
        let (ours, mut theirs) = duplex(1 << 16);
        let session = session(ours, &limits);
        let long = json!({"text": "x".repeat(2 << 20)}).to_string();
        let server = async move {
            theirs.read_exact(&mut [0; 100]).await.unwrap();
            let refusal = json!({"jsonrpc": "2.0", "id": 2,
                "error": {"code": -32600, "message": "the line is too long"}});
            let text = format!("{}\n{refusal}\n", answer(&json!({"id": 1}), &json!({})));
            theirs.write_all(text.as_bytes()).await.unwrap();
        };
        let (first, second, ()) = tokio::join!(
            session.request(SessionRequest::new(1, "ping", "{}".to_owned())),
            session.request(SessionRequest::new(2, "long", long)),
            server,
        );
        assert_eq!(first.unwrap(), "{}", "{name}, {bytes}");
        let error = second.unwrap_err();
        assert!(
            matches!(error, ClientError::Refused(_)),
            "{name}, {bytes}: {error}"
        );
    }
}
