//! Path of the facade crate in generated code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;

/// `::treenail`, or the path in `crate = path` if the dependency is renamed or re-exported.
pub(crate) struct Krate(Option<Path>);

impl Krate {
    pub(crate) fn new(given: Option<Path>) -> Self {
        Self(given)
    }

    /// The path with `span`, at which errors about the item behind it are reported.
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
