struct Booking {
    #[field(default)]
    nights: u8,
}

fn main() {}
