//! The server of tools, made at run time.

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail::dynamic::Feature;
use treenail::{Limits, Server, ToolError};

pub(crate) use super::Fixture;
use super::functions::{
    add, fails, fails_anyhow, fails_with_content, fails_with_text, greet, list_of_numbers, media,
    motto, nothing, null, panics, panics_at_once, perhaps, unwritable, whole_result, works_hard,
};
use super::{Weather, weather};
use crate::support::made::{Made, get};
use crate::support::offer::Offer;

/// Row about an argument that is none of several choices: the schema describes them.
pub(crate) const WRONG_UNIT: &str =
    "- /unit: expected one of \"metric\", \"imperial\", got the string \"kelvin\"";

/// Row about an argument that lacks a field.
pub(crate) const MISSING_FIELD: &str = "- /near/latitude: missing; expected a number";

pub(crate) fn server() -> Server {
    fixture(Limits::default()).server
}

pub(crate) fn fixture(limits: Limits) -> Fixture {
    let gate = Arc::new(Semaphore::new(0));
    let (weather, hold, let_go) = Weather::new(&gate);
    let made = Made::of(&super::server());
    let builder = treenail::server!().title("Fixture").limits(limits);
    let builder = builder.add(methods(&made, &Arc::new(weather)));
    Fixture {
        server: builder.add(functions(&made)).build().unwrap(),
        gate,
        hold,
        let_go,
    }
}

/// Adds the methods.
pub(crate) fn add_weather<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::server());
    offer.with_features(methods(&made, &Arc::new(weather())))
}

/// Adds the functions.
pub(crate) fn add_functions<O: Offer>(offer: O) -> O {
    offer.with_features(functions(&Made::of(&super::server())))
}

fn methods(made: &Made, weather: &Arc<Weather>) -> Vec<Feature> {
    let state = || Arc::clone(weather);
    let (one, two, three, four) = (state(), state(), state(), state());
    vec![
        made.tool("weather.forecast").handler(move |_, it| {
            let weather = Arc::clone(&one);
            async move {
                let days = get::<Option<u8>>(&it, "days").unwrap_or(1);
                let (city, unit, near) = (get(&it, "city"), get(&it, "unit"), get(&it, "near"));
                weather.forecast(city, days, unit, near).await
            }
        }),
        made.tool("weather.wait").handler(move |cx, _| {
            let weather = Arc::clone(&two);
            async move { weather.wait(&cx).await }
        }),
        made.tool("weather.name").handler(move |_, _| {
            let name = three.name().to_owned();
            async move { name }
        }),
        made.tool("weather.trace-id")
            .handler(|cx, _| async move { Weather::trace(&cx) }),
        made.tool("weather.hold").blocking(move |_, _| four.hold()),
    ]
}

fn functions(made: &Made) -> Vec<Feature> {
    vec![
        made.tool("add")
            .handler(|_, it| async move { add(get(&it, "a"), get(&it, "b")).await }),
        made.tool("greet").handler(|_, it| async move {
            greet(get::<Option<String>>(&it, "name").unwrap_or("world".to_owned()))
        }),
        made.tool("motto").handler(|_, _| async { motto() }),
        made.tool("nothing").handler(|_, _| async { nothing() }),
        made.tool("perhaps")
            .handler(|_, it| async move { perhaps(get(&it, "text")) }),
        made.tool("fails")
            .handler(|_, it| async move { fails(get(&it, "with")) }),
        made.tool("fails_with_text")
            .handler(|_, _| async { fails_with_text().map_err(ToolError::new) }),
        made.tool("fails_anyhow").handler(|_, _| fails_anyhow()),
        made.tool("fails_with_content")
            .handler(|_, _| async { fails_with_content() }),
        made.tool("panics")
            .handler(|_, it| panics(get(&it, "later"))),
        made.tool("panics_at_once")
            .handler(|_, _| async { panics_at_once() }),
        made.tool("media").handler(|_, _| async { media() }),
        made.tool("whole_result")
            .handler(|_, _| async { whole_result() }),
        made.tool("null").handler(|_, _| async { null() }),
        made.tool("list_of_numbers")
            .handler(|_, it| async move { list_of_numbers(get(&it, "count")) }),
        made.tool("works_hard").blocking(|cx, _| works_hard(&cx)),
        made.tool("unwritable")
            .handler(|_, _| async { unwritable() }),
    ]
}
