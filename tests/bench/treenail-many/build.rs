//! Writes the source of 1,000 tools and of a set of them.

use std::error::Error;
use std::fmt::Write;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut source = String::new();
    let mut set = String::from("treenail::tool::ToolSet::new()");
    for number in 0..1_000 {
        write!(
            source,
            "/// Adds two integers.\n#[mcp_tool]\nfn add_{number}(a: i64, b: i64) -> i64 {{ a + b }}\n"
        )?;
        write!(set, ".with::<add_{number}>()")?;
    }
    writeln!(source, "fn all() -> treenail::tool::ToolSet {{ {set} }}")?;
    fs::write(format!("{}/tools.rs", env::var("OUT_DIR")?), source)?;
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
