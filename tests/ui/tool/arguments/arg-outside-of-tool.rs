fn find(#[arg(default)] id: u64) -> u64 {
    id
}

fn main() {}
