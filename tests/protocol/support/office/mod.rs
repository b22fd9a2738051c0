//! Features that are visible to some callers only.

/// The same at run time.
pub(crate) mod twin;

use treenail::prelude::*;

use crate::support::offer::Offer;

struct Desk;

/// The desk is open to everyone.
#[mcp_tool(namespace = "desk")]
impl Desk {
    #[tool]
    fn open() -> &'static str {
        "open"
    }

    #[tool]
    fn close_drawer() -> &'static str {
        "closed"
    }

    #[prompt]
    fn greet(#[arg(complete = names)] name: String) -> String {
        name
    }

    #[resource("desk://lamp", subscribable)]
    fn lamp() -> &'static str {
        "lamp"
    }

    #[resource("desk://drawer/{name}", subscribable)]
    fn drawer(#[arg(complete = names)] name: String) -> String {
        name
    }
}

struct Safe;

/// The safe is secret.
#[mcp_tool(namespace = "desk_close")]
impl Safe {
    #[tool]
    fn drawer() -> &'static str {
        "closed"
    }

    #[tool]
    fn opens() -> &'static str {
        "opened"
    }

    #[prompt]
    fn greet_all(#[arg(complete = names)] name: String) -> String {
        name
    }

    #[resource("desk://lamps", subscribable)]
    fn lamps() -> &'static str {
        "lamps"
    }

    /// Secret.
    #[resource("desk://drawers/{name}", subscribable)]
    fn drawers(#[arg(complete = names)] name: String) -> String {
        name
    }
}

fn names(_: &str) -> Vec<String> {
    vec!["ann".to_owned()]
}

/// Hidden or not, its name is that of a visible tool in the form of hosts without dots.
#[mcp_tool]
fn late() -> &'static str {
    "late"
}

/// Set if the types have instructions for the model.
pub(crate) const HAS_INSTRUCTIONS: bool = true;

pub(crate) fn add_desk<O: Offer>(offer: O) -> O {
    offer.with_mounted(Desk)
}

pub(crate) fn add_safe<O: Offer>(offer: O) -> O {
    offer.with_mounted(Safe)
}

pub(crate) fn add_late<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![late])
}
