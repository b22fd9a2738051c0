//! Expansion of URI templates (RFC 6570).

#[cfg(test)]
mod tests;
mod uri;
mod variable;

use std::fmt::{self, Write};

use serde_json::{Map, Value};

use self::uri::{MAX_URI_BYTES, Uri};
use self::variable::Variable;
use crate::text::quoted;

/// Expands a template. Variables without a value are omitted.
///
/// # Errors
///
/// A message if the template is malformed, or if the URI would be longer than 1 MiB.
pub fn expand_uri_template(template: &str, values: &Map<String, Value>) -> Result<String, String> {
    let mut uri = Uri::default();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        push_literal(&mut uri, literal).map_err(too_long)?;
        let (expression, after) = after
            .split_once('}')
            .ok_or_else(|| malformed(template, "a `{` is not closed"))?;
        Expression::parse(expression)
            .ok_or_else(|| malformed(template, "an expression is malformed"))?
            .push(&mut uri, values)?;
        rest = after;
    }
    push_literal(&mut uri, rest).map_err(too_long)?;
    Ok(uri.into_text())
}

fn malformed(template: &str, reason: &str) -> String {
    let template = quoted(template);
    format!("{template} is not a valid URI template: {reason}")
}

fn too_long(_: fmt::Error) -> String {
    format!("the expanded URI template is longer than {MAX_URI_BYTES} bytes")
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

    fn push(&self, uri: &mut Uri, values: &Map<String, Value>) -> Result<(), String> {
        let mut is_first = true;
        for variable in self.variables.split(',') {
            let variable = Variable::parse(variable)
                .ok_or_else(|| malformed(self.variables, "a variable is malformed"))?;
            let Some(value) = values.get(variable.name).filter(|value| is_defined(value)) else {
                continue;
            };
            let pushed = if std::mem::take(&mut is_first) {
                uri.write_str(self.operator.first)
            } else {
                uri.write_char(self.operator.separator)
            };
            pushed
                .and_then(|()| variable.push(uri, self.operator, value))
                .map_err(too_long)?;
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

fn push_value(uri: &mut Uri, text: &str, reserved: bool) -> fmt::Result {
    if reserved {
        return push_literal(uri, text);
    }
    text.bytes()
        .try_for_each(|byte| push_byte(uri, byte, is_unreserved(byte)))
}

/// Pushes a text without encoding its reserved characters and the bytes that are already encoded.
fn push_literal(uri: &mut Uri, text: &str) -> fmt::Result {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_hex = |offset| bytes.get(at + offset).is_some_and(u8::is_ascii_hexdigit);
        let is_encoded = *byte == b'%' && is_hex(1) && is_hex(2);
        let is_reserved = b":/?#[]@!$&'()*+,;=".contains(byte);
        push_byte(
            uri,
            *byte,
            is_unreserved(*byte) || is_reserved || is_encoded,
        )?;
    }
    Ok(())
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn push_byte(uri: &mut Uri, byte: u8, is_literal: bool) -> fmt::Result {
    if is_literal {
        uri.write_char(char::from(byte))
    } else {
        write!(uri, "%{byte:02X}")
    }
}
