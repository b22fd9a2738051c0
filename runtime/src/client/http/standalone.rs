//! The stream of what belongs to no request, in the legacy era.

use std::sync::Arc;

use http::StatusCode;
use tokio::time::sleep;

use crate::client::ClientError;
use crate::client::http::backoff;
use crate::client::http::events::Events;
use crate::client::http::hear::Source;
use crate::client::http::legacy::Standing;
use crate::client::http::reply::Reply;
use crate::client::http::shared::Shared;
use crate::client::http::sse::{Event, Position};

/// Listens in the background, for as long as the session lasts.
pub(super) fn spawn(shared: &Arc<Shared>, standing: Standing) {
    let handshake = standing.handshake;
    let listening = Arc::clone(shared);
    let task = tokio::spawn(async move {
        let listen = listen(&listening, &standing);
        listening.while_open(listen).await;
    });
    let reader = task.abort_handle();
    if !shared.with_legacy(handshake, |legacy| legacy.read_by(reader)) {
        task.abort();
    }
}

/// Asks for the stream again and again, unless the server has none.
async fn listen(shared: &Arc<Shared>, standing: &Standing) {
    let mut position = Position::default();
    let mut failures = 0;
    loop {
        match shared.get(standing, position.id.as_ref()).await {
            Ok(Reply::Events(body)) => {
                let mut events = Events::new(body, shared.limits.message_bytes, position);
                read(shared, &mut events).await;
                position = events.into_position();
            }
            Ok(Reply::Failed(failed)) if backoff::may_pass(failed.status) => {}
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
        failures = if std::mem::take(&mut position.moved) {
            1
        } else {
            failures + 1
        };
        sleep(backoff::delay(position.retry, failures)).await;
    }
}

/// Passes on what a stream brings, until it ends.
pub(super) async fn read(shared: &Arc<Shared>, events: &mut Events) {
    while let Some(event) = events.next().await {
        match event {
            Event::Message(data) if data.is_empty() => {}
            Event::Message(data) => {
                // Answers go to those who wait for them.
                let _ = shared.hear(&data, Source::Background).await;
            }
            Event::Endpoint(_) => tracing::debug!("the server names an address to post to again"),
            Event::TooLong => {
                let most = shared.limits.message_bytes;
                tracing::warn!(most, "the server has sent a message that is too long");
            }
        }
    }
}
