use treenail::prelude::*;

struct Map {
    names: Vec<String>,
}

#[mcp_tool]
impl Map {
    #[tool]
    fn names(&self) -> impl Stream<Item = &str> {
        tokio_stream::StreamExt::map(tokio_stream::iter(&self.names), |name| name.as_str())
    }
}

fn main() {}
