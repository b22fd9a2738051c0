//! What a replica offers: one conversation of several rounds, and changes that others want to hear of.

use std::process;

use treenail::Component;
use treenail::prelude::*;

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
    /// Book a room: takes a deposit, asks for the guest and the nights, and once more.
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

    /// Book no more rooms here.
    #[tool]
    fn shut(cx: &Context) -> Result<(), treenail::Error> {
        cx.server()
            .edit(|offer| offer.disable(Component::tool("book")))
    }

    /// Book rooms here again.
    #[tool]
    fn open(cx: &Context) -> Result<(), treenail::Error> {
        cx.server()
            .edit(|offer| offer.enable(Component::tool("book")))
    }

    /// A note.
    #[resource("notes://{id}", subscribable)]
    fn note(id: u32) -> String {
        format!("note {id}")
    }
}
