//! The four histograms.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::collector::{Collector, attribute, list};

#[mcp_tool]
fn echo(text: String) -> String {
    text
}

#[mcp_tool]
fn fail() -> Result<(), ToolError> {
    Err(ToolError::new("no"))
}

struct Refusing;

#[mcp_tool]
impl Refusing {
    #[prompt]
    fn refuse(code: i64) -> Result<String, RpcError> {
        Err(RpcError::new(code, "no"))
    }
}

#[tokio::test]
async fn the_histograms_of_the_conventions_are_recorded() {
    let collector = Collector::start();
    let [server, client] = ["server", "client"].map(|name| collector.program(name));
    let built = treenail::server!()
        .tools(tools![echo, fail])
        .mount(Refusing)
        .observe(server.telemetry.clone());
    let telemetry = client.telemetry.clone();
    let session = McpClientSession::builder()
        .server(&built.build().unwrap())
        .protocol_version(Revision::V2025_11_25)
        .wrap_session(move |session| telemetry.session(session));
    let session = session.build().await.unwrap();
    for text in ["a", "b"] {
        session
            .tools_call("echo", json!({"text": text}))
            .await
            .unwrap();
    }
    session.tools_call("fail", json!({})).await.unwrap();
    for name in ["x1", "x2"] {
        session.tools_call(name, json!({})).await.unwrap_err();
    }
    for code in [4_001, 4_002, -32_060, -32_603] {
        let refused = session.prompts_get("refuse", json!({"code": code}));
        refused.await.unwrap_err();
    }
    session.close().await.unwrap();
    drop(session);
    for provider in [&server.metrics, &client.metrics] {
        // The session of the server ends in its own task, so it is exported in the end.
        provider.force_flush().unwrap();
    }
    let counts = counts(&collector);
    let count = |metric: &str, key: &str| counts.get(&(metric.to_owned(), key.to_owned())).copied();
    for side in ["server", "client"] {
        let metric = format!("mcp.{side}.operation.duration");
        assert_eq!(count(&metric, "initialize  "), Some(1), "{counts:?}");
        assert_eq!(count(&metric, "tools/call echo "), Some(2));
        assert_eq!(count(&metric, "tools/call fail tool_error"), Some(1));
        assert_eq!(count(&metric, "prompts/get  -32603"), Some(1));
        // Codes that a peer chooses are one time series.
        assert_eq!(count(&metric, "prompts/get  _OTHER"), Some(3));
    }
    let spans = collector.spans();
    let with_code = spans
        .iter()
        .filter(|(_, span)| attribute(span, "error.type").as_deref() == Some("4001"));
    assert_eq!(with_code.count(), 2, "spans have the code");
    // Unknown names are no time series of the server.
    assert_eq!(
        count("mcp.server.operation.duration", "tools/call  -32602"),
        Some(2)
    );
    assert_eq!(count("mcp.client.session.duration", "  "), Some(1));
}

#[tokio::test]
async fn the_session_of_a_server_lasts_until_its_connection_ends() {
    let collector = Collector::start();
    let program = collector.program("server");
    let server = treenail::server!().observe(program.telemetry.clone());
    let mut connection = server.build().unwrap().connect();
    let info = json!({"name": "test", "version": "1"});
    let version = Revision::V2025_06_18.as_str();
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let _ = connection.handle_message(message.to_string().as_bytes(), &mut Vec::new());
    program.metrics.force_flush().unwrap();
    let session = ("mcp.server.session.duration".to_owned(), "  ".to_owned());
    assert_eq!(counts(&collector).get(&session), None);
    drop(connection);
    program.metrics.force_flush().unwrap();
    assert_eq!(counts(&collector).get(&session), Some(&1));
    let (_, metric) = collector
        .metrics()
        .into_iter()
        .find(|(_, metric)| metric["name"] == "mcp.server.session.duration")
        .unwrap();
    let point = &list(&metric["histogram"], "dataPoints")[0];
    assert_eq!(
        attribute(point, "mcp.protocol.version").as_deref(),
        Some(version)
    );
}

/// Returns the last count of each series: by the name of the metric, and by method, name and error.
fn counts(collector: &Collector) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for (_, metric) in collector.metrics() {
        assert_eq!(metric["unit"], "s");
        for point in list(&metric["histogram"], "dataPoints") {
            assert_eq!(point["explicitBounds"][0], 0.01);
            let text = |key| attribute(point, key).unwrap_or_default();
            let name = text("gen_ai.tool.name");
            let key = format!("{} {name} {}", text("mcp.method.name"), text("error.type"));
            let count = match &point["count"] {
                Value::String(text) => text.parse().unwrap(),
                count => count.as_u64().unwrap(),
            };
            let metric = metric["name"].as_str().unwrap().to_owned();
            counts.insert((metric, key), count);
        }
    }
    counts
}
