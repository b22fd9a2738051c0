//! YAML of a front matter as JSON. Aliases, tags and repeated keys are refused, and the depth is bounded.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};
use serde_json::{Map, Value};

use super::Problem;
use super::scalar::resolve;

/// Maximum number of mappings and lists around a value.
const MAX_DEPTH: usize = 16;

/// Parses a mapping with the core schema of YAML 1.2.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, Problem> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        let line = span.start.line();
        let accepted = builder.accept(event);
        accepted.map_err(|message| Problem::at(line, message))?;
    }
    match builder.root {
        Some(Value::Object(object)) => Ok(object),
        _ => Err(Problem::new(
            "the front matter is not a mapping; write lines such as `name: plan-trip`",
        )),
    }
}

fn syntax(error: &ScanError) -> Problem {
    let message = format!("the front matter is not YAML: {}", error.info());
    Problem::at(error.marker().line(), message)
}

/// Value that is made from events.
#[derive(Default)]
struct Builder {
    open: Vec<Collection>,
    root: Option<Value>,
}

/// Mapping or list whose end has not been read.
enum Collection {
    Mapping(Map<String, Value>, Option<String>),
    List(Vec<Value>),
}

impl Builder {
    fn accept(&mut self, event: Event<'_>) -> Result<(), Cow<'static, str>> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_none() => Ok(()),
            Event::DocumentStart(_) => Err("the front matter has more than one document".into()),
            Event::Alias(_) => {
                Err("aliases such as `*name` are not supported; repeat the value".into())
            }
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                Err("tags such as `!!str` are not supported; write a text in quotes".into())
            }
            Event::Scalar(text, style, _, None) => self.scalar(&text, style),
            Event::SequenceStart(_, None) => self.start(Collection::List(Vec::new())),
            Event::MappingStart(_, None) => self.start(Collection::Mapping(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle) -> Result<(), Cow<'static, str>> {
        let value = match style {
            ScalarStyle::Plain => {
                resolve(text).map_err(|problem| format!("`{}` {problem}", shortened(text)))?
            }
            _ => Value::from(text),
        };
        let Some(Collection::Mapping(mapping, key @ None)) = self.open.last_mut() else {
            return self.add(value);
        };
        let Value::String(name) = value else {
            return Err(format!(
                "the key `{}` is not a text; write it in quotes",
                shortened(text)
            )
            .into());
        };
        if mapping.contains_key(&name) {
            return Err(format!("the key `{}` is repeated", shortened(&name)).into());
        }
        *key = Some(name);
        Ok(())
    }

    fn start(&mut self, collection: Collection) -> Result<(), Cow<'static, str>> {
        if let Some(Collection::Mapping(_, None)) = self.open.last() {
            return Err("a key is a text, not a mapping or list".into());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("the front matter is nested more than {MAX_DEPTH} levels").into());
        }
        self.open.push(collection);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Cow<'static, str>> {
        match self.open.pop() {
            Some(Collection::Mapping(mapping, _)) => self.add(mapping.into()),
            Some(Collection::List(list)) => self.add(list.into()),
            None => Ok(()),
        }
    }

    fn add(&mut self, value: Value) -> Result<(), Cow<'static, str>> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Collection::List(list)) => list.push(value),
            Some(Collection::Mapping(mapping, key)) => {
                let key = key.take().ok_or("a key is a text, not a mapping or list")?;
                mapping.insert(key, value);
            }
        }
        Ok(())
    }
}

/// Returns the start of a text, for messages.
fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_becomes_json() {
        let text = "\
name: plan-trip # comment
description: >-
  Plans
  a trip.
quoted: \"1\\n2\"
single: 'true'
list: [a, 1, {b: null}]
nested:
  deep:
  - x: 1.5
    y: |
      line
empty:
";
        let expected = json!({
            "name": "plan-trip",
            "description": "Plans a trip.",
            "quoted": "1\n2",
            "single": "true",
            "list": ["a", 1, {"b": null}],
            "nested": {"deep": [{"x": 1.5, "y": "line\n"}]},
            "empty": null,
        });
        assert_eq!(Value::Object(parse(text).unwrap()), expected);
    }

    #[test]
    fn other_yaml_is_refused() {
        for (text, expected) in [
            ("a: &x 1\nb: *x\n", "line 3: aliases"),
            ("a: !!str 1\n", "line 2: tags"),
            ("a: !own {}\n", "line 2: tags"),
            (
                "a: 1\nb:\n  c: 1\n  c: 2\n",
                "line 5: the key `c` is repeated",
            ),
            ("1: a\n", "line 2: the key `1` is not a text"),
            ("? [a]\n: b\n", "a key is a text"),
            ("a: .nan\n", "line 2: `.nan` is not a number"),
            ("a: 1\n...\nb: 2\n", "more than one document"),
            ("- a\n", "is not a mapping"),
            ("text\n", "is not a mapping"),
            ("a: b: c\n", "line 2: the front matter is not YAML"),
            ("a: \"b\n", "is not YAML"),
        ] {
            let problem = parse(text).unwrap_err().to_string();
            assert!(problem.contains(expected), "{text:?}: {problem}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
        parse(&nested(MAX_DEPTH - 1)).unwrap();
        let flow = nested(10_000);
        let block = (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth)));
        let lists = format!("a:\n{}", "- ".repeat(10_000));
        for text in [
            nested(MAX_DEPTH),
            flow,
            block.collect(),
            lists,
            "? ".repeat(10_000),
        ] {
            let problem = parse(&text).unwrap_err().to_string();
            // The parser has a limit of its own, which it may reach first.
            let expected = [
                "nested more than 16 levels",
                "a key is a text",
                "recursion limit exceeded",
            ];
            assert!(
                expected.iter().any(|part| problem.contains(part)),
                "{problem}"
            );
        }
    }
}
