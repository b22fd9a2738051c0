//! The server under test, with notes that change, on a server that can be edited.

/// The same at run time.
pub(crate) mod twin;

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::server::{Component, Edit};
use treenail::{Limits, Server, ServerBuilder};

use crate::support::offer::Offer;

/// Notes, some of which tell of their changes.
pub(crate) struct Notes {
    pub(crate) gate: Arc<Semaphore>,
}

/// Notes are short.
#[mcp_tool(namespace = "notes")]
impl Notes {
    #[tool]
    fn count(&self) -> usize {
        self.gate.available_permits()
    }

    /// Waits until it is let go.
    #[tool]
    async fn wait(&self) -> &'static str {
        self.gate.acquire().await.unwrap().forget();
        "waited"
    }

    /// Tells of changes, as often as is asked for.
    #[tool]
    async fn touch(cx: &Context, uri: String, #[arg(default = 1)] times: u32) {
        for _ in 0..times {
            cx.server().resource_updated(&uri);
            tokio::task::yield_now().await;
        }
    }

    #[prompt]
    fn summary(#[arg(complete = nothing)] of: String) -> String {
        of
    }

    #[resource("notes://all", subscribable)]
    fn all() -> &'static str {
        "all"
    }

    #[resource("notes://fixed")]
    fn fixed() -> &'static str {
        "fixed"
    }

    #[resource("notes://by-id/{id}", subscribable)]
    fn by_id(id: u32) -> String {
        id.to_string()
    }

    #[resource("notes://old/{id}")]
    fn old(id: u32) -> String {
        id.to_string()
    }
}

fn nothing(_: &str) -> [&'static str; 0] {
    []
}

/// Has one thing of each kind, and no namespace.
pub(crate) struct Extra;

/// Extra is more.
#[mcp_tool]
impl Extra {
    #[tool]
    fn extra_tool() -> &'static str {
        "extra"
    }

    #[prompt]
    fn extra_prompt() -> &'static str {
        "extra"
    }

    #[resource("extra://one", subscribable)]
    fn extra_resource() -> &'static str {
        "extra"
    }

    /// Hides the tool, and removes this very one.
    #[tool]
    fn go_away(cx: &Context) -> Result<&'static str, treenail::Error> {
        cx.server().edit(|offer| {
            offer
                .disable(Component::tool("extra_tool"))
                .remove(Component::tool("go_away"))
        })?;
        Ok("gone")
    }
}

#[mcp_tool]
pub(crate) fn first() -> &'static str {
    "first"
}

#[mcp_tool]
pub(crate) fn second() -> &'static str {
    "second"
}

pub(crate) fn add_first<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![first])
}

pub(crate) fn add_second<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![second])
}

pub(crate) fn add_notes<O: Offer>(offer: O) -> O {
    offer.with_mounted(notes(&Arc::new(Semaphore::new(0))))
}

/// Adds one item of each kind.
pub(crate) fn add_extra<O: Offer>(offer: O) -> O {
    offer.with_mounted(Extra)
}

pub(crate) fn notes(gate: &Arc<Semaphore>) -> Notes {
    Notes {
        gate: Arc::clone(gate),
    }
}

/// Creates an editable server with notes.
pub(crate) fn dynamic(limits: Limits) -> (Server, Arc<Semaphore>) {
    built(treenail::server!().dynamic(), limits)
}

/// Creates a static server with notes.
pub(crate) fn fixed(limits: Limits) -> (Server, Arc<Semaphore>) {
    built(treenail::server!(), limits)
}

fn built(builder: ServerBuilder, limits: Limits) -> (Server, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let server = builder.mount(notes(&gate)).limits(limits).build().unwrap();
    (server, gate)
}

/// Adds one item of each kind.
pub(crate) fn extra(offer: Edit) -> Edit {
    offer.mount(Extra)
}
