//! Texts as values of the types that a tool asks for.

use serde_json::{Map, Number, Value};
use treenail::schema::Tool;

use super::Given;
use crate::show::{clean_line, kinds_of, pretty_json, resolved, type_name};

/// The value of one argument, which may have been given more than once, or what is wrong with it.
pub(super) fn value(tool: &Tool, name: &str, given: &[&Given]) -> Result<Value, String> {
    let root = &*tool.input_schema;
    let schema = schema_of(root, name)?;
    if let [Given::Json(_, value)] = given {
        return Ok(value.clone());
    }
    let texts = given.iter().map(|given| match given {
        Given::Text(_, text) => Ok(text.as_str()),
        _ => Err(format!("`{name}` is given twice, once as JSON")),
    });
    let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
    let reader = Reader { root, name };
    let kinds = kinds_of(schema, root);
    let has = |kind: &str| kinds.iter().any(|it| it == kind);
    match texts.as_slice() {
        // A list is given by repetition, or once for a list of one; where a text would do as well, it is one.
        [_, _, ..] if !has("array") => Err(format!("`{name}` is given twice, and is no list")),
        [text] if !has("array") || has("string") => reader.one(schema, text),
        texts => reader.list(schema, texts),
    }
}

/// Names of required arguments that are not there. Those with a default are left to the server.
pub(super) fn missing<'a>(
    tool: &'a Tool,
    arguments: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a str> {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !arguments.contains_key(*name))
}

/// The schema of an argument. Names that are not listed are taken for mistakes, unless the tool says that it takes others.
fn schema_of<'a>(root: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    let properties = root.get("properties").and_then(Value::as_object);
    if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
        return Ok(schema);
    }
    let others = root.get("additionalProperties");
    let others = others.filter(|others| others.is_object() || **others == Value::Bool(true));
    others.ok_or_else(|| {
        let names = properties.into_iter().flatten();
        unknown_argument(name, names.map(|(name, _)| name.as_str()))
    })
}

pub(super) fn unknown_argument<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(nearest) => {
            let nearest = clean_line(nearest);
            format!("there is no argument `{name}`; did you mean `{nearest}`?")
        }
        None => format!("there is no argument `{name}`"),
    }
}

/// The known name that is most like a wrong one, if one is like it at all.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.8;

    let name = name.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        // `forecast` is meant for `weather.forecast`.
        let contained = name.len() >= 3 && known.contains(&name);
        let likeness = strsim::jaro_winkler(&name, &known);
        if contained {
            likeness.max(ALIKE)
        } else {
            likeness
        }
    };
    let alike = known.map(|known| (likeness(known), known));
    let alike = alike.filter(|(likeness, _)| *likeness >= ALIKE);
    let nearest = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, known)| known)
}

/// Reads the texts of one argument.
struct Reader<'a> {
    root: &'a Map<String, Value>,
    name: &'a str,
}

impl Reader<'_> {
    fn list(&self, schema: &Value, texts: &[&str]) -> Result<Value, String> {
        let items = resolved(schema, self.root).get("items");
        let items = items.unwrap_or(&Value::Bool(true));
        let values = texts.iter().map(|text| self.one(items, text));
        values.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn one(&self, schema: &Value, text: &str) -> Result<Value, String> {
        let schema = resolved(schema, self.root);
        let value = self.read(schema, text)?;
        let Some(choices) = schema.get("enum").and_then(Value::as_array) else {
            return Ok(value);
        };
        if choices.contains(&value) {
            return Ok(value);
        }
        let name = self.name;
        let texts = choices.iter().filter_map(Value::as_str);
        let likely = nearest(text, texts)
            .map(|nearest| format!("; did you mean `{}`?", clean_line(nearest)));
        let choices: Vec<_> = choices.iter().map(pretty_json).collect();
        let choices = choices.join(", ");
        let likely = likely.unwrap_or_default();
        Err(format!(
            "`{name}` is one of {choices}, not `{text}`{likely}"
        ))
    }

    /// The text as one of the types of a schema, the strictest first.
    fn read(&self, schema: &Value, text: &str) -> Result<Value, String> {
        const ORDER: [&str; 6] = ["null", "boolean", "integer", "number", "object", "string"];

        let kinds = kinds_of(schema, self.root);
        if kinds.is_empty() {
            return Ok(text.into());
        }
        // What may be a text is not taken for JSON because it looks like it.
        let has_text = kinds.iter().any(|kind| kind == "string");
        let mut tried = ORDER
            .iter()
            .filter(|kind| kinds.iter().any(|it| it == *kind));
        let read = tried.find_map(|kind| match *kind {
            "null" | "object" if has_text => None,
            kind => as_kind(kind, text),
        });
        read.ok_or_else(|| {
            let expected = type_name(schema, self.root);
            let name = self.name;
            let hint = if kinds.iter().any(|kind| kind == "object" || kind == "array") {
                format!("; JSON is written as `{name}:=…`")
            } else {
                String::new()
            };
            format!(
                "`{name}` is {}, not `{text}`{hint}",
                with_article(&expected)
            )
        })
    }
}

fn as_kind(kind: &str, text: &str) -> Option<Value> {
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
    format!("{article} {}", clean_line(kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use treenail::schema::JsonObject;

    use super::*;

    fn tool() -> Tool {
        let schema = json!({
            "type": "object",
            "$defs": {"Unit": {"enum": ["celsius", "fahrenheit"]}},
            "properties": {
                "days": {"type": "integer"}, "share": {"type": "number"}, "dry": {"type": "boolean"},
                "city": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
                "ids": {"type": "array", "items": {"type": "integer"}}, "any": {}, "map": {"type": "object"},
                "unit": {"$ref": "#/$defs/Unit"}, "maybe": {"type": ["integer", "null"]},
                "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        });
        let schema: JsonObject = serde_json::from_value(schema).unwrap();
        Tool::new("weather", schema)
    }

    fn check(typed: &[&str], expected: Result<Value, &str>) {
        let given: Vec<Given> = typed.iter().map(|it| it.parse().unwrap()).collect();
        let name = given[0].name().unwrap().to_owned();
        let given: Vec<_> = given.iter().collect();
        let value = value(&tool(), &name, &given);
        assert_eq!(value, expected.map_err(str::to_owned), "{typed:?}");
    }

    #[test]
    fn texts_become_what_the_schema_says() {
        check(&["days=3"], Ok(json!(3)));
        check(&["days=18446744073709551615"], Ok(json!(u64::MAX)));
        check(&["share=0.5"], Ok(json!(0.5)));
        check(&["share=2"], Ok(json!(2)));
        check(&["dry=false"], Ok(json!(false)));
        check(&["city=3"], Ok(json!("3")));
        check(&["tags=a", "tags=b,c"], Ok(json!(["a", "b,c"])));
        check(&["ids=1"], Ok(json!([1])));
        check(&["any=1"], Ok(json!("1")));
        check(&["any:=1"], Ok(json!(1)));
        check(&["map={\"a\":1}"], Ok(json!({"a": 1})));
        check(&["unit=celsius"], Ok(json!("celsius")));
        check(&["maybe=null"], Ok(Value::Null));
        check(&["either=7"], Ok(json!(7)));
        check(&["either=seven"], Ok(json!("seven")));
        check(&["days:=\"sent as it is\""], Ok(json!("sent as it is")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        check(&["days=three"], Err("`days` is an integer, not `three`"));
        check(&["days=1.5"], Err("`days` is an integer, not `1.5`"));
        check(&["dry=maybe"], Err("`dry` is a boolean, not `maybe`"));
        check(
            &["map=x"],
            Err("`map` is an object, not `x`; JSON is written as `map:=…`"),
        );
        check(&["ids=1", "ids=x"], Err("`ids` is an integer, not `x`"));
        check(
            &["city=a", "city=b"],
            Err("`city` is given twice, and is no list"),
        );
        check(
            &["ids=1", "ids:=[2]"],
            Err("`ids` is given twice, once as JSON"),
        );
        check(
            &["unit=celcius"],
            Err("`unit` is one of celsius, fahrenheit, not `celcius`; did you mean `celsius`?"),
        );
        check(
            &["citty=Oslo"],
            Err("there is no argument `citty`; did you mean `city`?"),
        );
        check(&["zzz=1"], Err("there is no argument `zzz`"));
    }
}
