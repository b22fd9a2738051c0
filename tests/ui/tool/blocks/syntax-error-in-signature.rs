use treenail::mcp_tool;

struct Greeter;

#[mcp_tool]
impl Greeter {
    #[tool]
    fn greet(&self, name String) -> String {
        name
    }
}

fn main() {
    let _ = treenail::server!().mount(Greeter);
}
