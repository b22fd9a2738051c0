//! Features of two namespaces, one of them for some tenants only.

/// The same at run time.
pub(crate) mod twin;

use treenail::prelude::*;

use crate::offer::Offer;

struct Plain;

#[mcp_tool(namespace = "plain")]
impl Plain {
    #[tool]
    fn ping() -> &'static str {
        "pong"
    }
}

struct Paid;

#[mcp_tool(namespace = "paid")]
impl Paid {
    #[tool]
    fn find(#[arg(header = "Region")] region: String) -> String {
        region
    }

    #[resource("paid://news", subscribable)]
    fn news() -> &'static str {
        "news"
    }
}

pub(crate) fn add_plain<O: Offer>(offer: O) -> O {
    offer.with_mounted(Plain)
}

pub(crate) fn add_paid<O: Offer>(offer: O) -> O {
    offer.with_mounted(Paid)
}
