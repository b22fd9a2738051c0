//! Features of two namespaces, made at run time.

use treenail::Server;

use super::{Paid, Plain};
use crate::made::{Made, get};
use crate::offer::Offer;

pub(crate) fn add_plain<O: Offer>(offer: O) -> O {
    let server = super::add_plain(Server::builder("tenants", "1.0.0"));
    let made = Made::of(&server.build().unwrap());
    let ping = made.tool("plain.ping");
    offer.with_features(vec![ping.handler(|_, _| async { Plain::ping() })])
}

pub(crate) fn add_paid<O: Offer>(offer: O) -> O {
    let server = super::add_paid(Server::builder("tenants", "1.0.0"));
    let made = Made::of(&server.build().unwrap());
    offer.with_features(vec![
        made.tool("paid.find")
            .handler(|_, it| async move { Paid::find(get(&it, "region")) }),
        made.resource("paid://news")
            .subscribable(true)
            .handler(|_, _| async { Paid::news() }),
    ])
}
