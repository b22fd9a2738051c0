//! Rendering of a conversation with tool calls as text.

use std::collections::HashMap;

use serde_json::Value;
use treenail_schema::internal::quoted;
use treenail_schema::{
    ContentBlock, OneOrMany, SamplingMessage, SamplingMessageContentBlock, ToolResultContent,
    ToolUseContent,
};

use crate::raw_arguments::RAW_CALL;

/// Stop sequences, which prevent the model from inventing results.
pub(crate) const STOP_SEQUENCES: [&str; 2] = ["\nRESULT of ", "\nERROR of "];

/// Renders a conversation for a model without tool use: calls and results become text; text, images and audio are
/// unchanged.
///
/// Resources in results are named in text; [`for_model`](crate::results::for_model) has usually converted them
/// already.
pub(crate) fn render(messages: &[SamplingMessage]) -> Vec<SamplingMessage> {
    // Tool names by call id.
    let mut names = HashMap::new();
    messages
        .iter()
        .map(|message| render_message(message, &mut names))
        .collect()
}

fn render_message<'a>(
    message: &'a SamplingMessage,
    names: &mut HashMap<&'a str, &'a str>,
) -> SamplingMessage {
    let mut blocks = MessageBlocks(Vec::new());
    for block in &message.content {
        match block {
            SamplingMessageContentBlock::Text(content) => blocks.push_text(&content.text),
            SamplingMessageContentBlock::ToolUse(content) => {
                names.insert(&content.id, &content.name);
                blocks.push_text(&call_text(content));
            }
            SamplingMessageContentBlock::ToolResult(content) => {
                let name = names.get(content.tool_use_id.as_str()).copied();
                blocks.push_result(content, name.unwrap_or("a tool"));
            }
            other => blocks.0.push(other.clone()),
        }
    }
    if blocks.0.is_empty() {
        blocks.push_text("");
    }
    let mut rendered = message.clone();
    rendered.content = match <[_; 1]>::try_from(blocks.0) {
        Ok([block]) => OneOrMany::One(block),
        Err(blocks) => OneOrMany::Many(blocks),
    };
    rendered
}

/// Content of one message.
struct MessageBlocks(Vec<SamplingMessageContentBlock>);

impl MessageBlocks {
    /// Appends text to the preceding text block, or as a new block.
    fn push_text(&mut self, text: &str) {
        if let Some(SamplingMessageContentBlock::Text(before)) = self.0.last_mut() {
            if !before.text.is_empty() && !before.text.ends_with('\n') {
                before.text.push('\n');
            }
            before.text.push_str(text);
        } else {
            self.0.push(SamplingMessageContentBlock::text(text));
        }
    }

    fn push_result(&mut self, result: &ToolResultContent, name: &str) {
        let word = if result.is_error == Some(true) {
            "ERROR"
        } else {
            "RESULT"
        };
        self.push_text(&format!("{word} of {name}:\n"));
        if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
            self.push_text(&value.to_string());
        }
        for block in &result.content {
            match block {
                ContentBlock::Text(content) => self.push_text(&content.text),
                ContentBlock::Image(image) => self.0.push(image.clone().into()),
                ContentBlock::Audio(audio) => self.0.push(audio.clone().into()),
                ContentBlock::ResourceLink(link) => {
                    self.push_text(&format!("[resource {}]", quoted(&link.uri)));
                }
                ContentBlock::Resource(embedded) => {
                    self.push_text(&format!("[resource {}]", quoted(embedded.resource.uri())));
                }
                _ => self.push_text("[unsupported content]"),
            }
        }
        self.push_text("\n");
    }
}

fn call_text(call: &ToolUseContent) -> String {
    // A malformed call is rendered as it was written, so that the model sees its mistake.
    let raw_call = call.meta.as_ref().and_then(|meta| meta.get(RAW_CALL));
    if let Some(raw_call) = raw_call.and_then(Value::as_str) {
        return format!("{raw_call}\n");
    }
    let input = Value::Object(call.input.clone());
    format!("TOOL: {}\nPARAMETERS: {input}\n", call.name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::tests::{call as called, joined, text, tools};
    use crate::text::{TextParser, TextToolFormat};

    fn conversation(messages: Value) -> Vec<SamplingMessage> {
        serde_json::from_value(messages).unwrap()
    }

    fn message() -> Value {
        json!({"role": "assistant", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "1", "name": "weather.forecast", "input": {"place": "}\n\"TOOL: x"}},
            {"type": "tool_use", "id": "2", "name": "clock", "input": {}},
        ]})
    }

    #[test]
    fn calls_and_results_become_text() {
        let found = render(&conversation(json!([
            {"role": "user", "content": {"type": "text", "text": "Hello."}},
            message(),
            {"role": "user", "content": [
                {"type": "tool_result", "toolUseId": "1", "content": [
                    {"type": "text", "text": "12 °C"},
                    {"type": "image", "data": "AA==", "mimeType": "image/png"},
                ]},
                {"type": "tool_result", "toolUseId": "2", "isError": true, "content": [
                    {"type": "text", "text": "broken"},
                ]},
                {"type": "tool_result", "toolUseId": "2", "content": [],
                    "structuredContent": {"hour": 12}},
            ]},
        ])));
        let expected = conversation(json!([
            {"role": "user", "content": {"type": "text", "text": "Hello."}},
            {"role": "assistant", "content": {"type": "text", "text":
                "I look.\nTOOL: weather.forecast\nPARAMETERS: {\"place\":\"}\\n\\\"TOOL: x\"}\n\
                TOOL: clock\nPARAMETERS: {}\n"}},
            {"role": "user", "content": [
                {"type": "text", "text": "RESULT of weather.forecast:\n12 °C"},
                {"type": "image", "data": "AA==", "mimeType": "image/png"},
                {"type": "text", "text": "\nERROR of clock:\nbroken\n\n\
                    RESULT of clock:\n{\"hour\":12}\n\n"},
            ]},
        ]));
        assert_eq!(found, expected);
    }

    #[test]
    fn rendered_calls_are_parsed_again() {
        let found = render(&conversation(json!([message()])));
        let [SamplingMessageContentBlock::Text(raw_call)] = found[0].content.as_slice() else {
            panic!("{found:?}");
        };
        let mut parser = TextParser::new(&TextToolFormat::default(), &tools());
        let mut pieces = parser.push(&raw_call.text);
        pieces.extend(parser.finish());
        let expected = [
            text("I look.\n"),
            called("weather.forecast", json!({"place": "}\n\"TOOL: x"})),
            called("clock", json!({})),
        ];
        assert_eq!(joined(pieces), expected);
    }
}
