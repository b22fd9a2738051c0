//! The streaming tools for each kind of item, made at run time.

use std::collections::BTreeMap;
use std::pin::Pin;

use tokio_stream::StreamExt;
use treenail::dynamic::{Arguments, Feature, Fold};
use treenail::{Stream, ToolError};

use super::{
    Frame, blocks, blocks_fail, blocks_joined, failing, frames, last_block, last_frame,
    last_frame_fails, last_number, last_word, long_word, ticks, up_to, word, words, words_fail,
    words_listed,
};
use crate::support::made::{Made, get};

pub(crate) type Boxed<T> = Pin<Box<dyn Stream<Item = T> + Send>>;

/// Returns all tools.
pub(crate) fn all(made: &Made) -> Vec<Feature> {
    let (concat, last) = (Fold::Concat, Fold::Last);
    let tool = |name: &str| made.tool(name);
    let to = |it: &Arguments| get::<u32>(it, "to");
    let at = |it: &Arguments| get::<u32>(it, "at");
    vec![
        tool("words")
            .fold(concat)
            .stream(move |_, it| words(to(&it))),
        tool("words_listed").stream(move |_, it| words_listed(to(&it))),
        tool("last_word")
            .fold(last)
            .stream(move |_, it| last_word(to(&it))),
        tool("frames").stream(move |_, it| frames(to(&it))),
        tool("frame_lines")
            .fold(concat)
            .stream(move |_, it| up_to(to(&it), Frame::new)),
        tool("last_frame")
            .fold(last)
            .stream(move |_, it| last_frame(to(&it))),
        tool("last_number")
            .fold(last)
            .stream(move |_, it| last_number(to(&it))),
        tool("ticks").stream(move |_, it| ticks(to(&it))),
        tool("blocks").stream(move |_, it| blocks(to(&it))),
        tool("blocks_joined")
            .fold(concat)
            .stream(move |_, it| blocks_joined(to(&it))),
        tool("last_block")
            .fold(last)
            .stream(move |_, it| last_block(to(&it))),
        tool("words_fail")
            .fold(concat)
            .stream(move |_, it| words_fail(at(&it)).map(|word| word.map_err(ToolError::new))),
        tool("frames_fail").stream(move |_, it| frames_fail(at(&it))),
        tool("last_frame_fails").fold(last).stream(move |_, it| {
            last_frame_fails(at(&it)).map(|frame| frame.map_err(ToolError::new))
        }),
        tool("blocks_fail").stream(move |_, it| blocks_fail(at(&it))),
        tool("words_panic")
            .fold(concat)
            .stream(move |_, it| words_panic(at(&it), get(&it, "later"))),
        tool("unwritable")
            .stream(|_, _| tokio_stream::iter([BTreeMap::from([((1_u8, 2_u8), 3_u8)])])),
        tool("long_word")
            .fold(concat)
            .stream(|_, it| long_word(get(&it, "to"))),
    ]
}

fn frames_fail(at: u32) -> Result<Boxed<Result<Frame, ToolError>>, ToolError> {
    if at == 0 {
        return Err(ToolError::new("no stream"));
    }
    let frames = up_to(4, failing(at, Frame::new));
    Ok(Box::pin(frames.map(|frame| frame.map_err(ToolError::new))))
}

fn words_panic(at: u32, later: bool) -> impl Stream<Item = String> {
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
