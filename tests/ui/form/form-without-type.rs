use treenail::prelude::*;

#[mcp_tool]
async fn survey(cx: &Context) -> treenail::Result<bool> {
    let guest = cx.elicit("Who are you?").await?;
    drop(guest);
    Ok(true)
}

fn main() {}
