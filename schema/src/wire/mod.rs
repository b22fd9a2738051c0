//! JSON-RPC messages as bytes: framing, checking and parsing of input, and serialization of output.

mod edges;
mod ends;
mod error;
mod escape;
mod frame;
mod json;
mod members;
mod message;
mod params;
mod private_key;
mod read_members;
mod response;
mod scan;
mod surrogates;
mod weight;

pub use self::edges::Edges;
pub use self::ends::{IdAtEnds, id_at_ends};
pub use self::error::RpcError;
pub use self::escape::{escape_from_within, escape_in_place, push_escaped};
pub use self::frame::{Frame, LineBuffer};
pub use self::json::{WriteJson, is_one_line, keep_one_line, raw_json, write_json};
pub use self::members::Members;
pub use self::message::{
    Body, Envelope, Invalid, Message, ParseLimits, copied_id, parse, parse_element,
    parse_with_known_meta,
};
pub use self::params::{Params, object, string};
pub use self::private_key::{has_private_key, is_private_key};
pub use self::read_members::read_members;
pub use self::response::{any_error_code, error_code, write_error, write_result};
pub use self::scan::{DEEPEST, Scanner, SyntaxError, as_string, canonical, is_plain_string};
pub use self::surrogates::{read_json, replace_halves};
pub use self::weight::{is_heavier, weight};
pub(crate) use crate::text::quoted;
