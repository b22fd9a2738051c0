//! Syntax of the entries of an attribute.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Token, parenthesized, token};

use crate::diag::Sink;

/// Keys that have their details in parentheses.
const LISTS: [&str; 1] = ["task"];

/// One `key`, `key = value` or `key(…)`. The key may be a keyword, like `crate`.
pub(super) struct Entry {
    pub(super) key: Ident,
    pub(super) value: Option<Expr>,
    pub(super) list: Option<TokenStream>,
}

impl Entry {
    /// Returns true if the key has parentheses and must not.
    pub(super) fn has_wrong_list(&self) -> bool {
        self.list.is_some() && !LISTS.iter().any(|list| self.key == list)
    }

    /// Returns the value that `pick` accepts. Reports the correct form, `write`, if the value is missing or rejected.
    pub(super) fn value<T>(
        self,
        sink: &mut Sink,
        write: &str,
        pick: impl FnOnce(Expr) -> Option<T>,
    ) -> Option<T> {
        let key = self.key;
        let Some(value) = self.value else {
            sink.error(&key, format!("key `{key}` has no value; write {write}"));
            return None;
        };
        let value = without_group(value);
        let tokens = value.to_token_stream();
        let picked = pick(value);
        if picked.is_none() {
            sink.error(
                tokens,
                format!("wrong value for key `{key}`; write {write}"),
            );
        }
        picked
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("a value needs its key; write `key = value`"));
        }
        let key = input.call(Ident::parse_any)?;
        let list = if input.peek(token::Paren) {
            let content;
            parenthesized!(content in input);
            Some(content.parse()?)
        } else {
            None
        };
        if input.peek(Token![:]) {
            return Err(input.error(value_after_equals(&key)));
        }
        let equals: Option<Token![=]> = input.parse()?;
        let value = match equals {
            Some(equals) if input.is_empty() || input.peek(Token![,]) => {
                let write = format!("key `{key}` has no value; write `{key} = …`");
                return Err(syn::Error::new(equals.span, write));
            }
            Some(_) => Some(input.parse()?),
            None => None,
        };
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error("keys are separated by commas; write `,`"));
        }
        Ok(Self { key, value, list })
    }
}

/// Error message for a value that is not after `=`.
pub(super) fn value_after_equals(key: &Ident) -> String {
    format!("a key has its value after `=`; write `{key} = …`")
}

/// `"text"` or `"text", …`
pub(super) struct TextFirst {
    pub(super) text: LitStr,
    pub(super) rest: TokenStream,
}

impl Parse for TextFirst {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Self {
            text,
            rest: input.parse()?,
        })
    }
}

pub(super) fn entries(tokens: TokenStream, sink: &mut Sink) -> Vec<Entry> {
    let parsed = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(tokens);
    sink.ok(parsed).into_iter().flatten().collect()
}

/// Strips the invisible groups around a `macro_rules` fragment, such as `$name:expr`.
pub(crate) fn without_group(mut expr: Expr) -> Expr {
    while let Expr::Group(group) = expr {
        expr = *group.expr;
    }
    expr
}
