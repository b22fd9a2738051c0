use treenail::prelude::*;

struct Travel;

#[mcp_tool]
impl Travel {
    #[prompt]
    fn trip(&self) -> impl Stream<Item = String> {
        tokio_stream::iter(["Plan a trip.".to_owned()])
    }
}

fn main() {}
