//! Compiles the rmcp half of `docs/guide/coming_from_rmcp.md`: each block that the tests of Treenail ignore becomes a module.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, error, fs};

const PAGE: &str = "../../docs/guide/coming_from_rmcp.md";

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed={PAGE}");
    let page = fs::read_to_string(PAGE)?;
    let mut modules = String::new();
    for (number, block) in page.split("\n```rust,ignore\n").skip(1).enumerate() {
        let code = block.split("\n```").next().unwrap_or_default();
        writeln!(modules, "mod pattern_{} {{\n{code}\n}}", number + 1)?;
    }
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("guide.rs"), modules)?;
    Ok(())
}
