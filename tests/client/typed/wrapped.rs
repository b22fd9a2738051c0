//! Values wrapped as `{"result": …}`: by servers of Treenail in every revision, and by others.

use serde_json::{Value, json};
use treenail::Server;
use treenail::client::Severity;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::tool::WrapResults;

use super::station::client;
use crate::script::{Reply, initialized, scripted};

#[mcp_type]
#[derive(Clone, Debug, Default, PartialEq)]
#[serde(default)]
struct Loose {
    note: Option<String>,
}

/// Returns values that are not objects.
#[mcp_client(namespace = "things")]
trait ThingsApi {
    async fn sum(&self) -> Result<i64, ToolError>;

    async fn list(&self) -> Result<Vec<Loose>, ToolError>;

    async fn perhaps(&self, there: bool) -> Result<Option<Loose>, ToolError>;

    async fn anything(&self) -> Result<Value, ToolError>;

    async fn single(&self) -> Result<Single, ToolError>;

    fn numbers(&self, to: u32) -> impl Stream<Item = Result<u32, ToolError>>;

    #[tool(fold = "last")]
    fn last(&self, to: u32) -> impl Stream<Item = Result<Option<Loose>, ToolError>>;
}

/// Object that looks like a wrapped value.
#[mcp_type]
#[derive(Clone, Debug, PartialEq)]
struct Single {
    result: u8,
}

struct Things;

fn noted() -> Loose {
    let note = Some("n".to_owned());
    Loose { note }
}

#[mcp_tool]
impl ThingsApi for Things {
    async fn sum(&self) -> Result<i64, ToolError> {
        Ok(3)
    }

    async fn list(&self) -> Result<Vec<Loose>, ToolError> {
        Ok(vec![noted()])
    }

    async fn perhaps(&self, there: bool) -> Result<Option<Loose>, ToolError> {
        Ok(there.then(noted))
    }

    async fn anything(&self) -> Result<Value, ToolError> {
        Ok(json!([1]))
    }

    async fn single(&self) -> Result<Single, ToolError> {
        Ok(Single { result: 4 })
    }

    fn numbers(&self, to: u32) -> impl Stream<Item = Result<u32, ToolError>> {
        tokio_stream::iter((1..=to).map(Ok))
    }

    fn last(&self, to: u32) -> impl Stream<Item = Result<Option<Loose>, ToolError>> {
        tokio_stream::iter((0..to).map(|_| Ok(Some(noted()))))
    }
}

fn things(wrap: WrapResults) -> Server {
    let builder = Server::builder("things", "1").mount(Things);
    builder.wrap_results(wrap).build().unwrap()
}

const WAYS: [WrapResults; 3] = [WrapResults::Never, WrapResults::Legacy, WrapResults::Always];

async fn all<T>(mut stream: impl Stream<Item = Result<T, ClientError>> + Unpin) -> Vec<T> {
    let mut items = Vec::new();
    while let Some(item) = tokio_stream::StreamExt::next(&mut stream).await {
        items.push(item.unwrap());
    }
    items
}

#[tokio::test]
async fn values_wrapped_by_treenail_are_unwrapped() {
    for wrap in WAYS {
        for revision in Revision::ALL {
            let client = client(&things(wrap), revision).await;
            let typed = ThingsApiClient::new(&client);
            assert_eq!(typed.sum().await.unwrap(), 3);
            assert_eq!(typed.list().await.unwrap(), [noted()]);
            assert_eq!(typed.perhaps(true).await.unwrap(), Some(noted()));
            assert_eq!(typed.perhaps(false).await.unwrap(), None);
            assert_eq!(typed.anything().await.unwrap(), json!([1]));
            assert_eq!(typed.single().await.unwrap(), Single { result: 4 });
            assert_eq!(all(typed.numbers(3)).await, [1, 2, 3]);
            assert_eq!(all(typed.last(2)).await.last(), Some(&Some(noted())));

            let sum: i64 = client.call_tool_as("things.sum", ()).await.unwrap();
            let list: Vec<Loose> = client.call_tool_as("things.list", ()).await.unwrap();
            let value: Value = client.call_tool_as("things.sum", ()).await.unwrap();
            assert_eq!((sum, list, value), (3, vec![noted()], json!(3)));
            let there = json!({"there": true});
            let loose: Loose = client.call_tool_as("things.perhaps", there).await.unwrap();
            assert_eq!(loose, noted(), "not taken for one without a note");
            let single: Value = client.call_tool_as("things.single", ()).await.unwrap();
            assert_eq!(single, json!({"result": 4}), "it was not wrapped");
        }
    }
}

#[tokio::test]
async fn a_contract_is_the_same_in_all_revisions_with_structured_content() {
    let structured = Revision::ALL.into_iter();
    let structured = structured.filter(|revision| *revision >= Revision::V2025_06_18);
    let mut contracts = vec![ThingsApiClient::contract().unwrap()];
    for wrap in [WrapResults::Legacy, WrapResults::Always] {
        let server = things(wrap);
        for revision in structured.clone() {
            let client = client(&server, revision).await;
            let contract = client.contract().await.unwrap();
            for recorded in &contracts {
                let drift = client.check(recorded).await.unwrap();
                assert!(drift.worst() <= Some(Severity::Wording), "{drift}");
            }
            let sum = contract.tool("things.sum").unwrap();
            let schema = sum.output_schema.as_ref().unwrap();
            assert_eq!(json!(**schema), json!({"type": "integer"}), "{revision}");
            contracts.push(contract);
        }
    }
}

/// Creates a client of a legacy server whose tool `t` has this schema and returns this result.
async fn foreign(schema: Option<Value>, result: Value) -> McpClient {
    let (session, _) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/list") => {
            let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
            if let Some(schema) = &schema {
                tool["outputSchema"] = schema.clone();
            }
            Reply::result(message, &json!({ "tools": [tool] }))
        }
        Some("tools/call") => Reply::result(message, &result),
        Some("server/discover") => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        _ => Reply::nothing(),
    });
    McpClient::builder().session(session).build().await.unwrap()
}

fn wrapped(value: &Value) -> Value {
    json!({
        "content": [{"type": "text", "text": value.to_string()}],
        "structuredContent": {"result": value},
    })
}

#[tokio::test]
async fn unmarked_values_of_the_python_sdk_are_unwrapped_if_needed() {
    let client = foreign(None, wrapped(&json!(3))).await;
    let number: i64 = client.call_tool_as("t", ()).await.unwrap();
    let perhaps: Option<u8> = client.call_tool_as("t", ()).await.unwrap();
    let single: Single = client.call_tool_as("t", ()).await.unwrap();
    assert_eq!(
        (number, perhaps, single),
        (3, Some(3), Single { result: 3 })
    );
    let whole: Value = client.call_tool_as("t", ()).await.unwrap();
    assert_eq!(whole, json!({"result": 3}), "without a mark");
    let nothing = foreign(None, wrapped(&Value::Null)).await;
    let (): () = nothing.call_tool_as("t", ()).await.unwrap();
    let none: Option<i64> = nothing.call_tool_as("t", ()).await.unwrap();
    assert_eq!(none, None);
}

#[tokio::test]
async fn fastmcp_marks_determine_unwrapping() {
    let value = json!({"note": "n"});
    let schema = json!({
        "type": "object", "properties": {"result": {"type": "object"}}, "required": ["result"],
        "x-fastmcp-wrap-result": true,
    });
    let by_schema = foreign(Some(schema), wrapped(&value)).await;
    by_schema.tools().await.unwrap();
    let mut result = wrapped(&value);
    result["_meta"] = json!({"fastmcp": {"wrap_result": true}});
    let by_result = foreign(None, result).await;
    for client in [by_schema, by_result] {
        let loose: Loose = client.call_tool_as("t", ()).await.unwrap();
        assert_eq!(loose, noted());
        let whole: Value = client.call_tool_as("t", ()).await.unwrap();
        assert_eq!(whole, value);
        let result = client.call_tool("t", ()).await.unwrap();
        let content = result.structured_content.unwrap();
        assert_eq!(content, json!({ "result": value }), "the result itself");
    }
}

#[tokio::test]
async fn a_mismatching_type_is_an_output_error() {
    let text = foreign(None, wrapped(&json!("three"))).await;
    let wrong = text.call_tool_as::<i64>("t", ()).await.unwrap_err();
    assert!(matches!(wrong, ClientError::Output(_)), "{wrong:?}");
    assert_eq!(
        wrong.to_string(),
        "the output of the tool does not match its type: it is not of type `i64`: at `result`: invalid type: string \"three\", expected i64"
    );
    let content = json!({"city": "Oslo", "days": [1, "two"]});
    let result = json!({
        "content": [{"type": "text", "text": content.to_string()}], "structuredContent": content,
    });
    let client = foreign(None, result).await;
    let wrong = client.call_tool_as::<super::station::Forecast>("t", ());
    let wrong = wrong.await.unwrap_err().to_string();
    assert!(
        wrong.contains("Forecast`: at `days[1]`: invalid type"),
        "{wrong}"
    );
}
