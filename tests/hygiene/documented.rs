//! Documentation comments in all forms become descriptions.

use treenail::prelude::*;

/** Searches.
 *
 * In two paragraphs.
 */
#[mcp_tool]
pub const fn starred(
    /** Pattern to search for */
    pattern: String,
    #[doc = concat!("Maximum ", "number")] limit: Option<u32>,
    #[doc = " Place"]
    /// or not
    place: Option<u32>,
) -> String {
    let _ = (limit, place);
    pattern
}

/// Includes:
#[doc = include_str!("included.txt")]
#[mcp_tool]
pub const fn included() {}

/// All functions.
pub fn all() -> treenail::tool::ToolSet {
    tools![starred, included]
}

#[tokio::test]
async fn documentation_becomes_descriptions() {
    let server = treenail::server!().tools(all()).build().unwrap();
    let client = McpClient::builder().server(&server).build().await.unwrap();
    let starred = client.tool("starred").await.unwrap().unwrap();
    assert_eq!(
        starred.description.as_deref(),
        Some("Searches.\n\nIn two paragraphs.")
    );
    let schema = serde_json::to_value(&starred.input_schema).unwrap();
    for (argument, expected) in [
        ("pattern", "Pattern to search for"),
        ("limit", "Maximum number"),
        ("place", "Place\nor not"),
    ] {
        let description = &schema["properties"][argument]["description"];
        assert_eq!(description, expected, "{argument}");
    }
    let included = client.tool("included").await.unwrap().unwrap();
    assert_eq!(
        included.description.as_deref(),
        Some("Includes:\nA file.\n")
    );
}
