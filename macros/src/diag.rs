//! Where the macros report mistakes.

use std::fmt::Display;
use std::thread;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Attribute;

/// Gathers all mistakes of one macro call, so that the user sees them at once.
///
/// It has to be finished: a sink that is dropped unread would hide what it holds.
pub(crate) struct Sink {
    errors: Vec<syn::Error>,
    /// Whether rustc reports a mistake, so that we say nothing.
    left_to_rustc: bool,
    finished: bool,
}

impl Sink {
    pub(crate) fn new() -> Self {
        Self {
            errors: Vec::new(),
            left_to_rustc: false,
            finished: false,
        }
    }

    /// Reports a mistake at the smallest thing to change: what is wrong, then what to write.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(at, message));
    }

    /// Notes a mistake that rustc reports in the item itself.
    pub(crate) fn leave_to_rustc(&mut self) {
        self.left_to_rustc = true;
    }

    /// Reports that one of our attributes is on the item again, and takes it off.
    pub(crate) fn once(&mut self, name: &str, attributes: &mut Vec<Attribute>) {
        let is_same = |attribute: &Attribute| {
            let last = attribute.path().segments.last();
            last.is_some_and(|last| last.ident == name)
        };
        for again in attributes.iter().filter(|attribute| is_same(attribute)) {
            let message = format!("`#[{name}]` is there twice; remove one");
            self.error(again.path(), message);
        }
        attributes.retain(|attribute| !is_same(attribute));
    }

    /// Passes a parsed value on, or reports why there is none.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    /// Whether there was no mistake so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// The expansion: the user's item in any case, beside it what the macro generates.
    ///
    /// After a mistake that is the errors and a `stub` in place of the real thing, so that code
    /// which uses the item brings no errors of its own.
    pub(crate) fn finish(
        mut self,
        item: &impl ToTokens,
        generated: impl FnOnce() -> TokenStream,
        stub: impl FnOnce() -> TokenStream,
    ) -> TokenStream {
        self.finished = true;
        let ours = if self.errors.is_empty() && !self.left_to_rustc {
            generated()
        } else {
            let errors = self.errors.iter().map(syn::Error::to_compile_error);
            let stub = stub();
            quote!(#(#errors)* #stub)
        };
        quote!(#item #ours)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        assert!(
            self.finished || thread::panicking(),
            "a sink was dropped unread"
        );
    }
}

/// The messages of the `compile_error!`s in an expansion.
#[cfg(test)]
pub(crate) fn messages(expansion: TokenStream) -> Vec<String> {
    use proc_macro2::TokenTree;

    let mut last = None;
    let mut messages = Vec::new();
    for token in expansion {
        match (&last, &token) {
            (Some(TokenTree::Punct(bang)), TokenTree::Group(message)) if bang.as_char() == '!' => {
                let message = syn::parse2::<syn::LitStr>(message.stream());
                messages.extend(message.map(|message| message.value()));
            }
            _ => {}
        }
        last = Some(token);
    }
    messages
}
