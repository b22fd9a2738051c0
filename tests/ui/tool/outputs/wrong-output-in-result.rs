use treenail::mcp_tool;

struct Place {
    id: u64,
}

#[mcp_tool]
fn find() -> Result<Place, std::io::Error> {
    Ok(Place { id: 1 })
}

fn main() {}
