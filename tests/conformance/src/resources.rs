//! Resources.

use treenail::prelude::*;

pub(crate) struct Resources;

#[mcp_type]
struct Templated {
    id: String,
    #[serde(rename = "templateTest")]
    template_test: bool,
    data: String,
}

#[mcp_tool]
impl Resources {
    /// A text.
    #[resource("test://static-text", mime_type = "text/plain")]
    fn static_text() -> &'static str {
        "This is the content of the static text resource."
    }

    /// An image.
    #[resource("test://static-binary", mime_type = "image/png")]
    fn static_binary() -> &'static [u8] {
        include_bytes!("../assets/dot.png")
    }

    /// A text with subscriptions.
    #[resource("test://watched-resource", mime_type = "text/plain", subscribable)]
    fn watched_resource() -> &'static str {
        "Watched resource content"
    }

    /// JSON about an id.
    #[resource("test://template/{id}/data")]
    fn template(id: String) -> Templated {
        let data = format!("Data for ID: {id}");
        Templated {
            id,
            template_test: true,
            data,
        }
    }
}
