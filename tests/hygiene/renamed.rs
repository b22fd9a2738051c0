//! Facade under another name.

pub use treenail as nail;

/// A type.
#[nail::mcp_type(crate = nail)]
#[derive(Debug, Default)]
pub struct Text(String);

/// A tool.
#[nail::mcp_tool(crate = nail)]
pub fn text(text: Text, #[arg(default = "!", length = 1..)] end: String) -> Text {
    Text(text.0 + &end)
}

/// A form.
#[nail::mcp_form(crate = nail)]
#[derive(Debug)]
pub struct Form {
    /// A number
    #[field(range = 1.., default = 2)]
    pub number: u8,
    /// An address
    #[field(format = "email", length = ..9, default = "a@b")]
    pub text: String,
    /// A choice
    pub choice: Choice,
}

/// A choice.
#[nail::mcp_form(crate = nail)]
#[derive(Debug)]
pub enum Choice {
    /// The only one.
    Only,
}

/// A stream.
#[nail::mcp_tool(crate = nail, fold = "collect")]
pub fn stream(text: Text) -> impl nail::Stream<Item = Text> {
    tokio_stream::once(text)
}

/// A contract.
#[nail::mcp_client(crate = nail)]
pub trait Contract {
    /// A text.
    async fn text(&self, text: Text) -> Result<Text, nail::ToolError>;

    /// Texts.
    fn texts(&self) -> impl nail::Stream<Item = Result<Text, nail::ToolError>>;
}

#[nail::mcp_tool(crate = nail)]
impl Contract for Text {
    async fn text(&self, text: Text) -> Result<Text, nail::ToolError> {
        Ok(text)
    }

    fn texts(&self) -> impl nail::Stream<Item = Result<Text, nail::ToolError>> {
        tokio_stream::empty()
    }
}

/// Has a prompt and a resource.
#[derive(Debug)]
pub struct State;

#[nail::mcp_tool(crate = nail)]
impl State {
    #[nail::tool]
    fn tool() -> u8 {
        1
    }

    #[nail::prelude::prompt]
    fn prompt(#[arg(complete = Self::values)] text: Text) -> String {
        text.0
    }

    #[nail::resource("renamed://{text}")]
    fn resource(#[arg(length = 1..)] text: String) -> Text {
        Text(text)
    }

    fn values(&self, typed: &str) -> Vec<String> {
        vec![format!("{self:?}{typed}")]
    }
}

/// All functions.
pub fn all() -> nail::tool::ToolSet {
    nail::tools![crate = nail; text]
}
