use treenail::prelude::*;

struct Radar;

#[mcp_tool]
impl Radar {
    #[resource("radar://frames")]
    async fn frames() -> Result<impl Stream<Item = u64> + use<>, std::fmt::Error> {
        Ok(tokio_stream::iter([1]))
    }
}

fn main() {}
