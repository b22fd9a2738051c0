//! A struct whose fields are arguments of a function, beside its other arguments.

use std::borrow::Cow;
use std::mem;

use serde_json::{Map, Value};

use super::{Argument, ArgumentList, InputSchema, NamedArguments};
use crate::function::argument_error::{Fault, MAX_REPORTED, Problem};
use crate::function::schema_fit::allows_type;
use crate::wire::Members;

/// Keywords beside `properties` that the schema of a flattened struct may have. Those of the schema itself are added again.
const ALLOWED: [&str; 6] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
];

/// The arguments of a function, one of which is flattened. Its value follows those of the others.
#[derive(Debug)]
pub struct Flattened<L, T> {
    others: L,
    argument: Argument<T>,
    names: Names,
}

/// Names of arguments, known when the schema has been made.
#[derive(Debug, Default)]
struct Names {
    /// The other arguments, then the fields.
    all: Vec<String>,
    /// Number of other arguments.
    others: usize,
    /// The fields that must be present.
    required: Vec<String>,
    /// The fields that may be absent, but are not null: a model that writes null there means that they are absent.
    omitted: Vec<String>,
    /// True if the flattened type has members of any name, as a map has.
    is_open: bool,
}

impl<L: NamedArguments, T: 'static> Flattened<L, T> {
    /// Creates the arguments `others`, and those in `argument`.
    pub fn new(others: L, argument: Argument<T>) -> Self {
        Self {
            others,
            argument,
            names: Names::default(),
        }
    }
}

impl<L: NamedArguments, T: 'static> ArgumentList for Flattened<L, T> {
    type Values = (L::Values, T);

    fn schema(&mut self) -> Result<Map<String, Value>, String> {
        let mut schema = InputSchema::new();
        self.others.add_to(&mut schema)?;
        let flattened = self.argument.property(&mut schema.generator)?;
        if self.argument.is_optional() {
            return Err(not_flat("it may be absent as a whole"));
        }
        self.names = Names::add(flattened, &mut schema)?;
        Ok(schema.finish())
    }

    fn read(&self, text: Option<&str>) -> Result<Self::Values, Vec<Problem>> {
        let mut division = self.names.divide(text.unwrap_or("{}"));
        let others = self.others.read(Some(&object(&division.others)));
        // Without the missing fields, the struct would be refused for the first of them only.
        let value = if division.problems.is_empty() {
            self.read_fields(&division.fields).map(Some)
        } else {
            Ok(None)
        };
        match (others, value) {
            (Ok(others), Ok(Some(value))) => Ok((others, value)),
            (others, value) => {
                let failed = [others.err(), value.err()].into_iter().flatten();
                division.problems.extend(failed.flatten());
                Err(division.problems)
            }
        }
    }
}

impl<L, T> Flattened<L, T> {
    fn read_fields(&self, fields: &[Member<'_>]) -> Result<T, Vec<Problem>> {
        let text = object(fields);
        let value = self.argument.read(Some(&text)).or_else(|problem| {
            let is_meant = |(name, text): &&Member<'_>| {
                *text != "null" || !self.names.omitted.iter().any(|it| it == name)
            };
            let meant: Vec<_> = fields.iter().filter(is_meant).cloned().collect();
            if meant.len() == fields.len() {
                return Err(problem);
            }
            self.argument.read(Some(&object(&meant)))
        });
        let value = value.map_err(|problem| vec![problem.without_name()])?;
        let mut problems = Vec::new();
        self.argument.check_bounds(&text, &mut problems);
        if problems.is_empty() {
            return Ok(value);
        }
        Err(problems.into_iter().map(Problem::without_name).collect())
    }
}

/// An argument of a call: its name, and its JSON.
type Member<'a> = (Cow<'a, str>, &'a str);

/// The arguments of a call.
#[derive(Default)]
struct Division<'a> {
    others: Vec<Member<'a>>,
    fields: Vec<Member<'a>>,
    problems: Vec<Problem>,
}

impl Names {
    /// Adds the schema of the flattened type to that of the arguments.
    fn add(flattened: Value, schema: &mut InputSchema) -> Result<Self, String> {
        let Value::Object(mut flattened) = flattened else {
            return Err(not_flat("its schema has no `properties`"));
        };
        let other = flattened.keys().find(|key| !ALLOWED.contains(&&***key));
        if let Some(keyword) = other {
            return Err(not_flat(&format!("its schema has `{keyword}`")));
        }
        if flattened.get("type").is_none_or(|of| of != "object") {
            return Err(not_flat("its schema has not the type `object`"));
        }
        let mut names = Self {
            all: schema.properties.keys().cloned().collect(),
            others: schema.properties.len(),
            ..Self::default()
        };
        if let Some(Value::Object(properties)) = flattened.remove("properties") {
            for (name, property) in properties {
                if names.all.contains(&name) {
                    return Err(format!(
                        "the argument `{name}` and a field of the flattened argument have the same name; rename one"
                    ));
                }
                names.all.push(name.clone());
                schema.properties.insert(name, property);
            }
        }
        if let Some(Value::Array(required)) = flattened.remove("required") {
            let texts = required.iter().filter_map(Value::as_str);
            names.required = texts.map(str::to_owned).collect();
            schema.required.extend(required);
        }
        if let Some(others) = flattened.remove("additionalProperties") {
            names.is_open = others != Value::Bool(false);
            schema.others = others;
        }
        let is_omitted = |name: &&String| {
            let property = schema.properties.get(*name).and_then(Value::as_object);
            let has_no_null = property.is_some_and(|it| !allows_type("null", it, &Map::new()));
            has_no_null && !names.required.contains(name)
        };
        let fields = names.all.iter().skip(names.others);
        names.omitted = fields.filter(is_omitted).cloned().collect();
        Ok(names)
    }

    /// Divides the members of an object that has been checked.
    fn divide<'a>(&self, text: &'a str) -> Division<'a> {
        let mut division = Division::default();
        let (mut repeated, mut unknown) = (Vec::new(), Vec::new());
        let mut is_given = vec![false; self.all.len()];
        let mut members = Members::new(text).ok();
        while let Some(Ok(Some((name, text)))) = members.as_mut().map(Members::next) {
            let known = self.all.iter().position(|it| *it == name);
            let was_given = known.map(|at| mem::replace(&mut is_given[at], true));
            match (known, was_given) {
                (Some(at), _) if at < self.others => division.others.push((name, text)),
                (Some(_), Some(true)) => note(&mut repeated, name),
                (None, _) if !self.is_open => note(&mut unknown, name),
                _ => division.fields.push((name, text)),
            }
        }
        let not_given = || {
            let names = self.all.iter().zip(&is_given);
            names.filter_map(|(name, is_given)| (!is_given).then_some(&**name))
        };
        let missing = not_given().filter(|name| self.required.iter().any(|it| it == name));
        let missing = missing.map(|name| Problem::new(name, Fault::Missing));
        let repeated = repeated.iter();
        let repeated = repeated.map(|name| Problem::new(name, Fault::Repeated));
        // An argument that is given already is not meant.
        let unknown = unknown.iter();
        let unknown = unknown.map(|name| Problem::unknown(name, not_given()));
        division.problems = missing.chain(repeated).chain(unknown).collect();
        division
    }
}

/// Adds a name, unless enough are reported.
fn note<'a>(names: &mut Vec<Cow<'a, str>>, name: Cow<'a, str>) {
    if names.len() < MAX_REPORTED {
        names.push(name);
    }
}

/// Returns the error for a type that cannot be flattened.
fn not_flat(reason: &str) -> String {
    format!(
        "a flattened argument is a struct with named fields or a map, but {reason}; \
         remove `flatten`, or take the fields as arguments"
    )
}

/// Returns the JSON of an object.
fn object(members: &[Member<'_>]) -> String {
    let mut text = "{".to_owned();
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&Value::from(&**name).to_string());
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}
