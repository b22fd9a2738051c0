//! What a server says, as text for people.
//!
//! A server may say anything, also what would move the cursor of a terminal, colour it, or write from right to left. So
//! nothing is shown that has not been cleaned.

mod clean;
mod content;
mod json;
mod offers;
mod schema;
mod table;

pub(crate) use self::clean::{clean, clean_line};
pub(crate) use self::content::{Shown, size, tool_result};
pub(crate) use self::json::{exact_json, pretty_json};
pub(crate) use self::offers::{arguments_of, prompts, resources, templates, tools};
pub(crate) use self::schema::{kinds_of, resolved, type_name};
