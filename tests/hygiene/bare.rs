//! Module without a prelude.

#![no_implicit_prelude]

use ::std::option::Option;
use ::std::primitive::{str, u8};
use ::std::result::Result;
use ::std::string::String;

use super::Unit;

/// Names that generated code must not pick up.
mod treenail {}
mod std {}
mod core {}

/// Measures.
#[::treenail::mcp_tool(title = "Measure", read_only)]
pub async fn measure(
    _cx: &::treenail::Context,
    #[arg(default, range = 0..=7)] count: u8,
    /// The unit
    #[arg(default)]
    unit: Unit,
    #[arg(default = "a", length = 1..)] __state: String,
) -> Result<Option<u8>, ::std::fmt::Error> {
    ::std::future::ready(()).await;
    Result::Ok(Option::Some(count + unit as u8))
}

/// Returns at once.
#[::treenail::mcp_tool]
pub async fn idle() {}

/// Is deprecated.
#[deprecated]
#[::treenail::mcp_tool(blocking)]
pub fn deprecated_tool(__a1: u8, __call: u8) -> u8 {
    __a1 + __call
}

/// Streams.
#[::treenail::mcp_tool]
pub async fn stream(
    _cx: &::treenail::Context,
    __items: u8,
) -> Result<impl ::treenail::Stream<Item = Result<u8, ::std::fmt::Error>>, ::std::fmt::Error> {
    ::std::future::ready(()).await;
    Result::Ok(::tokio_stream::iter([Result::Ok(__items)]))
}

/// Has tools.
#[derive(Debug)]
pub struct State;

/// Tools of a state.
#[::treenail::mcp_tool(namespace = "state")]
impl State {
    /// Its name.
    #[tool]
    pub const fn name(&self) -> &str {
        "state"
    }

    /// Nothing.
    #[tool]
    #[cfg(any())]
    pub fn nothing(&self) {}

    /// A stream.
    #[tool(stream, fold = "last")]
    pub fn last(&self) -> ::tokio_stream::Once<String> {
        ::tokio_stream::once(::std::borrow::ToOwned::to_owned(self.name()))
    }

    /// A prompt.
    #[prompt(blocking)]
    pub fn prompt(
        &self,
        _cx: &::treenail::Context,
        #[arg(default = "a", length = 1.., complete = Self::values)] __typed: String,
        #[arg(complete = values)] unit: Option<Unit>,
    ) -> Result<&'static str, ::std::fmt::Error> {
        let _ = (__typed, unit);
        Result::Ok("a")
    }

    /// A resource.
    #[resource("state://{+__state}", mime_type = "text/plain")]
    #[deprecated]
    pub async fn resource(__state: String) -> Option<String> {
        ::std::future::ready(Option::Some(__state)).await
    }

    fn values(&self, _typed: &str) -> [String; 1] {
        [::std::borrow::ToOwned::to_owned(self.name())]
    }
}

/// A form.
#[::treenail::mcp_form]
#[derive(Debug)]
pub struct Stay {
    /// The unit
    #[field(default = Length::Metre)]
    pub length: Length,
    #[field(name = "lengths", title = "Lengths", length = 1..=2)]
    __f0: Option<::std::vec::Vec<Length>>,
    #[field(range = 1..=7, default)]
    __form: u8,
    /// A date
    #[field(format = "date", default = "2026-07-28")]
    pub r#type: String,
    /// A share
    #[deprecated]
    #[field(range = 0.0..1.0)]
    pub old: f64,
    #[cfg(any())]
    nothing: Nothing,
}

/// A choice.
#[::treenail::mcp_form]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Length {
    /// One
    Metre,
    /// Another
    #[deprecated]
    #[field(name = "foot", title = "A foot")]
    Foot,
    /// None
    #[cfg(any())]
    Nothing,
}

/// A contract.
#[::treenail::mcp_client(namespace = "contract")]
pub trait Contract {
    /// Waits.
    #[::treenail::tool(read_only)]
    async fn wait(
        &self,
        _cx: &::treenail::Context,
        /// Time to wait
        #[arg(default, range = ..=7)]
        __state: u8,
        r#type: Option<String>,
        __part: String,
    ) -> Result<Option<u8>, ::std::fmt::Error>;

    /// Is deprecated.
    #[deprecated]
    #[doc = "More."]
    fn r#move(&self, answer: u8) -> Result<(), ::std::fmt::Error> {
        let _ = answer;
        Result::Ok(())
    }

    /// Nothing.
    #[cfg(any())]
    fn nothing(&self) -> Nothing;

    /// Streams.
    #[tool(fold = "last")]
    fn stream(
        &self,
        __items: u8,
        __arguments: Unit,
        answer: u8,
    ) -> impl ::treenail::Stream<Item = Result<u8, ::std::fmt::Error>>;

    /// A part.
    #[namespace(name = "piece")]
    #[deprecated]
    fn r#part(&self) -> &impl Part;
}

/// A part of it.
#[::treenail::mcp_client]
pub trait Part {
    /// Is there.
    async fn is_there(&self) -> Result<(), ::std::fmt::Error> {
        ::std::future::ready(()).await;
        Result::Ok(())
    }
}

#[allow(deprecated, reason = "the test covers deprecated tools")]
#[::treenail::mcp_tool]
impl Contract for Whole {
    async fn wait(
        &self,
        _cx: &::treenail::Context,
        count: u8,
        _: Option<String>,
        _: String,
    ) -> Result<Option<u8>, ::std::fmt::Error> {
        ::std::future::ready(Result::Ok(Option::Some(count))).await
    }

    fn stream(
        &self,
        item: u8,
        _: Unit,
        _: u8,
    ) -> impl ::treenail::Stream<Item = Result<u8, ::std::fmt::Error>> {
        ::tokio_stream::once(Result::Ok(item))
    }

    fn part(&self) -> &Piece {
        &Piece
    }
}

/// Has a part.
#[derive(Debug)]
pub struct Whole;

/// The part.
#[derive(Debug)]
pub struct Piece;

#[::treenail::mcp_tool]
impl Part for Piece {}

async fn values(typed: &::treenail::completion::CompletionRequest) -> [String; 1] {
    ::std::future::ready([::std::borrow::ToOwned::to_owned(typed.text())]).await
}

/// All functions.
#[allow(deprecated, reason = "the test covers deprecated tools")]
pub fn all() -> ::treenail::tool::ToolSet {
    ::treenail::tools![deprecated_tool, idle, measure, stream]
}
