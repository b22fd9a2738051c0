//! Generates the clients from lock files.

use std::error::Error;
use std::fs;

use treenail_codegen::Client;

fn main() -> Result<(), Box<dyn Error>> {
    for server in ["everything", "filesystem", "memory"] {
        Client::new(format!("servers/{server}.lock.json")).generate()?;
    }
    println!("cargo::rerun-if-changed=awkward");
    for file in fs::read_dir("awkward")? {
        Client::new(file?.path())
            .krate("crate::nail")
            .name("AwkwardClient")
            .generate()?;
    }
    Ok(())
}
