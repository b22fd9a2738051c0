use treenail::mcp_tool;

#[mcp_tool]
fn sum(numbers: [u64]) -> u64 {
    numbers.iter().sum()
}

fn main() {}
