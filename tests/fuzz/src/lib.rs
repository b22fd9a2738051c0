//! Targets for fuzzing: each checks properties that hold for any bytes from a peer.
//!
//! `engine/` searches for bytes that violate them, and `tests/replay.rs` repeats the inputs of `corpus/`. A target panics if a
//! property is violated.

mod arguments;
mod challenge;
mod client;
mod codegen;
mod contract;
mod corpus;
mod http_service;
mod in_memory;
mod lines;
mod message;
mod resource;
mod server;
mod sse;
mod state;
mod tasks;
mod template;
mod text_format;

pub use self::corpus::inputs;

/// Properties of one part of Treenail.
#[derive(Debug)]
pub struct Target {
    /// Name, also of the file with its corpus.
    pub name: &'static str,
    /// Checks the properties for one input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 15] = [
    Target::new("arguments", arguments::run),
    Target::new("challenge", challenge::run),
    Target::new("client", client::run),
    Target::new("codegen", codegen::run),
    Target::new("contract", contract::run),
    Target::new("http", http_service::run),
    Target::new("lines", lines::run),
    Target::new("message", message::run),
    Target::new("resource", resource::run),
    Target::new("server", server::run),
    Target::new("sse", sse::run),
    Target::new("state", state::run),
    Target::new("tasks", tasks::run),
    Target::new("template", template::run),
    Target::new("text", text_format::run),
];

impl Target {
    const fn new(name: &'static str, run: fn(&[u8])) -> Self {
        Self { name, run }
    }

    /// Returns the target of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }
}

/// Splits an input into `N` texts at the bytes 0. Missing texts are empty. `None` if the input is not UTF-8.
fn texts<const N: usize>(data: &[u8]) -> Option<[&str; N]> {
    let mut parts = std::str::from_utf8(data).ok()?.splitn(N, '\0');
    Some(std::array::from_fn(|_| parts.next().unwrap_or_default()))
}
