//! The tools inside of layers, made at run time.

use super::{any_value, echo, hang, look, measure, with_meta};
use crate::support::made::{Made, get};
use crate::support::offer::Offer;

/// Adds the tools whose calls pass through layers.
pub(crate) fn add_echo<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_echo(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("look").handler(|_, _| look()),
        made.tool("echo")
            .handler(|cx, it| async move { echo(&cx, get(&it, "text")).await }),
        made.tool("hang")
            .handler(|cx, _| async move { hang(&cx).await }),
    ])
}

/// Adds the tools with results of several kinds.
pub(crate) fn add_results<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_results(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("measure").handler(|_, _| async { measure() }),
        made.tool("any_value").handler(|_, _| async { any_value() }),
        made.tool("with_meta").handler(|_, _| async { with_meta() }),
    ])
}
