//! The stream of what belongs to no request, in the legacy era.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use crate::client::ClientError;
use crate::client::fetch::head::may_pass;
use crate::client::fetch::sse::{Event, Position};
use crate::client::http::backoff::Attempt;
use crate::client::http::events::Events;
use crate::client::http::hear::Source;
use crate::client::http::legacy::Standing;
use crate::client::http::reply::Reply;
use crate::client::http::shared::Shared;

/// How long the first request may wait for the stream. Servers open it at once, but some say so only with its first message.
const OPEN_WITHIN: Duration = Duration::from_millis(250);

/// Listens in the background, for as long as the session lasts. Ready when there is a stream, or will be none, or that takes
/// long: what a server asks before it has one, some servers ask nobody.
pub(super) async fn begin(shared: &Arc<Shared>, standing: Standing) {
    let handshake = standing.handshake;
    let listening = Arc::clone(shared);
    let (opened, open) = oneshot::channel();
    let task = tokio::spawn(async move {
        let listen = listen(&listening, &standing, opened);
        listening.while_open(listen).await;
    });
    let reader = task.abort_handle();
    if !shared.with_legacy(handshake, |legacy| legacy.read_by(reader)) {
        task.abort();
    }
    // However that ends, requests can be sent.
    drop(timeout(OPEN_WITHIN, open).await);
}

/// Asks for the stream again and again, unless the server has none.
async fn listen(shared: &Arc<Shared>, standing: &Standing, opened: oneshot::Sender<()>) {
    let mut opened = Some(opened);
    let mut position = Position::default();
    let mut attempt = Attempt::default();
    loop {
        let begun = Instant::now();
        attempt.delivered = false;
        let reply = shared.get(standing, position.id.as_ref()).await;
        // Dropping it says as much as sending.
        opened.take();
        match reply {
            Ok(Reply::Events(body)) => {
                let mut events = Events::new(body, shared.limits.message_bytes, position);
                attempt.delivered = read(shared, &mut events).await;
                position = events.into_position();
            }
            Ok(Reply::Failed(failed)) if may_pass(failed.status) => {}
            // The server does not know that event any more, so what came after it is lost.
            Ok(Reply::Failed(failed))
                if failed.status == StatusCode::BAD_REQUEST && position.id.is_some() =>
            {
                position.id = None;
            }
            Ok(_) => return,
            Err(ClientError::Closed(_)) => {}
            Err(error) => {
                tracing::warn!(%error, "the stream of the server cannot be read");
                return;
            }
        }
        sleep(attempt.delay(&mut position, begun.elapsed())).await;
    }
}

/// Passes on what a stream brings, until it ends. Returns whether there was a message.
pub(super) async fn read(shared: &Arc<Shared>, events: &mut Events) -> bool {
    let mut delivered = false;
    while let Some(event) = events.next().await {
        match event {
            Event::Message(data) if data.is_empty() => {}
            Event::Other(_) => {}
            Event::Message(data) => {
                delivered = true;
                // Answers go to those who wait for them.
                let _ = shared.hear(&data, Source::Background).await;
            }
            Event::Endpoint(_) => tracing::debug!("the server names an address to post to again"),
            Event::TooLong(head) => shared.reject_oversized(&head),
        }
    }
    delivered
}
