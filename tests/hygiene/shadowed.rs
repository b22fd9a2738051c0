//! Shadowed names of the standard library.

#![allow(dead_code, unused_macros, reason = "the items only shadow others")]

struct Result;
struct Option;
struct Vec;
struct String;
struct Box;
trait Clone {}
trait Default {}
trait Drop {}
trait From {}
trait Future {}
trait Into {}
trait Iterator {}
trait Send {}
trait Sync {}
trait ToOwned {}
mod alloc {}
mod core {}
mod std {}
mod treenail {}
mod char {}
mod str {}
mod usize {}

/// Functions of all types, which the functions of generated code take precedence over.
trait Everything: Sized {
    fn kind() {}
    fn item_kind(&self) {}
    fn argument() {}
    fn output() {}
}
impl<T> Everything for T {}

macro_rules! concat {
    () => {};
}
macro_rules! vec {
    () => {};
}

/// An output.
#[::treenail::mcp_type]
#[derive(Debug)]
pub struct Place {
    id: u64,
    #[serde(default)]
    name: ::std::option::Option<::std::string::String>,
}

/// Finds a place.
#[::treenail::mcp_tool(meta = ::treenail::schema::MetaObject::default())]
pub async fn find(
    #[arg(default = 1, range = 1..=7)] id: u64,
    #[arg(default)] name: ::std::string::String,
) -> ::std::result::Result<Place, ::std::fmt::Error> {
    ::std::future::ready(()).await;
    let name = ::std::option::Option::Some(name);
    ::std::result::Result::Ok(Place { id, name })
}

/// State with all kinds of items.
#[derive(Debug)]
pub struct State;

#[::treenail::mcp_tool(namespace = "shadowed")]
impl State {
    #[tool]
    const fn name(&self) -> &str {
        "a"
    }

    #[tool(fold = "last")]
    fn stream(&self) -> impl ::treenail::Stream<Item = u64> {
        ::tokio_stream::once(u64::from(self.name() == "a"))
    }

    #[prompt]
    fn prompt(#[arg(complete = Self::names)] name: ::std::string::String) -> ::std::string::String {
        name
    }

    #[resource("shadowed://{name}")]
    fn resource(name: ::std::string::String) -> ::std::string::String {
        name
    }

    fn names(&self, _: &str) -> [&str; 1] {
        [self.name()]
    }
}

/// A form.
#[::treenail::mcp_form]
#[derive(Debug)]
pub struct Form {
    #[field(default)]
    name: ::std::option::Option<::std::string::String>,
    #[field(default = Unit::Metre)]
    unit: Unit,
}

/// A choice.
#[::treenail::mcp_form]
#[derive(Debug)]
pub enum Unit {
    /// The only one.
    Metre,
}

/// All functions.
pub fn all() -> ::treenail::tool::ToolSet {
    ::treenail::tools![find]
}
