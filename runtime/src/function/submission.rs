//! A value that a model submits as the arguments of a tool.

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::function::argument_error::Problem;
use crate::function::schema::Direction;
use crate::function::type_schema::schema_for;

/// Keywords that model hosts reject at the root of an input schema.
const NOT_AT_ROOT: [&str; 8] = [
    "$ref", "allOf", "anyOf", "const", "enum", "if", "not", "oneOf",
];

/// Type of a value that a model submits as the arguments of a tool.
///
/// A struct is the object of the arguments itself. Any other value is a member of that object, because model hosts accept an
/// object with properties only.
#[derive(Clone, Debug)]
pub struct Submission {
    input_schema: Map<String, Value>,
    /// Name of the member with the value; `None` if the arguments are the value.
    member: Option<&'static str>,
    check: fn(&Value) -> Result<(), PathError>,
}

type PathError = serde_path_to_error::Error<serde_json::Error>;

impl Submission {
    /// Creates the submission of a `T`, which is the argument `member` unless it is a struct.
    #[inline]
    pub fn of<T: DeserializeOwned + JsonSchema>(member: &'static str) -> Self {
        let mut generator = Direction::Input.generator();
        let schema = schema_for::<T>(&mut generator);
        Self::new(member, schema, generator, |value| {
            serde_path_to_error::deserialize::<_, T>(value).map(drop)
        })
    }

    /// Compiled once for all types.
    #[inline]
    fn new(
        member: &'static str,
        mut schema: Value,
        mut generator: SchemaGenerator,
        check: fn(&Value) -> Result<(), PathError>,
    ) -> Self {
        Direction::Input.tidy(&mut schema);
        let (mut input_schema, member) = match schema {
            Value::Object(schema) if is_of_arguments(&schema) => (schema, None),
            schema => (object_with(member, schema), Some(member)),
        };
        if let Some(definitions) = Direction::Input.definitions(&mut generator) {
            input_schema.insert("$defs".to_owned(), definitions);
        }
        Self {
            input_schema,
            member,
            check,
        }
    }

    /// Returns the input schema of the tool.
    pub fn input_schema(&self) -> &Map<String, Value> {
        &self.input_schema
    }

    /// Returns the value in the arguments.
    ///
    /// # Errors
    ///
    /// If the value cannot be deserialized, for a reason that the schema does not contain.
    #[inline]
    pub fn read(&self, mut arguments: Map<String, Value>) -> Result<Value, Problem> {
        let value = match self.member {
            Some(member) => arguments.shift_remove(member).unwrap_or_default(),
            None => Value::Object(arguments),
        };
        let place = self.member.map(|member| format!("/{member}"));
        (self.check)(&value).map_err(|error| {
            Problem::located(place.as_deref().unwrap_or_default(), Some(&value), &error)
        })?;
        Ok(value)
    }
}

/// Returns whether hosts accept a schema as that of arguments.
fn is_of_arguments(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
        && schema.contains_key("properties")
        && NOT_AT_ROOT.iter().all(|it| !schema.contains_key(*it))
}

/// Returns the schema of an object with one member.
#[inline]
fn object_with(member: &str, schema: Value) -> Map<String, Value> {
    let properties = Map::from_iter([(member.to_owned(), schema)]);
    let keywords: [(&str, Value); 4] = [
        ("type", "object".into()),
        ("properties", properties.into()),
        ("required", vec![member].into()),
        ("additionalProperties", false.into()),
    ];
    let keywords = keywords.into_iter();
    keywords.map(|(key, it)| (key.to_owned(), it)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::function::argument_error::format_problems;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is needed")]
    struct Place {
        name: String,
        height: Option<u32>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is needed")]
    #[serde(tag = "kind")]
    enum Answer {
        Found { place: String },
        Unknown,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is needed")]
    struct Tree {
        children: Vec<Tree>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(try_from = "u32")]
    struct Even(
        #[schemars(with = "u32")]
        #[expect(dead_code, reason = "only checked")]
        u32,
    );

    impl TryFrom<u32> for Even {
        type Error = &'static str;

        fn try_from(number: u32) -> Result<Self, Self::Error> {
            let is_even = number % 2 == 0;
            is_even.then_some(Self(number)).ok_or("the number is odd")
        }
    }

    fn members<T: DeserializeOwned + JsonSchema>() -> Vec<String> {
        let submission = Submission::of::<T>("it");
        let schema = submission.input_schema();
        assert_eq!(schema["type"], "object");
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().cloned().collect()
    }

    #[test]
    fn only_structs_are_the_arguments_themselves() {
        assert_eq!(members::<Place>(), ["name", "height"]);
        assert_eq!(members::<Vec<Place>>(), ["it"]);
        assert_eq!(members::<String>(), ["it"]);
        assert_eq!(members::<BTreeMap<String, u8>>(), ["it"]);
        assert_eq!(members::<Answer>(), ["it"], "alternatives");
        assert_eq!(members::<Option<Place>>(), ["it"]);
        assert_eq!(members::<Tree>(), ["children"]);
        let recursive = Submission::of::<Tree>("it");
        assert!(recursive.input_schema()["$defs"]["Tree"].is_object());
    }

    #[test]
    fn a_value_that_only_its_type_rejects_is_located() {
        let read = |submission: Submission, arguments: Value| {
            let Value::Object(arguments) = arguments else {
                panic!("no arguments");
            };
            let read = submission.read(arguments);
            read.map_err(|problem| {
                format_problems(String::new(), &[problem], &Value::Null, &Map::new())
            })
        };
        let numbers = || Submission::of::<Vec<Even>>("it");
        assert_eq!(read(numbers(), json!({"it": [2]})), Ok(json!([2])));
        let odd = read(numbers(), json!({"it": [2, 3]}));
        assert_eq!(odd, Err("\n- /it/1: the number is odd".to_owned()));
        let place = json!({"name": "Oslo"});
        assert_eq!(
            read(Submission::of::<Place>("it"), place.clone()),
            Ok(place)
        );
    }
}
