//! JSON-RPC messages as bytes: framing, checking and parsing of input, and serialization of output.

mod error;
mod escape;
mod frame;
mod json;
mod members;
mod message;
mod params;
mod scan;
#[cfg(feature = "client")]
mod weight;

pub use self::error::RpcError;
pub(crate) use self::error::{quoted, shortened};
pub(crate) use self::escape::{Escaped, escape_from_within};
pub(crate) use self::frame::{Frame, LineBuffer};
pub(crate) use self::json::{is_one_line, keep_one_line, raw_json, write_json};
pub(crate) use self::members::Members;
pub(crate) use self::message::{Body, Envelope, Invalid, Message, parse, parse_element};
pub(crate) use self::params::{Params, object, string};
pub(crate) use self::scan::{DEEPEST, Scanner, SyntaxError, as_string, canonical};
#[cfg(feature = "client")]
pub(crate) use self::weight::{is_heavier, weight};
