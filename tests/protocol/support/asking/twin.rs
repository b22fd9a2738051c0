//! Tools that ask their caller, made at run time.

use std::time::Duration;

use super::{ask, items};
use crate::support::made::{Made, get};
use crate::support::offer::Offer;

pub(crate) fn add_asking<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_asking(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("ask")
            .handler(|cx, it| async move { ask(&cx, get(&it, "city")).await }),
        made.tool("ask_in_turn")
            .max_concurrency(1)
            .timeout(Duration::from_secs(5))
            .handler(|cx, it| async move { ask(&cx, get(&it, "city")).await }),
        made.tool("ask_between").stream(|cx, _| items(cx)),
    ])
}
