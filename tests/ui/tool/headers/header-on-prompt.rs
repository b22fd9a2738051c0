use treenail::mcp_tool;

struct Travel;

#[mcp_tool]
impl Travel {
    #[prompt]
    fn trip(#[arg(header = "City")] city: String) -> String {
        city
    }
}

fn main() {}
