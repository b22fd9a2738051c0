//! Streaming tools: one for each kind of item, fold and end.

/// The same at run time.
pub(crate) mod twin;

use std::pin::Pin;

use tokio_stream::StreamExt;
use treenail::prelude::*;
use treenail::schema::{AudioContent, ContentBlock};
use treenail::tool::ToolSet;

/// A picture of the radar.
#[mcp_type]
pub(crate) struct Frame {
    at: u32,
    note: Option<String>,
}

impl Frame {
    pub(crate) fn new(at: u32) -> Self {
        let note = (at == 2).then(|| "a \"b\"".to_owned());
        Self { at, note }
    }
}

pub(crate) type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// Returns items up to a number.
pub(crate) fn up_to<T>(to: u32, make: impl Fn(u32) -> T) -> impl Stream<Item = T> {
    tokio_stream::iter(1..=to).map(make)
}

/// Fails instead of the item `at`.
fn failing<T>(at: u32, make: impl Fn(u32) -> T) -> impl Fn(u32) -> Result<T, String> {
    move |item| {
        if item == at {
            Err(format!("no item {at}"))
        } else {
            Ok(make(item))
        }
    }
}

pub(crate) fn word(at: u32) -> String {
    ["a \"b\"\n", "c\\d ", "e"][at as usize % 3].to_owned()
}

fn block(at: u32) -> ContentBlock {
    match at % 3 {
        0 => AudioContent::new("UklGRg==", "audio/wav").into(),
        _ => ContentBlock::text(word(at)),
    }
}

#[mcp_tool(fold = "concat")]
fn words(to: u32) -> impl Stream<Item = String> {
    up_to(to, word)
}

#[mcp_tool]
fn words_listed(to: u32) -> impl Stream<Item = String> {
    up_to(to, word)
}

#[mcp_tool(fold = "last")]
fn last_word(to: u32) -> impl Stream<Item = Option<String>> {
    up_to(to, |at| (at < 4).then(|| word(at)))
}

#[mcp_tool]
fn frames(to: u32) -> impl Stream<Item = Frame> {
    up_to(to, Frame::new)
}

#[mcp_tool(fold = "concat")]
async fn frame_lines(to: u32) -> impl Stream<Item = Frame> {
    tokio::task::yield_now().await;
    up_to(to, Frame::new)
}

#[mcp_tool(fold = "last")]
fn last_frame(to: u32) -> impl Stream<Item = Frame> {
    up_to(to, Frame::new)
}

#[mcp_tool(stream, fold = "last")]
fn last_number(to: u32) -> BoxStream<'static, u32> {
    Box::pin(up_to(to, |at| at * 10))
}

#[mcp_tool]
fn ticks(to: u32) -> impl Stream<Item = ()> {
    up_to(to, |_| ())
}

#[mcp_tool]
fn blocks(to: u32) -> impl Stream<Item = ContentBlock> {
    up_to(to, block)
}

#[mcp_tool(fold = "concat")]
fn blocks_joined(to: u32) -> impl Stream<Item = ContentBlock> {
    up_to(to, block)
}

#[mcp_tool(fold = "last")]
fn last_block(to: u32) -> impl Stream<Item = ContentBlock> {
    up_to(to, block)
}

#[mcp_tool(fold = "concat")]
fn words_fail(at: u32) -> impl Stream<Item = Result<String, String>> {
    up_to(4, failing(at, word))
}

#[mcp_tool(stream)]
async fn frames_fail(at: u32) -> Result<BoxStream<'static, Result<Frame, String>>, String> {
    if at == 0 {
        return Err("no stream".to_owned());
    }
    Ok(Box::pin(up_to(4, failing(at, Frame::new))))
}

#[mcp_tool(fold = "last")]
fn last_frame_fails(at: u32) -> impl Stream<Item = Result<Frame, String>> {
    up_to(4, failing(at, Frame::new))
}

#[mcp_tool]
fn blocks_fail(at: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>> {
    up_to(4, failing(at, block)).map(|block| {
        block.map_err(|error| {
            ToolError::with_content(vec![
                ContentBlock::text(error),
                AudioContent::new("UklGRg==", "audio/wav").into(),
            ])
        })
    })
}

#[mcp_tool(fold = "concat")]
async fn words_panic(at: u32, later: bool) -> impl Stream<Item = String> {
    let words = up_to(4, move |item| {
        assert_ne!(item, at, "a secret");
        word(item)
    });
    words.then(move |word| async move {
        if later {
            tokio::task::yield_now().await;
        }
        word
    })
}

#[mcp_tool]
fn unwritable() -> impl Stream<Item = std::collections::BTreeMap<(u8, u8), u8>> {
    tokio_stream::iter([std::collections::BTreeMap::from([((1, 2), 3)])])
}

/// One text of `to` bytes or a little more.
#[mcp_tool(fold = "concat")]
fn long_word(to: usize) -> impl Stream<Item = String> {
    tokio_stream::iter(["é\"".repeat(to.div_ceil(3))])
}

/// Returns all tools.
pub(crate) fn all() -> ToolSet {
    tools![
        words,
        words_listed,
        last_word,
        frames,
        frame_lines,
        last_frame,
        last_number,
        ticks,
        blocks,
        blocks_joined,
        last_block,
        words_fail,
        frames_fail,
        last_frame_fails,
        blocks_fail,
        words_panic,
        unwritable,
        long_word,
    ]
}
