//! The shape in which a peer of one revision gets its results.

use serde_json::{Map, Value, json};
use treenail_schema::{ContentBlock, ResultMetaObject, Revision, Tool, field};

/// The key in the `_meta` of a result under which a server of the modern era names itself.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

const RESULT_TYPE: &[u8] = br#","resultType":"complete""#;

/// How results are written for a peer of one revision.
#[derive(Debug)]
pub(crate) struct Style {
    revision: Revision,
    server_info: Value,
    has_structured_content: bool,
    /// What ends a complete result: its `resultType` and its `_meta`.
    result_end: Vec<u8>,
}

impl Style {
    pub(crate) fn new(revision: Revision, server_info: Value) -> Self {
        let mut result_end = Vec::new();
        if revision.is_modern() {
            result_end.extend_from_slice(RESULT_TYPE);
            result_end.extend_from_slice(
                format!(",\"_meta\":{}", json!({ SERVER_INFO: server_info })).as_bytes(),
            );
        }
        let structured = field("CallToolResult", "structuredContent");
        let has_structured_content =
            structured.is_some_and(|field| field.revisions.contains(revision));
        Self {
            revision,
            server_info,
            has_structured_content,
            result_end,
        }
    }

    /// As the newest revision has results, without what belongs to every result there.
    #[cfg(feature = "tower")]
    pub(crate) fn bare() -> Self {
        Self {
            revision: Revision::LATEST,
            server_info: Value::Null,
            has_structured_content: true,
            result_end: Vec::new(),
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// What ends a complete result without `_meta` of its own.
    pub(crate) fn result_end(&self) -> &[u8] {
        &self.result_end
    }

    /// The `resultType` of a complete result.
    pub(crate) fn result_type(&self) -> &'static [u8] {
        if self.revision.is_modern() {
            RESULT_TYPE
        } else {
            b""
        }
    }

    /// Adds to the `_meta` of a result what belongs to every result.
    pub(crate) fn complete_meta(&self, meta: &mut ResultMetaObject) {
        if self.revision.is_modern() && meta.server_info.is_none() {
            meta.server_info = serde_json::from_value(self.server_info.clone()).ok();
        }
    }

    /// Whether results can have structured content that is an object.
    pub(crate) fn has_structured_content(&self) -> bool {
        self.has_structured_content
    }

    /// Whether structured content can be any value.
    pub(crate) fn has_structured_values(&self) -> bool {
        self.revision.is_modern()
    }

    /// Whether `value` can be structured content.
    pub(crate) fn allows_structured(&self, value: &Value) -> bool {
        if value.is_object() {
            self.has_structured_content()
        } else {
            self.has_structured_values()
        }
    }

    /// A tool as a peer of this revision may be told of it.
    pub(crate) fn tool(&self, tool: &Tool) -> Tool {
        let mut tool = tool.clone();
        let object =
            |schema: &Map<String, Value>| schema.get("type").is_some_and(|kind| kind == "object");
        let declared = tool
            .output_schema
            .as_ref()
            .is_some_and(|schema| self.has_structured_values() || object(schema));
        if !(declared && self.has_structured_content()) {
            tool.output_schema = None;
        }
        tool
    }
}

/// Content blocks as a peer of `revision` knows them: a kind of block that came later becomes a text.
pub(crate) fn speak_content(
    mut content: Vec<ContentBlock>,
    revision: Revision,
) -> Vec<ContentBlock> {
    for block in &mut content {
        speak_block(block, revision);
    }
    content
}

/// As [`speak_content`], for one block.
pub(crate) fn speak_block(block: &mut ContentBlock, revision: Revision) {
    if block.since() > revision {
        *block = ContentBlock::text(match &*block {
            ContentBlock::Audio(audio) => format!(
                "[audio of type {}, which this client cannot take]",
                audio.mime_type
            ),
            ContentBlock::ResourceLink(link) => format!("{}: {}", link.name, link.uri),
            _ => "[content of a kind that this client cannot take]".to_owned(),
        });
    }
}
