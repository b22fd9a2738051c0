//! Features that are added twice, and names that clash without dots, made at run time.

use std::sync::Arc;

use super::{Clash, Count, Other, a_d};
use crate::support::made::Made;
use crate::support::offer::Offer;

/// Features that are made at run time have no type, and so no instructions.
pub(crate) const INSTRUCTIONS: Option<&str> = None;

pub(crate) fn add_count<O: Offer>(offer: O, count: u32) -> O {
    let made = Made::of(&super::add_count(treenail::server!(), 0).build().unwrap());
    let one = Arc::new(Count(count));
    let two = Arc::clone(&one);
    let get = made.tool("count.get").handler(move |_, _| {
        let count = one.get();
        async move { count }
    });
    let ask = made.prompt("count.ask").handler(move |_, _| {
        let count = two.ask();
        async move { count }
    });
    offer.with_features(vec![get, ask])
}

/// Adds the tools whose names clash.
pub(crate) fn add_clash<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_clash(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("a.b_c").handler(|_, _| async { Clash::b_c() }),
        made.tool("a.d").handler(|_, _| async { Clash::d() }),
        made.tool("a_b.c").handler(|_, _| async { Other::c() }),
        made.tool("a_d").handler(|_, _| async { a_d() }),
    ])
}
