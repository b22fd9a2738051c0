//! Items that a `macro_rules` has made, of fragments of all kinds.

use treenail::prelude::*;

macro_rules! block {
    ($(#[$meta:meta])* $visibility:vis $state:ident, $namespace:literal {
        $($(#[$inner:meta])* $name:ident($($argument:ident: $ty:ty = $default:expr),*) -> $output:ty $body:block)*
    }) => {
        $(#[$meta])*
        $visibility struct $state;

        /// Made.
        #[mcp_tool(namespace = $namespace)]
        impl $state {
            $(
                $(#[$inner])*
                #[tool]
                fn $name($(#[arg(default = $default)] $argument: $ty),*) -> $output $body
            )*
        }
    };
}

block! {
    /// Made of fragments.
    #[derive(Debug)]
    pub Made, "made" {
        /// Says hello.
        hello(name: String = "you", times: usize = 1 + 1) -> String { name.repeat(times) }
        nothing() -> Option<Vec<u8>> { None }
    }
}

macro_rules! function {
    ($item:item) => {
        /// Made.
        #[mcp_tool]
        $item
    };
}

function! {
    /// Of an item.
    pub fn made(#[arg(range = 1..)] count: Option<u32>) -> u32 {
        count.unwrap_or_default()
    }
}

macro_rules! signature {
    ($(#[$meta:meta])* $visibility:vis $name:ident: $argument:ty => $output:ty, $value:expr) => {
        $(#[$meta])*
        #[mcp_tool(name = "of_signature")]
        $visibility async fn $name(#[arg(default = $value)] argument: $argument) -> $output {
            std::future::ready(argument).await
        }
    };
}

signature!(
    /// Of a signature.
    pub sent: Vec<u8> => Vec<u8>, vec![1]
);

macro_rules! form {
    ($name:ident { $($field:ident: $ty:ty),* }) => {
        /// Made.
        #[mcp_form]
        #[derive(Debug)]
        pub struct $name {
            $(
                /// Made too.
                pub $field: $ty,
            )*
        }
    };
}

form!(MadeForm { text: String, number: Option<u8> });

/// All functions.
pub fn all() -> treenail::ToolSet {
    tools![made, sent]
}
