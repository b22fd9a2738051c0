//! The `key` and `key = value` entries of an attribute.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, ExprRange, Lit, LitStr, Meta, Path, Token, token};

use crate::diag::Sink;

/// The keys of one attribute that were given and not yet taken.
pub(crate) struct Keys {
    entries: Vec<Entry>,
}

/// A value, and the key that it was given for.
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

impl Keys {
    /// Reads the inside of an attribute, and reports keys that are not `known` or given twice.
    pub(crate) fn parse(tokens: TokenStream, known: &[&str], sink: &mut Sink) -> Self {
        Self::legal(entries(tokens, sink), known, sink)
    }

    /// Reads whole attributes, `#[tool]` or `#[tool(…)]`, as if they were one.
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
        Self::legal(all, known, sink)
    }

    /// Reads an attribute whose first entry is a text: `#[resource("…", key = value)]`.
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
        (Some(text), Self::legal(entries(rest, sink), known, sink))
    }

    fn legal(all: Vec<Entry>, known: &[&str], sink: &mut Sink) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in all {
            let key = &entry.key;
            if let Some(instead) = of_elsewhere(key) {
                sink.error(key, instead);
            } else if !known.iter().any(|known| key == known) {
                sink.error(key, unknown("key", &key.to_string(), known));
            } else if entries.iter().any(|earlier| earlier.key == *key) {
                sink.error(key, format!("key `{key}` is given twice; remove one"));
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

    /// As [`Keys::string`], with the key.
    pub(crate) fn given_string(&mut self, key: &str, sink: &mut Sink) -> Option<Given<LitStr>> {
        let given = self.entries.iter().find(|entry| entry.key == key);
        let key = given?.key.clone();
        let value = self.string(&key.to_string(), sink)?;
        Some(Given { key, value })
    }

    /// `key`, `key = true` or `key = false`
    pub(crate) fn flag(&mut self, key: &str, sink: &mut Sink) -> Option<Given<bool>> {
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
        Some(Given { key: ident, value })
    }

    /// `key = expression`
    pub(crate) fn expr(&mut self, key: &str, sink: &mut Sink) -> Option<Expr> {
        let entry = self.take(key)?;
        entry.value(sink, &format!("`{key} = expression`"), Some)
    }

    /// `key = expression`, with the key
    pub(crate) fn given_expr(&mut self, key: &str, sink: &mut Sink) -> Option<Given<Expr>> {
        let ident = self.entries.iter().find(|entry| entry.key == key)?;
        let ident = ident.key.clone();
        let value = self.expr(key, sink)?;
        Some(Given { key: ident, value })
    }

    /// `key` or `key = expression`
    pub(crate) fn optional_expr(&mut self, key: &str) -> Option<Given<Option<Expr>>> {
        let Entry { key, value } = self.take(key)?;
        let value = value.map(without_group);
        Some(Given { key, value })
    }

    /// `key = 1..=7`, or any other range
    pub(crate) fn range(&mut self, key: &str, sink: &mut Sink) -> Option<Given<ExprRange>> {
        let entry = self.take(key)?;
        let ident = entry.key.clone();
        let write = format!("a range, like `{key} = 1..=7`");
        let value = entry.value(sink, &write, |value| match value {
            Expr::Range(range) => Some(range),
            _ => None,
        })?;
        Some(Given { key: ident, value })
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

/// One `key` or `key = value`. The key may be a keyword, like `crate`.
struct Entry {
    key: Ident,
    value: Option<Expr>,
}

impl Entry {
    /// The value if it is there and `pick` accepts it; otherwise reports what to `write`.
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
            return Err(input.error("keys are listed with commas between them; write `,`"));
        }
        Ok(Self { key, value })
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

/// What to write for a key that other frameworks have.
fn of_elsewhere(key: &Ident) -> Option<&'static str> {
    [
        (
            "description",
            "the documentation comment is the description; write `/// …` instead",
        ),
        (
            "input_schema",
            "the schema is that of the parameters; remove this, and add keywords with `schema = …`",
        ),
        (
            "output_schema",
            "the schema is that of the type that is returned; remove this",
        ),
    ]
    .into_iter()
    .find_map(|(theirs, instead)| (key == theirs).then_some(instead))
}

fn entries(tokens: TokenStream, sink: &mut Sink) -> Vec<Entry> {
    let parsed = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(tokens);
    sink.ok(parsed).into_iter().flatten().collect()
}

/// What a `macro_rules` fragment like `$name:expr` stands for, without its invisible group.
pub(crate) fn without_group(mut expr: Expr) -> Expr {
    while let Expr::Group(group) = expr {
        expr = *group.expr;
    }
    expr
}

/// What to say of a `noun` that is none of the `known` ones.
pub(crate) fn unknown(noun: &str, key: &str, known: &[&str]) -> String {
    if let Some(nearest) = nearest(key, known) {
        return format!("unknown {noun} `{key}`; did you mean `{nearest}`?");
    }
    let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("unknown {noun} `{key}`; write one of {}", known.join(", "))
}

/// The known key that the fewest edits lead to, unless these would replace half of the word.
///
/// Of two as near, the one of the same length: letters are swapped more often than replaced.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| (edits(key, known), key.len().abs_diff(known.len()), *known))
        .filter(|(edits, _, known)| edits * 2 <= known.len())
        .min()
        .map(|(_, _, known)| known)
}

/// How many letters must be inserted, removed or replaced to turn `from` into `to` (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    // Before each letter of `from`, `row[n]` is the distance of what precedes it to `to[..n]`.
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
