//! A server with one tool that is made at run time.

use serde::Deserialize;
use treenail::dynamic::Tool;
use treenail::{ToolError, json};

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let add = Tool::new("add")
        .description("Adds two integers.")
        .input(json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": false,
        }))
        .handler(|_, arguments| async move {
            let Add { a, b } = arguments.parse()?;
            Ok::<i64, ToolError>(a + b)
        });
    treenail::server!().add(add).build()?.serve_stdio().await
}
