//! Tools that ask their caller: plain, with a policy, and between the items of a stream.

/// The same at run time.
pub(crate) mod twin;

use std::time::Duration;

use tokio_stream::StreamExt;
use treenail::prelude::*;

use crate::support::offer::Offer;

#[mcp_tool]
async fn ask(cx: &Context, city: String) -> Result<String, AskError> {
    cx.confirm(format!("{city}?")).await?;
    cx.confirm("Really?").await?;
    Ok(city)
}

#[mcp_tool(max_concurrency = 1, timeout = Duration::from_secs(5))]
async fn ask_in_turn(cx: &Context, city: String) -> Result<String, AskError> {
    ask(cx, city).await
}

#[mcp_tool]
fn ask_between(cx: &Context) -> impl Stream<Item = Result<u32, AskError>> {
    items(cx)
}

fn items<C: std::borrow::Borrow<Context> + Clone + Send>(
    cx: C,
) -> impl Stream<Item = Result<u32, AskError>> + Send {
    tokio_stream::iter(1..=3).then(move |item| {
        let cx = cx.clone();
        async move {
            if item == 2 {
                cx.borrow().confirm("More?").await?;
            }
            Ok(item)
        }
    })
}

pub(crate) fn add_asking<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![ask, ask_in_turn, ask_between])
}
