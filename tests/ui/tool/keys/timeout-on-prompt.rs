use treenail::mcp_tool;

struct Travel;

#[mcp_tool]
impl Travel {
    #[prompt(timeout = std::time::Duration::from_secs(30))]
    async fn trip(city: String) -> String {
        city
    }
}

fn main() {}
