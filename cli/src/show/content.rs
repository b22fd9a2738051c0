//! The content of results: text is shown, all else is told of in a line, and can be saved.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use treenail::schema::{CallToolResult, ContentBlock, ResourceContents, ResourceLink};

use super::{clean, clean_line, exact_json};

/// A part of a result.
#[derive(Debug)]
pub(crate) enum Shown {
    Text(String),
    /// Bytes, and a line that tells of them.
    Bytes {
        line: String,
        bytes: Vec<u8>,
    },
}

impl Shown {
    /// What is printed, cleaned.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Text(text) => clean(text),
            Self::Bytes { line, .. } => clean(line),
        }
    }

    /// One block of content.
    pub(crate) fn block(block: &ContentBlock) -> Self {
        match block {
            ContentBlock::Text(content) => Self::Text(content.text.clone()),
            ContentBlock::Image(content) => Self::bytes("image", &content.mime_type, &content.data),
            ContentBlock::Audio(content) => Self::bytes("audio", &content.mime_type, &content.data),
            ContentBlock::ResourceLink(link) => Self::Text(linked(link)),
            ContentBlock::Resource(embedded) => Self::contents(&embedded.resource),
            other => Self::Text(exact_json(other)),
        }
    }

    /// What was read, or is embedded.
    pub(crate) fn contents(contents: &ResourceContents) -> Self {
        match contents {
            ResourceContents::Text(contents) => Self::Text(contents.text.clone()),
            ResourceContents::Blob(contents) => {
                let mime_type = contents.mime_type.as_deref().unwrap_or("of unknown type");
                let kind = format!("resource {}", contents.uri);
                Self::bytes(&kind, mime_type, &contents.blob)
            }
            other => Self::Text(exact_json(other)),
        }
    }

    fn bytes(kind: &str, mime_type: &str, data: &str) -> Self {
        let (kind, mime_type) = (clean_line(kind), clean_line(mime_type));
        match STANDARD.decode(data) {
            Ok(bytes) => Self::Bytes {
                line: format!(
                    "[{kind}: {mime_type}, {}; -o FILE saves it]",
                    size(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
                ),
                bytes,
            },
            Err(error) => Self::Text(format!("[{kind}: {mime_type}, not base64: {error}]")),
        }
    }
}

fn linked(link: &ResourceLink) -> String {
    let name = clean_line(link.title.as_deref().unwrap_or(&link.name));
    let mut facts = vec![format!("{name} <{}>", clean_line(&link.uri))];
    facts.extend(link.mime_type.as_deref().map(clean_line));
    facts.extend(link.size.map(size));
    let about = link.description.as_deref().unwrap_or_default();
    let shown = format!(
        "[link to a resource: {}] {}",
        facts.join(", "),
        clean_line(about)
    );
    shown.trim_end().to_owned()
}

/// The parts of what a tool has returned. Text and structured content that say the same are shown once.
pub(crate) fn tool_result(result: &CallToolResult) -> Vec<Shown> {
    let structured = result.structured_content.as_ref();
    let structured = structured.map(|value| told_value(value, &result.content));
    let repeats = |block: &ContentBlock| {
        let text = block.as_text();
        let value = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        value.is_some() && value.as_ref() == structured
    };
    let blocks = result.content.iter().filter(|block| !repeats(block));
    let mut parts: Vec<_> = blocks.map(Shown::block).collect();
    let structured = structured.filter(|value| !wraps(value, &result.content));
    parts.extend(structured.map(|value| Shown::Text(exact_json(value))));
    parts
}

/// The value that is told: the one in `{"result": …}`, which stands there for revisions that take objects only, if the text is
/// that of the value alone.
fn told_value<'a>(structured: &'a Value, content: &[ContentBlock]) -> &'a Value {
    let members = structured.as_object().filter(|members| members.len() == 1);
    let (Some(inner), [block]) = (members.and_then(|it| it.get("result")), content) else {
        return structured;
    };
    let text = block.as_text().unwrap_or_default();
    let said = serde_json::from_str::<Value>(text);
    if said.is_ok_and(|said| said == *inner) {
        inner
    } else {
        structured
    }
}

/// Whether structured content only puts a name before the text, as in `{"content": "the text"}`.
fn wraps(structured: &Value, content: &[ContentBlock]) -> bool {
    let mut members = structured.as_object().into_iter().flatten();
    match (members.next(), members.next(), content) {
        (Some((_, member)), None, [block]) => {
            member.is_string() && member.as_str() == block.as_text()
        }
        _ => false,
    }
}

/// A number of bytes for people.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(crate) fn size(bytes: i64) -> String {
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
    fn what_is_said_twice_is_shown_once() {
        let check = |text: &str, structured: Value, expected: &[&str]| {
            let mut result = CallToolResult::text(text);
            result.structured_content = Some(structured);
            let shown: Vec<_> = tool_result(&result).iter().map(Shown::line).collect();
            assert_eq!(shown, expected, "{text}");
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
    fn sizes_are_short() {
        let cases = [(0, "0 bytes"), (999, "999 bytes"), (1_234, "1.2 kB")];
        let large = [(999_999, "1.0 MB"), (i64::MAX, "9223372.0 TB")];
        for (bytes, expected) in cases.into_iter().chain(large) {
            assert_eq!(size(bytes), expected);
        }
    }
}
