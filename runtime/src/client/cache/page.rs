//! Items and pages of lists.

use treenail_schema::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    Resource, ResourceTemplate, Tool,
};

/// Item of a list.
pub(super) trait ListItem {
    /// Name, URI or URI template that identifies the item in its list.
    fn key(&self) -> &str;
}

impl ListItem for Tool {
    fn key(&self) -> &str {
        &self.name
    }
}

impl ListItem for Prompt {
    fn key(&self) -> &str {
        &self.name
    }
}

impl ListItem for Resource {
    fn key(&self) -> &str {
        &self.uri
    }
}

impl ListItem for ResourceTemplate {
    fn key(&self) -> &str {
        &self.uri_template
    }
}

/// One page of a list.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
    /// Milliseconds. Servers of the legacy era do not send it.
    pub(super) ttl_ms: Option<u64>,
}

macro_rules! pages {
    ($($result:ident . $items:ident: $item:ty),*) => {$(
        impl From<$result> for Page<$item> {
            fn from(result: $result) -> Self {
                Self {
                    items: result.$items,
                    next_cursor: result.next_cursor,
                    ttl_ms: result.ttl_ms,
                }
            }
        }
    )*};
}

pages!(
    ListToolsResult.tools: Tool,
    ListPromptsResult.prompts: Prompt,
    ListResourcesResult.resources: Resource,
    ListResourceTemplatesResult.resource_templates: ResourceTemplate
);

/// Fetched page with an estimate of its bytes in memory.
pub(super) struct SizedPage<P> {
    pub(super) page: P,
    pub(super) bytes: usize,
}
