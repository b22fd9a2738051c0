//! Format of the results sent to peers of one revision.

use serde_json::{Value, json};
use treenail_schema::internal::wrap_schema;
use treenail_schema::{ContentBlock, ResultMetaObject, Revision, Tool, field};

use crate::revision::wrapped::{self, WrapResults};
use crate::tool::shape::Shape;

/// Key in the `_meta` of a result for the name of the server (modern era).
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

const RESULT_TYPE: &[u8] = br#","resultType":"complete""#;

/// Format in which results are written for peers of one revision.
#[derive(Debug)]
pub(crate) struct ResultFormat {
    revision: Revision,
    server_info: Value,
    placements: Placements,
    /// Placements in the result that the peer receives. They differ in results that are rewritten for the peer.
    received: Placements,
    /// Set if tools declare their support for tasks.
    has_execution: bool,
    /// Closing members of a complete result: its `resultType` and its `_meta`.
    result_end: Vec<u8>,
    /// Closing members of a wrapped result.
    wrapped_end: Vec<u8>,
}

/// Placement of the structured output of a tool in its result, in addition to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// In structured content, unchanged.
    Bare,
    /// In structured content if it is an object, otherwise as text only.
    Object,
    /// In structured content, wrapped in an object.
    Wrapped,
    /// As text only.
    Text,
}

/// Placements of all structured outputs.
#[derive(Clone, Copy, Debug)]
struct Placements {
    /// Placement of outputs that are always objects, and of those of any type.
    objects: Placement,
    /// Placement of other outputs.
    values: Placement,
}

impl Placements {
    /// Returns the placement of tool outputs whose schema has this shape.
    fn of(self, shape: Shape) -> Placement {
        match shape {
            Shape::Value => self.values,
            Shape::Nothing | Shape::Text | Shape::Object | Shape::Any => self.objects,
        }
    }
}

impl Placement {
    /// Returns whether a structured output, given as JSON, is part of the structured content.
    pub(crate) fn shows(self, json: &str) -> bool {
        match self {
            Self::Bare | Self::Wrapped => true,
            Self::Object => json.starts_with('{'),
            Self::Text => false,
        }
    }
}

impl ResultFormat {
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
        let execution = field("Tool", "execution");
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
        let placements = Placements { objects, values };
        Self {
            has_execution: execution.is_some_and(|field| field.revisions.contains(revision)),
            revision,
            placements,
            received: placements,
            result_end: end(None),
            wrapped_end: end(Some(wrapped::wrapped_mark())),
            server_info,
        }
    }

    const BARE: Self = {
        let placements = Placements {
            objects: Placement::Bare,
            values: Placement::Bare,
        };
        Self {
            has_execution: false,
            revision: Revision::LATEST,
            server_info: Value::Null,
            placements,
            received: placements,
            result_end: Vec::new(),
            wrapped_end: Vec::new(),
        }
    };

    /// Returns the format of the newest revision, without the members that each of its results has.
    pub(crate) fn bare() -> &'static Self {
        static BARE: ResultFormat = ResultFormat::BARE;
        &BARE
    }

    /// Returns the format [`ResultFormat::bare`] for a result that is rewritten in this format afterwards.
    #[inline]
    pub(crate) fn to_bare(&self) -> Self {
        Self {
            received: self.received,
            ..Self::BARE
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Closing members of a complete result without `_meta` of its own.
    pub(crate) fn result_end(&self) -> &[u8] {
        &self.result_end
    }

    /// Closing members of a complete wrapped result without `_meta` of its own.
    pub(crate) fn wrapped_end(&self) -> &[u8] {
        &self.wrapped_end
    }

    /// The `resultType` member of a complete result.
    pub(crate) fn result_type(&self) -> &'static [u8] {
        if self.revision.is_modern() {
            RESULT_TYPE
        } else {
            b""
        }
    }

    /// Adds the members that each result has to the `_meta` of a result.
    pub(crate) fn complete_meta(&self, meta: &mut ResultMetaObject) {
        if self.revision.is_modern() && meta.server_info.is_none() {
            meta.server_info = serde_json::from_str(&self.server_info.to_string()).ok();
        }
    }

    /// Returns the placement of tool outputs whose schema has this shape.
    pub(crate) fn placement(&self, shape: Shape) -> Placement {
        self.placements.of(shape)
    }

    /// Returns the placement in the result that the peer receives, which may be rewritten.
    pub(crate) fn received_placement(&self, shape: Shape) -> Placement {
        self.received.of(shape)
    }

    /// Returns the definition of a tool for peers of this revision.
    pub(crate) fn tool(&self, tool: &Tool) -> Tool {
        let mut tool = tool.clone();
        if !self.has_execution {
            tool.execution = None;
        }
        tool.output_schema = tool.output_schema.take().and_then(|schema| {
            let shape = Shape::of_declared(&schema);
            match self.placement(shape) {
                Placement::Bare => Some(schema),
                // Values that are not objects are sent as text, which an output schema would contradict.
                Placement::Object => (shape == Shape::Object).then_some(schema),
                Placement::Wrapped => Some(wrap_schema(&schema).into()),
                Placement::Text => None,
            }
        });
        tool
    }
}

/// Replaces the content blocks of kinds that `revision` does not have with text.
pub(crate) fn downgrade_content(
    mut content: Vec<ContentBlock>,
    revision: Revision,
) -> Vec<ContentBlock> {
    for block in &mut content {
        downgrade_block(block, revision);
    }
    content
}

/// Replaces a content block of a kind that `revision` does not have with text.
pub(crate) fn downgrade_block(block: &mut ContentBlock, revision: Revision) {
    if block.since() > revision {
        *block = ContentBlock::text(match &*block {
            ContentBlock::Audio(audio) => format!(
                "[audio of type {}, which this client does not support]",
                audio.mime_type
            ),
            ContentBlock::ResourceLink(link) => format!("{}: {}", link.name, link.uri),
            _ => "[content of a type that this client does not support]".to_owned(),
        });
    }
}
