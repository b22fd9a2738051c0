use treenail::prelude as mcp;

struct Greeter;

#[mcp::mcp_tool]
impl Greeter {
    #[mcp::tool]
    fn greet(&self, #[arg(default = "you")] name: String) -> String {
        name
    }
}

fn main() {
    let _ = treenail::server!().mount(Greeter);
}
