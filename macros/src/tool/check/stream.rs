//! Rules for functions that return a stream.

use quote::ToTokens;

use crate::diag::Sink;
use crate::signature::borrow_in;
use crate::tool::model::{Feature, Kind, Output};

/// Checks a function that returns a stream. The stream may borrow, since it is polled where the function is called.
pub(super) fn stream(feature: &Feature, sink: &mut Sink) {
    only_tools(feature, sink);
    can_stream(feature, sink);
    not_blocking(feature, sink);
    owned_items(feature, sink);
}

/// Only tools stream: prompts and resources are read as a whole.
fn only_tools(feature: &Feature, sink: &mut Sink) {
    let ident = feature.stream.as_ref().and_then(|it| it.ident.as_ref());
    if let (Kind::Prompt | Kind::Resource(_), Some(ident)) = (&feature.kind, ident) {
        let noun = feature.kind.noun();
        sink.error(
            ident,
            format!("only tools can stream; a {noun} returns one value, like `Vec<T>` or `String`"),
        );
    }
}

/// A function with the key `stream` or `fold` has an output type that can be a stream.
fn can_stream(feature: &Feature, sink: &mut Sink) {
    let key = feature.stream.as_ref().and_then(|it| it.key.as_ref());
    if let (Output::Unit | Output::Borrowed(_), Some(key)) = (&feature.output, key) {
        let message = format!("`{key}` is for tools that return a stream; remove it");
        sink.error(key, message);
    }
}

/// A stream is not `blocking`, since it is polled.
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

/// Items do not borrow, since they outlive the poll that yields them.
fn owned_items(feature: &Feature, sink: &mut Sink) {
    let item = feature.stream.as_ref().and_then(|it| it.item.as_ref());
    if let Some(token) = item.and_then(|item| borrow_in(item.to_token_stream())) {
        sink.error(
            token,
            "the items borrow here; make them owned, like `String` for `&str`",
        );
    }
}
