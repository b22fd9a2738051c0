//! The path under which generated code reaches Treenail.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;

/// `::treenail`, or what the user gave as `crate = path` when the dependency is renamed or
/// re-exported.
pub(crate) struct Krate(Option<Path>);

impl Krate {
    pub(crate) fn new(given: Option<Path>) -> Self {
        Self(given)
    }

    /// The path as if it stood at `span`, where errors about what it leads to belong.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        match &self.0 {
            None => quote_spanned!(span=> ::treenail),
            Some(path) => path.to_token_stream(),
        }
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.at(Span::call_site()));
    }
}
