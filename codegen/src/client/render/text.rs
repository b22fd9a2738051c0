//! The text of the module, item by item: all of it at once would take many times the memory.

use proc_macro2::TokenStream;
use quote::quote;

use crate::client::budget::OUTPUT;

/// Why there is no text.
#[derive(Debug)]
pub(in crate::client) enum Failed {
    /// It is longer than [`OUTPUT`].
    TooLong,
    /// Something is no Rust.
    Rust(syn::Error),
}

/// Text that grows.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
}

impl Text {
    /// Adds items.
    pub(super) fn items(&mut self, items: TokenStream) -> Result<(), Failed> {
        let text = print(items)?;
        self.push(&text)
    }

    /// Adds one item with a body, and leaves the body open.
    pub(super) fn open(&mut self, item: TokenStream) -> Result<(), Failed> {
        let text = print(item)?;
        self.push(text.trim_end().trim_end_matches('}'))
    }

    /// Adds items of a module that is open.
    pub(super) fn in_module(&mut self, items: &TokenStream) -> Result<(), Failed> {
        self.body(quote! { mod body { #items } })
    }

    /// Adds a method to an `impl` that is open.
    pub(super) fn in_impl(&mut self, method: &TokenStream) -> Result<(), Failed> {
        self.body(quote! { impl Body { #method } })
    }

    /// Ends what is open.
    pub(super) fn close(&mut self) -> Result<(), Failed> {
        self.push("}\n")
    }

    fn body(&mut self, item: TokenStream) -> Result<(), Failed> {
        let text = print(item)?;
        let Some((_, body)) = text.split_once('\n') else {
            return Ok(());
        };
        self.push(body.trim_end().trim_end_matches('}'))
    }

    fn push(&mut self, text: &str) -> Result<(), Failed> {
        if self.text.len() + text.len() > OUTPUT {
            return Err(Failed::TooLong);
        }
        self.text.push_str(text);
        Ok(())
    }

    /// The text, with an empty line after each item and method that ends in a brace; prettyplease leaves none.
    pub(super) fn spaced(&self) -> String {
        let mut spaced = String::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            spaced.push_str(line);
            spaced.push('\n');
            let ends = matches!(line, "}" | "    }" | "        }");
            let next = lines.peek().map(|next| next.trim_start());
            let goes_on = next.is_some_and(|next| {
                next.starts_with("///")
                    || next.starts_with("#[")
                    || next.starts_with("impl")
                    || next.starts_with("pub ")
            });
            if ends && goes_on {
                spaced.push('\n');
            }
        }
        spaced
    }
}

fn print(items: TokenStream) -> Result<String, Failed> {
    let file: syn::File = syn::parse2(items).map_err(Failed::Rust)?;
    Ok(prettyplease::unparse(&file))
}
