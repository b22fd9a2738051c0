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

    /// Returns `true` if `path` is the mark `name`, alone or within the crate or its prelude.
    pub(crate) fn is_mark(&self, path: &Path, name: &str) -> bool {
        let idents = |path: &Path| -> Vec<String> {
            let segments = path.segments.iter();
            segments.map(|segment| segment.ident.to_string()).collect()
        };
        let mut path = idents(path);
        if path.pop().is_none_or(|last| last != name) {
            return false;
        }
        if path.last().is_some_and(|last| last == "prelude") {
            path.pop();
        }
        path.is_empty()
            || path == ["treenail"]
            || self.0.as_ref().is_some_and(|it| idents(it) == path)
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
