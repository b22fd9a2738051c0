//! Outputs: the result for each return type, in each revision.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::weather::server;
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn outputs_match_the_capabilities_of_the_revision() {
    // AMB-11: text and structured content of each.
    let table = [
        ("motto", json!({}), json!(["one\ntwo"]), None),
        ("nothing", json!({}), json!([]), None),
        ("perhaps", json!({}), json!([]), None),
        (
            "perhaps",
            json!({"text": "a \"b\""}),
            json!(["a \"b\""]),
            None,
        ),
        ("weather.name", json!({}), json!(["weather"]), None),
        ("add", json!({"a": 1, "b": 2}), json!(["3"]), Some(json!(3))),
        (
            "list_of_numbers",
            json!({"count": 3}),
            json!(["[0,1,2]"]),
            Some(json!([0, 1, 2])),
        ),
        ("whole_result", json!({}), json!(["3"]), Some(json!(3))),
        (
            "weather.forecast",
            json!({"city": "Os\"lo"}),
            json!([r#"{"name":"Os\"lo 1","latitude":59.9,"note":null}"#]),
            Some(json!({"name": "Os\"lo 1", "latitude": 59.9, "note": null})),
        ),
    ];
    for revision in covering(
        "SRV-TOOL-09, SRV-TOOL-13, SRV-TOOL-14, SRV-BASE-02, SRV-BASE-03, SRV-BASE-04, ALL-BASE-06, SRV-META-05, ALL-STDIO-01",
    ) {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, texts, structured) in &table {
            let result = peer.call(name, arguments.clone()).await;
            let found: Vec<_> = result["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|block| block["text"].clone())
                .collect();
            assert_eq!(json!(found), *texts, "{name}");
            let allowed = structured.as_ref().and_then(|value| match revision {
                MODERN => Some(value.clone()),
                _ if revision < Revision::V2025_06_18 => None,
                _ if value.is_object() => Some(value.clone()),
                // A complete result declares its content itself.
                _ if *name == "whole_result" => None,
                _ => Some(json!({ "result": value })),
            });
            assert_eq!(
                result.get("structuredContent"),
                allowed.as_ref(),
                "{name} in {revision}"
            );
            assert_eq!(result.get("isError"), None, "{name}");
            check_envelope(&result, revision);
        }
    }
}

/// Checks the members that every result of a revision has: SRV-BASE-03, SRV-BASE-04, SRV-META-05.
fn check_envelope(result: &Value, revision: Revision) {
    if revision.is_modern() {
        assert_eq!(result["resultType"], "complete");
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
            "treenail"
        );
    } else {
        assert_eq!(result.get("resultType"), None);
    }
}

#[tokio::test]
async fn null_differs_from_an_empty_result() {
    let revision = covering_one("ALL-TOOL-02 in 2026-07-28");
    let mut peer = Peer::connect(&server(), revision).await;
    let null = peer.call("null", json!({})).await;
    assert_eq!(null.get("structuredContent"), Some(&Value::Null));
    let nothing = peer.call("nothing", json!({})).await;
    assert_eq!(nothing.get("structuredContent"), None);
}

#[tokio::test]
async fn content_of_a_later_revision_becomes_text() {
    for revision in covering("SRV-TOOL-10, ALL-LIFE-01") {
        let mut peer = Peer::connect(&server(), revision).await;
        let result = peer.call("media", json!({})).await;
        let kinds: Vec<_> = result["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["type"].as_str().unwrap())
            .collect();
        let expected = match revision {
            Revision::V2024_11_05 => ["text", "text", "text"],
            Revision::V2025_03_26 => ["text", "audio", "text"],
            _ => ["text", "audio", "resource_link"],
        };
        assert_eq!(kinds, expected, "{revision}");
        if revision < Revision::V2025_06_18 {
            assert_eq!(result["content"][2]["text"], "report: file:///report.txt");
        }
    }
}

#[tokio::test]
async fn a_failure_is_a_result_for_the_model() {
    let table = [
        (
            "fails",
            json!({"with": "it"}),
            "the station does not answer",
        ),
        ("fails_with_text", json!({}), "as a text"),
        (
            "fails_anyhow",
            json!({}),
            "no forecast: the station does not answer",
        ),
        ("fails_with_content", json!({}), "one"),
        ("unwritable", json!({}), "key must be a string"),
    ];
    for revision in covering("SRV-TOOL-16") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, message) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_eq!(
                (text(&result), &result["isError"]),
                (*message, &json!(true)),
                "{name}"
            );
            check_envelope(&result, revision);
        }
    }
}

#[tokio::test]
async fn a_panic_is_a_result_and_the_session_continues() {
    for revision in [Revision::V2024_11_05, MODERN] {
        let mut peer = Peer::connect(&server(), revision).await;
        let calls = [
            ("panics", json!({"later": true})),
            ("panics", json!({"later": false})),
            ("panics_at_once", json!({})),
        ];
        for (name, arguments) in calls {
            let result = peer.call(name, arguments).await;
            assert_eq!(result["isError"], true);
            let expected =
                format!("the tool `{name}` failed unexpectedly; this is a bug in the server");
            assert_eq!(text(&result), expected, "the panic message is not sent");
            assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
        }
    }
}

/// Types are distinguished by their traits, so an alias has no effect.
mod aliases {
    use treenail::prelude::*;

    type Name = String;
    type Found<T> = Result<T, ToolError>;

    #[mcp_type]
    struct Place {
        name: Name,
    }

    type PlaceFound = Found<Place>;

    #[mcp_tool]
    fn locate(name: Name) -> PlaceFound {
        if name.is_empty() {
            return Err(ToolError::new("a place has a name"));
        }
        Ok(Place { name })
    }

    #[tokio::test]
    async fn arguments_and_outputs_behind_aliases_have_schemas() -> treenail::Result<()> {
        let server = treenail::server!().tools(tools![locate]).build()?;
        let client = McpClient::builder().server(&server).build().await?;
        let tool = client
            .tool("locate")
            .await?
            .ok_or_else(|| ToolError::new("not listed"));
        let tool = serde_json::to_value(tool.unwrap().as_ref()).unwrap();
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(
                tool[schema]["properties"]["name"]["type"], "string",
                "{schema}"
            );
        }
        let place = serde_json::json!({"name": "Oslo"});
        let result = client.call_tool("locate", &place).await?;
        assert_eq!(result.structured_content, Some(place));
        Ok(())
    }
}

/// Code of a country.
#[mcp_type]
struct Country(String);

struct Texts;

#[mcp_tool]
impl Texts {
    #[tool]
    fn newtype() -> Country {
        Country("NO".to_owned())
    }

    #[tool]
    fn path() -> std::path::PathBuf {
        "NO".into()
    }

    #[tool]
    fn time() -> treenail::chrono::NaiveTime {
        treenail::chrono::NaiveTime::MIN
    }

    #[tool]
    fn price() -> treenail::rust_decimal::Decimal {
        treenail::rust_decimal::Decimal::ONE
    }

    #[tool]
    fn date() -> treenail::chrono::NaiveDate {
        treenail::chrono::NaiveDate::MIN
    }
}

#[tokio::test]
async fn types_with_the_schema_of_a_plain_string_are_text() {
    let server = treenail::server!().mount(Texts).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    let listed = listed.as_array().unwrap().clone();
    assert_eq!(listed.len(), 5);
    for tool in listed {
        let name = tool["name"].as_str().unwrap();
        let result = peer.call(name, json!({})).await;
        let has_structure = name == "date";
        assert_eq!(tool.get("outputSchema").is_some(), has_structure, "{name}");
        assert_eq!(
            result.get("structuredContent").is_some(),
            has_structure,
            "{name}: {result}"
        );
    }
}
