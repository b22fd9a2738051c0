//! The rules for functions that return a stream.

use quote::ToTokens;

use crate::diag::Sink;
use crate::signature::borrow_in;
use crate::tool::model::{Feature, Kind, Output};

/// The rules for a function that returns a stream, which may borrow: it is polled where the function is called.
pub(super) fn stream(feature: &Feature, sink: &mut Sink) {
    only_tools(feature, sink);
    some_stream(feature, sink);
    not_blocking(feature, sink);
    owned_items(feature, sink);
}

/// What is read at once cannot come bit by bit.
fn only_tools(feature: &Feature, sink: &mut Sink) {
    let shown = feature.stream.as_ref().and_then(|it| it.shown.as_ref());
    if let (Kind::Prompt | Kind::Resource(_), Some(shown)) = (&feature.kind, shown) {
        let noun = feature.kind.noun();
        sink.error(
            shown,
            format!("only tools stream; a {noun} returns all at once, like `Vec<T>` or `String`"),
        );
    }
}

/// The function returns something that can be a stream.
fn some_stream(feature: &Feature, sink: &mut Sink) {
    let key = feature.stream.as_ref().and_then(|it| it.key.as_ref());
    if let (Output::Unit | Output::Borrowed(_), Some(key)) = (&feature.output, key) {
        let message = format!("`{key}` is for tools that return a stream; remove it");
        sink.error(key, message);
    }
}

/// A stream is polled, and so does not block.
fn not_blocking(feature: &Feature, sink: &mut Sink) {
    if let (Some(_), Some(blocking)) = (&feature.stream, &feature.blocking) {
        if blocking.value {
            sink.error(
                &blocking.key,
                "a stream can't be `blocking`; remove this, and send the items through a channel \
                 from a thread that may block",
            );
        }
    }
}

/// Items outlive the turn in which they come.
fn owned_items(feature: &Feature, sink: &mut Sink) {
    let item = feature.stream.as_ref().and_then(|it| it.item.as_ref());
    if let Some(token) = item.and_then(|item| borrow_in(item.to_token_stream())) {
        sink.error(
            token,
            "the items borrow here; make them owned, like `String` for `&str`",
        );
    }
}
