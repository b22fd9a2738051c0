//! Text of the module, printed item by item, because printing all of it at once would need many times the memory.

use proc_macro2::TokenStream;
use quote::quote;

use crate::client::budget::MAX_OUTPUT;

/// Error of rendering.
#[derive(Debug)]
pub(in crate::client) enum RenderError {
    /// The text is longer than [`MAX_OUTPUT`].
    TooLarge,
    /// An item is not valid Rust.
    InvalidRust(syn::Error),
}

/// Buffer of the text.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
}

impl Text {
    /// Adds items.
    pub(super) fn items(&mut self, items: TokenStream) -> Result<(), RenderError> {
        let text = print(items)?;
        self.push(&text)
    }

    /// Adds one item with a body, and leaves the body open.
    pub(super) fn open(&mut self, item: TokenStream) -> Result<(), RenderError> {
        let text = print(item)?;
        self.push(text.trim_end().trim_end_matches('}'))
    }

    /// Adds items to the open module.
    pub(super) fn in_module(&mut self, items: &TokenStream) -> Result<(), RenderError> {
        self.body(quote! { mod body { #items } })
    }

    /// Adds a method to the open `impl`.
    pub(super) fn in_impl(&mut self, method: &TokenStream) -> Result<(), RenderError> {
        self.body(quote! { impl Body { #method } })
    }

    /// Closes the open body.
    pub(super) fn close(&mut self) -> Result<(), RenderError> {
        self.push("}\n")
    }

    fn body(&mut self, item: TokenStream) -> Result<(), RenderError> {
        let text = print(item)?;
        let Some((_, body)) = text.split_once('\n') else {
            return Ok(());
        };
        self.push(body.trim_end().trim_end_matches('}'))
    }

    fn push(&mut self, text: &str) -> Result<(), RenderError> {
        if self.text.len() + text.len() > MAX_OUTPUT {
            return Err(RenderError::TooLarge);
        }
        self.text.push_str(text);
        Ok(())
    }

    /// The text, with an empty line after each item and method that ends in a brace, which prettyplease omits.
    pub(super) fn spaced(&self) -> String {
        let mut spaced = String::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            spaced.push_str(line);
            spaced.push('\n');
            let ends = matches!(line, "}" | "    }" | "        }");
            let next = lines.peek().map(|next| next.trim_start());
            let is_followed = next.is_some_and(|next| {
                next.starts_with("///")
                    || next.starts_with("#[")
                    || next.starts_with("impl")
                    || next.starts_with("pub ")
            });
            if ends && is_followed {
                spaced.push('\n');
            }
        }
        spaced
    }
}

fn print(items: TokenStream) -> Result<String, RenderError> {
    let file: syn::File = syn::parse2(items).map_err(RenderError::InvalidRust)?;
    Ok(prettyplease::unparse(&file))
}
