//! Conversion of tool results to content blocks, for the client.

use serde::de::Error as _;
use serde_json::{Error, Result};
use treenail_schema::{
    AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent, ResourceLink,
    TextContent,
};

use crate::stream::IntoBlock;
use crate::tool::output::IntoContent;

/// Content blocks, and types that convert to them, which can be read from a successful result.
pub trait FromContent: IntoContent + Sized {
    /// Extracts the value from a result.
    fn from_result(result: CallToolResult) -> Result<Self>;
}

impl FromContent for CallToolResult {
    fn from_result(result: CallToolResult) -> Result<Self> {
        Ok(result)
    }
}

impl FromContent for Vec<ContentBlock> {
    fn from_result(result: CallToolResult) -> Result<Self> {
        Ok(result.content)
    }
}

impl<T: FromContent> FromContent for Option<T> {
    fn from_result(result: CallToolResult) -> Result<Self> {
        if result.content.is_empty() && result.structured_content.is_none() {
            return Ok(None);
        }
        T::from_result(result).map(Some)
    }
}

/// A content block, or one of its variants.
pub trait FromBlock: IntoBlock + Sized {
    /// Extracts the value from a block.
    fn from_block(block: ContentBlock) -> Result<Self>;
}

impl FromBlock for ContentBlock {
    fn from_block(block: ContentBlock) -> Result<Self> {
        Ok(block)
    }
}

macro_rules! blocks {
    ($($block:ident $variant:ident $name:literal)*) => {
        $(
            impl FromBlock for $block {
                fn from_block(block: ContentBlock) -> Result<Self> {
                    match block {
                        ContentBlock::$variant(block) => Ok(block),
                        _ => Err(Error::custom(concat!("a content block is not a ", $name))),
                    }
                }
            }
        )*
        blocks!(@results ContentBlock $($block)*);
    };
    (@results $($block:ident)*) => {$(
        impl FromContent for $block {
            fn from_result(mut result: CallToolResult) -> Result<Self> {
                match (result.content.pop(), result.content.is_empty()) {
                    (Some(block), true) => Self::from_block(block),
                    _ => Err(Error::custom("there is not exactly one content block")),
                }
            }
        }
    )*};
}

blocks! {
    TextContent Text "text"
    ImageContent Image "picture"
    AudioContent Audio "sound"
    ResourceLink ResourceLink "link"
    EmbeddedResource Resource "resource"
}
