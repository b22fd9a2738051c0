//! Features inside of layers around requests of every kind.

/// The same at run time.
pub(crate) mod twin;

use treenail::prelude::*;

use crate::support::offer::Offer;

/// Value that a layer attaches to requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tenant(pub(crate) u32);

struct Desk;

#[mcp_tool]
impl Desk {
    /// Echoes a text.
    #[tool]
    fn echo(text: String) -> String {
        text
    }

    #[tool]
    fn hidden() {}

    /// Greets.
    #[prompt]
    fn greet(#[arg(complete = names)] name: String) -> String {
        format!("Hello {name}")
    }

    #[prompt]
    async fn ask(cx: &Context) -> Result<String, AskError> {
        cx.confirm("Sure?").await?;
        Ok("agreed".to_owned())
    }

    #[prompt]
    async fn wait(cx: &Context) -> String {
        cx.progress(1).await;
        std::future::pending().await
    }

    #[resource("desk://tenant")]
    fn tenant(cx: &Context) -> Option<String> {
        Some(cx.extension::<Tenant>()?.0.to_string())
    }

    #[resource("desk://drawer/{number}")]
    fn drawer(number: u8) -> String {
        format!("drawer {number}")
    }
}

fn names(typed: &str) -> Vec<String> {
    vec![format!("{typed}da")]
}

pub(crate) fn add_reception<O: Offer>(offer: O) -> O {
    offer.with_mounted(Desk)
}
