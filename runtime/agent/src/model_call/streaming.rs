//! Text of a reply with its calls, parsed while it arrives.

use treenail_schema::{
    JsonObject, MetaObject, SamplingMessageContentBlock as Block, ToolUseContent,
};

use crate::TextSink;
use crate::raw_arguments::RAW_CALL;
use crate::text::{Piece, TextParser};

/// Reply that is parsed while it is streamed.
pub(super) struct StreamingReply {
    /// `None` if no text is a call.
    parser: Option<TextParser>,
    pieces: Vec<Piece>,
}

impl StreamingReply {
    pub(super) fn new(parser: Option<TextParser>) -> Self {
        Self {
            parser,
            pieces: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, chunk: &str, on_text: TextSink<'_>) {
        let pieces = match &mut self.parser {
            Some(parser) => parser.push(chunk),
            None => vec![Piece::Text(chunk.to_owned())],
        };
        self.append(pieces, on_text);
    }

    pub(super) fn finish(&mut self, cut_off: bool, on_text: TextSink<'_>) -> Vec<Piece> {
        if let Some(parser) = &mut self.parser {
            let pieces = if cut_off {
                parser.finish_cut_off()
            } else {
                parser.finish()
            };
            self.append(pieces, on_text);
        }
        std::mem::take(&mut self.pieces)
    }

    fn append(&mut self, pieces: Vec<Piece>, on_text: TextSink<'_>) {
        for piece in pieces {
            match (piece, self.pieces.last_mut()) {
                (Piece::Text(more), Some(Piece::Text(text))) => {
                    on_text(&more);
                    text.push_str(&more);
                }
                (Piece::Text(text), _) => {
                    on_text(&text);
                    self.pieces.push(Piece::Text(text));
                }
                (call, _) => self.pieces.push(call),
            }
        }
    }
}

/// Converts pieces to content blocks, and collects the parse errors of the calls.
pub(super) fn into_blocks(pieces: Vec<Piece>) -> (Vec<Block>, Vec<Option<String>>) {
    let (mut blocks, mut problems) = (Vec::new(), Vec::new());
    for piece in pieces {
        // The owner of the conversation makes these ids unique across messages.
        let id = || format!("call-{}", problems.len() + 1);
        match piece {
            Piece::Text(text) if text.trim().is_empty() => {}
            Piece::Text(text) => blocks.push(Block::text(text)),
            Piece::Call { name, input } => {
                blocks.push(ToolUseContent::new(id(), name, input).into());
                problems.push(None);
            }
            Piece::Malformed {
                name,
                source,
                message,
            } => {
                let meta: MetaObject = [(RAW_CALL, source)].into_iter().collect();
                let name = name.unwrap_or_else(|| "unknown".to_owned());
                let call = ToolUseContent::new(id(), name, JsonObject::new()).with_meta(meta);
                blocks.push(call.into());
                problems.push(Some(message));
            }
        }
    }
    (blocks, problems)
}
