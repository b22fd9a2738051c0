//! The server under test, with one prompt and one resource for each of their features.

/// The same at run time.
pub(crate) mod twin;

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail::completion::CompletionRequest;
use treenail::prelude::*;
use treenail::schema::{
    Annotations, AudioContent, ContentBlock, GetPromptResult, Icon, PromptMessage,
    ReadResourceResult, ResourceContents, ResourceLink, Role, TextResourceContents,
};
use treenail::{Limits, RpcError, Server};

use crate::support::offer::Offer;
use crate::support::weather::{Failure, Place, Unit};

/// Books, and prompts about them.
pub(crate) struct Library {
    motto: String,
    gate: Arc<Semaphore>,
}

/// Ask for a book by its number.
#[mcp_tool(namespace = "library")]
impl Library {
    /// Recommends a book.
    #[prompt(title = "Recommend", icons = [Icon::new("https://example.com/icon.png")])]
    async fn recommend(
        &self,
        /// What it is about
        #[arg(complete = Self::subjects)]
        subject: String,
        #[arg(default = 1, range = 1..=5)] count: u8,
        #[arg(name = "in", complete = places)] place: Option<String>,
        unit: Option<Unit>,
    ) -> String {
        let place = place.map_or(String::new(), |place| format!(" in {place}"));
        let unit = unit.map_or(String::new(), |unit| format!(" {unit:?}"));
        format!("Recommend {count} on {subject}{place}{unit}")
    }

    #[prompt]
    fn motto() -> &'static str {
        "one\ntwo"
    }

    #[prompt(blocking)]
    fn dialogue(cx: &Context, places: Vec<Place>) -> Vec<PromptMessage> {
        let name = cx.client_info().map(|client| client.name.clone());
        vec![
            PromptMessage::user(name.unwrap_or_default()),
            PromptMessage::assistant(format!("{} places", places.len())),
        ]
    }

    #[prompt]
    fn media(kind: String) -> Result<PromptMessage, Failure> {
        let text = TextResourceContents::new("library://motto", "one").with_mime_type("text/plain");
        Ok(PromptMessage::assistant(match &*kind {
            "image" => ContentBlock::image("iVBORw==", "image/png"),
            "audio" => AudioContent::new("UklGRg==", "audio/wav").into(),
            "link" => ResourceLink::new("library://motto", "motto").into(),
            "resource" => ContentBlock::resource(text),
            _ => return Err(Failure),
        }))
    }

    /// Says something of itself.
    #[prompt]
    fn whole() -> GetPromptResult {
        GetPromptResult::new([PromptMessage::user("all")]).with_description("Its own")
    }

    #[prompt]
    async fn fails(how: String) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        tokio::task::yield_now().await;
        Err(match &*how {
            "refuse" => RpcError::new(-32602, "not this one").into(),
            "panic" => panic!("a secret"),
            _ => Failure.into(),
        })
    }

    /// Proposes subjects, of the country if it is known.
    async fn subjects(&self, typed: &CompletionRequest) -> Vec<String> {
        tokio::task::yield_now().await;
        match typed.text() {
            "panic" => panic!("a secret"),
            "many" => (0..250).map(|index| index.to_string()).collect(),
            text => vec![format!("{text}-{}", typed.other("in").unwrap_or("nowhere"))],
        }
    }

    /// What stands over the door.
    #[resource(
        "library://motto",
        title = "Motto",
        mime_type = "text/plain",
        size = 7,
        annotations = Annotations::new().with_audience([Role::User]).with_priority(0.5),
        icons = [Icon::new("https://example.com/icon.png")]
    )]
    fn motto_text(&self) -> &str {
        &self.motto
    }

    #[resource("library://cover", mime_type = "image/png")]
    async fn cover(&self) -> Vec<u8> {
        vec![0, 1, 254, 255]
    }

    #[resource("library://place")]
    fn place() -> Place {
        serde_json::from_str(r#"{"name": "Os\"lo", "latitude": 59.9, "note": null}"#).unwrap()
    }

    #[resource("library://parts")]
    fn parts() -> Vec<ResourceContents> {
        let part = |uri: &str| TextResourceContents::new(uri, uri).into();
        vec![part("library://parts#1"), part("library://parts#2")]
    }

    #[resource("library://empty")]
    fn empty() -> Vec<ResourceContents> {
        Vec::new()
    }

    #[resource("library://kept")]
    fn kept() -> ReadResourceResult {
        ReadResourceResult::new([TextResourceContents::new("library://kept", "x").into()])
            .with_ttl_ms(1_000_u64)
            .with_cache_scope(treenail::schema::CacheScope::Public)
    }

    #[resource("library://secret", blocking)]
    fn secret(cx: &Context) -> Result<String, Failure> {
        cx.client_info().map_or(Ok(String::new()), |_| Err(Failure))
    }

    #[resource("library://panics")]
    async fn panics(&self) -> String {
        tokio::task::yield_now().await;
        panic!("a secret")
    }

    /// One book.
    #[resource("library://books/{number}", name = "book", mime_type = "text/plain")]
    async fn book(&self, #[arg(complete = numbers)] number: u16) -> Option<String> {
        tokio::task::yield_now().await;
        (number < 100).then(|| format!("book {number}"))
    }

    #[resource("library://shelves{/shelf}/books{.kind}")]
    fn shelf(shelf: String, kind: Unit) -> Result<Option<Place>, Failure> {
        let _ = kind;
        if shelf == "broken" {
            Err(Failure)
        } else {
            Ok(None)
        }
    }

    /// Any file.
    #[resource("file:///{+path}")]
    fn file(path: String, cx: &Context) -> Option<Vec<u8>> {
        let _ = cx.request_id();
        (path != "none").then(|| path.into_bytes())
    }

    #[resource("library://held")]
    async fn held(&self) -> &'static str {
        self.gate.acquire().await.unwrap().forget();
        "held"
    }
}

fn places(typed: &str) -> impl Iterator<Item = &'static str> {
    ["Oslo", "Bergen"]
        .into_iter()
        .filter(move |place| place.starts_with(typed))
}

fn numbers(typed: &str) -> [String; 2] {
    ["1", "2"].map(|digit| format!("{typed}{digit}"))
}

/// Has prompts only.
struct Prompts;

#[mcp_tool]
impl Prompts {
    #[prompt]
    fn hello(name: String) -> String {
        format!("Hello {name}")
    }
}

/// Has templates only.
struct Templates;

#[mcp_tool(namespace = "only")]
impl Templates {
    #[resource("only://{name}")]
    fn named(name: String) -> String {
        name
    }
}

/// Set if invalid types of arguments are reported in the words of the server.
pub(crate) const CHECKS_TYPES: bool = true;

pub(crate) fn server() -> Server {
    library(Limits::default()).0
}

/// Creates the server, and the handle that releases reads of `library://held`.
pub(crate) fn library(limits: Limits) -> (Server, Arc<Semaphore>) {
    let (library, gate) = Library::new();
    let server = treenail::server!().mount(library).limits(limits).build();
    (server.unwrap(), gate)
}

/// Adds the prompts, resources and templates.
pub(crate) fn add_library<O: Offer>(offer: O) -> O {
    offer.with_mounted(Library::new().0)
}

pub(crate) fn add_prompts<O: Offer>(offer: O) -> O {
    offer.with_mounted(Prompts)
}

pub(crate) fn add_templates<O: Offer>(offer: O) -> O {
    offer.with_mounted(Templates)
}

impl Library {
    fn new() -> (Self, Arc<Semaphore>) {
        let gate = Arc::new(Semaphore::new(0));
        let library = Self {
            motto: "one\n\"two\"".to_owned(),
            gate: Arc::clone(&gate),
        };
        (library, gate)
    }
}
