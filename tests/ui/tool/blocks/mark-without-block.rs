use treenail::prelude::*;

struct Map;

impl Map {
    #[tool]
    fn find(&self) -> u64 {
        7
    }
}

fn main() {}
