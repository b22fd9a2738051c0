use treenail::mcp_form;
use treenail::form::Form;

#[mcp_form]
struct Booking {
    #[field(rnage = 1..=12)]
    guests: u8,
}

fn ask<T: Form>() -> Option<T> {
    T::read([].into()).ok()
}

fn main() {
    let booking = ask::<Booking>();
    booking.map(|booking| booking.guests);
}
