use treenail::prelude::*;

#[mcp_type]
struct Guest {
    name: String,
}

#[mcp_tool]
async fn book(cx: &Context) -> Result<String, AskError> {
    let guest: Guest = cx.elicit("Who?").await?;
    Ok(guest.name)
}

fn main() {}
