//! Defaults that are calls without arguments.

/// A tool.
#[treenail::mcp_tool]
pub fn join(
    #[arg(default = String::new())] start: String,
    #[arg(default = vec![])] rest: Vec<String>,
) -> String {
    start + &rest.concat()
}

/// A form.
#[treenail::mcp_form]
#[derive(Debug)]
pub struct Form {
    /// A text
    #[field(default = String::new())]
    pub text: String,
    /// A number
    #[field(default = u8::default())]
    pub number: u8,
}

/// All functions.
pub fn all() -> treenail::tool::ToolSet {
    treenail::tools![join]
}
