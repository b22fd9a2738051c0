//! Forms: what is asked in each revision, and how what is entered becomes a value.

mod content;
mod edge_cases;
mod schemas;

use treenail::mcp_form;

/// A field of each kind.
#[mcp_form]
#[derive(Clone, Debug, PartialEq)]
struct Booking {
    /// The first night
    #[field(format = "date")]
    day: String,
    #[field(title = "Guests", range = 1..=12, default = 2)]
    guests: u8,
    /// Anything that we should know
    #[field(length = 2..=20)]
    note: Option<String>,
    breakfast: bool,
    #[field(default)]
    late: bool,
    /// Which room
    #[field(default = Room::Double)]
    room: Room,
    bed: Option<Bed>,
    #[field(range = 0.5.., default = 1.5)]
    budget: f64,
    #[field(range = -3..3)]
    floor: Option<i64>,
    /// What else
    #[field(title = "Extras", length = 1..=2, default = vec![Extra::Sauna])]
    extras: Vec<Extra>,
    beds: Vec<Bed>,
    #[field(name = "e-mail", format = "email")]
    email: Option<String>,
    #[field(format = "uri", default = "https://example.com/")]
    site: String,
    #[field(format = "date-time")]
    arrival: Option<String>,
}

#[mcp_form]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Room {
    Single,
    #[field(name = "double", title = "Double room")]
    Double,
}

#[mcp_form]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bed {
    Hard,
    Soft,
}

#[mcp_form]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Extra {
    Sauna,
    #[field(name = "late", title = "Late, until 12")]
    LateCheckout,
    #[field(name = "late, late", title = "Latest")]
    LatestCheckout,
}
