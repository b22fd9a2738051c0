//! Complete responses, and the parts of those that stream.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode};
use http_body::Body;
use serde_json::Value;
use treenail::http::HttpBody;

/// Complete response.
#[derive(Debug)]
pub(crate) struct CompleteResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl CompleteResponse {
    pub(super) async fn read(response: Response<HttpBody>) -> Self {
        let (head, mut body) = response.into_parts();
        let mut bytes = BytesMut::new();
        while let Some(data) = next(&mut body).await {
            bytes.extend_from_slice(&data);
        }
        Self {
            status: head.status,
            headers: head.headers,
            body: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Fails unless the message was accepted without a response body.
    pub(crate) fn expect_accepted(&self, description: &str) {
        assert_eq!(
            (self.status.as_u16(), &*self.body),
            (202, ""),
            "{description}"
        );
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Returns the body as JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "SRV-HTTP-08: {self:?}"
        );
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(
            self.header("content-type"),
            Some("text/event-stream"),
            "SRV-HTTP-08: {self:?}"
        );
        messages(&self.body)
    }
}

/// Returns the next frame of a body.
pub(crate) async fn next(body: &mut HttpBody) -> Option<Bytes> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    let Ok(frame) = frame;
    Some(frame.into_data().unwrap())
}

/// Returns the messages in a text of events.
pub(crate) fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
