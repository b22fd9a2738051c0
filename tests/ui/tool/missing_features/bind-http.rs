use treenail::prelude::*;

#[mcp_tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let http = treenail::server!().tools(tools![add]).bind_http("127.0.0.1:0").await?;
    println!("{}", http.address());
    http.serve().await
}
