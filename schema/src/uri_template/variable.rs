//! Variable of an expression, and the expansion of its value.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde_json::Value;

use super::{Operator, Uri, push_value};

pub(super) struct Variable<'a> {
    pub(super) name: &'a str,
    explodes: bool,
    max_chars: Option<usize>,
}

impl<'a> Variable<'a> {
    pub(super) fn parse(variable: &'a str) -> Option<Self> {
        let (name, explodes) = match variable.strip_suffix('*') {
            Some(name) => (name, true),
            None => (variable, false),
        };
        let (name, max_chars) = match name.split_once(':') {
            Some((name, max_chars)) => (
                name,
                Some(
                    max_chars
                        .parse()
                        .ok()
                        .filter(|max_chars| *max_chars < 10_000)?,
                ),
            ),
            None => (name, None),
        };
        let allowed = |character: char| {
            character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '%')
        };
        (!name.is_empty() && name.chars().all(allowed)).then_some(Self {
            name,
            explodes,
            max_chars,
        })
    }

    pub(super) fn push(&self, uri: &mut Uri, operator: &Operator, value: &Value) -> fmt::Result {
        match value {
            Value::Array(items) => {
                let items = items.iter().filter(|item| !item.is_null());
                let items = items.map(|item| (None, value_text(item)));
                self.push_all(uri, operator, items)
            }
            Value::Object(members) => {
                let members = members.iter().filter(|(_, member)| !member.is_null());
                let members = members.map(|(key, member)| (Some(key.as_str()), value_text(member)));
                self.push_all(uri, operator, members)
            }
            value => {
                let text = value_text(value);
                let end = self
                    .max_chars
                    .and_then(|max_chars| text.char_indices().nth(max_chars));
                let text = &text[..end.map_or(text.len(), |(end, _)| end)];
                self.push_name(uri, operator, text.is_empty())?;
                push_value(uri, text, operator.reserved)
            }
        }
    }

    /// Pushes the items of a list or the members of an object.
    fn push_all<'k>(
        &self,
        uri: &mut Uri,
        operator: &Operator,
        items: impl Iterator<Item = (Option<&'k str>, Cow<'k, str>)>,
    ) -> fmt::Result {
        if !self.explodes {
            self.push_name(uri, operator, false)?;
        }
        let (separator, equals) = if self.explodes {
            (operator.separator, '=')
        } else {
            (',', ',')
        };
        for (number, (key, text)) in items.enumerate() {
            if number > 0 {
                uri.write_char(separator)?;
            }
            match key {
                Some(key) => {
                    push_value(uri, key, operator.reserved)?;
                    uri.write_char(equals)?;
                }
                None if self.explodes => self.push_name(uri, operator, text.is_empty())?,
                None => {}
            }
            push_value(uri, &text, operator.reserved)?;
        }
        Ok(())
    }

    fn push_name(&self, uri: &mut Uri, operator: &Operator, is_empty: bool) -> fmt::Result {
        if operator.named {
            uri.write_str(self.name)?;
            uri.write_str(if is_empty { operator.if_empty } else { "=" })?;
        }
        Ok(())
    }
}

/// Returns the text of a value. A string is not copied, because a template can take its start thousands of times.
fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
