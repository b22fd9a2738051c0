//! The `key` and `key = value` entries of an attribute.

mod entry;
mod suggestion;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, Parser};
use syn::{Attribute, Expr, ExprLit, ExprPath, ExprRange, Lit, LitStr, Meta, Path};

use crate::diag::Sink;

pub(crate) use self::entry::without_group;
use self::entry::{Entry, TextFirst, entries, value_after_equals};
pub(crate) use self::suggestion::unknown;
use self::suggestion::unknown_key;

/// Keys of one attribute that have not been taken yet.
pub(crate) struct Keys {
    entries: Vec<Entry>,
}

/// A value with the key it was written for, whose span errors point to.
pub(crate) struct Attr<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

impl Keys {
    /// Reads the contents of an attribute. Reports unknown and duplicate keys.
    pub(crate) fn parse(tokens: TokenStream, known: &[&str], sink: &mut Sink) -> Self {
        Self::checked(entries(tokens, sink), known, sink)
    }

    /// Reads several attributes, `#[tool]` or `#[tool(…)]`, as one set of keys.
    pub(crate) fn of(attributes: &[Attribute], known: &[&str], sink: &mut Sink) -> Self {
        let mut all = Vec::new();
        for attribute in attributes {
            match &attribute.meta {
                Meta::Path(_) => {}
                Meta::List(list) => all.extend(entries(list.tokens.clone(), sink)),
                Meta::NameValue(pair) => sink.error(
                    pair.eq_token,
                    "expected keys in parentheses; write `(key = value)`",
                ),
            }
        }
        Self::checked(all, known, sink)
    }

    /// Reads an attribute whose first entry is a string literal: `#[resource("…", key = value)]`.
    pub(crate) fn after_text(
        attribute: &Attribute,
        known: &[&str],
        sink: &mut Sink,
    ) -> (Option<LitStr>, Self) {
        let tokens = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        let parsed = TextFirst::parse.parse2(tokens);
        let Ok(TextFirst { text, rest }) = parsed else {
            let name = attribute.path().to_token_stream();
            let write = format!("a {name} needs its URI; write `#[{name}(\"app://…\")]`");
            sink.error(attribute.path(), write);
            return (
                None,
                Self {
                    entries: Vec::new(),
                },
            );
        };
        (Some(text), Self::checked(entries(rest, sink), known, sink))
    }

    fn checked(all: Vec<Entry>, known: &[&str], sink: &mut Sink) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in all {
            let key = &entry.key;
            if !known.iter().any(|known| key == known) {
                sink.error(key, unknown_key(&entry, known));
            } else if entry.has_wrong_list() {
                sink.error(key, value_after_equals(key));
            } else if entries.iter().any(|earlier| earlier.key == *key) {
                sink.error(key, format!("duplicate key `{key}`; remove one"));
            } else {
                entries.push(entry);
            }
        }
        Self { entries }
    }

    /// `key = "text"`
    pub(crate) fn string(&mut self, key: &str, sink: &mut Sink) -> Option<LitStr> {
        let entry = self.take(key)?;
        entry.value(sink, &format!("`{key} = \"…\"`"), |value| match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text),
            _ => None,
        })
    }

    /// `key = "text"`, with the key
    pub(crate) fn string_attr(&mut self, key: &str, sink: &mut Sink) -> Option<Attr<LitStr>> {
        let given = self.entries.iter().find(|entry| entry.key == key);
        let key = given?.key.clone();
        let value = self.string(&key.to_string(), sink)?;
        Some(Attr { key, value })
    }

    /// `key`, `key = true` or `key = false`
    pub(crate) fn flag(&mut self, key: &str, sink: &mut Sink) -> Option<Attr<bool>> {
        let entry = self.take(key)?;
        let ident = entry.key.clone();
        let value = if entry.value.is_none() {
            true
        } else {
            let write = format!("`{key}` or `{key} = false`");
            entry.value(sink, &write, |value| match value {
                Expr::Lit(ExprLit {
                    lit: Lit::Bool(flag),
                    ..
                }) => Some(flag.value),
                _ => None,
            })?
        };
        Some(Attr { key: ident, value })
    }

    /// `key = expression`
    pub(crate) fn expr(&mut self, key: &str, sink: &mut Sink) -> Option<Expr> {
        let entry = self.take(key)?;
        entry.value(sink, &format!("`{key} = expression`"), Some)
    }

    /// `key = expression`, with the key
    pub(crate) fn expr_attr(&mut self, key: &str, sink: &mut Sink) -> Option<Attr<Expr>> {
        let ident = self.entries.iter().find(|entry| entry.key == key)?;
        let ident = ident.key.clone();
        let value = self.expr(key, sink)?;
        Some(Attr { key: ident, value })
    }

    /// `key` or `key = expression`
    pub(crate) fn optional_expr(&mut self, key: &str) -> Option<Attr<Option<Expr>>> {
        let Entry { key, value, .. } = self.take(key)?;
        let value = value.map(without_group);
        Some(Attr { key, value })
    }

    /// `key` or `key(…)`, with the tokens in the parentheses. `write` is the correct form.
    pub(crate) fn list(
        &mut self,
        key: &str,
        write: &str,
        sink: &mut Sink,
    ) -> Option<Attr<Option<TokenStream>>> {
        let Entry { key, value, list } = self.take(key)?;
        if let Some(value) = value {
            sink.error(value, format!("wrong value for key `{key}`; write {write}"));
            return None;
        }
        Some(Attr { key, value: list })
    }

    /// `key = 1..=7`, or any other range
    pub(crate) fn range(&mut self, key: &str, sink: &mut Sink) -> Option<Attr<ExprRange>> {
        let entry = self.take(key)?;
        let ident = entry.key.clone();
        let write = format!("a range, like `{key} = 1..=7`");
        let value = entry.value(sink, &write, |value| match value {
            Expr::Range(range) => Some(range),
            _ => None,
        })?;
        Some(Attr { key: ident, value })
    }

    /// `key = path::to::it`
    pub(crate) fn path(&mut self, key: &str, sink: &mut Sink) -> Option<Path> {
        let entry = self.take(key)?;
        let write = format!("`{key} = path::to::it`");
        entry.value(sink, &write, |value| match value {
            Expr::Path(path) if path.qself.is_none() => Some(path.path),
            _ => None,
        })
    }

    /// `key = path::to::it` or `key = <Type>::it`
    pub(crate) fn function(&mut self, key: &str, sink: &mut Sink) -> Option<ExprPath> {
        let entry = self.take(key)?;
        let write = format!("`{key} = path::to::it`");
        entry.value(sink, &write, |value| match value {
            Expr::Path(path) => Some(path),
            _ => None,
        })
    }

    fn take(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.swap_remove(index))
    }
}
