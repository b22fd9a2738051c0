//! Content of results. Text is printed; binary content is summarized in a line and can be saved.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use treenail::schema::{CallToolResult, ContentBlock, ResourceContents, ResourceLink};

use super::{escaped_json, sanitize_line, sanitize_text};

/// Rendered part of a result.
#[derive(Debug)]
pub(crate) enum Rendered {
    Text(String),
    /// Binary content and its one-line summary.
    Bytes {
        line: String,
        bytes: Vec<u8>,
    },
    /// One-line summary of binary content that cannot be decoded.
    Invalid(String),
}

impl Rendered {
    /// Returns the sanitized text to print.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => sanitize_text(text),
            Self::Bytes { line, .. } | Self::Invalid(line) => sanitize_text(line),
        }
    }

    /// Renders a content block.
    pub(crate) fn from_block(block: &ContentBlock) -> Self {
        match block {
            ContentBlock::Text(content) => Self::Text(content.text.clone()),
            ContentBlock::Image(content) => {
                Self::from_base64("image", &content.mime_type, &content.data)
            }
            ContentBlock::Audio(content) => {
                Self::from_base64("audio", &content.mime_type, &content.data)
            }
            ContentBlock::ResourceLink(link) => Self::Text(render_link(link)),
            ContentBlock::Resource(embedded) => Self::from_resource(&embedded.resource),
            other => Self::Text(escaped_json(other)),
        }
    }

    /// Renders the contents of a resource.
    pub(crate) fn from_resource(contents: &ResourceContents) -> Self {
        match contents {
            ResourceContents::Text(contents) => Self::Text(contents.text.clone()),
            ResourceContents::Blob(contents) => {
                let mime_type = contents.mime_type.as_deref().unwrap_or("of unknown type");
                let kind = format!("resource {}", contents.uri);
                Self::from_base64(&kind, mime_type, &contents.blob)
            }
            other => Self::Text(escaped_json(other)),
        }
    }

    fn from_base64(kind: &str, mime_type: &str, data: &str) -> Self {
        let (kind, mime_type) = (sanitize_line(kind), sanitize_line(mime_type));
        match STANDARD.decode(data) {
            Ok(bytes) => Self::Bytes {
                line: format!(
                    "[{kind}: {mime_type}, {}; use -o FILE to save]",
                    format_size(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
                ),
                bytes,
            },
            Err(error) => Self::Invalid(format!("[{kind}: {mime_type}, invalid base64: {error}]")),
        }
    }
}

fn render_link(link: &ResourceLink) -> String {
    let name = sanitize_line(link.title.as_deref().unwrap_or(&link.name));
    let mut parts = vec![format!("{name} <{}>", sanitize_line(&link.uri))];
    parts.extend(link.mime_type.as_deref().map(sanitize_line));
    parts.extend(link.size.map(format_size));
    let description = link.description.as_deref().unwrap_or_default();
    let text = format!(
        "[resource link: {}] {}",
        parts.join(", "),
        sanitize_line(description)
    );
    text.trim_end().to_owned()
}

/// Renders the result of a tool. Text that repeats the structured content is printed once.
pub(crate) fn render_tool_result(result: &CallToolResult) -> Vec<Rendered> {
    let structured = result.structured_content.as_ref();
    let structured = structured.map(|value| structured_value(value, &result.content));
    let repeats = |block: &ContentBlock| {
        let text = block.as_text();
        let value = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        value.is_some() && value.as_ref() == structured
    };
    let blocks = result.content.iter().filter(|block| !repeats(block));
    let mut parts: Vec<_> = blocks.map(Rendered::from_block).collect();
    let structured = structured.filter(|value| !repeats_text(value, &result.content));
    parts.extend(structured.map(|value| Rendered::Text(escaped_json(value))));
    parts
}

/// Unwraps `{"result": …}`, which wraps values for revisions that allow only objects, if the text is the JSON of the
/// inner value.
fn structured_value<'a>(structured: &'a Value, content: &[ContentBlock]) -> &'a Value {
    let members = structured.as_object().filter(|members| members.len() == 1);
    let (Some(inner), [block]) = (members.and_then(|it| it.get("result")), content) else {
        return structured;
    };
    let text = block.as_text().unwrap_or_default();
    let parsed = serde_json::from_str::<Value>(text);
    if parsed.is_ok_and(|parsed| parsed == *inner) {
        inner
    } else {
        structured
    }
}

/// Returns whether the structured content only wraps the text, as in `{"content": "the text"}`.
fn repeats_text(structured: &Value, content: &[ContentBlock]) -> bool {
    let mut members = structured.as_object().into_iter().flatten();
    match (members.next(), members.next(), content) {
        (Some((_, member)), None, [block]) => {
            member.is_string() && member.as_str() == block.as_text()
        }
        _ => false,
    }
}

/// Formats a number of bytes for people.
#[expect(clippy::cast_precision_loss, reason = "only one digit is printed")]
pub(crate) fn format_size(bytes: i64) -> String {
    let mut size = bytes as f64;
    if size < 1_000.0 {
        return format!("{bytes} bytes");
    }
    for unit in ["kB", "MB", "GB"] {
        size /= 1_000.0;
        if size < 999.95 {
            return format!("{size:.1} {unit}");
        }
    }
    format!("{:.1} TB", size / 1_000.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicate_content_is_printed_once() {
        let check = |text: &str, structured: Value, expected: &[&str]| {
            let mut result = CallToolResult::text(text);
            result.structured_content = Some(structured);
            let texts: Vec<_> = render_tool_result(&result)
                .iter()
                .map(Rendered::to_text)
                .collect();
            assert_eq!(texts, expected, "{text}");
        };
        check("{\"a\":1}", json!({"a": 1}), &["{\n  \"a\": 1\n}"]);
        check("7", json!(7), &["7"]);
        check("7", json!({"result": 7}), &["7"]);
        check("[7]", json!({"result": [7]}), &["[\n  7\n]"]);
        check("8", json!({"result": 7}), &["8", "{\n  \"result\": 7\n}"]);
        check("rain", json!({"content": "rain"}), &["rain"]);
        check(
            "rain",
            json!({"content": "sun"}),
            &["rain", "{\n  \"content\": \"sun\"\n}"],
        );
        check(
            "one",
            json!({"a": "one", "b": 2}),
            &["one", "{\n  \"a\": \"one\",\n  \"b\": 2\n}"],
        );
    }

    #[test]
    fn sizes_have_one_decimal() {
        let cases = [(0, "0 bytes"), (999, "999 bytes"), (1_234, "1.2 kB")];
        let large = [(999_999, "1.0 MB"), (i64::MAX, "9223372.0 TB")];
        for (bytes, expected) in cases.into_iter().chain(large) {
            assert_eq!(format_size(bytes), expected);
        }
    }
}
