use treenail::mcp_tool;

struct Adder {
    sum: i64,
}

#[mcp_tool]
impl Adder {
    #[tool]
    fn add(&mut self, a: i64) {
        self.sum += a;
    }
}

fn main() {}
