//! Admission of a subscription: the part of its filter that the server supports, and the limits of its connection.

use std::collections::HashSet;

use treenail_schema::SubscriptionFilter;

use crate::limits::Limits;
use crate::server::registry::Snapshot;
use crate::server::subscriptions::listener::State;
use crate::server::subscriptions::subscription::Subscription;
use crate::server::subscriptions::{Kind, Kinds};
use crate::wire::{Params, RpcError, object, shortened};

/// Reads the filter of a request for a subscription.
pub(super) fn filter(params: &Params<'_>) -> Result<SubscriptionFilter, RpcError> {
    let text = object("notifications", params.member("notifications")?)?;
    let text = text.ok_or_else(|| RpcError::invalid_params("`params.notifications` is missing"))?;
    serde_json::from_str(text).map_err(|error| {
        RpcError::invalid_params(format!(
            "`params.notifications`: {}",
            shortened(&error.to_string())
        ))
    })
}

/// Returns the part of the filter that the server supports: changes of lists of a dynamic server, and updates of subscribable
/// resources.
pub(super) fn accept(
    snapshot: &Snapshot,
    wanted: SubscriptionFilter,
    limits: &Limits,
) -> Result<SubscriptionFilter, RpcError> {
    let list = |kind, wanted: Option<bool>| {
        wanted.filter(|wanted| *wanted && snapshot.changing.contains(kind))
    };
    let mut accepted = SubscriptionFilter::new();
    accepted.tools_list_changed = list(Kind::Tools, wanted.tools_list_changed);
    accepted.prompts_list_changed = list(Kind::Prompts, wanted.prompts_list_changed);
    accepted.resources_list_changed = list(Kind::Resources, wanted.resources_list_changed);
    let uris = wanted.resource_subscriptions;
    if let Some(mut uris) = uris.filter(|_| snapshot.resources.are_subscribable()) {
        if uris.len() > limits.subscriptions.resources {
            return Err(too_many_uris(limits));
        }
        uris.iter().try_for_each(|uri| check_length(uri, limits))?;
        let mut seen = HashSet::with_capacity(uris.len());
        uris.retain(|uri| {
            snapshot.resources.is_subscribable(uri) == Some(true) && seen.insert(uri.clone())
        });
        accepted.resource_subscriptions = Some(uris);
    }
    Ok(accepted)
}

pub(super) fn kinds(filter: &SubscriptionFilter) -> Kinds {
    let all = [
        (Kind::Tools, filter.tools_list_changed),
        (Kind::Prompts, filter.prompts_list_changed),
        (Kind::Resources, filter.resources_list_changed),
    ];
    let wanted = all.into_iter().filter(|(_, wanted)| *wanted == Some(true));
    wanted.fold(Kinds::default(), |kinds, (kind, _)| kinds.with(kind))
}

/// Rejects a subscription beyond the limit, and one whose id is that of another open subscription.
pub(super) fn check_room(state: &State, id: &str, limits: &Limits) -> Result<(), RpcError> {
    let listens = state.subscriptions.iter().filter(|one| one.id().is_some());
    if listens.clone().any(|one| one.is(id)) {
        let message = "a subscription with the `id` of this request is open already";
        return Err(RpcError::invalid_request(message));
    }
    let limit = limits.subscriptions.open;
    if listens.count() >= limit {
        return Err(RpcError::invalid_request(format!(
            "a connection has at most {limit} subscriptions"
        )));
    }
    Ok(())
}

/// Rejects `more` URIs beyond the limit.
pub(super) fn check_uris(state: &State, more: usize, limits: &Limits) -> Result<(), RpcError> {
    let subscribed: usize = state.subscriptions.iter().map(Subscription::len).sum();
    if subscribed + more > limits.subscriptions.resources {
        return Err(too_many_uris(limits));
    }
    Ok(())
}

fn too_many_uris(limits: &Limits) -> RpcError {
    let limit = limits.subscriptions.resources;
    RpcError::invalid_params(format!(
        "a connection subscribes to at most {limit} resources"
    ))
}

pub(super) fn check_length(uri: &str, limits: &Limits) -> Result<(), RpcError> {
    let limit = limits.subscriptions.bytes;
    if uri.len() > limit {
        return Err(RpcError::invalid_params(format!(
            "a URI to subscribe to has at most {limit} bytes"
        )));
    }
    Ok(())
}
