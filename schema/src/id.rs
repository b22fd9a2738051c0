//! Request ids and progress tokens: a string or an integer, each written as it was read.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::number::integral;

macro_rules! string_or_integer {
    ($(#[$docs:meta])* $name:ident, $noun:literal) => {
        $(#[$docs])*
        ///
        /// `1` and `"1"` are different. `1.0` is read as `1`.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(untagged)]
        pub enum $name {
            /// An integer.
            Number(i64),
            /// A string.
            String(String),
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Number(number) => number.fmt(f),
                    Self::String(string) => string.fmt(f),
                }
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self::Number(number)
            }
        }

        impl From<String> for $name {
            fn from(string: String) -> Self {
                Self::String(string)
            }
        }

        impl From<&str> for $name {
            fn from(string: &str) -> Self {
                Self::String(string.to_owned())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($noun, ", which is a string or an integer"))
                    }

                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$name, E> {
                        Ok($name::Number(number))
                    }

                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$name, E> {
                        let small = i64::try_from(number);
                        let large = |_| E::invalid_value(de::Unexpected::Unsigned(number), &self);
                        small.map($name::Number).map_err(large)
                    }

                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$name, E> {
                        let fraction = || E::invalid_value(de::Unexpected::Float(number), &self);
                        integral(number).map($name::Number).ok_or_else(fraction)
                    }

                    fn visit_str<E: de::Error>(self, string: &str) -> Result<$name, E> {
                        Ok($name::from(string))
                    }

                    fn visit_string<E: de::Error>(self, string: String) -> Result<$name, E> {
                        Ok($name::String(string))
                    }
                }

                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

string_or_integer! {
    /// Identifier that associates a response with its request.
    RequestId, "a request id"
}

string_or_integer! {
    /// Token that associates progress notifications with the request that asked for them.
    ProgressToken, "a progress token"
}
