use treenail::prelude::*;

#[tool]
fn find() -> u64 {
    7
}

fn main() {}
