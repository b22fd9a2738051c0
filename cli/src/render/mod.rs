//! Formatting of server output as text for people.
//!
//! Text from a server is untrusted: it may contain control sequences that move the cursor, change colours or reverse the
//! writing direction. Therefore all of it is sanitized before it is printed.

mod content;
mod json;
mod lists;
mod sanitize;
mod schema;
mod table;

pub(crate) use self::content::{Rendered, format_size, render_tool_result};
pub(crate) use self::json::{escape_json_text, escaped_json, inline_json};
pub(crate) use self::lists::{
    render_arguments, render_prompts, render_resources, render_templates, render_tools,
};
pub(crate) use self::sanitize::{sanitize_line, sanitize_text};
pub(crate) use self::schema::{choices, resolve_reference, type_name, types_of};
pub(crate) use self::table::Table;
