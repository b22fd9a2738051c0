//! The spans of one call through an agent, a proxy and a server over HTTP.

use serde_json::json;
use treenail::client::McpClientBuilder;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};
use treenail::schema::Revision;

use crate::collector::{Collector, Program, attribute};

/// The kinds of spans, as numbers of OTLP.
const SERVER: u8 = 2;
const CLIENT: u8 = 3;

/// Adds two numbers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

async fn serve(server: Server) -> String {
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let address = http.local_addr();
    tokio::spawn(http.serve());
    format!("http://{address}/mcp")
}

fn client(url: &str, revision: Revision, program: &Program) -> McpClientBuilder {
    let telemetry = program.telemetry.clone();
    McpClient::builder()
        .url(url)
        .protocol_version(revision)
        .wrap_session(move |session| telemetry.session(session))
}

#[tokio::test]
async fn one_call_through_a_proxy_is_one_trace() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let collector = Collector::start();
        let [agent, proxy, server] = ["agent", "proxy", "server"].map(|it| collector.program(it));
        let origin = treenail::server!()
            .tools(tools![add])
            .observe(server.telemetry.clone());
        let upstream = serve(origin.build().unwrap()).await;
        let middle = treenail::server!()
            .dynamic()
            .observe(proxy.telemetry.clone())
            .build()
            .unwrap();
        let program = proxy.clone();
        let connect = move || client(&upstream, revision, &program);
        let mounts = Proxy::new(&middle);
        let mounted = mounts.mount(Remote::new("math", connect)).unwrap();
        mounted.connected().await;
        let middle = serve(middle).await;
        let client = client(&middle, revision, &agent).build().await.unwrap();

        let arguments = json!({"a": 1, "b": 2});
        let sum: i64 = client.call_tool_as("math.add", arguments).await.unwrap();
        assert_eq!(sum, 3);

        let spans = collector.spans();
        let calls: Vec<_> = spans
            .iter()
            .filter(|(_, span)| span["name"].as_str().unwrap().starts_with("tools/call"))
            .collect();
        let find = |service: &str, kind: u8| {
            let found = calls
                .iter()
                .find(|(name, span)| name == service && span["kind"] == kind);
            &found
                .unwrap_or_else(|| panic!("{service} {kind}: {spans:?}"))
                .1
        };
        let path = [
            (find("agent", CLIENT), "math.add"),
            (find("proxy", SERVER), "math.add"),
            (find("proxy", CLIENT), "add"),
            (find("server", SERVER), "add"),
        ];
        assert_eq!(calls.len(), 4, "{calls:?}");
        for pair in path.windows(2) {
            let [(outer, _), (inner, _)] = pair else {
                unreachable!()
            };
            assert_eq!(inner["traceId"], outer["traceId"]);
            assert_eq!(inner["parentSpanId"], outer["spanId"]);
        }
        for (span, tool) in path {
            assert_eq!(span["name"], format!("tools/call {tool}"));
            for (key, value) in [
                ("mcp.method.name", "tools/call"),
                ("gen_ai.tool.name", tool),
                ("gen_ai.operation.name", "execute_tool"),
                ("mcp.protocol.version", revision.as_str()),
                ("network.transport", "tcp"),
                ("network.protocol.name", "http"),
            ] {
                assert_eq!(
                    attribute(span, key).as_deref(),
                    Some(value),
                    "{key}: {span}"
                );
            }
            assert!(attribute(span, "jsonrpc.request.id").is_some());
            assert_eq!(attribute(span, "error.type"), None);
        }
        // Also requests without a call, such as those for lists.
        for (_, span) in spans.iter().filter(|(_, span)| span["kind"] == SERVER) {
            let text = |key| attribute(span, key);
            assert_eq!(
                text("network.protocol.name").as_deref(),
                Some("http"),
                "{span}"
            );
            let has_session = !revision.is_modern() && span["name"] != "initialize";
            assert_eq!(text("mcp.session.id").is_some(), has_session, "{span}");
        }
    }
}
