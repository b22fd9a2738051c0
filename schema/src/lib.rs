//! The types of the [Model Context Protocol](https://modelcontextprotocol.io), one set for all of
//! its revisions.
//!
//! A type has the members that it has in any [`Revision`]; what only some revisions require is
//! optional. So everything that a peer of any revision sends can be read, and [`field`],
//! [`method::facts`] and `since` of the unions tell what a peer can be sent. Names are the schema's
//! own, and so are the words in JSON.
//!
//! ```
//! use treenail_schema::{CallToolRequest, CallToolResult, ContentBlock, Request, Revision};
//!
//! let result = CallToolResult::new([ContentBlock::text("12 °C")]);
//! assert_eq!(
//!     serde_json::to_string(&result)?,
//!     r#"{"content":[{"type":"text","text":"12 °C"}]}"#
//! );
//! assert_eq!(CallToolRequest::METHOD, "tools/call");
//! assert_eq!(result.content[0].since(), Revision::V2024_11_05);
//! # Ok::<_, serde_json::Error>(())
//! ```

mod field;
pub mod method;
mod revision;

mod id;
mod meta;
mod number;
mod one_or_many;
mod schema_object;

mod content;
mod elicit;
mod elicit_fields;
mod input;
mod result;

mod explicit;
mod tagged;

/// Written by `cargo codegen`; the feature `regenerate` writes the same during the build.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "boxes in unions would be in the way of matching")]
mod generated {
    #[cfg(not(feature = "regenerate"))]
    pub(crate) mod error_code;
    #[cfg(not(feature = "regenerate"))]
    pub(crate) mod methods;
    #[cfg(not(feature = "regenerate"))]
    pub(crate) mod revisions;
    #[cfg(not(feature = "regenerate"))]
    pub(crate) mod types;

    #[cfg(feature = "regenerate")]
    pub(crate) mod error_code { include!(concat!(env!("OUT_DIR"), "/error_code.rs")); }
    #[cfg(feature = "regenerate")]
    pub(crate) mod methods { include!(concat!(env!("OUT_DIR"), "/methods.rs")); }
    #[cfg(feature = "regenerate")]
    pub(crate) mod revisions { include!(concat!(env!("OUT_DIR"), "/revisions.rs")); }
    #[cfg(feature = "regenerate")]
    pub(crate) mod types { include!(concat!(env!("OUT_DIR"), "/types.rs")); }
}

/// The codes of JSON-RPC errors, those of JSON-RPC itself and those of the protocol.
pub mod error_code {
    pub use crate::generated::error_code::*;
}

pub use elicit::ElicitValue;
pub use elicit_fields::ElicitFields;
pub use field::{FieldFacts, field, fields};
pub use generated::methods::*;
pub use generated::types::*;
pub use id::{ProgressToken, RequestId};
pub use input::{InputRequest, InputRequests, InputResponse, InputResponses};
pub use meta::{JsonObject, MetaObject};
pub use method::{Notification, Request};
pub use number::Number;
pub use one_or_many::OneOrMany;
pub use result::{MaybeInputRequired, ResultObject, ResultType};
pub use revision::{Revision, RevisionSet, UnknownRevision};
pub use schema_object::SchemaObject;
