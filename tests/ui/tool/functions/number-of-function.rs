use treenail::mcp_tool;

#[mcp_tool]
fn sum<const N: usize>(numbers: [u64; N]) -> u64 {
    numbers.iter().sum()
}

fn main() {}
