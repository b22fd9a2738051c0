//! Tools of a replica: a call with several input rounds, and changes that other replicas report.

use std::process;

use treenail::prelude::*;
use treenail::server::Component;

pub(crate) struct Hotel;

#[mcp_form]
struct Guest {
    name: String,
}

#[mcp_form]
struct Stay {
    #[field(range = 1..=30)]
    nights: u8,
}

#[mcp_tool]
impl Hotel {
    /// Book a room: takes a deposit, asks for the guest and the nights, and asks for confirmation.
    #[tool]
    async fn book(cx: &Context, city: String) -> Result<String, AskError> {
        let deposit = cx.once("deposit", async { Ok::<_, AskError>(process::id()) });
        let deposit = deposit.await?;
        let Guest { name } = cx.elicit("Who stays?").key("guest").await?;
        let Stay { nights } = cx.elicit("How long?").key("stay").await?;
        cx.confirm("Book it?").key("sure").await?;
        let own = process::id();
        Ok(format!(
            "{name} in {city}, {nights} nights: deposit at {deposit}, booked at {own}"
        ))
    }

    /// Write a note.
    #[tool]
    fn write(cx: &Context, id: u32) {
        cx.server().resource_updated(format!("notes://{id}"));
    }

    /// Disable booking on this replica.
    #[tool]
    fn shut(cx: &Context) -> Result<(), treenail::Error> {
        cx.server()
            .edit(|registry| registry.disable(Component::tool("book")))
    }

    /// Enable booking on this replica.
    #[tool]
    fn open(cx: &Context) -> Result<(), treenail::Error> {
        cx.server()
            .edit(|registry| registry.enable(Component::tool("book")))
    }

    /// A note.
    #[resource("notes://{id}", subscribable)]
    fn note(id: u32) -> String {
        format!("note {id}")
    }
}
