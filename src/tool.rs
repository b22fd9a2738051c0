//! Tools: definitions, sets, outputs and streams.
//!
//! Guide: [tools](crate::guide::tools), [streams](crate::guide::streams).

#[doc(inline)]
pub use treenail_runtime::{
    ContentOutput, FallibleOutput, IntoToolSet, JsonOutput, Structured, StructuredOutput, Tool,
    ToolDefinition, ToolError, ToolItem, ToolOutput, ToolResultWriter, ToolSet, ToolStream,
    WrapResults, base64,
};
