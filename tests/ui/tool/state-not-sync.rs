use treenail::mcp_tool;

struct Counter {
    count: std::cell::Cell<u64>,
}

#[mcp_tool]
impl Counter {
    #[tool]
    fn next(&self) -> u64 {
        self.count.replace(self.count.get() + 1)
    }
}

fn main() {}
