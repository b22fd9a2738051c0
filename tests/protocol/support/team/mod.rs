//! Features that are mounted twice, and names that clash without dots.

/// The same at run time.
pub(crate) mod twin;

use treenail::prelude::*;

use crate::support::offer::Offer;

struct Count(u32);

/// Counts are numbers.
#[mcp_tool(namespace = "count")]
impl Count {
    #[tool]
    fn get(&self) -> u32 {
        self.0
    }

    #[prompt]
    fn ask(&self) -> String {
        self.0.to_string()
    }
}

struct Clash;

/// Two names that are equal without dots, and one that equals another tool's name.
#[mcp_tool(namespace = "a")]
impl Clash {
    #[tool]
    fn b_c() -> &'static str {
        "a.b_c"
    }

    #[tool]
    fn d() -> &'static str {
        "a.d"
    }
}

struct Other;

#[mcp_tool(namespace = "a_b")]
impl Other {
    #[tool]
    fn c() -> &'static str {
        "a_b.c"
    }
}

#[mcp_tool(name = "a_d")]
fn a_d() -> &'static str {
    "a_d"
}

/// Instructions of a server with counts and extra features.
pub(crate) const INSTRUCTIONS: Option<&str> = Some("Counts are numbers.\n\nExtra is more.");

pub(crate) fn add_count<O: Offer>(offer: O, count: u32) -> O {
    offer.with_mounted(Count(count))
}

/// Adds the tools whose names clash.
pub(crate) fn add_clash<O: Offer>(offer: O) -> O {
    let offer = offer.with_mounted(Clash).with_mounted(Other);
    offer.with_tools(tools![a_d])
}
