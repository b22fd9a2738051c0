//! The macros of Treenail, which turn annotated Rust functions into tools of the Model Context
//! Protocol. Use them through the `treenail` crate, which re-exports and documents them.
//!
//! Each macro is a pipeline: `parse` (tokens to syntax), `model` (what the macro needs of it),
//! `check` (one function a rule) and `expand` (model to tokens). This crate knows neither the
//! protocol nor the runtime; it only writes paths that begin with `::treenail`.

mod client;
mod form;
mod tool;

mod mcp_type;
mod tools;

mod args;
mod diag;
mod docs;
mod krate;
mod mark;
mod signature;

use proc_macro::TokenStream;

/// Makes a function, or the marked methods of an `impl` block, callable as tools.
#[proc_macro_attribute]
pub fn mcp_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::mcp_tool(args.into(), &item.into()).into()
}

/// Makes a trait the contract of a server half and a client half.
#[proc_macro_attribute]
pub fn mcp_client(args: TokenStream, item: TokenStream) -> TokenStream {
    client::mcp_client(args.into(), &item.into()).into()
}

/// Derives what a struct or enum needs in order to be a tool's argument or output.
#[proc_macro_attribute]
pub fn mcp_type(args: TokenStream, item: TokenStream) -> TokenStream {
    mcp_type::mcp_type(args.into(), &item.into()).into()
}

/// Makes a struct a form that a user can be asked to fill in, or an enum a choice in one.
#[proc_macro_attribute]
pub fn mcp_form(args: TokenStream, item: TokenStream) -> TokenStream {
    form::mcp_form(args.into(), &item.into()).into()
}

/// Lists functions that are tools: `tools![add, text::search]`.
#[proc_macro]
pub fn tools(paths: TokenStream) -> TokenStream {
    tools::tools(paths.into()).into()
}

/// Marks a method as a tool, in an `impl` block that has `#[mcp_tool]`.
#[proc_macro_attribute]
pub fn tool(_: TokenStream, item: TokenStream) -> TokenStream {
    mark::unread("tool", &item.into()).into()
}

/// Marks a method as a prompt, in an `impl` block that has `#[mcp_tool]`.
#[proc_macro_attribute]
pub fn prompt(_: TokenStream, item: TokenStream) -> TokenStream {
    mark::unread("prompt", &item.into()).into()
}

/// Marks a method as a resource, in an `impl` block that has `#[mcp_tool]`.
#[proc_macro_attribute]
pub fn resource(_: TokenStream, item: TokenStream) -> TokenStream {
    mark::unread("resource", &item.into()).into()
}
