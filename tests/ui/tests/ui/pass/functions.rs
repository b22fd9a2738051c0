//! Functions on their own: kinds of functions, keys, places.

#![deny(warnings)]

use treenail::{Context, mcp_tool, mcp_type, tools};

/// Adds two integers.
#[mcp_tool(read_only, idempotent, open_world = false)]
pub async fn add(
    /// The first one
    a: i64,
    #[arg(default = 1, range = 0..=100)] b: i64,
) -> i64 {
    a + b
}

/// An alias, which is not to be told from what it stands for.
type Pattern = String;

mod text {
    use super::*;

    /// Searches.
    #[mcp_tool(name = "text.search", title = "Search")]
    pub fn search(
        cx: &Context,
        /**
         * What to search for
         */
        #[arg(default = "x", length = 1..)]
        pattern: Pattern,
        #[arg(name = "type", default)] kind: Option<Kind>,
    ) -> Result<String, std::fmt::Error> {
        let _ = (cx.request_id(), kind);
        Ok(pattern)
    }

    #[mcp_tool(blocking)]
    pub(crate) fn r#move(
        #[arg(name = "vector")] (x, y): (i64, i64),
        mut z: i64,
    ) -> Result<i64, String> {
        z += x + y;
        Ok(z)
    }
}

/// What to search.
#[mcp_type]
#[serde(rename_all = "lowercase")]
#[derive(Debug, Clone)]
pub enum Kind {
    /// Files
    File,
    Directory,
}

macro_rules! doubles {
    ($($name:ident $doc:literal $title:literal $ty:ty = $default:expr;)*) => {$(
        #[doc = $doc]
        #[mcp_tool(title = $title)]
        fn $name(#[arg(default = $default)] x: $ty) -> $ty {
            x + x
        }
    )*};
}

doubles! {
    double_u8 "Doubles a byte." "Byte" u8 = 1;
    double_f64 "Doubles a float." "Float" f64 = 0.5;
}

macro_rules! named {
    ($name:ident, $default:literal) => {
        #[mcp_tool]
        fn $name(#[arg(default = $default)] name: String) -> String {
            name
        }
    };
}

named!(hello, "Hello");

#[cfg(any())]
#[mcp_tool]
fn nowhere(missing: Missing) {}

#[mcp_tool]
#[cfg(any())]
fn nowhere(missing: Missing) {}

pub(crate) fn main() {
    #[deprecated]
    #[mcp_tool]
    fn local() -> &'static str {
        "local"
    }
    #[allow(deprecated)]
    let _ = tools![
        add,
        text::search,
        text::r#move,
        double_u8,
        double_f64,
        hello,
        local
    ];
    let _ = tools![crate = treenail; add];
    let _ = tools![];
}
