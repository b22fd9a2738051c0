//! The macros of Treenail, which turn annotated Rust functions into tools of the Model Context
//! Protocol. Use them through the `treenail` crate, which re-exports and documents them.
//!
//! Each macro is a pipeline: `parse` (tokens to syntax), `model` (the facts the macro needs),
//! `check` (one function per rule) and `expand` (model to tokens). This crate depends on neither the
//! protocol nor the runtime; it only writes paths that start with `::treenail`.

mod client;
mod form;
mod tool;

mod mcp_type;
mod tools;

mod args;
mod cfg_attr;
mod diag;
mod docs;
mod krate;
mod lints;
mod mark;
mod signature;

use proc_macro::TokenStream;

/// Turns a function, or the marked methods of an `impl` block, into tools.
#[proc_macro_attribute]
pub fn mcp_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::mcp_tool(args.into(), &item.into()).into()
}

/// Turns a trait into a contract: a server half to implement and a generated client half.
#[proc_macro_attribute]
pub fn mcp_client(args: TokenStream, item: TokenStream) -> TokenStream {
    client::mcp_client(args.into(), &item.into()).into()
}

/// Derives the traits that arguments and outputs of tools need.
#[proc_macro_attribute]
pub fn mcp_type(args: TokenStream, item: TokenStream) -> TokenStream {
    mcp_type::mcp_type(args.into(), &item.into()).into()
}

/// Turns a struct into an elicitation form, or an enum into a choice within a form.
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
    mark::misplaced("tool", &item.into()).into()
}

/// Marks a method as a prompt, in an `impl` block that has `#[mcp_tool]`.
#[proc_macro_attribute]
pub fn prompt(_: TokenStream, item: TokenStream) -> TokenStream {
    mark::misplaced("prompt", &item.into()).into()
}

/// Marks a method as a resource, in an `impl` block that has `#[mcp_tool]`.
#[proc_macro_attribute]
pub fn resource(_: TokenStream, item: TokenStream) -> TokenStream {
    mark::misplaced("resource", &item.into()).into()
}

/// Removes an item after its derives have been expanded, see `mcp_type`.
#[proc_macro_attribute]
#[doc(hidden)]
pub fn __discard(_: TokenStream, _: TokenStream) -> TokenStream {
    TokenStream::new()
}
