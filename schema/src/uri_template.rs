//! Expansion of URI templates (RFC 6570).

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::text::quoted;

/// Expands a template. Variables without a value are omitted.
///
/// # Errors
///
/// A message if the template is malformed.
pub fn expand_uri_template(template: &str, values: &Map<String, Value>) -> Result<String, String> {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        push_literal(&mut uri, literal);
        let (expression, after) = after
            .split_once('}')
            .ok_or_else(|| malformed(template, "a `{` is not closed"))?;
        Expression::parse(expression)
            .ok_or_else(|| malformed(template, "an expression is malformed"))?
            .push(&mut uri, values)?;
        rest = after;
    }
    push_literal(&mut uri, rest);
    Ok(uri)
}

fn malformed(template: &str, reason: &str) -> String {
    let template = quoted(template);
    format!("{template} is not a valid URI template: {reason}")
}

/// Expression between two braces.
struct Expression<'a> {
    operator: &'static Operator,
    variables: &'a str,
}

/// Expansion rules of an operator (RFC 6570, appendix A).
struct Operator {
    sign: char,
    first: &'static str,
    separator: char,
    /// Each value has its name before it.
    named: bool,
    /// Text after a name whose value is empty.
    if_empty: &'static str,
    /// Reserved characters stay unencoded.
    reserved: bool,
}

impl Operator {
    const fn new(sign: char, first: &'static str, separator: char) -> Self {
        Self {
            sign,
            first,
            separator,
            named: false,
            if_empty: "",
            reserved: false,
        }
    }
}

const PLAIN: Operator = Operator::new(' ', "", ',');

const OPERATORS: [Operator; 7] = [
    Operator {
        reserved: true,
        ..Operator::new('+', "", ',')
    },
    Operator {
        reserved: true,
        ..Operator::new('#', "#", ',')
    },
    Operator::new('.', ".", '.'),
    Operator::new('/', "/", '/'),
    Operator {
        named: true,
        ..Operator::new(';', ";", ';')
    },
    Operator {
        named: true,
        if_empty: "=",
        ..Operator::new('?', "?", '&')
    },
    Operator {
        named: true,
        if_empty: "=",
        ..Operator::new('&', "&", '&')
    },
];

impl<'a> Expression<'a> {
    fn parse(expression: &'a str) -> Option<Self> {
        static PLAIN_OPERATOR: Operator = PLAIN;
        static WITH_SIGN: [Operator; 7] = OPERATORS;

        let operator = WITH_SIGN
            .iter()
            .find(|operator| expression.starts_with(operator.sign));
        let variables = match operator {
            Some(_) => &expression[1..],
            None => expression,
        };
        (!variables.is_empty()).then_some(Self {
            operator: operator.unwrap_or(&PLAIN_OPERATOR),
            variables,
        })
    }

    fn push(&self, uri: &mut String, values: &Map<String, Value>) -> Result<(), String> {
        let mut is_first = true;
        for variable in self.variables.split(',') {
            let variable = Variable::parse(variable)
                .ok_or_else(|| malformed(self.variables, "a variable is malformed"))?;
            let Some(value) = values.get(variable.name).filter(|value| is_defined(value)) else {
                continue;
            };
            if std::mem::take(&mut is_first) {
                uri.push_str(self.operator.first);
            } else {
                uri.push(self.operator.separator);
            }
            variable.push(uri, self.operator, value);
        }
        Ok(())
    }
}

/// Returns whether a value is defined. `null`, and lists and objects without defined elements, are not.
fn is_defined(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().any(|item| !item.is_null()),
        Value::Object(members) => members.values().any(|member| !member.is_null()),
        _ => true,
    }
}

struct Variable<'a> {
    name: &'a str,
    explodes: bool,
    max_chars: Option<usize>,
}

impl<'a> Variable<'a> {
    fn parse(variable: &'a str) -> Option<Self> {
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

    fn push(&self, uri: &mut String, operator: &Operator, value: &Value) {
        match value {
            Value::Array(items) => {
                let items = items.iter().filter(|item| !item.is_null());
                let items = items.map(|item| (None, value_text(item)));
                self.push_all(uri, operator, items);
            }
            Value::Object(members) => {
                let members = members.iter().filter(|(_, member)| !member.is_null());
                let members = members.map(|(key, member)| (Some(key.as_str()), value_text(member)));
                self.push_all(uri, operator, members);
            }
            value => {
                let text = value_text(value);
                let end = self
                    .max_chars
                    .and_then(|max_chars| text.char_indices().nth(max_chars));
                let text = &text[..end.map_or(text.len(), |(end, _)| end)];
                self.push_name(uri, operator, text.is_empty());
                push_value(uri, text, operator.reserved);
            }
        }
    }

    /// Pushes the items of a list or the members of an object.
    fn push_all<'k>(
        &self,
        uri: &mut String,
        operator: &Operator,
        items: impl Iterator<Item = (Option<&'k str>, String)>,
    ) {
        if !self.explodes {
            self.push_name(uri, operator, false);
        }
        let (separator, equals) = if self.explodes {
            (operator.separator, '=')
        } else {
            (',', ',')
        };
        for (number, (key, text)) in items.enumerate() {
            if number > 0 {
                uri.push(separator);
            }
            match key {
                Some(key) => {
                    push_value(uri, key, operator.reserved);
                    uri.push(equals);
                }
                None if self.explodes => self.push_name(uri, operator, text.is_empty()),
                None => {}
            }
            push_value(uri, &text, operator.reserved);
        }
    }

    fn push_name(&self, uri: &mut String, operator: &Operator, is_empty: bool) {
        if operator.named {
            uri.push_str(self.name);
            uri.push_str(if is_empty { operator.if_empty } else { "=" });
        }
    }
}

/// Returns the text of a value.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn push_value(uri: &mut String, text: &str, reserved: bool) {
    if reserved {
        push_literal(uri, text);
    } else {
        for byte in text.bytes() {
            push_byte(uri, byte, is_unreserved(byte));
        }
    }
}

/// Pushes a text without encoding its reserved characters and the bytes that are already encoded.
fn push_literal(uri: &mut String, text: &str) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_hex = |offset| bytes.get(at + offset).is_some_and(u8::is_ascii_hexdigit);
        let is_encoded = *byte == b'%' && is_hex(1) && is_hex(2);
        let is_reserved = b":/?#[]@!$&'()*+,;=".contains(byte);
        push_byte(
            uri,
            *byte,
            is_unreserved(*byte) || is_reserved || is_encoded,
        );
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn push_byte(uri: &mut String, byte: u8, is_literal: bool) {
    if is_literal {
        uri.push(char::from(byte));
    } else {
        write!(uri, "%{byte:02X}").expect("writing to a string cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expand(template: &str, values: &Value) -> Result<String, String> {
        expand_uri_template(template, values.as_object().expect("an object"))
    }

    #[test]
    fn templates_expand_to_uris() {
        let values = json!({
            "city": "São Paulo", "path": "a/ö b", "day": 3, "wet": true, "none": null, "empty": "",
            "list": ["x", "y z"], "keys": {"k": "v&", "l": 2}, "half": "50%", "done": "a%20b",
            "nothing": [],
        });
        let cases = [
            ("plain://text", "plain://text"),
            ("w://{city}/{day}", "w://S%C3%A3o%20Paulo/3"),
            ("f:///{+path}", "f:///a/%C3%B6%20b"),
            ("w://a{#path}", "w://a#a/%C3%B6%20b"),
            ("w://a{?day,wet,none,other}", "w://a?day=3&wet=true"),
            ("w://a?x=1{&day,empty}", "w://a?x=1&day=3&empty="),
            ("w://a{;day,empty}", "w://a;day=3;empty"),
            ("w://a{.day,wet}", "w://a.3.true"),
            ("w://a{/day,wet}", "w://a/3/true"),
            ("w://a{/list*}", "w://a/x/y%20z"),
            ("w://a/{list}", "w://a/x,y%20z"),
            ("w://a{?list}", "w://a?list=x,y%20z"),
            ("w://a{?list*}", "w://a?list=x&list=y%20z"),
            ("w://a/{keys}", "w://a/k,v%26,l,2"),
            ("w://a{?keys*}", "w://a?k=v%26&l=2"),
            ("w://a{?keys}", "w://a?keys=k,v%26,l,2"),
            ("w://a{;keys*}", "w://a;k=v%26;l=2"),
            ("w://a{+keys*}", "w://ak=v&,l=2"),
            ("w://a/{city:3}", "w://a/S%C3%A3o"),
            ("w://a/{none}{other}{nothing}{?nothing}", "w://a/"),
            (
                "w://a/{half}/{+half}/{+done}/{done}",
                "w://a/50%25/50%25/a%20b/a%2520b",
            ),
        ];
        for (template, uri) in cases {
            assert_eq!(expand(template, &values).unwrap(), uri, "{template}");
        }
    }

    #[test]
    fn malformed_templates_are_errors() {
        for template in [
            "a://{city",
            "a://{}",
            "a://{?}",
            "a://{a b}",
            "a://{a:x}",
            "a://{a,,b}",
        ] {
            assert!(expand(template, &json!({})).is_err(), "{template}");
        }
    }

    #[test]
    fn random_templates_never_panic_and_expand_to_ascii() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut text = || -> String {
            let length = random.usize(..12);
            (0..length)
                .map(|_| match random.u8(..3) {
                    0 => random.char(..),
                    1 => random
                        .choice(['{', '}', '%', '*', ':', ',', '3', '?'])
                        .unwrap_or('a'),
                    _ => random.alphanumeric(),
                })
                .collect()
        };
        for _ in 0..20_000 {
            let (value, other) = (text(), text());
            for template in [
                "{a}", "{+a}", "{#a}", "{/a*}", "{?a,b}", "{&b*}", "{;a:3}", &other,
            ] {
                let expanded = expand(template, &json!({"a": value, "b": [value, other]}));
                assert!(expanded.is_ok_and(|uri| uri.is_ascii()) || template == other);
            }
        }
    }
}
