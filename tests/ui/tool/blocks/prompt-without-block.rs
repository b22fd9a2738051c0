use treenail::prelude::*;

#[prompt]
fn visit() -> String {
    String::new()
}

fn main() {}
