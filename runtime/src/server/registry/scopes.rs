//! Scopes that requests need, according to the entries that they name.

use treenail_schema::{CompleteRequestParams, CompletionReference, Method, SubscriptionFilter};

use crate::entry::{Entry, EntryKind};
use crate::scope::RequiredScopes;
use crate::server::registry::index::Index;
use crate::server::registry::snapshot::Snapshot;
use crate::wire::{Envelope, as_string};

impl Snapshot {
    /// Iterates over the scopes of all entries, each with a description of the entry.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = (String, &RequiredScopes)> {
        let entries = self.entries();
        entries.map(|(kind, entry)| (format!("{} `{}`", kind.noun(), entry.key()), &entry.scopes))
    }

    /// Returns `true` if an entry requires scopes.
    pub(super) fn has_scopes(&self) -> bool {
        self.entries().any(|(_, entry)| !entry.scopes.is_empty())
    }

    fn entries(&self) -> impl Iterator<Item = (EntryKind, &Entry)> {
        let unlisted = self.resources.unlisted.iter();
        entries(&self.tools.index)
            .chain(entries(&self.prompts.index))
            .chain(entries(&self.resources.single.index))
            .chain(entries(&self.resources.families.index))
            .chain(unlisted.map(|entry| (EntryKind::Template, &**entry)))
    }

    /// Returns the scopes that a request needs. A request for an unknown entry needs none, and fails.
    pub(crate) fn required_scopes(&self, envelope: &Envelope<'_>) -> Vec<&RequiredScopes> {
        let (Some(method), true) = (envelope.known, self.requires_scopes) else {
            return Vec::new();
        };
        let params = &envelope.params;
        let member = |name| params.member(name).ok().flatten();
        match method {
            Method::CallTool | Method::GetPrompt => {
                let name = params.name.and_then(as_string);
                name.and_then(|name| self.named_scopes(method, &name))
            }
            Method::ReadResource | Method::Subscribe => {
                let uri = member("uri").and_then(as_string);
                uri.and_then(|uri| self.named_scopes(method, &uri))
            }
            Method::SubscriptionsListen => {
                let filter = member("notifications").map(serde_json::from_str);
                let filter: SubscriptionFilter = filter.and_then(Result::ok).unwrap_or_default();
                let uris = filter.resource_subscriptions.unwrap_or_default();
                return uris
                    .iter()
                    .filter_map(|uri| self.resources.scopes(uri))
                    .collect();
            }
            Method::Complete => params.text.and_then(|text| self.completion_scopes(text)),
            _ => None,
        }
        .into_iter()
        .collect()
    }

    /// Returns the scopes of a tool, a prompt or a resource, as its requests name it.
    pub(crate) fn named_scopes(&self, method: Method, name: &str) -> Option<&RequiredScopes> {
        match method {
            Method::CallTool => self.tools.index.known(name).map(|tool| &tool.scopes),
            Method::GetPrompt => {
                let prompt = self.prompts.index.known(name);
                prompt.map(|prompt| &prompt.scopes)
            }
            Method::ReadResource | Method::Subscribe => self.resources.scopes(name),
            _ => None,
        }
    }

    /// Returns the scopes of the prompt or template whose argument is completed.
    fn completion_scopes(&self, params: &str) -> Option<&RequiredScopes> {
        let params: CompleteRequestParams = serde_json::from_str(params).ok()?;
        match &params.ref_ {
            CompletionReference::Prompt(prompt) => {
                self.named_scopes(Method::GetPrompt, &prompt.name)
            }
            CompletionReference::Resource(template) => {
                let template = &template.uri;
                let family = self.resources.families.index.get(template);
                family
                    .map(|family| &family.scopes)
                    .or_else(|| self.resources.scopes(template))
            }
            _ => None,
        }
    }
}

fn entries(index: &Index) -> impl Iterator<Item = (EntryKind, &Entry)> {
    let kind = index.kind();
    index.entries().iter().map(move |entry| (kind, &**entry))
}
