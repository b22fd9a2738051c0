//! Keywords as names.

/// A module.
pub mod r#mod {
    use treenail::prelude::*;

    /// A type.
    #[mcp_type]
    #[derive(Debug)]
    #[allow(non_camel_case_types, reason = "the test covers keywords as names")]
    pub struct r#type {
        r#in: u64,
    }

    /// A function.
    #[mcp_tool]
    pub const fn r#fn(r#type: r#type) -> u64 {
        r#type.r#in
    }

    /// A function whose name starts like a raw string.
    #[mcp_tool]
    pub const fn r#while() -> u64 {
        1
    }

    /// A state.
    #[derive(Debug)]
    #[allow(non_camel_case_types, reason = "the test covers keywords as names")]
    pub struct r#struct;

    #[mcp_tool(namespace = "struct")]
    impl r#struct {
        #[tool]
        const fn r#loop(&self, r#match: u64) -> u64 {
            r#match
        }

        #[prompt]
        const fn r#async(&self, r#for: String) -> String {
            r#for
        }

        #[resource("struct://{type}")]
        const fn r#impl(r#type: String) -> String {
            r#type
        }
    }
}

/// Contracts.
pub mod r#trait {
    use treenail::prelude::*;

    /// A contract.
    #[mcp_client]
    #[allow(non_camel_case_types, reason = "the test covers keywords as names")]
    pub trait r#dyn {
        /// A tool.
        async fn r#where(&self, r#ref: String) -> Result<u64, ToolError>;
    }

    /// A contract with a part.
    #[mcp_client]
    #[allow(non_camel_case_types, reason = "the test covers keywords as names")]
    pub trait r#extern {
        /// A part.
        #[namespace]
        fn r#move(&self) -> &impl r#dyn;
    }
}

/// All functions.
pub fn all() -> treenail::tool::ToolSet {
    treenail::tools![r#mod::r#fn, r#mod::r#while]
}
