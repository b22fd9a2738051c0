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
        let file = file?.path();
        let keeps_null = file.ends_with("nullable.json");
        let mut client = Client::new(file).krate("crate::nail").name("AwkwardClient");
        if keeps_null {
            client = client.keep_null();
        }
        client.generate()?;
    }
    Ok(())
}
