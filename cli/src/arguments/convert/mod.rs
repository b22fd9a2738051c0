//! Conversion of text to the types in the input schema of a tool.

use std::ptr;

use serde_json::{Map, Number, Value};
use treenail::schema::Tool;
use treenail_schema::internal::nearest;

use super::RawArgument;
use crate::render::{choices, inline_json, resolve_reference, sanitize_line, type_name, types_of};

/// Maximum number of parts of a schema in which an argument is searched for. Parts may refer to one another.
const MAX_PARTS: usize = 1_000;

/// Converts one argument, which may have been given more than once. Arguments that are given are not proposed for unknown ones.
///
/// # Errors
///
/// Returns the message if the argument is unknown or does not match its schema.
pub(super) fn convert_argument(
    tool: &Tool,
    name: &str,
    raw: &[&RawArgument],
    is_given: &dyn Fn(&str) -> bool,
) -> Result<Value, String> {
    let root = &*tool.input_schema;
    let schema = argument_schema(root, name, is_given)?;
    if let [RawArgument::Json(_, value)] = raw {
        return Ok(value.clone());
    }
    let texts = raw.iter().map(|argument| match argument {
        RawArgument::Text(_, text) => Ok(text.as_str()),
        _ => Err(format!(
            "`{name}` was given more than once; a JSON value cannot be combined with others"
        )),
    });
    let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
    let converter = ArgumentConverter { root, name };
    let types = types_of(schema, root);
    let has = |kind: &str| types.contains(&kind);
    match texts.as_slice() {
        // A single value becomes a list of one, unless the schema allows a string, too.
        [_, _, ..] if !has("array") => Err(format!(
            "`{name}` was given more than once but is not a list"
        )),
        [text] if !has("array") || has("string") => converter.convert_scalar(schema, text),
        texts => converter.convert_list(schema, texts),
    }
}

/// Returns the names of missing required arguments. Those with a default are left to the server.
pub(super) fn missing_arguments<'a>(
    tool: &'a Tool,
    arguments: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a str> {
    let schema = &*tool.input_schema;
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let has_default = |name: &str| {
        let property = schema.get("properties").and_then(|it| it.get(name));
        property.is_some_and(|property| property.get("default").is_some())
    };
    names.filter(move |name| !arguments.contains_key(*name) && !has_default(name))
}

/// Returns the schema of an argument. An unlisted name is an error, unless the schema explicitly allows additional
/// properties.
fn argument_schema<'a>(
    root: &'a Map<String, Value>,
    name: &str,
    is_given: &dyn Fn(&str) -> bool,
) -> Result<&'a Value, String> {
    let properties = root.get("properties").and_then(Value::as_object);
    if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
        return Ok(schema);
    }
    if let Some(schema) = schema_in_parts(root, name) {
        return Ok(schema);
    }
    let others = root.get("additionalProperties");
    let others = others.filter(|others| others.is_object() || **others == Value::Bool(true));
    others.ok_or_else(|| {
        let names = properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str());
        unknown_argument(name, names.filter(|name| !is_given(name)))
    })
}

/// Returns whether a schema describes arguments in other places than `properties`.
pub(super) fn has_parts(root: &Map<String, Value>) -> bool {
    parts_of(root).next().is_some() || patterns_of(root).next().is_some()
}

/// Returns the schema of an argument in the first part of a schema that declares it, such as a condition. Any name may match a pattern.
fn schema_in_parts<'a>(root: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut schemas = vec![root];
    let (mut next, mut more) = (0, MAX_PARTS);
    while let Some(&schema) = schemas.get(next) {
        if let Some(declared) = schema.get("properties").and_then(|it| it.get(name)) {
            return Some(declared);
        }
        for part in parts_of(schema).take(more) {
            more -= 1;
            let part = resolve_reference(part, root);
            schemas.extend(part.filter(|part| !schemas.iter().any(|known| ptr::eq(*known, *part))));
        }
        next += 1;
    }
    let mut patterns = schemas.into_iter().flat_map(patterns_of);
    let first = patterns.next()?;
    let is_only = patterns.next().is_none();
    Some(if is_only { first } else { &Value::Bool(true) })
}

/// Returns the schemas that also apply to the object of a schema.
fn parts_of(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = ["allOf", "oneOf", "anyOf"].into_iter();
    let lists = lists
        .filter_map(|key| schema.get(key)?.as_array())
        .flatten();
    let single = ["if", "then", "else"].into_iter();
    let single = single.filter_map(|key| schema.get(key));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
    let dependent = dependent.into_iter().flat_map(Map::values);
    lists.chain(single).chain(dependent)
}

fn patterns_of(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    patterns.into_iter().flat_map(Map::values)
}

pub(super) fn unknown_argument<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    match closest_match(name, known) {
        Some(closest) => {
            let closest = sanitize_line(closest);
            format!("unknown argument `{name}`; did you mean `{closest}`?")
        }
        None => format!("unknown argument `{name}`"),
    }
}

/// Returns the known name that is most similar to `name`, if one is similar enough, or contains it: `forecast` matches
/// `weather.forecast`.
pub(super) fn closest_match<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let part = name.to_lowercase();
    let contains = |known: &&str| part.len() >= 3 && known.to_lowercase().contains(&part);
    nearest(name, known.clone()).or_else(|| known.filter(contains).min_by_key(|known| known.len()))
}

/// Converts the text of one argument.
struct ArgumentConverter<'a> {
    root: &'a Map<String, Value>,
    name: &'a str,
}

impl ArgumentConverter<'_> {
    fn convert_list(&self, schema: &Value, texts: &[&str]) -> Result<Value, String> {
        let list = resolve_reference(schema, self.root);
        let values = texts.iter().enumerate();
        let values =
            values.map(|(index, text)| self.convert_scalar(item_schema(list, index), text));
        values.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn convert_scalar(&self, schema: &Value, text: &str) -> Result<Value, String> {
        let resolved = resolve_reference(schema, self.root);
        let Some(choices) = resolved.and_then(|schema| choices(schema, self.root)) else {
            return self.parse_text(schema, text);
        };
        // A choice can have another type than the strictest one that the text matches.
        let same_text = Value::from(text);
        let same_json = serde_json::from_str(text).ok();
        let mut given = [Some(same_text), same_json].into_iter().flatten();
        if let Some(choice) = given.find(|value| choices.contains(value)) {
            return Ok(choice);
        }
        let value = self.parse_text(schema, text)?;
        if choices.contains(&value) {
            return Ok(value);
        }
        let name = self.name;
        let texts = choices.iter().filter_map(Value::as_str);
        let suggestion = closest_match(text, texts)
            .map(|closest| format!("; did you mean `{}`?", sanitize_line(closest)));
        let choices: Vec<_> = choices.iter().map(inline_json).collect();
        let choices = choices.join(", ");
        let suggestion = suggestion.unwrap_or_default();
        Err(format!(
            "`{name}`: expected one of {choices}, got `{text}`{suggestion}"
        ))
    }

    /// Parses the text as one of the types in a schema, trying the strictest type first.
    fn parse_text(&self, schema: &Value, text: &str) -> Result<Value, String> {
        const ORDER: [&str; 6] = ["null", "boolean", "integer", "number", "object", "string"];

        let types = types_of(schema, self.root);
        if types.is_empty() {
            return Ok(text.into());
        }
        // Text that looks like JSON stays text if the schema allows a string.
        let has_text = types.contains(&"string");
        let mut tried = ORDER.iter().filter(|kind| types.contains(kind));
        let read = tried.find_map(|kind| match *kind {
            "null" | "object" if has_text => None,
            kind => parse_as(kind, text),
        });
        read.ok_or_else(|| {
            let expected = type_name(schema, self.root);
            let name = self.name;
            let hint = if types.contains(&"object") || types.contains(&"array") {
                format!("; to pass JSON, use `{name}:=…`")
            } else {
                String::new()
            };
            format!(
                "`{name}`: expected {}, got `{text}`{hint}",
                with_article(&expected)
            )
        })
    }
}

/// Returns the schema of an item of a list: that of its position, or that of all further items.
fn item_schema(list: Option<&Map<String, Value>>, index: usize) -> &Value {
    let keyword = |name: &str| list.and_then(|list| list.get(name));
    // Before 2020-12, `items` was the list of positions.
    let (positions, others) = match keyword("items") {
        Some(positions @ Value::Array(_)) => (Some(positions), keyword("additionalItems")),
        items => (keyword("prefixItems"), items),
    };
    let at_position = positions.and_then(|positions| positions.get(index));
    at_position.or(others).unwrap_or(&Value::Bool(true))
}

fn parse_as(kind: &str, text: &str) -> Option<Value> {
    match kind {
        "null" => (text == "null").then_some(Value::Null),
        "boolean" => text.parse().ok().map(Value::Bool),
        "integer" => {
            let number: Option<Number> = serde_json::from_str(text).ok();
            number.filter(|number| !number.is_f64()).map(Value::Number)
        }
        "number" => serde_json::from_str(text).ok().map(Value::Number),
        "object" => serde_json::from_str(text).ok().map(Value::Object),
        "string" => Some(text.into()),
        _ => None,
    }
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {}", sanitize_line(kind))
}

#[cfg(test)]
mod tests;
