//! The server of prompts and resources, made at run time.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use treenail::dynamic::{Arguments, Feature};
use treenail::schema::PromptMessage;
use treenail::{Limits, RpcError, Server};

use super::{Library, Prompts, Templates, numbers};
use crate::support::made::Made;
use crate::support::offer::Offer;
use crate::support::weather::{Failure, Place, Unit};

/// Set if invalid types of arguments are reported in the words of the server.
pub(crate) const CHECKS_TYPES: bool = false;

pub(crate) fn server() -> Server {
    library(Limits::default()).0
}

pub(crate) fn library(limits: Limits) -> (Server, Arc<Semaphore>) {
    let (library, gate) = Library::new();
    let builder = add(treenail::server!().limits(limits), &Arc::new(library));
    (builder.build().unwrap(), gate)
}

/// Adds the prompts, resources and templates.
pub(crate) fn add_library<O: Offer>(offer: O) -> O {
    add(offer, &Arc::new(Library::new().0))
}

fn add<O: Offer>(offer: O, library: &Arc<Library>) -> O {
    let made = Made::of(&super::server());
    let offer = offer.with_features(prompts(&made, library));
    let offer = offer.with_features(resources(&made, library));
    offer.with_features(templates(&made, library))
}

pub(crate) fn add_prompts<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_prompts(treenail::server!()).build().unwrap());
    let hello = made.prompt("hello");
    offer.with_features(vec![
        hello.handler(|_, it| async move { Prompts::hello(it.get("name").unwrap()) }),
    ])
}

pub(crate) fn add_templates<O: Offer>(offer: O) -> O {
    let made = Made::of(&super::add_templates(treenail::server!()).build().unwrap());
    let named = made.template("only://{name}");
    offer.with_features(vec![named.handler(|_, request| async move {
        Templates::named(request.variable("name").unwrap())
    })])
}

#[treenail::mcp_type]
struct Recommend {
    subject: String,
    count: Option<u8>,
    #[serde(rename = "in")]
    place: Option<String>,
    unit: Option<Unit>,
}

#[treenail::mcp_type]
struct Dialogue {
    places: Vec<Place>,
}

/// Reads the arguments of a prompt. The bounds of its types are not part of its descriptor.
fn read<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, RpcError> {
    let read = arguments.parse();
    read.map_err(|error| RpcError::invalid_params(error.to_string()))
}

fn prompts(made: &Made, library: &Arc<Library>) -> Vec<Feature> {
    let state = || Arc::clone(library);
    let (one, two) = (state(), state());
    vec![
        made.prompt("library.recommend")
            .complete("subject", move |typed| {
                let library = Arc::clone(&one);
                async move { library.subjects(&typed).await }
            })
            .complete("in", |typed| {
                let all = ["Oslo", "Bergen"].into_iter();
                all.filter(move |place| place.starts_with(typed.text()))
            })
            .handler(move |_, it| {
                let library = Arc::clone(&two);
                async move {
                    let it: Recommend = read(&it)?;
                    let count = it.count.unwrap_or(1);
                    if !(1..=5).contains(&count) {
                        return Err(RpcError::invalid_params("`count` is out of range"));
                    }
                    let text = library.recommend(it.subject, count, it.place, it.unit);
                    Ok::<_, RpcError>(text.await)
                }
            }),
        made.prompt("library.motto")
            .handler(|_, _| async { Library::motto() }),
        made.prompt("library.dialogue").blocking(|cx, it| {
            let it: Dialogue = read(&it)?;
            Ok::<Vec<PromptMessage>, RpcError>(Library::dialogue(&cx, it.places))
        }),
        made.prompt("library.media")
            .handler(|_, it| async move { Library::media(it.get("kind").unwrap()) }),
        made.prompt("library.whole")
            .handler(|_, _| async { Library::whole() }),
        made.prompt("library.fails")
            .handler(|_, it| Library::fails(it.get("how").unwrap())),
    ]
}

fn resources(made: &Made, library: &Arc<Library>) -> Vec<Feature> {
    let state = || Arc::clone(library);
    let (one, two, three, four) = (state(), state(), state(), state());
    vec![
        made.resource("library://motto").handler(move |_, _| {
            let motto = one.motto_text().to_owned();
            async move { motto }
        }),
        made.resource("library://cover").handler(move |_, _| {
            let library = Arc::clone(&two);
            async move { library.cover().await }
        }),
        made.resource("library://place")
            .handler(|_, _| async { Library::place() }),
        made.resource("library://parts")
            .handler(|_, _| async { Library::parts() }),
        made.resource("library://empty")
            .handler(|_, _| async { Library::empty() }),
        made.resource("library://kept")
            .handler(|_, _| async { Library::kept() }),
        made.resource("library://secret")
            .blocking(|cx, _| Library::secret(&cx)),
        made.resource("library://panics").handler(move |_, _| {
            let library = Arc::clone(&three);
            async move { library.panics().await }
        }),
        made.resource("library://held").handler(move |_, _| {
            let library = Arc::clone(&four);
            async move { library.held().await }
        }),
    ]
}

#[treenail::mcp_type]
struct Shelf {
    shelf: String,
    kind: Unit,
}

fn templates(made: &Made, library: &Arc<Library>) -> Vec<Feature> {
    let library = Arc::clone(library);
    vec![
        made.template("library://books/{number}")
            .complete("number", |typed| numbers(typed.text()))
            .handler(move |_, request| {
                let library = Arc::clone(&library);
                async move {
                    #[treenail::mcp_type]
                    struct Book {
                        number: u16,
                    }
                    let invalid = |error| RpcError::invalid_params(format!("{error}"));
                    let Book { number } = request.parse().map_err(invalid)?;
                    Ok::<_, RpcError>(library.book(number).await)
                }
            }),
        made.template("library://shelves{/shelf}/books{.kind}")
            .handler(|_, request| async move {
                let invalid = |error| RpcError::invalid_params(format!("{error}"));
                let Shelf { shelf, kind } = request.parse().map_err(invalid)?;
                let found = Library::shelf(shelf, kind);
                found.map_err(|Failure| RpcError::internal(Failure.to_string()))
            }),
        made.template("file:///{+path}")
            .handler(
                |cx, request| async move { Library::file(request.variable("path").unwrap(), &cx) },
            ),
    ]
}
