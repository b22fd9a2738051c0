//! Types of the arguments, results and forms of the boatyard.

use treenail::prelude::*;

/// Port that the boat is registered in.
#[mcp_type]
pub(super) struct Port {
    /// Name of the town
    pub(super) town: String,
    /// Two letters, as in NO
    #[schemars(length(min = 2, max = 2))]
    pub(super) country: String,
}

/// Timber of a part.
#[mcp_type]
pub(super) enum Timber {
    Oak,
    Larch,
    Pine,
}

/// A part to replace.
#[mcp_type]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) timber: Timber,
    /// Number of pieces
    #[schemars(range(min = 1, max = 500))]
    pub(super) pieces: u32,
}

/// Way to pay.
#[mcp_type]
pub(super) enum Payment {
    /// Paid by the owner on delivery
    Invoice { reference: String },
    /// Paid in advance
    Card { number: String, holder: String },
}

#[mcp_type]
pub(super) struct Offer {
    pub(super) boat: String,
    /// Kroner
    pub(super) total: u64,
    pub(super) parts: usize,
    pub(super) days: u32,
}

#[mcp_type]
pub(super) struct Hull {
    pub(super) number: u64,
    /// Meters
    pub(super) length: f64,
}

#[mcp_form]
pub(super) enum Slip {
    North,
    #[field(title = "South, with a crane")]
    South,
}

#[mcp_form]
pub(super) struct Haulout {
    /// Who stays with the boat
    #[field(title = "Skipper", length = 2..=60)]
    pub(super) skipper: String,
    #[field(format = "date", title = "Day")]
    pub(super) day: String,
    pub(super) slip: Slip,
    #[field(range = 1..=20, default = 4)]
    pub(super) crew: u8,
    pub(super) insured: bool,
    pub(super) note: Option<String>,
}
