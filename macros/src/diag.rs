//! Error sink of the macros.

use std::fmt::Display;
use std::thread;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Attribute;

/// Collects all errors of one macro call, so that the user sees them at once.
///
/// It must be finished. Dropping it before that panics, because its errors would be lost.
pub(crate) struct Sink {
    errors: Vec<syn::Error>,
    /// Set if rustc reports the mistake itself, so that no code is generated and no error added.
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

    /// Reports an error, the problem first and then the fix, at the smallest piece of syntax to change.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(at, message));
    }

    /// Records that rustc reports an error in the item itself.
    pub(crate) fn leave_to_rustc(&mut self) {
        self.left_to_rustc = true;
    }

    /// Reports and removes repetitions of one of our own attributes.
    pub(crate) fn reject_duplicates(&mut self, name: &str, attributes: &mut Vec<Attribute>) {
        let is_same = |attribute: &Attribute| {
            let last = attribute.path().segments.last();
            last.is_some_and(|last| last.ident == name)
        };
        for again in attributes.iter().filter(|attribute| is_same(attribute)) {
            let message = format!("duplicate `#[{name}]`; remove one");
            self.error(again.path(), message);
        }
        attributes.retain(|attribute| !is_same(attribute));
    }

    /// Returns the value of a successful parse, or reports the error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    /// Returns `true` if no error has been reported yet.
    pub(crate) fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the number of mistakes so far, those that are left to rustc as one.
    pub(crate) fn count(&self) -> usize {
        self.errors.len() + usize::from(self.left_to_rustc)
    }

    /// Returns the expansion: the user's item, followed by the generated code.
    ///
    /// After an error, the errors and a `stub` replace the generated code. The stub prevents follow-up errors where the item
    /// is used.
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
