//! The shape in which a peer of one revision gets its results.

use serde_json::{Value, json};
use treenail_schema::internal::wrap_schema;
use treenail_schema::{ContentBlock, ResultMetaObject, Revision, Tool, field};

use crate::revision::wrapped::{self, WrapResults};
use crate::tool::output::Shape;

/// The key in the `_meta` of a result under which a server of the modern era names itself.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

const RESULT_TYPE: &[u8] = br#","resultType":"complete""#;

/// How results are written for a peer of one revision.
#[derive(Debug)]
pub(crate) struct Style {
    revision: Revision,
    server_info: Value,
    /// Where outputs go that are always objects, or that can be anything.
    objects: Placement,
    /// Where other structured outputs go.
    values: Placement,
    /// What ends a complete result: its `resultType` and its `_meta`.
    result_end: Vec<u8>,
    /// The same for a result that is wrapped.
    wrapped_end: Vec<u8>,
}

/// Where the structured output of a tool goes in its result, beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// In structured content, as it is.
    Bare,
    /// In structured content if it is an object, else nowhere.
    Object,
    /// In structured content, within an object that holds it.
    Wrapped,
    /// Nowhere.
    Text,
}

impl Style {
    pub(crate) fn new(revision: Revision, server_info: Value, wrap: WrapResults) -> Self {
        let end = |mark: Option<(&'static str, Value)>| {
            let (mut end, mut meta) = (Vec::new(), serde_json::Map::new());
            if revision.is_modern() {
                end.extend_from_slice(RESULT_TYPE);
                meta.insert(SERVER_INFO.to_owned(), server_info.clone());
            }
            meta.extend(mark.map(|(member, mark)| (member.to_owned(), mark)));
            if !meta.is_empty() {
                end.extend_from_slice(format!(",\"_meta\":{}", json!(meta)).as_bytes());
            }
            end
        };
        let structured = field("CallToolResult", "structuredContent");
        let is_structured = structured.is_some_and(|field| field.revisions.contains(revision));
        let (objects, values) = match wrap {
            _ if !is_structured => (Placement::Text, Placement::Text),
            WrapResults::Never | WrapResults::Legacy if revision.is_modern() => {
                (Placement::Bare, Placement::Bare)
            }
            WrapResults::Never => (Placement::Object, Placement::Text),
            WrapResults::Legacy | WrapResults::Always => (Placement::Object, Placement::Wrapped),
        };
        Self {
            revision,
            objects,
            values,
            result_end: end(None),
            wrapped_end: end(Some(wrapped::marks())),
            server_info,
        }
    }

    /// As the newest revision has results, without what belongs to every result there.
    #[cfg(feature = "tower")]
    pub(crate) fn bare() -> Self {
        Self {
            revision: Revision::LATEST,
            server_info: Value::Null,
            objects: Placement::Bare,
            values: Placement::Bare,
            result_end: Vec::new(),
            wrapped_end: Vec::new(),
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// What ends a complete result without `_meta` of its own.
    pub(crate) fn result_end(&self) -> &[u8] {
        &self.result_end
    }

    /// What ends a complete result that is wrapped and has no `_meta` of its own.
    pub(crate) fn wrapped_end(&self) -> &[u8] {
        &self.wrapped_end
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

    /// Where the output of a tool goes whose schema has this shape.
    pub(crate) fn placement(&self, shape: Shape) -> Placement {
        match shape {
            Shape::Value => self.values,
            Shape::Nothing | Shape::Text | Shape::Object | Shape::Any => self.objects,
        }
    }

    /// A tool as a peer of this revision may be told of it.
    pub(crate) fn tool(&self, tool: &Tool) -> Tool {
        let mut tool = tool.clone();
        tool.output_schema = tool.output_schema.take().and_then(|schema| {
            let shape = Shape::of_members(&schema);
            match self.placement(shape) {
                Placement::Bare => Some(schema),
                // What may be no object has no schema: such values go as text, and a schema would promise otherwise.
                Placement::Object => (shape == Shape::Object).then_some(schema),
                Placement::Wrapped => Some(wrap_schema(&schema).into()),
                Placement::Text => None,
            }
        });
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
