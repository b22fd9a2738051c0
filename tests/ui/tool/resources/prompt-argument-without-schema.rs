use treenail::mcp_tool;

struct Map;

struct Place {
    id: u64,
}

#[mcp_tool]
impl Map {
    #[prompt]
    fn visit(place: Place) -> String {
        place.id.to_string()
    }
}

fn main() {}
