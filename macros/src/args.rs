//! The `key` and `key = value` entries of an attribute.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, ExprRange, Lit, LitStr, Meta, Path, Token, parenthesized, token,
};

use crate::diag::Sink;

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
            if let Some(instead) = hint_for_foreign_key(key) {
                sink.error(key, instead);
            } else if !known.iter().any(|known| key == known) {
                sink.error(key, unknown("key", &key.to_string(), known));
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
        entry.value(
            sink,
            &format!("`{key} = path::to::it`"),
            |value| match value {
                Expr::Path(path) => Some(path.path),
                _ => None,
            },
        )
    }

    fn take(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.swap_remove(index))
    }
}

/// Keys that have their details in parentheses.
const LISTS: [&str; 1] = ["task"];

/// One `key`, `key = value` or `key(…)`. The key may be a keyword, like `crate`.
struct Entry {
    key: Ident,
    value: Option<Expr>,
    list: Option<TokenStream>,
}

impl Entry {
    /// Returns the value that `pick` accepts. Reports the correct form, `write`, if the value is missing or rejected.
    fn value<T>(
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
        let is_list = LISTS.iter().any(|list| key == list);
        let list = if is_list && input.peek(token::Paren) {
            let content;
            parenthesized!(content in input);
            Some(content.parse()?)
        } else {
            None
        };
        if input.peek(token::Paren) || input.peek(Token![:]) {
            let write = format!("a key has its value after `=`; write `{key} = …`");
            return Err(input.error(write));
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

/// `"text"` or `"text", …`
struct TextFirst {
    text: LitStr,
    rest: TokenStream,
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

/// Hint for a key that exists in other frameworks but not here.
fn hint_for_foreign_key(key: &Ident) -> Option<&'static str> {
    [
        (
            "description",
            "the documentation comment is the description; write `/// …` instead",
        ),
        (
            "input_schema",
            "the schema is generated from the parameters; remove this, and add keywords with `schema = …`",
        ),
        (
            "output_schema",
            "the schema is generated from the return type; remove this",
        ),
    ]
    .into_iter()
    .find_map(|(theirs, instead)| (key == theirs).then_some(instead))
}

fn entries(tokens: TokenStream, sink: &mut Sink) -> Vec<Entry> {
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

/// Error message for an unknown `noun`, with the nearest or all of the `known` ones.
pub(crate) fn unknown(noun: &str, key: &str, known: &[&str]) -> String {
    if let Some(nearest) = nearest(key, known) {
        return format!("unknown {noun} `{key}`; did you mean `{nearest}`?");
    }
    let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("unknown {noun} `{key}`; write one of {}", known.join(", "))
}

/// Returns the known key with the smallest edit distance, if that is at most half of its length.
///
/// Among equally near keys, the one closest in length wins: letters are more often swapped than inserted or removed.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| {
            (
                edit_distance(key, known),
                key.len().abs_diff(known.len()),
                *known,
            )
        })
        .filter(|(edits, _, known)| edits * 2 <= known.len())
        .min()
        .map(|(_, _, known)| known)
}

/// Levenshtein distance: the number of letters to insert, remove or replace to turn `from` into `to`.
fn edit_distance(from: &str, to: &str) -> usize {
    // Before each letter of `from`, `row[n]` is the distance of the preceding letters to `to[..n]`.
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggestion_is_the_nearest_key_or_none() {
        let known = [
            "name",
            "title",
            "read_only",
            "crate",
            "range",
            "max_concurrency",
            "subscribable",
        ];
        for (key, expected) in [
            ("titel", Some("title")),
            ("readonly", Some("read_only")),
            ("nam", Some("name")),
            ("rnage", Some("range")),
            ("readOnly", Some("read_only")),
            ("concurrency", Some("max_concurrency")),
            ("subscribe", Some("subscribable")),
            ("namespace", None),
            ("x", None),
        ] {
            assert_eq!(nearest(key, &known), expected, "{key}");
        }
    }
}
