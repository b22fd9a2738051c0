//! Responses through layers that change nothing: the same bytes.

use serde_json::{Value, json};
use tower::ServiceBuilder;
use treenail::ServerBuilder;
use treenail::layer::Response;
use treenail::prelude::*;
use treenail::schema::{CallToolResult, Revision};
use treenail::transport::Handled;

use super::echo::add_results;
use super::weather::{add_functions, add_weather};
use crate::support::peer::{initialize, meta};

/// Returns the bytes of the response to a call.
async fn answer(server: &Server, revision: Revision, call: &Value) -> String {
    let mut connection = server.connect();
    let mut out = Vec::new();
    if !revision.is_modern() {
        let params = initialize(revision.as_str());
        for message in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ] {
            let _ = connection.handle_message(message.to_string().as_bytes(), &mut out);
        }
        out.clear();
    }
    let mut params = call.clone();
    if revision.is_modern() {
        for (key, value) in meta(revision.as_str()) {
            params["_meta"][key] = value;
        }
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    if let Handled::Pending(pending) =
        connection.handle_message(message.to_string().as_bytes(), &mut out)
    {
        out = pending.await;
    }
    String::from_utf8(out).unwrap()
}

fn with_all_outputs(server: ServerBuilder) -> Server {
    let server = add_functions(add_weather(server));
    add_results(server).build().unwrap()
}

#[tokio::test]
async fn transparent_layers_change_no_byte() {
    let plain = with_all_outputs(treenail::server!());
    let identity = ServiceBuilder::new().map_response(|response: Response| {
        // Reading a result does not modify it.
        assert!(response.result::<CallToolResult>().is_some());
        response
    });
    let layered = with_all_outputs(
        treenail::server!()
            .layer(identity)
            .layer(ServiceBuilder::new()),
    );
    let arguments =
        json!({"a": 1, "b": 2, "count": 3, "city": "Oslo", "text": "\u{1f}ä", "with": "x"});
    let pick = |names: &[&str]| -> Value {
        let members = names
            .iter()
            .map(|name| ((*name).to_owned(), arguments[*name].clone()));
        Value::Object(members.collect())
    };
    for revision in Revision::ALL {
        for (tool, arguments) in [
            ("add", pick(&["a", "b"])),
            ("add", pick(&["a"])),
            ("greet", json!({})),
            ("motto", json!({})),
            ("nothing", json!({})),
            ("perhaps", pick(&["text"])),
            ("perhaps", json!({})),
            ("fails", pick(&["with"])),
            ("fails_anyhow", json!({})),
            ("fails_with_content", json!({})),
            ("panics_at_once", json!({})),
            ("panics", json!({"later": false})),
            ("media", json!({})),
            ("whole_result", json!({})),
            ("list_of_numbers", pick(&["count"])),
            ("unwritable", json!({})),
            ("weather.forecast", pick(&["city"])),
            ("measure", json!({})),
            ("any_value", json!({})),
            ("with_meta", json!({})),
            ("no_such_tool", json!({})),
        ] {
            let call = json!({"name": tool, "arguments": arguments});
            let expected = answer(&plain, revision, &call).await;
            assert!(!expected.is_empty());
            assert_eq!(
                answer(&layered, revision, &call).await,
                expected,
                "{revision} {tool}"
            );
        }
    }
}
