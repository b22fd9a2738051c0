//! Lint levels of items reach the generated code.

use treenail::prelude::*;

/// Module whose items are deprecated.
#[allow(deprecated, reason = "the derives name the type")]
pub mod old {
    use treenail::prelude::*;

    /// A deprecated type.
    #[deprecated]
    #[mcp_type]
    #[derive(Clone, Debug)]
    pub struct Text(pub String);
}

/// Type with fields of a deprecated type.
#[allow(deprecated, reason = "the test is about it")]
#[mcp_type]
#[derive(Debug)]
pub struct Fields {
    /// One.
    pub one: old::Text,
    /// Perhaps one.
    pub option: Option<old::Text>,
    /// Several.
    pub list: Vec<old::Text>,
}

/// Enum with fields of a deprecated type.
#[mcp_type]
#[expect(deprecated, reason = "the test is about it")]
#[derive(Debug)]
pub enum Variants {
    /// One.
    One(old::Text),
    /// Several.
    Several {
        /// All.
        all: Vec<old::Text>,
    },
}

/// Deprecated type that contains itself.
#[deprecated]
#[allow(clippy::use_self, reason = "fields with `Self` are not checked")]
#[mcp_type(output)]
#[derive(Debug)]
pub struct Tree {
    /// Inner ones.
    pub inner: Vec<Tree>,
}

/// Function with a deprecated type.
#[allow(deprecated, reason = "the test is about it")]
#[mcp_tool]
pub fn function(text: old::Text) -> old::Text {
    text
}

/// Function with a level within `cfg_attr`.
#[cfg_attr(all(), expect(deprecated, reason = "the test is about it"))]
#[mcp_tool]
pub fn conditional() -> Option<old::Text> {
    None
}

/// Has a method with a deprecated type.
#[derive(Debug)]
pub struct State;

#[mcp_tool]
impl State {
    #[allow(deprecated, reason = "the test is about it")]
    #[tool]
    fn method(&self, text: old::Text) -> String {
        text.0
    }
}

/// Has a block for a deprecated type.
#[derive(Debug)]
pub struct Block;

#[mcp_tool]
#[allow(deprecated, reason = "the test is about it")]
impl Block {
    #[tool]
    fn of_block(&self, text: old::Text) -> String {
        text.0
    }
}

/// Contract with a deprecated type.
#[allow(deprecated, reason = "the test is about it")]
#[mcp_client]
pub trait Texts {
    /// A text.
    async fn text(&self, text: old::Text) -> Result<old::Text, ToolError>;

    /// Texts.
    fn texts(&self) -> impl Stream<Item = Result<old::Text, ToolError>>;
}

/// Contract with a deprecated type in one method.
#[mcp_client]
pub trait OneText {
    /// A text.
    #[allow(deprecated, reason = "the test is about it")]
    async fn text(&self, text: old::Text) -> Result<old::Text, ToolError>;
}

/// Deprecated contract.
#[deprecated]
#[mcp_client]
pub trait Old {
    /// A text.
    async fn text(&self, text: String) -> Result<String, ToolError>;
}

/// Implements the deprecated contract.
#[derive(Debug)]
pub struct Half;

#[allow(deprecated, reason = "the test is about it")]
#[mcp_tool]
impl Old for Half {
    async fn text(&self, text: String) -> Result<String, ToolError> {
        Ok(text)
    }
}

/// Deprecated form.
#[deprecated]
#[mcp_form]
#[derive(Debug)]
pub struct Form {
    /// A number.
    pub number: u8,
}

/// Deprecated choice.
#[deprecated]
#[mcp_form]
#[derive(Debug)]
pub enum Choice {
    /// The only one.
    Only,
}

/// Form with a deprecated choice.
#[allow(deprecated, reason = "the test is about it")]
#[mcp_form]
#[derive(Debug)]
pub struct Choices {
    /// A choice.
    pub choice: Option<Choice>,
}

/// All functions.
pub fn all() -> treenail::tool::ToolSet {
    tools![function, conditional]
}
