use treenail::mcp_tool;

struct Adder {
    base: i64,
}

#[mcp_tool]
impl Adder {
    #[tool]
    fn add(self, a: i64) -> i64 {
        self.base + a
    }
}

fn main() {}
