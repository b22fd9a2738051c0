//! The arguments of one function together: their input schema, and their values in a call.

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use super::Argument;
use crate::function::argument_error::{Fault, MAX_REPORTED, Problem};
use crate::function::schema::Direction;

/// The arguments of one function: a tuple of up to 16 [`Argument`]s.
pub trait ArgumentList: Send + Sync + 'static {
    /// Argument values, as the function takes them.
    type Values: 'static;

    /// Returns the JSON schema of the object that contains the arguments, and collects the bounds in it. That of a run-time
    /// feature is in its descriptor.
    fn schema(&mut self) -> Result<Map<String, Value>, String> {
        Ok(Map::new())
    }

    /// Parses the arguments from the JSON of that object.
    fn read(&self, text: Option<&str>) -> Result<Self::Values, Vec<Problem>>;
}

/// Arguments that are named one by one.
pub trait NamedArguments: ArgumentList {
    /// Adds the arguments to the schema of an object, and collects the bounds in them.
    fn add_to(&mut self, schema: &mut InputSchema) -> Result<(), String>;
}

/// Builder of the input schema.
#[derive(Debug)]
pub struct InputSchema {
    pub(super) generator: SchemaGenerator,
    pub(super) properties: Map<String, Value>,
    pub(super) required: Vec<Value>,
    /// The value of `additionalProperties`.
    pub(super) others: Value,
}

impl InputSchema {
    pub(super) fn new() -> Self {
        Self {
            generator: Direction::Input.generator(),
            properties: Map::new(),
            required: Vec::new(),
            others: false.into(),
        }
    }

    fn add<T>(&mut self, argument: &mut Argument<T>) -> Result<(), String> {
        let property = argument.property(&mut self.generator)?;
        if !argument.is_optional() {
            self.required.push(argument.name.into());
        }
        self.properties.insert(argument.name.to_owned(), property);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        // Required even without arguments: some hosts and model APIs reject a function whose schema has no
        // `properties`.
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.insert("additionalProperties".to_owned(), self.others);
        if let Some(definitions) = Direction::Input.definitions(&mut self.generator) {
            schema.insert("$defs".to_owned(), definitions);
        }
        schema
    }
}

/// The JSON of each argument, in the order of the function's parameters.
struct Reader<'a, const N: usize> {
    texts: [Option<&'a str>; N],
    taken: usize,
    problems: Vec<Problem>,
}

impl<'a, const N: usize> Reader<'a, N> {
    fn new(names: [&'static str; N], object: Option<&'a str>) -> Self {
        let mut reader = Self {
            texts: [None; N],
            taken: 0,
            problems: Vec::new(),
        };
        if let Some(object) = object {
            reader.collect(names, object);
        }
        reader
    }

    fn collect(&mut self, names: [&'static str; N], object: &'a str) {
        // The caller has already validated the object; if it were invalid, no argument would be found.
        let Ok(mut members) = crate::wire::Members::new(object) else {
            return;
        };
        let mut unknown = Vec::new();
        while let Ok(Some((key, text))) = members.next() {
            match names.iter().position(|name| **name == *key) {
                Some(index) if self.texts[index].replace(text).is_none() => {}
                _ if self.problems.len() + unknown.len() >= MAX_REPORTED => {}
                Some(_) => self.problems.push(Problem::new(&key, Fault::Repeated)),
                None => unknown.push(key),
            }
        }
        let given = names.into_iter().zip(&self.texts);
        let missing = given
            .filter(|(_, text)| text.is_none())
            .map(|(name, _)| name);
        for key in unknown {
            // An argument that is given already is not meant.
            self.problems.push(Problem::unknown(&key, missing.clone()));
        }
    }

    /// Reads the next argument, or records the problem with it.
    fn next<T>(&mut self, argument: &Argument<T>) -> Option<T> {
        let text = self.texts[self.taken];
        self.taken += 1;
        match argument.read(text) {
            Ok(value) => {
                if let Some(text) = text {
                    argument.check_bounds(text, &mut self.problems);
                }
                Some(value)
            }
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }
}

macro_rules! argument_lists {
    ($($count:literal: $($value:ident $T:ident),*;)*) => {$(
        impl<$($T: 'static),*> ArgumentList for ($(Argument<$T>,)*) {
            type Values = ($($T,)*);

            fn schema(&mut self) -> Result<Map<String, Value>, String> {
                let mut schema = InputSchema::new();
                self.add_to(&mut schema)?;
                Ok(schema.finish())
            }

            fn read(&self, text: Option<&str>) -> Result<Self::Values, Vec<Problem>> {
                let ($($value,)*) = self;
                #[allow(unused_mut, reason = "a function may take no arguments")]
                let mut reader = Reader::<$count>::new([$($value.name),*], text);
                $(let $value = reader.next($value);)*
                match ($($value,)*) {
                    ($(Some($value),)*) if reader.problems.is_empty() => Ok(($($value,)*)),
                    _ => Err(reader.problems),
                }
            }
        }

        impl<$($T: 'static),*> NamedArguments for ($(Argument<$T>,)*) {
            #[allow(unused_variables, reason = "a function may take no arguments")]
            fn add_to(&mut self, schema: &mut InputSchema) -> Result<(), String> {
                let ($($value,)*) = self;
                $(schema.add($value)?;)*
                Ok(())
            }
        }
    )*};
}

argument_lists! {
    0: ;
    1: a A;
    2: a A, b B;
    3: a A, b B, c C;
    4: a A, b B, c C, d D;
    5: a A, b B, c C, d D, e E;
    6: a A, b B, c C, d D, e E, f F;
    7: a A, b B, c C, d D, e E, f F, g G;
    8: a A, b B, c C, d D, e E, f F, g G, h H;
    9: a A, b B, c C, d D, e E, f F, g G, h H, i I;
    10: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J;
    11: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K;
    12: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K, l L;
    13: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K, l L, m M;
    14: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K, l L, m M, n N;
    15: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K, l L, m M, n N, o O;
    16: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P;
}
