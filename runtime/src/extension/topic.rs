//! Subscriptions to topics of extensions: members of `subscriptions/listen`, and messages to their subscribers.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll};

use serde_json::Value;
use treenail_schema::{ClientCapabilities, Method};

use super::{ExtensionSet, require};
use crate::context::Context;
use crate::limits::Limits;
use crate::panic::{catch, unexpected};
use crate::wire::{Members, Params, RpcError, object, shortened};

/// Future of the topics that a caller may subscribe to.
type AcceptFuture = Pin<Box<dyn Future<Output = Result<Vec<String>, RpcError>> + Send>>;

/// Decides which topics a caller may subscribe to.
pub(super) type Accept = Arc<dyn Fn(Context, Vec<String>) -> AcceptFuture + Send + Sync>;

/// Member of the filter of `subscriptions/listen`.
pub(super) struct Member {
    pub(super) name: Box<str>,
    /// The identifier of its extension.
    pub(super) extension: Box<str>,
    pub(super) accept: Accept,
}

/// Erases the type of a function that accepts topics.
pub(super) fn accept<F, A>(accepts: F) -> Accept
where
    F: Fn(Context, Vec<String>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Vec<String>, RpcError>> + Send + 'static,
{
    Arc::new(move |context, topics| Box::pin(accepts(context, topics)))
}

/// Accepted topics, by the name of the member.
pub(crate) type Accepted = Vec<(Box<str>, Vec<String>)>;

/// Topics that a request for a subscription names.
pub(crate) struct Wanted<'a>(Vec<(&'a Member, Vec<String>)>);

impl ExtensionSet {
    /// Reads the topics that the parameters of `subscriptions/listen` name. The client must have declared their extensions.
    pub(crate) fn topics(
        &self,
        params: &Params<'_>,
        capabilities: &ClientCapabilities,
        limits: &Limits,
    ) -> Result<Wanted<'_>, RpcError> {
        let mut wanted = Vec::new();
        if self.members.is_empty() {
            return Ok(Wanted(wanted));
        }
        let filter = object("notifications", params.member("notifications")?)?;
        let filter = Params::of_text(filter);
        for member in &self.members {
            let name = &*member.name;
            let Some(text) = filter.member(name)? else {
                continue;
            };
            require(capabilities, &member.extension)?;
            let topics: Vec<String> = serde_json::from_str(text).map_err(|error| {
                let reason = shortened(&error.to_string());
                RpcError::invalid_params(format!(
                    "`params.notifications.{name}` is not a list of strings: {reason}"
                ))
            })?;
            let most = limits.subscriptions.bytes;
            if topics.iter().any(|topic| topic.len() > most) {
                return Err(RpcError::invalid_params(format!(
                    "an element of `params.notifications.{name}` has more than {most} bytes"
                )));
            }
            let mut seen = HashSet::with_capacity(topics.len());
            let topics = topics.into_iter();
            let topics = topics.filter(|topic| seen.insert(topic.clone())).collect();
            wanted.push((member, topics));
        }
        Ok(Wanted(wanted))
    }
}

impl Wanted<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Starts the functions that decide about the topics for the caller of `context`.
    pub(crate) fn into_topics(self, context: &Context) -> Topics {
        let keys = self.0.iter().flat_map(|(member, topics)| {
            let topics = topics.iter();
            topics.map(|topic| topic_key(&member.name, topic).into())
        });
        let keys = keys.collect();
        let members = self.0.into_iter().map(|(member, topics)| {
            let accept = Arc::clone(&member.accept);
            (member.name.clone(), topics, accept)
        });
        let (members, context) = (members.collect::<Vec<_>>(), context.clone());
        let accepting = async move {
            let mut accepted = Accepted::new();
            for (name, topics, accept) in members {
                let topics = accept(context.clone(), topics).await?;
                accepted.push((name, topics));
            }
            Ok(accepted)
        };
        Topics {
            keys,
            accepting: Accepting(Mutex::new(Box::pin(accepting))),
        }
    }
}

/// Topics of a new subscription, which its caller may or may not subscribe to.
#[derive(Debug)]
pub(crate) struct Topics {
    pub(crate) keys: Vec<Arc<str>>,
    pub(crate) accepting: Accepting,
}

/// Future of the accepted topics. (The lock makes it `Sync`; it is never taken.)
pub(crate) struct Accepting(
    Mutex<Pin<Box<dyn Future<Output = Result<Accepted, RpcError>> + Send>>>,
);

impl fmt::Debug for Accepting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Accepting").finish_non_exhaustive()
    }
}

impl Accepting {
    /// Polls the future. A panic is an error.
    pub(crate) fn poll(
        &mut self,
        context: &mut task::Context<'_>,
    ) -> Poll<Result<Accepted, RpcError>> {
        let future = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        catch(|| future.as_mut().poll(context)).unwrap_or_else(|message| {
            let method = Method::SubscriptionsListen.as_str();
            let message = unexpected("method", method, &message);
            Poll::Ready(Err(RpcError::internal(message)))
        })
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
