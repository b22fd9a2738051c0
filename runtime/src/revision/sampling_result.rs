//! Conversion of a message that the client's model generated to the revision of the server that asked for it.

use treenail_schema::{
    CreateMessageResult, OneOrMany, Revision, SamplingMessageContentBlock as Block, TextContent,
};

use crate::wire::RpcError;

/// Converts a sampling result for a server of `revision`. Before 2025-11-25, a message has exactly one block.
///
/// # Errors
///
/// An internal error if the content has no form in that revision.
pub fn downgrade_sampling_result(
    mut result: CreateMessageResult,
    revision: Revision,
) -> Result<CreateMessageResult, RpcError> {
    if revision >= Revision::V2025_11_25 {
        return Ok(result);
    }
    let blocks = result.content.into_vec().into_iter();
    let blocks: Result<Vec<_>, _> = blocks
        .map(|block| downgrade_block(block, revision))
        .collect();
    result.content = OneOrMany::One(join(blocks?)?);
    Ok(result)
}

/// Converts a block of a newer kind to text.
fn downgrade_block(block: Block, revision: Revision) -> Result<Block, RpcError> {
    if block.since() <= revision {
        return Ok(block);
    }
    match block {
        Block::Audio(audio) => Ok(Block::text(format!(
            "[audio of type {}, which this server does not support]",
            audio.mime_type
        ))),
        _ => Err(RpcError::internal(format!(
            "the message of the client's model uses tools, which revision {revision} does not have"
        ))),
    }
}

/// Returns the only block, or one with the text of all.
fn join(mut blocks: Vec<Block>) -> Result<Block, RpcError> {
    if blocks.len() == 1 {
        return Ok(blocks.remove(0));
    }
    let texts: Option<Vec<&str>> = blocks.iter().map(Block::as_text).collect();
    let texts = texts.filter(|texts| !texts.is_empty()).ok_or_else(|| {
        RpcError::internal(
            "the message of the client's model has no single block, and not only text to join",
        )
    })?;
    Ok(Block::Text(TextContent::new(texts.join("\n"))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn downgraded(content: &Value, revision: Revision) -> Result<Value, RpcError> {
        let result = json!({"role": "assistant", "content": content, "model": "m"});
        let result = serde_json::from_value(result).unwrap();
        downgrade_sampling_result(result, revision).map(|result| json!(result.content))
    }

    #[test]
    fn older_servers_receive_exactly_one_block() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let audio = json!({"type": "audio", "data": "", "mimeType": "audio/wav"});
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        let tool_use = json!({"type": "tool_use", "id": "1", "name": "a", "input": {}});
        let described = text("[audio of type audio/wav, which this server does not support]");
        let (first, last) = (Revision::V2024_11_05, Revision::V2025_06_18);
        for (content, revision, expected) in [
            (json!([text("a")]), first, Some(text("a"))),
            (json!([text("a"), text("b")]), last, Some(text("a\nb"))),
            (json!([image]), first, Some(image.clone())),
            (json!([audio]), first, Some(described)),
            (json!([audio]), Revision::V2025_03_26, Some(audio.clone())),
            (json!([text("a"), image]), last, None),
            (json!([]), last, None),
            (json!([tool_use]), last, None),
        ] {
            let found = downgraded(&content, revision).ok();
            assert_eq!(found, expected, "{revision}: {content}");
        }
        let both = json!([tool_use, image]);
        assert_eq!(downgraded(&both, Revision::V2025_11_25).unwrap(), both);
    }
}
