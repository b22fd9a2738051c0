use std::rc::Rc;

use treenail::mcp_tool;

#[mcp_tool]
async fn visit(place: Rc<str>) -> usize {
    place.len()
}

fn main() {}
