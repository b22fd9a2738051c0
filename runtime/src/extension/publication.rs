//! Topics of a subscription, and messages to their subscribers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll};

use serde_json::Value;
use treenail_schema::{Method, Revision};

use crate::panic::{catch, unexpected};
use crate::revision::without_retired_code;
use crate::wire::{Members, RpcError};

/// Accepted topics, by the name of the member.
pub(crate) type Accepted = Vec<(Box<str>, Vec<String>)>;

/// Topics of a new subscription, which its caller may or may not subscribe to.
#[derive(Debug)]
pub(crate) struct Topics {
    pub(crate) keys: Vec<Arc<str>>,
    pub(crate) accepting: Accepting,
}

/// Future of the accepted topics. (The lock makes it `Sync`; it is never taken.)
pub(crate) struct Accepting(Mutex<AcceptedFuture>);

type AcceptedFuture = Pin<Box<dyn Future<Output = Result<Accepted, RpcError>> + Send>>;

impl fmt::Debug for Accepting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Accepting").finish_non_exhaustive()
    }
}

impl Accepting {
    pub(super) fn new(
        accepting: impl Future<Output = Result<Accepted, RpcError>> + Send + 'static,
    ) -> Self {
        Self(Mutex::new(Box::pin(accepting)))
    }

    /// Polls the future. A panic is an error.
    pub(crate) fn poll(
        &mut self,
        context: &mut task::Context<'_>,
    ) -> Poll<Result<Accepted, RpcError>> {
        let future = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let polled = catch(|| future.as_mut().poll(context)).unwrap_or_else(|message| {
            let method = Method::SubscriptionsListen.as_str();
            let message = unexpected("method", method, &message);
            Poll::Ready(Err(RpcError::internal(message)))
        });
        // Only the modern era has the method.
        polled.map_err(|error| without_retired_code(error, Revision::LATEST))
    }
}

/// Returns the key of a topic, which is unique among the topics of all members.
pub(crate) fn topic_key(member: &str, topic: &str) -> String {
    format!("{member}\0{topic}")
}

/// Message to the subscribers of a topic. A newer one replaces one that a subscriber has not received yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Publication {
    pub(crate) key: Box<str>,
    pub(crate) method: Box<str>,
    /// The members of the parameters, as JSON text.
    pub(crate) params: String,
    /// The members of `_meta`, as JSON text.
    pub(crate) meta: String,
}

impl Publication {
    /// Prepares a notification. `params` is the text of an object.
    #[inline]
    pub(crate) fn new(
        (member, topic): (&str, &str),
        method: &str,
        params: &str,
    ) -> Result<Self, RpcError> {
        let invalid =
            |_| RpcError::internal(format!("the parameters of `{method}` are not an object"));
        let (mut own, mut meta) = (String::new(), String::new());
        let mut members = Members::new(params).map_err(invalid)?;
        while let Some((key, value)) = members.next().map_err(invalid)? {
            if key != "_meta" {
                push_member(&mut own, &key, value);
                continue;
            }
            let mut members = Members::new(value).map_err(invalid)?;
            while let Some((key, value)) = members.next().map_err(invalid)? {
                push_member(&mut meta, &key, value);
            }
        }
        Ok(Self {
            key: topic_key(member, topic).into(),
            method: method.into(),
            params: own,
            meta,
        })
    }
}

/// Appends a member to the text of members.
pub(super) fn push_member(members: &mut String, key: &str, value: &str) {
    if !members.is_empty() {
        members.push(',');
    }
    members.push_str(&Value::from(key).to_string());
    members.push(':');
    members.push_str(value);
}
