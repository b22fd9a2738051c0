//! Generated code of the macros compiles in unusual environments.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications)]
#![deny(missing_debug_implementations, unreachable_pub)]
#![deny(unused_lifetimes, single_use_lifetimes, unnameable_types)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    clippy::missing_const_for_fn,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::unnecessary_literal_bound,
    clippy::unused_self,
    reason = "these lints concern the code of the test, not the generated code"
)]

pub mod calls;
pub mod documented;
pub mod from_macro_rules;
pub mod generic;
pub mod keywords;
pub mod many_tools;
pub mod shadowed;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs};

/// A unit of length.
#[treenail::mcp_type]
#[derive(Clone, Copy, Debug, Default)]
pub enum Unit {
    /// SI unit.
    #[default]
    Metre,
    /// Imperial unit.
    Foot,
}

/// Module without a prelude.
pub mod bare {
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
    ) -> Result<impl ::treenail::Stream<Item = Result<u8, ::std::fmt::Error>>, ::std::fmt::Error>
    {
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
            /// How long
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
}

/// Facade under another name.
pub mod renamed {
    pub use treenail as nail;

    /// A type.
    #[nail::mcp_type(crate = nail)]
    #[derive(Debug, Default)]
    pub struct Text(String);

    /// A tool.
    #[nail::mcp_tool(crate = nail)]
    pub fn text(text: Text, #[arg(default = "!", length = 1..)] end: String) -> Text {
        Text(text.0 + &end)
    }

    /// A form.
    #[nail::mcp_form(crate = nail)]
    #[derive(Debug)]
    pub struct Form {
        /// A number
        #[field(range = 1.., default = 2)]
        pub number: u8,
        /// An address
        #[field(format = "email", length = ..9, default = "a@b")]
        pub text: String,
        /// A choice
        pub choice: Choice,
    }

    /// A choice.
    #[nail::mcp_form(crate = nail)]
    #[derive(Debug)]
    pub enum Choice {
        /// The only one.
        Only,
    }

    /// A stream.
    #[nail::mcp_tool(crate = nail, fold = "collect")]
    pub fn stream(text: Text) -> impl nail::Stream<Item = Text> {
        tokio_stream::once(text)
    }

    /// A contract.
    #[nail::mcp_client(crate = nail)]
    pub trait Contract {
        /// A text.
        async fn text(&self, text: Text) -> Result<Text, nail::ToolError>;

        /// Texts.
        fn texts(&self) -> impl nail::Stream<Item = Result<Text, nail::ToolError>>;
    }

    #[nail::mcp_tool(crate = nail)]
    impl Contract for Text {
        async fn text(&self, text: Text) -> Result<Text, nail::ToolError> {
            Ok(text)
        }

        fn texts(&self) -> impl nail::Stream<Item = Result<Text, nail::ToolError>> {
            tokio_stream::empty()
        }
    }

    /// Has a prompt and a resource.
    #[derive(Debug)]
    pub struct State;

    #[nail::mcp_tool(crate = nail)]
    impl State {
        #[prompt]
        fn prompt(#[arg(complete = Self::values)] text: Text) -> String {
            text.0
        }

        #[resource("renamed://{text}")]
        fn resource(#[arg(length = 1..)] text: String) -> Text {
            Text(text)
        }

        fn values(&self, typed: &str) -> Vec<String> {
            vec![format!("{self:?}{typed}")]
        }
    }

    /// All functions.
    pub fn all() -> nail::tool::ToolSet {
        nail::tools![crate = nail; text]
    }
}

#[test]
fn generated_code_compiles_and_runs() {
    let server = treenail::server!()
        .mount(bare::State)
        .mount(bare::Whole)
        .namespace("more", |more| more.mount(renamed::Text::default()))
        .mount(renamed::State)
        .mount(shadowed::State)
        .mount(from_macro_rules::Made)
        .mount(keywords::r#mod::r#struct)
        .mount(generic::Borrowing { value: "a" })
        .mount(generic::Unnamed("a"))
        .mount(generic::Stored(Mutex::new([1, 2])))
        .mount(many_tools::ManyTools)
        .tools(from_macro_rules::all())
        .tools(keywords::all())
        .tools(shadowed::all())
        .tools(documented::all())
        .tools(bare::all())
        .tools(renamed::all())
        .tools(calls::all())
        .build();
    assert!(server.is_ok(), "{:?}", server.err());
    assert_eq!(
        <bare::Stay as treenail::form::Form>::schema()
            .properties
            .len(),
        5
    );
    let choice = [("choice".to_owned(), "Only".into())];
    let form = <renamed::Form as treenail::form::Form>::read(choice.into());
    assert!(form.is_ok(), "{:?}", form.err());
}

#[test]
fn one_dependency_suffices() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let user = root.join("tests/one-dependency");
    // The same versions as in the workspace, so that nothing is downloaded.
    fs::copy(root.join("Cargo.lock"), user.join("Cargo.lock")).unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-dependency"))
        .current_dir(user)
        .status()
        .unwrap();
    assert!(status.success(), "tests/one-dependency does not build");
}
