//! The server whose functions send requests to the client, made at run time.

use treenail::dynamic::Feature;
use treenail::{Limits, Server, ToolError};

pub(crate) use super::{ELICITS, Hotel, agree, guest};
use crate::support::made::{Made, get};

pub(crate) fn hotel() -> (Hotel, Server) {
    hotel_with(Limits::default())
}

pub(crate) fn hotel_with(limits: Limits) -> (Hotel, Server) {
    let hotel = Hotel::default();
    let made = Made::of(&super::hotel().1);
    let builder = Server::builder("hotel", "1.0.0").limits(limits);
    let builder = builder.add(tools(&made, &hotel));
    let (one, two) = (hotel.clone(), hotel.clone());
    let greet = made.prompt("greet").handler(move |cx, _| {
        let hotel = one.clone();
        async move { hotel.greet(&cx).await }
    });
    let guest = made.resource("hotel://guest").handler(move |cx, _| {
        let hotel = two.clone();
        async move { hotel.guest(&cx).await }
    });
    let three = hotel.clone();
    let book = made.prompt("book").handler(move |cx, it| {
        let hotel = three.clone();
        async move { hotel.book_prompt(&cx, get(&it, "city")).await }
    });
    (hotel, builder.add([greet, guest, book]).build().unwrap())
}

/// Makes a tool of a method, given its arguments.
macro_rules! method {
    ($made:ident, $hotel:ident, $name:ident $(, $argument:literal)*) => {{
        let hotel = $hotel.clone();
        $made.tool(stringify!($name)).handler(move |cx, it| {
            let (hotel, _) = (hotel.clone(), &it);
            async move { hotel.$name(&cx $(, get(&it, $argument))*).await }
        })
    }};
}

fn tools(made: &Made, hotel: &Hotel) -> Vec<Feature> {
    let failing = hotel.clone();
    vec![
        method!(made, hotel, book, "city"),
        method!(made, hotel, book_twin, "city"),
        method!(made, hotel, book_and_pay),
        method!(made, hotel, all_at_once),
        method!(made, hotel, reserve),
        method!(made, hotel, degrade),
        made.tool("degrade_and_fail").handler(move |cx, _| {
            let hotel = failing.clone();
            async move { hotel.degrade_and_fail(&cx).await.map_err(ToolError::new) }
        }),
        method!(made, hotel, sample),
        method!(made, hotel, roots),
        method!(made, hotel, wait),
        method!(made, hotel, endless),
        method!(made, hotel, hoard),
        method!(made, hotel, spawned),
        method!(made, hotel, search, "city", "stars"),
    ]
}
