//! Features inside of layers around requests of every kind, made at run time.

pub(crate) use super::Tenant;
use super::{Desk, names};
use crate::support::made::{Made, get};
use crate::support::offer::Offer;

pub(crate) fn add_reception<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_reception(treenail::server!()).build().unwrap());
    offer.with_features(vec![
        made.tool("echo")
            .handler(|_, it| async move { Desk::echo(get(&it, "text")) }),
        made.tool("hidden").handler(|_, _| async { Desk::hidden() }),
        made.prompt("greet")
            .complete("name", |typed| names(typed.text()))
            .handler(|_, it| async move { Desk::greet(it.get("name").unwrap()) }),
        made.prompt("ask")
            .handler(|cx, _| async move { Desk::ask(&cx).await }),
        made.prompt("wait")
            .handler(|cx, _| async move { Desk::wait(&cx).await }),
        made.resource("desk://tenant")
            .handler(|cx, _| async move { Desk::tenant(&cx) }),
        made.template("desk://drawer/{number}")
            .handler(|_, request| async move {
                let number = request.variable("number").unwrap();
                Desk::drawer(number.parse().unwrap())
            }),
    ])
}
