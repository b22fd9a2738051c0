use treenail::mcp_tool;

struct Guide;

#[mcp_tool]
impl Guide {
    #[prompt(arguments(city))]
    fn trip(city: String) -> String {
        city
    }
}

fn main() {}
