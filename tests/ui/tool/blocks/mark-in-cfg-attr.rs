use treenail::mcp_tool;

struct Weather;

#[mcp_tool]
impl Weather {
    #[cfg_attr(unix, tool(read_only))]
    fn forecast(&self) {}
}

fn main() {}
