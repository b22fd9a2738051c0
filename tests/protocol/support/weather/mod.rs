//! The server under test, with one tool for each feature of tools.

mod functions;
/// The same at run time.
pub(crate) mod twin;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::schema::Icon;
use treenail::{Limits, Server};

use self::functions::tools;
use crate::support::offer::Offer;

/// Row about an argument that is none of several choices.
pub(crate) const WRONG_UNIT: &str =
    "- /unit: unknown variant `kelvin`, expected `metric` or `imperial`";

/// Row about an argument that lacks a field.
pub(crate) const MISSING_FIELD: &str = "- /near: missing field `latitude`";

/// A place on a map.
#[mcp_type]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    name: String,
    /// North of the equator
    latitude: f64,
    note: Option<String>,
}

#[mcp_type]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Metric,
    Imperial,
}

#[derive(Debug)]
pub(crate) struct Failure;

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the station does not answer")
    }
}

impl std::error::Error for Failure {}

/// The weather, as it is and as it will be.
pub(crate) struct Weather {
    name: String,
    gate: Arc<Semaphore>,
    hold: Arc<Hold>,
}

/// Ask for the weather of one place at a time.
#[mcp_tool(namespace = "weather")]
impl Weather {
    /// Daily forecast for one city.
    #[tool(read_only, idempotent, open_world = false, icons = [Icon::new("https://example.com/icon.png")])]
    async fn forecast(
        &self,
        /// City name, e.g. "Oslo"
        city: String,
        #[arg(default = 1, range = 1..=7)] days: u8,
        unit: Option<Unit>,
        #[arg(name = "near")] place: Option<Place>,
    ) -> Result<Place, Failure> {
        let unit = unit.map_or(String::new(), |unit| format!(" {unit:?}"));
        let note = place.map(|place| place.name);
        Ok(Place {
            name: format!("{city} {days}{unit}"),
            latitude: 59.9,
            note,
        })
    }

    #[tool(destructive)]
    async fn wait(&self, cx: &Context) -> String {
        self.gate
            .acquire()
            .await
            .expect("the gate is never closed")
            .forget();
        cx.request_id().to_string()
    }

    #[tool]
    fn name(&self) -> &str {
        &self.name
    }

    #[tool(name = "trace-id")]
    fn trace(cx: &Context) -> Option<String> {
        cx.meta()
            .get("traceparent")
            .and_then(|value| value.as_str().map(str::to_owned))
    }

    /// Blocks its thread until it is let go.
    #[tool(blocking)]
    fn hold(&self) -> &'static str {
        self.hold.begun.add_permits(1);
        self.hold.turn.lock().unwrap().recv().unwrap();
        "held"
    }

    #[cfg(any())]
    #[tool]
    fn absent(&self) -> NoSuchType {}
}

/// Channel on which `weather.hold` reports its start and waits for its end.
pub(crate) struct Hold {
    pub(crate) begun: Semaphore,
    turn: Mutex<Receiver<()>>,
}

impl Weather {
    /// Creates a server: permits release calls of `weather.wait`, the sender releases those of `weather.hold`.
    fn new(gate: &Arc<Semaphore>) -> (Self, Arc<Hold>, Sender<()>) {
        let (sender, receiver) = channel();
        let hold = Arc::new(Hold {
            begun: Semaphore::new(0),
            turn: Mutex::new(receiver),
        });
        (
            Self {
                name: "weather".to_owned(),
                gate: Arc::clone(gate),
                hold: Arc::clone(&hold),
            },
            hold,
            sender,
        )
    }
}

/// Creates a state without control of its waiting calls.
fn weather() -> Weather {
    Weather::new(&Arc::new(Semaphore::new(0))).0
}

/// Adds the methods.
pub(crate) fn add_weather<O: Offer>(offer: O) -> O {
    offer.with_mounted(weather())
}

/// Adds the functions.
pub(crate) fn add_functions<O: Offer>(offer: O) -> O {
    offer.with_tools(tools())
}

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) gate: Arc<Semaphore>,
    pub(crate) hold: Arc<Hold>,
    pub(crate) let_go: Sender<()>,
}

pub(crate) fn server() -> Server {
    fixture(Limits::default()).server
}

pub(crate) fn fixture(limits: Limits) -> Fixture {
    let gate = Arc::new(Semaphore::new(0));
    let (weather, hold, let_go) = Weather::new(&gate);
    let server = treenail::server!()
        .title("Fixture")
        .mount(weather)
        .tools(tools())
        .limits(limits)
        .build()
        .unwrap();
    Fixture {
        server,
        gate,
        hold,
        let_go,
    }
}
