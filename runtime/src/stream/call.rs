//! One call of a tool that streams, and what its caller is told of each item.

use std::sync::Arc;

use treenail_schema::Number;

use crate::call::{Call, CallState, CallValue, Lifetime, progress_token};
use crate::context::Context;
use crate::stream::gathered::{Bounds, Gathered};
use crate::wire::Members;

/// The member of a request's `_meta` by which a client asks for the items themselves.
pub(crate) const WANTS_ITEMS: &str = "dev.treenail/items";

/// The member of a progress's `_meta` that is an item.
#[cfg(feature = "client")]
pub(crate) const ITEM: &str = "dev.treenail/item";

/// The bytes of JSON up to which a text is told whole as the message of its progress.
const MESSAGE_BYTES: usize = 4096;

/// What is made of a call before a function that streams runs: what others have made of it, and what telling its items
/// takes.
#[derive(Debug)]
pub struct Streaming<C> {
    context: C,
    bounds: Bounds,
    teller: Option<Teller>,
}

/// Tells a caller that asked for it of each item.
#[derive(Debug)]
struct Teller {
    state: Arc<CallState>,
    /// Whether the caller takes the items themselves.
    items: bool,
}

impl CallValue for Streaming<()> {
    fn from_call(call: &Call<'_>) -> Self {
        let told = call.meta.and_then(progress_token);
        let state = || match call.context {
            Some(context) => Arc::clone(context.state()),
            None => Arc::new(CallState::new(call)),
        };
        let teller = told.map(|_| Teller::new(call, state()));
        let bounds = bounds(call);
        Self {
            context: (),
            bounds,
            teller,
        }
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::of(self.teller.as_ref().map(|teller| &teller.state))
    }
}

impl CallValue for Streaming<Context> {
    fn from_call(call: &Call<'_>) -> Self {
        let context = Context::from_call(call);
        let state = context.state();
        let told = state.progress_token.is_some();
        let teller = told.then(|| Teller::new(call, Arc::clone(state)));
        let bounds = bounds(call);
        Self {
            context,
            bounds,
            teller,
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
    /// What functions that do not stream get of the call.
    pub fn context(&self) -> &C {
        &self.context
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Tells the caller of the newest item, if it wants that; waits while it takes no messages.
    pub(super) async fn tell(&self, gathered: &Gathered) {
        if let Some(Teller { state, items }) = &self.teller {
            let count = Number::from(u64::try_from(gathered.items).unwrap_or(u64::MAX));
            let tell = |progress: &Number| notification(state, progress, gathered, *items);
            state.notify_item(count, tell).await;
        }
    }
}

impl Teller {
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

/// The progress of the newest item as a message. The JSON of the item is there already, so it is not built from types.
fn notification(state: &CallState, progress: &Number, gathered: &Gathered, items: bool) -> Vec<u8> {
    let mut message =
        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#
            .to_vec();
    push(&mut message, &state.progress_token);
    message.extend_from_slice(br#","progress":"#);
    push(&mut message, progress);
    if let Some(text) = gathered.newest_text() {
        message.extend_from_slice(br#","message":"#);
        push_message(&mut message, text);
    }
    if items {
        message.extend_from_slice(br#","_meta":{"dev.treenail/item":"#);
        message.extend_from_slice(gathered.newest());
        message.push(b'}');
    }
    message.extend_from_slice(b"}}");
    message
}

/// Appends the JSON of a text, which is cut off if it is long: a message is for people.
fn push_message(message: &mut Vec<u8>, text: &[u8]) {
    if text.len() <= MESSAGE_BYTES {
        return message.extend_from_slice(text);
    }
    let mut text: String = serde_json::from_slice(text).unwrap_or_default();
    let end = (0..=MESSAGE_BYTES.min(text.len())).rev();
    let end = end.into_iter().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or_default());
    text.push('…');
    push(message, &text);
}

fn push(message: &mut Vec<u8>, value: &impl serde::Serialize) {
    // Tokens, numbers and texts have no cause to fail.
    if serde_json::to_writer(&mut *message, value).is_err() {
        message.extend_from_slice(b"null");
    }
}
