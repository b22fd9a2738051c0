//! Generates the types if the feature `regenerate` is enabled; does nothing otherwise.

#[cfg(feature = "regenerate")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::path::Path;
    use std::{env, fs};

    println!("cargo::rerun-if-changed=json");
    let out = env::var("OUT_DIR")?;
    let schemas = treenail_codegen::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("json"))?;
    for file in treenail_codegen::generate(&schemas)? {
        fs::write(Path::new(&out).join(file.name), file.text)?;
    }
    Ok(())
}

#[cfg(not(feature = "regenerate"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
