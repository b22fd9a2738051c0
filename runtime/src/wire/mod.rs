//! JSON-RPC messages as bytes: framing, checking and parsing of input, and serialization of output.

mod error;
mod escape;
mod frame;
mod json;
mod members;
mod message;
mod params;
mod response;
mod scan;
#[cfg(feature = "client")]
mod weight;

pub use self::error::RpcError;
pub(crate) use self::escape::{Escaped, escape_from_within};
pub use self::frame::{Frame, LineBuffer};
pub use self::json::keep_one_line;
pub(crate) use self::json::{is_one_line, raw_json, write_json};
pub use self::members::Members;
pub(crate) use self::message::parse_with_known_meta;
pub use self::message::{Body, Envelope, Invalid, Message, ParseLimits, parse, parse_element};
pub(crate) use self::params::string;
pub use self::params::{Params, object};
pub use self::response::write_error;
pub(crate) use self::response::write_result;
#[cfg(feature = "http-server")]
pub use self::response::{any_error_code, error_code};
pub use self::scan::{DEEPEST, SyntaxError, as_string};
pub(crate) use self::scan::{Scanner, canonical};
#[cfg(feature = "client")]
pub(crate) use self::weight::{is_heavier, weight};
pub(crate) use treenail_schema::internal::{quoted, shortened};
