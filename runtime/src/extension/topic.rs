//! Members of extensions in the filter of `subscriptions/listen`.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use treenail_schema::ClientCapabilities;

use super::gate::require;
use super::publication::{Accepted, Accepting, Topics, topic_key};
use crate::context::Context;
use crate::limits::Limits;
use crate::wire::{Params, RpcError, object, shortened};

/// Future of the topics that a caller may subscribe to.
type AcceptFuture = Pin<Box<dyn Future<Output = Result<Vec<String>, RpcError>> + Send>>;

/// Decides which topics a caller may subscribe to.
pub(super) type Accept = Arc<dyn Fn(Context, Vec<String>) -> AcceptFuture + Send + Sync>;

/// Member of the filter of `subscriptions/listen`.
pub(crate) struct Member {
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

/// Topics that a request for a subscription names.
pub(crate) struct Wanted<'a>(Vec<(&'a Member, Vec<String>)>);

/// Reads the topics that the parameters of `subscriptions/listen` name. The client must have declared their extensions.
pub(crate) fn wanted_topics<'a>(
    members: &'a [Member],
    params: &Params<'_>,
    capabilities: &ClientCapabilities,
    limits: &Limits,
) -> Result<Wanted<'a>, RpcError> {
    let mut wanted = Vec::new();
    if members.is_empty() {
        return Ok(Wanted(wanted));
    }
    let filter = object("notifications", params.member("notifications")?)?;
    let filter = Params::of_text(filter);
    for member in members {
        if let Some(text) = filter.member(&member.name)? {
            require(capabilities, &member.extension)?;
            wanted.push((member, read_topics(&member.name, text, limits)?));
        }
    }
    Ok(Wanted(wanted))
}

/// Reads the topics of the member `name`, each once.
fn read_topics(name: &str, text: &str, limits: &Limits) -> Result<Vec<String>, RpcError> {
    let mut topics: Vec<String> = serde_json::from_str(text).map_err(|error| {
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
    topics.retain(|topic| seen.insert(topic.clone()));
    Ok(topics)
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
            accepting: Accepting::new(accepting),
        }
    }
}
