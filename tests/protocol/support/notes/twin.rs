//! The server with notes that change, made at run time.

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail::dynamic::{Feature, Tool};
use treenail::server::Edit;
use treenail::{Limits, RpcError, Server, ServerBuilder};

pub(crate) use super::first;
use super::{Extra, Notes, notes, nothing, second};
use crate::support::made::{Made, get};
use crate::support::offer::Offer;

pub(crate) fn dynamic(limits: Limits) -> (Server, Arc<Semaphore>) {
    built(treenail::server!().dynamic(), limits)
}

pub(crate) fn fixed(limits: Limits) -> (Server, Arc<Semaphore>) {
    built(treenail::server!(), limits)
}

fn built(builder: ServerBuilder, limits: Limits) -> (Server, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let made = Made::of(&super::fixed(Limits::default()).0);
    let features = features(&made, &Arc::new(notes(&gate)));
    (builder.limits(limits).add(features).build().unwrap(), gate)
}

fn features(made: &Made, notes: &Arc<Notes>) -> Vec<Feature> {
    let (one, two) = (Arc::clone(notes), Arc::clone(notes));
    let by_id = |uri: &str| {
        let template = made.template(uri).subscribable(uri.contains("by-id"));
        template.handler(|_, request| async move {
            #[treenail::mcp_type]
            struct Id {
                id: u32,
            }
            let read = request.parse();
            let Id { id } = read.map_err(|error| RpcError::invalid_params(error.to_string()))?;
            Ok::<_, RpcError>(Notes::by_id(id))
        })
    };
    vec![
        made.tool("notes.count").handler(move |_, _| {
            let count = one.count();
            async move { count }
        }),
        made.tool("notes.wait").handler(move |_, _| {
            let notes = Arc::clone(&two);
            async move { notes.wait().await }
        }),
        made.tool("notes.touch").handler(|cx, it| async move {
            let times = get::<Option<u32>>(&it, "times").unwrap_or(1);
            Notes::touch(&cx, get(&it, "uri"), times).await;
        }),
        made.prompt("notes.summary")
            .complete("of", |typed| nothing(typed.text()))
            .handler(|_, it| async move { Notes::summary(it.get("of").unwrap()) }),
        made.resource("notes://all")
            .subscribable(true)
            .handler(|_, _| async { Notes::all() }),
        made.resource("notes://fixed")
            .handler(|_, _| async { Notes::fixed() }),
        by_id("notes://by-id/{id}"),
        by_id("notes://old/{id}"),
    ]
}

/// Adds one item of each kind.
pub(crate) fn extra(offer: Edit) -> Edit {
    add_extra(offer)
}

pub(crate) fn add_first<O: Offer>(offer: O) -> O {
    offer.with_features(vec![Tool::new("first").handler(|_, _| async { first() })])
}

pub(crate) fn add_second<O: Offer>(offer: O) -> O {
    offer.with_features(vec![Tool::new("second").handler(|_, _| async { second() })])
}

pub(crate) fn add_notes<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::fixed(Limits::default()).0);
    let notes = notes(&Arc::new(Semaphore::new(0)));
    offer.with_features(features(&made, &Arc::new(notes)))
}

/// Adds one item of each kind.
pub(crate) fn add_extra<O: Offer>(offer: O) -> O {
    let server = treenail::server!().mount(Extra).build().unwrap();
    let made = Made::of(&server);
    offer.with_features(vec![
        made.tool("extra_tool")
            .handler(|_, _| async { Extra::extra_tool() }),
        made.prompt("extra_prompt")
            .handler(|_, _| async { Extra::extra_prompt() }),
        made.resource("extra://one")
            .subscribable(true)
            .handler(|_, _| async { Extra::extra_resource() }),
        made.tool("go_away")
            .handler(|cx, _| async move { Extra::go_away(&cx) }),
    ])
}
