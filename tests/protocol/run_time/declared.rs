//! Declared schemas and arguments of features that are made at run time, and their calls.

use serde_json::{Value, json};
use treenail::dynamic::{Feature, RawResult, Tool};
use treenail::tool::WrapResults;

use crate::support::covering::covering;
use crate::support::peer::{Peer, text};

/// Returns the listed definition of the only tool.
async fn listed(peer: &mut Peer) -> Value {
    peer.request("tools/list", json!({})).await["result"]["tools"][0].take()
}

/// Makes a tool with each kind of text or null output and this schema, with the values of their calls.
fn declared(schema: &Value) -> [(Feature, Value); 5] {
    let tool = || Tool::new("a").output(schema.clone());
    let raw = |_, _| async {
        let result = r#"{"structuredContent":"hi"}"#;
        Ok(RawResult::from(result.to_owned()))
    };
    [
        (tool().handler(|_, _| async { "hi" }), json!("hi")),
        (tool().blocking(|_, _| Some("hi")), json!("hi")),
        (tool().handler(|_, _| async {}), json!(null)),
        (
            tool().stream(|_, _| tokio_stream::iter(["h", "\"i"])),
            json!("h\"i"),
        ),
        (tool().raw(raw), json!("hi")),
    ]
}

#[tokio::test]
async fn a_declared_text_or_null_is_structured_content() {
    let schemas = [
        json!({"type": "string"}),
        json!({"type": "null"}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ];
    for revision in covering("SRV-TOOL-12, SRV-TOOL-14") {
        for (schema, wrap) in schemas.iter().flat_map(|schema| {
            [WrapResults::Never, WrapResults::Legacy, WrapResults::Always]
                .map(|wrap| (schema, wrap))
        }) {
            for (feature, value) in declared(schema) {
                if !jsonschema::is_valid(schema, &value) {
                    continue;
                }
                let server = treenail::server!().wrap_results(wrap).add(feature);
                let mut peer = Peer::connect(&server.build().unwrap(), revision).await;
                let listed = listed(&mut peer).await;
                let result = peer.call("a", json!({})).await;
                let place = format!("{schema} in {revision}, {wrap:?}: {result}");
                let copy: Value = serde_json::from_str(text(&result)).unwrap();
                assert_eq!(copy, value, "{place}");
                match (listed.get("outputSchema"), result.get("structuredContent")) {
                    (Some(listed), Some(found)) => {
                        assert!(jsonschema::is_valid(listed, found), "{place}");
                        let found = found.get("result").unwrap_or(found);
                        assert_eq!(*found, value, "{place}");
                    }
                    (None, None) => assert!(!revision.is_modern(), "{place}"),
                    _ => panic!("{place}: {listed}"),
                }
            }
        }
    }
}
