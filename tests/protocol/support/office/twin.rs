//! Features that are visible to some callers only, made at run time.

use super::{Desk, Safe, late, names};
use crate::support::made::Made;
use crate::support::offer::Offer;

/// Features that are made at run time have no type, and so no instructions.
pub(crate) const HAS_INSTRUCTIONS: bool = false;

pub(crate) fn add_desk<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_desk(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("desk.open")
            .handler(|_, _| async { Desk::open() }),
        made.tool("desk.close_drawer")
            .handler(|_, _| async { Desk::close_drawer() }),
        made.prompt("desk.greet")
            .complete("name", |typed| names(typed.text()))
            .handler(|_, it| async move { Desk::greet(it.get("name").unwrap()) }),
        made.resource("desk://lamp")
            .subscribable(true)
            .handler(|_, _| async { Desk::lamp() }),
        made.template("desk://drawer/{name}")
            .subscribable(true)
            .complete("name", |typed| names(typed.text()))
            .handler(|_, it| async move { Desk::drawer(it.variable("name").unwrap()) }),
    ])
}

pub(crate) fn add_safe<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_safe(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("desk_close.drawer")
            .handler(|_, _| async { Safe::drawer() }),
        made.tool("desk_close.opens")
            .handler(|_, _| async { Safe::opens() }),
        made.prompt("desk_close.greet_all")
            .complete("name", |typed| names(typed.text()))
            .handler(|_, it| async move { Safe::greet_all(it.get("name").unwrap()) }),
        made.resource("desk://lamps")
            .subscribable(true)
            .handler(|_, _| async { Safe::lamps() }),
        made.template("desk://drawers/{name}")
            .subscribable(true)
            .complete("name", |typed| names(typed.text()))
            .handler(|_, it| async move { Safe::drawers(it.variable("name").unwrap()) }),
    ])
}

pub(crate) fn add_late<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_late(treenail::server!()).build().unwrap());
    offer.with_features(vec![made.tool("late").handler(|_, _| async { late() })])
}
