//! Additional keywords in the schema of a tool's arguments: headers, and constraints between arguments.

use serde_json::{Value, json};
use treenail::Server;
use treenail::args::HeaderArgument;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::tool::ToolSet;

use crate::support::peer::{MODERN, Peer, text};

/// Largest integer that every language represents exactly (2^53 - 1).
const LARGEST: i64 = 9_007_199_254_740_991;

#[mcp_type]
#[serde(rename_all = "lowercase")]
enum Region {
    North,
    South,
}

impl HeaderArgument for Region {}

/// Runs a query.
#[mcp_tool]
fn query(
    #[arg(header = "Region")] region: Region,
    #[arg(header = "Shard")] shard: i64,
    #[arg(header = "Age", range = 0..=10)] age: Option<u64>,
    #[arg(header = "Dry-Run", default)] dry_run: bool,
    #[arg(header = "Tier", name = "customer-tier")] tier: Option<u8>,
) -> String {
    let region = match region {
        Region::North => "north",
        Region::South => "south",
    };
    format!("{region} {shard} {age:?} {dry_run} {tier:?}")
}

/// Finds a customer.
#[mcp_tool(schema = json!({"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}))]
fn find(phone: Option<String>, email: Option<String>) -> Option<String> {
    phone.or(email)
}

#[mcp_tool(schema = json!({"properties": {}}))]
fn find_all() {}

#[mcp_tool(schema = json!("anyOf"))]
fn find_none() {}

async fn schema(tools: ToolSet, name: &str) -> Value {
    let server = treenail::server!().tools(tools).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let mut answer = peer.request("tools/list", json!({})).await;
    let mut listed = answer["result"]["tools"].take();
    let mut listed = listed.as_array_mut().unwrap().iter_mut();
    let found = listed.find(|tool| tool["name"] == name).unwrap();
    found["inputSchema"].take()
}

#[tokio::test]
async fn headers_are_declared_in_the_schemas_of_their_arguments() {
    let schema = schema(tools![query], "query").await;
    assert_eq!(
        schema["properties"],
        json!({
            "region": {"type": "string", "enum": ["north", "south"], "x-mcp-header": "Region"},
            "shard": {
                "type": "integer", "x-mcp-header": "Shard", "minimum": -LARGEST, "maximum": LARGEST,
            },
            "age": {"type": "integer", "x-mcp-header": "Age", "minimum": 0, "maximum": 10},
            "dry_run": {"type": "boolean", "x-mcp-header": "Dry-Run", "default": false},
            "customer-tier": {
                "type": "integer", "x-mcp-header": "Tier", "minimum": 0, "maximum": 255,
            },
        })
    );
}

#[tokio::test]
async fn integers_in_headers_are_exactly_representable() {
    let server: Server = treenail::server!().tools(tools![query]).build().unwrap();
    for revision in [Revision::V2025_03_26, MODERN] {
        let mut peer = Peer::connect(&server, revision).await;
        let mut call = async |shard: i64| {
            let arguments = json!({"region": "north", "shard": shard});
            peer.call("query", arguments).await
        };
        for shard in [-LARGEST, 0, LARGEST] {
            let expected = format!("north {shard} None false None");
            assert_eq!(text(&call(shard).await), expected);
        }
        for shard in [-LARGEST - 1, LARGEST + 1] {
            let result = call(shard).await;
            assert_eq!(result["isError"], true, "{result}");
            assert!(text(&result).contains("- /shard: expected an integer"));
        }
    }
}

#[tokio::test]
async fn constraints_between_arguments_are_added_to_the_schema() {
    let schema = schema(tools![find], "find").await;
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {"phone": {"type": "string"}, "email": {"type": "string"}},
            "additionalProperties": false,
            "anyOf": [{"required": ["phone"]}, {"required": ["email"]}],
        })
    );
}

#[test]
fn generated_keywords_cannot_be_overridden() {
    let build = |tools| treenail::server!().tools(tools).build().unwrap_err();
    assert_eq!(
        build(tools![find_all]).to_string(),
        "tool `find_all`: `properties` in its `schema` is generated from the arguments; remove it"
    );
    assert_eq!(
        build(tools![find_none]).to_string(),
        "tool `find_none`: its `schema` is not an object"
    );
}

struct Bare;

#[mcp_tool(namespace = "bare")]
impl Bare {
    #[tool]
    fn once() {}

    #[tool]
    fn twice(_cx: &Context) -> impl Stream<Item = u8> {
        tokio_stream::iter([1, 2])
    }
}

#[mcp_client(namespace = "shared")]
trait BareApi {
    async fn ask(&self) -> Result<u8, ToolError>;

    fn many(&self) -> impl Stream<Item = Result<u8, ToolError>>;
}

struct Shared;

#[mcp_tool]
impl BareApi for Shared {
    async fn ask(&self) -> Result<u8, ToolError> {
        Ok(1)
    }

    fn many(&self) -> impl Stream<Item = Result<u8, ToolError>> {
        tokio_stream::iter([Ok(1)])
    }
}

/// Says nothing.
#[mcp_tool]
fn alone() {}

/// With conditions, which a function without arguments cannot break.
#[mcp_tool(schema = json!({"maxProperties": 0}))]
fn conditional() {}

/// Comes while the server runs.
#[mcp_tool(blocking)]
fn later() {}

#[tokio::test]
async fn a_tool_without_arguments_still_has_properties() {
    let server = treenail::server!()
        .mount(Bare)
        .mount(Shared)
        .tools(tools![alone, conditional])
        .dynamic()
        .build()
        .unwrap();
    server.edit(|edit| edit.tools(tools![later])).unwrap();
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let listed = peer.request("tools/list", json!({})).await["result"]["tools"].take();
        let listed = listed.as_array().unwrap();
        assert_eq!(listed.len(), 7);
        for tool in listed {
            assert_eq!(tool["inputSchema"]["properties"], json!({}), "{tool}");
        }
    }
    let contract = BareApiClient::contract().unwrap();
    let client = McpClient::builder().server(&server).build().await.unwrap();
    assert!(
        client
            .check(&contract.only_tools(["shared.ask"]).unwrap())
            .await
            .unwrap()
            .is_empty()
    );
}
