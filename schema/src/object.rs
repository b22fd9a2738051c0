//! JSON of structs and of enumerations of strings.
//!
//! serde's derives compile more than twice as much code for each type. They also read a struct from an array and an enumeration from an
//! object, which is not JSON of the protocol, and write each member a second time for structs that stand for raw JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::tagged::Text;

/// Implements `Deserialize` and `Serialize` for a struct. Each field has one of these kinds, and the name of its member:
///
/// - `required`: the member must be present.
/// - `optional`: the member may be absent or `null`, and is not written if it is.
/// - `nullable`: the same, and it is written as `null`.
/// - `explicit`: the member may be absent; `null` is a value.
///
/// A tag is a member with a constant value, which is written first and not read. A field after `;` has all members without a field of
/// their own.
#[doc(hidden)]
#[macro_export]
macro_rules! __object {
    ($name:ident $(($tag:literal = $value:literal))? { $($kind:ident $field:ident = $member:literal),* $(; $extra:ident)? }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;

                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        $(let mut $field = None;)*
                        $(let mut $extra = $crate::JsonObject::new();)?
                        while let Some(key) = $crate::internal::object::next_key(&mut map)? {
                            let read = match &*key {
                                $($member => $crate::internal::object::read(&mut map, &mut $field, $member),)*
                                _key => $crate::__object!(@other map _key $($extra)?),
                            };
                            read?;
                        }
                        Ok($name {
                            $($field: $crate::__object!(@read $kind $field $member),)*
                            $($extra: $extra.into(),)?
                        })
                    }
                }

                deserializer.deserialize_map(ObjectVisitor)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[allow(unused_mut, reason = "a struct may have no members")]
                let mut map = serializer.serialize_map(None)?;
                $(serde::ser::SerializeMap::serialize_entry(&mut map, $tag, $value)?;)?
                $($crate::__object!(@write $kind map $member self.$field);)*
                $($crate::internal::object::write_all(&mut map, &self.$extra)?;)?
                serde::ser::SerializeMap::end(map)
            }
        }
    };
    (@other $map:ident $key:ident) => { $crate::internal::object::skip(&mut $map) };
    (@other $map:ident $key:ident $extra:ident) => {
        $crate::internal::object::insert(&mut $map, &mut $extra, $key)
    };
    (@read required $field:ident $member:literal) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($member))?
    };
    (@read optional $field:ident $member:literal) => { $field.flatten() };
    (@read nullable $field:ident $member:literal) => { $field.flatten() };
    (@read explicit $field:ident $member:literal) => { $field };
    (@write required $map:ident $member:literal $value:expr) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $member, &$value)?;
    };
    (@write optional $map:ident $member:literal $value:expr) => {
        $crate::internal::object::write(&mut $map, $member, $value.as_ref())?;
    };
    (@write nullable $map:ident $member:literal $value:expr) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $member, &$value)?;
    };
    (@write explicit $map:ident $member:literal $value:expr) => {
        $crate::internal::object::write(&mut $map, $member, $value.as_ref())?;
    };
}

/// Implements `Deserialize` and `Serialize` for an enumeration, given the string of each variant.
macro_rules! choice {
    ($name:ident { $($value:literal => $variant:ident),* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const VARIANTS: &[$name] = &[$($name::$variant),*];
                let visitor = crate::object::ChoiceVisitor(&[$($value),*]);
                deserializer.deserialize_str(visitor).map(|position| VARIANTS[position])
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use choice;

pub use crate::__object as object;

/// Returns the key of the next member.
pub fn next_key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_key()?.map(|Text(key)| key))
}

/// Reads a member that must not occur twice.
pub fn read<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    value: &mut Option<T>,
    member: &'static str,
) -> Result<(), A::Error> {
    if value.is_some() {
        return Err(A::Error::duplicate_field(member));
    }
    *value = Some(map.next_value()?);
    Ok(())
}

/// Skips an unknown member.
pub fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value().map(|IgnoredAny| ())
}

/// Adds a member to those that the protocol does not define.
pub fn insert<'de, A: MapAccess<'de>>(
    map: &mut A,
    extra: &mut JsonObject,
    key: &str,
) -> Result<(), A::Error> {
    extra.insert(key.to_owned(), map.next_value()?);
    Ok(())
}

/// Writes a member unless it is absent.
pub fn write<M: SerializeMap, T: Serialize>(
    map: &mut M,
    member: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(member, value),
        None => Ok(()),
    }
}

/// Writes the members that the protocol does not define.
pub fn write_all<M: SerializeMap>(map: &mut M, extra: &JsonObject) -> Result<(), M::Error> {
    let mut members = extra.iter();
    members.try_for_each(|(member, value)| map.serialize_entry(member, value))
}

/// Visitor of a string that is one of some values. Returns its position.
pub(crate) struct ChoiceVisitor(pub(crate) &'static [&'static str]);

impl Visitor<'_> for ChoiceVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<usize, E> {
        let mut values = self.0.iter();
        let position = values.position(|known| *known == value);
        position.ok_or_else(|| E::unknown_variant(value, self.0))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::{
        CallToolResult, CancelTaskResult, Icon, ImageContent, Implementation, LoggingLevel,
        LoggingMessageNotificationParams, MetaObject, RequestMetaObject, TaskStatus,
    };

    fn error<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        serde_json::from_str::<T>(text).unwrap_err().to_string()
    }

    #[test]
    fn members_are_read_in_any_order_and_unknown_ones_skipped() {
        let text = r#"{"version":"1","x":[{}],"name":"n","title":null,"\u0069cons":[{"src":"a:b","theme":"dark"}]}"#;
        let read: Implementation = serde_json::from_str(text).unwrap();
        let expected = Implementation::new("n", "1")
            .with_icons([Icon::new("a:b").with_theme(crate::IconTheme::Dark)]);
        assert_eq!(read, expected);
        // A tree has owned keys.
        let tree = serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(
            serde_json::from_value::<Implementation>(tree).unwrap(),
            read
        );
    }

    #[test]
    fn an_absent_null_or_repeated_member_is_reported() {
        let missing = error::<Implementation>(r#"{"name":"n"}"#);
        assert!(missing.starts_with("missing field `version`"), "{missing}");
        let null = error::<Implementation>(r#"{"name":null,"version":"1"}"#);
        assert!(
            null.starts_with("invalid type: null, expected a string"),
            "{null}"
        );
        for repeated in [
            r#"{"name":"n","name":"n","version":"1"}"#,
            r#"{"name":"n","version":"1","title":null,"title":null}"#,
        ] {
            let repeated = error::<Implementation>(repeated);
            assert!(repeated.starts_with("duplicate field `"), "{repeated}");
        }
    }

    #[test]
    fn only_objects_are_structs_and_only_strings_are_choices() {
        let array = error::<Implementation>(r#"["n","1"]"#);
        assert!(
            array.starts_with("invalid type: sequence, expected an object"),
            "{array}"
        );
        let object = error::<LoggingLevel>(r#"{"debug":null}"#);
        assert!(
            object.starts_with("invalid type: map, expected a string"),
            "{object}"
        );
        let unknown = error::<LoggingLevel>(r#""trace""#);
        assert!(
            unknown.starts_with("unknown variant `trace`, expected one of `debug`, `info`"),
            "{unknown}"
        );
    }

    #[test]
    fn other_members_are_kept_where_the_protocol_allows_them() {
        let text = r#"{"a/b":{"c":[1]},"progressToken":7,"d":null}"#;
        let meta: RequestMetaObject = serde_json::from_str(text).unwrap();
        assert_eq!(meta.progress_token, Some(7.into()));
        assert_eq!(meta.extra.get("a/b"), Some(&json!({"c": [1]})));
        assert_eq!(meta.extra.get("d"), Some(&json!(null)));
        assert_eq!(meta.extra.len(), 2);
    }

    #[test]
    fn members_are_written_in_order_with_the_tag_first() {
        let image = ImageContent::new("AA==", "image/png").with_meta(MetaObject::new());
        let text = r#"{"type":"image","data":"AA==","mimeType":"image/png","_meta":{}}"#;
        assert_eq!(serde_json::to_string(&image).unwrap(), text);
        let mut meta = RequestMetaObject::new().with_progress_token(7);
        meta.extra.insert("a/b".to_owned(), json!([]));
        let text = r#"{"progressToken":7,"a/b":[]}"#;
        assert_eq!(serde_json::to_string(&meta).unwrap(), text);
        assert_eq!(
            serde_json::to_value(&meta).unwrap(),
            json!({"progressToken": 7, "a/b": []})
        );
        assert_eq!(
            serde_json::to_string(&LoggingLevel::Info).unwrap(),
            r#""info""#
        );
    }

    #[test]
    fn a_nullable_member_is_always_written() {
        let task = CancelTaskResult::new("t", "c", "u", TaskStatus::Working, None);
        let written = serde_json::to_value(&task).unwrap();
        assert_eq!(written["ttl"], json!(null));
        assert_eq!(
            serde_json::from_value::<CancelTaskResult>(written).unwrap(),
            task
        );
    }

    #[test]
    fn null_is_a_value_of_members_with_any_value() {
        let text = r#"{"level":"info","data":null}"#;
        let message: LoggingMessageNotificationParams = serde_json::from_str(text).unwrap();
        assert_eq!(message.data, json!(null));
        let text = r#"{"content":[],"structuredContent":null}"#;
        let result: CallToolResult = serde_json::from_str(text).unwrap();
        assert_eq!(result.structured_content, Some(json!(null)));
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
    }
}
