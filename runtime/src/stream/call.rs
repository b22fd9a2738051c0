//! A call of a streaming tool, and the progress notifications for its items.

use std::sync::Arc;

use treenail_schema::Number;

use crate::call::{Call, CallState, CallValue, Lifetime, progress_token};
use crate::context::Context;
use crate::stream::collected::{Bounds, Collected};
use crate::wire::Members;

/// Key in the `_meta` of a request with which a client requests the items themselves.
pub(crate) const WANTS_ITEMS: &str = "dev.treenail/items";

/// Key in the `_meta` of a progress notification that contains an item.
#[cfg(feature = "client")]
pub(crate) const ITEM: &str = "dev.treenail/item";

/// Maximum length of the message of a progress notification, in bytes of JSON. A longer text is truncated.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Context of a call of a streaming tool: the value that a non-streaming function gets, and the state for reporting
/// items.
#[derive(Debug)]
pub struct Streaming<C> {
    context: C,
    bounds: Bounds,
    reporter: Option<ItemReporter>,
}

/// Reporter of items, for a caller that requested progress.
#[derive(Debug)]
struct ItemReporter {
    state: Arc<CallState>,
    /// Whether the caller requested the items themselves.
    items: bool,
}

impl CallValue for Streaming<()> {
    fn from_call(call: &Call<'_>) -> Self {
        let token = call.meta.and_then(progress_token);
        let state = || match call.context {
            Some(context) => Arc::clone(context.state()),
            None => Arc::new(CallState::new(call)),
        };
        let reporter = token.map(|_| ItemReporter::new(call, state()));
        let bounds = bounds(call);
        Self {
            context: (),
            bounds,
            reporter,
        }
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::of(self.reporter.as_ref().map(|reporter| &reporter.state))
    }
}

impl CallValue for Streaming<Context> {
    fn from_call(call: &Call<'_>) -> Self {
        let context = Context::from_call(call);
        let state = context.state();
        let token = state.progress_token().is_some();
        let reporter = token.then(|| ItemReporter::new(call, Arc::clone(state)));
        let bounds = bounds(call);
        Self {
            context,
            bounds,
            reporter,
        }
    }

    fn lifetime(&self) -> Lifetime {
        self.context.lifetime()
    }
}

fn bounds(call: &Call<'_>) -> Bounds {
    Bounds {
        items: call.server.limits().streams.items,
        bytes: call.server.limits().streams.bytes,
        revision: call.peer.revision(),
    }
}

impl<C> Streaming<C> {
    /// Returns the context that a non-streaming function gets.
    pub fn context(&self) -> &C {
        &self.context
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Reports the latest item if the caller requested progress. Waits until the caller accepts the message.
    pub(super) async fn report_item(&self, collected: &Collected) {
        if let Some(ItemReporter { state, items }) = &self.reporter {
            let count = Number::from(u64::try_from(collected.items).unwrap_or(u64::MAX));
            let notification =
                |progress: &Number| progress_notification(state, progress, collected, *items);
            state.notify_item(count, notification).await;
        }
    }
}

impl ItemReporter {
    fn new(call: &Call<'_>, state: Arc<CallState>) -> Self {
        let items = call.meta.is_some_and(wants_items);
        Self { state, items }
    }
}

fn wants_items(meta: &str) -> bool {
    let Ok(mut members) = Members::new(meta) else {
        return false;
    };
    while let Ok(Some((key, text))) = members.next() {
        if key == WANTS_ITEMS {
            return text == "true";
        }
    }
    false
}

/// Builds the progress notification for the latest item from its existing JSON.
#[inline]
fn progress_notification(
    state: &CallState,
    progress: &Number,
    collected: &Collected,
    items: bool,
) -> Vec<u8> {
    let mut message =
        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#
            .to_vec();
    push_json(&mut message, &state.progress_token());
    message.extend_from_slice(br#","progress":"#);
    push_json(&mut message, progress);
    if let Some(text) = collected.latest_text() {
        message.extend_from_slice(br#","message":"#);
        push_message(&mut message, text);
    }
    if items {
        message.extend_from_slice(br#","_meta":{"dev.treenail/item":"#);
        message.extend_from_slice(collected.latest());
        message.push(b'}');
    }
    message.extend_from_slice(b"}}");
    message
}

/// Appends the JSON of a text, truncated if it is long, because the message is for display.
#[inline]
fn push_message(message: &mut Vec<u8>, text: &[u8]) {
    if text.len() <= MAX_MESSAGE_BYTES {
        return message.extend_from_slice(text);
    }
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut text: String = serde_json::from_str(text).unwrap_or_default();
    let mut bytes = 0;
    let end = text.char_indices().find_map(|(at, char)| {
        bytes += escaped_bytes(char);
        (bytes > MAX_MESSAGE_BYTES).then_some(at)
    });
    if let Some(end) = end {
        text.truncate(end);
        text.push('…');
    }
    push_json(message, &text);
}

/// Returns the length of a character in a JSON string.
fn escaped_bytes(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => char.len_utf8(),
    }
}

fn push_json(message: &mut Vec<u8>, value: &impl serde::Serialize) {
    // Serializing tokens, numbers and strings cannot fail.
    if serde_json::to_writer(&mut *message, value).is_err() {
        message.extend_from_slice(b"null");
    }
}
