//! HTTP+SSE of 2024-11-05: one stream for all that the server sends, and an address to post to.

use std::sync::Arc;

use http::Uri;

use crate::client::ClientError;
use crate::client::fetch::sse::{Event, Position};
use crate::client::fetch::url::same_origin;
use crate::client::http::events::Events;
use crate::client::http::legacy::{Carrier, Standing};
use crate::client::http::reply::{Failed, Reply};
use crate::client::http::shared::Shared;
use crate::client::http::standalone;

/// Opens the stream, waits for the address, and goes on reading in the background.
///
/// # Errors
///
/// If the server does not speak this transport either, with what it has said first.
pub(super) async fn begin(
    shared: &Arc<Shared>,
    standing: Standing,
    failed: Failed,
) -> Result<Standing, ClientError> {
    let Ok(Reply::Events(body)) = shared.get(&standing, None).await else {
        return Err(failed.into());
    };
    let mut events = Events::new(body, shared.limits.message_bytes, Position::default());
    let endpoint = loop {
        match events.next().await {
            Some(Event::Endpoint(data)) => break resolve(&shared.url, &data)?,
            Some(_) => {}
            None => return Err(failed.into()),
        }
    };
    let handshake = standing.handshake;
    shared.carry_by(handshake, Carrier::Events(endpoint));
    spawn(shared, events, handshake);
    Ok(shared.standing(None))
}

fn spawn(shared: &Arc<Shared>, mut events: Events, handshake: u64) {
    let reading = Arc::clone(shared);
    let task = tokio::spawn(async move {
        let read = standalone::read(&reading, &mut events);
        if reading.while_open(read).await.is_some() {
            lose(&reading, handshake);
        }
    });
    let reader = task.abort_handle();
    if !shared.with_legacy(handshake, |legacy| legacy.read_by(reader)) {
        task.abort();
    }
}

/// The stream has ended, and with it the connection: this transport has no way to go on.
fn lose(shared: &Shared, handshake: u64) {
    if !shared.carry_by(handshake, Carrier::Lost) {
        return;
    }
    shared.fail_all(&ClientError::closed("the stream of the server has ended"));
    if let Some(incoming) = shared.incoming() {
        incoming.closed();
    }
}

/// The address to post to, which has to be of the same origin: a server must not send our headers elsewhere.
fn resolve(url: &Uri, reference: &[u8]) -> Result<Uri, ClientError> {
    same_origin(url, reference)
        .map_err(|what| ClientError::protocol(format!("the address to post to {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_posted_to_the_same_origin_only() {
        let url = Uri::from_static("http://example.com/mcp/sse?a=b");
        let cases = [
            (
                "/messages?session=1",
                Some("http://example.com/messages?session=1"),
            ),
            ("messages", Some("http://example.com/mcp/messages")),
            ("?session=1", Some("http://example.com/mcp/sse?session=1")),
            ("http://EXAMPLE.com:80/x", Some("http://example.com:80/x")),
            ("http://example.com:8080/x", None),
            ("https://example.com/x", None),
            ("http://example.com.evil.example/x", None),
            ("//evil.example/x", None),
            ("http://me@example.com/x", None),
            ("file:///etc/passwd", None),
            ("a b", None),
            ("http://[", None),
        ];
        for (reference, expected) in cases {
            let target = resolve(&url, reference.as_bytes());
            let target = target.ok().map(|target| target.to_string().to_lowercase());
            assert_eq!(target.as_deref(), expected, "CLI-SSE-01: {reference}");
        }
    }
}
