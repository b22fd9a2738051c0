use treenail::mcp_type;

mod dates {
    /// A type as `chrono` has it without the feature.
    pub struct NaiveDate;
}

#[mcp_type]
struct Trip {
    from: dates::NaiveDate,
}

fn main() {}
