//! Comparison with `serde_json`.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::wire::Members;

const VALUES: [&str; 20] = [
    "0",
    "-0",
    "7",
    "-7",
    "300",
    "1.5",
    "1e2",
    "123456789012345678",
    "1234567890123456789",
    "18446744073709551616",
    "null",
    "true",
    "\"\"",
    "\"é\"",
    "\"a\\n\"",
    "\"Two\"",
    "[1,2]",
    "[]",
    "{\"a\":1}",
    "{\"One\":1}",
];

#[derive(Debug, PartialEq, Deserialize)]
enum Choice {
    One(u8),
    Two,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Of<T> {
    a: T,
    #[serde(default)]
    b: Option<u8>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict<T> {
    a: T,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat<T> {
    #[serde(flatten)]
    rest: BTreeMap<String, T>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct New(i64);

fn places(object: &str) -> Places {
    let (mut places, mut members) = (Places::new(object), Members::new(object).unwrap());
    while let Some((key, value)) = members.next().unwrap() {
        places.add(object, &key, value);
    }
    places
}

#[test]
fn a_compact_member_is_found_only_without_white_space() {
    let (object, key) = ("{\"a\":[1],\"b\":2}", "\"b\":");
    let (mut places, mut members) = (Places::new(object), Members::new(object).unwrap());
    assert!(!members.skip_key(key));
    assert!(members.skip_key("\"a\":"));
    places.add_compact(object, 4, members.value().unwrap());
    assert!(members.skip_key(key));
    places.add_compact(object, key.len(), members.integer().unwrap());
    assert!(!members.skip_key(key));
    assert!(members.next().unwrap().is_none());
    let read: Option<Value> = places.read(object);
    assert_eq!(read, serde_json::from_str(object).ok());
    for object in ["{ \"b\":2}", "{\"b\" :2}", "{\"b\": 2}", "{\"b\"", "{"] {
        assert!(!Members::new(object).unwrap().skip_key(key), "{object}");
    }
    for value in ["2 ", "2.5", "2e1", "\"2\"", "[2]", ""] {
        let object = format!("{{\"b\":{value}}}");
        let mut members = Members::new(&object).unwrap();
        assert!(members.skip_key(key), "{object}");
        assert_eq!(members.integer(), None, "{object}");
    }
}

/// Checks that whatever is read by places is as `serde_json` reads it, and returns the number of such reads.
fn agrees<T: DeserializeOwned + PartialEq + Debug>() -> usize {
    let mut read = 0;
    for value in VALUES {
        for object in [
            format!("{{\"a\":{value}}}"),
            format!("{{\"b\":1, \"a\" : {value} }}"),
            format!("{{\"a\":{value},\"c\":{value}}}"),
            format!("{{\"a\":{value},\"a\":{value}}}"),
        ] {
            let expected = serde_json::from_str::<T>(&object).ok();
            let found = places(&object).read::<T>(&object);
            assert!(found.is_none() || found == expected, "{object}: {found:?}");
            read += usize::from(found.is_some());
        }
    }
    read
}

fn agrees_in_all_forms<T: DeserializeOwned + PartialEq + Debug>() {
    assert!(agrees::<Of<T>>() > 0);
    assert!(agrees::<Of<Option<T>>>() > 0);
    agrees::<Strict<T>>();
    agrees::<Flat<T>>();
    agrees::<BTreeMap<String, T>>();
    agrees::<Option<Of<T>>>();
}

#[test]
fn an_object_is_read_as_serde_reads_it() {
    agrees_in_all_forms::<u8>();
    agrees_in_all_forms::<i8>();
    agrees_in_all_forms::<u64>();
    agrees_in_all_forms::<i64>();
    agrees_in_all_forms::<u128>();
    agrees_in_all_forms::<f64>();
    agrees_in_all_forms::<bool>();
    agrees_in_all_forms::<char>();
    agrees_in_all_forms::<String>();
    agrees_in_all_forms::<Choice>();
    agrees_in_all_forms::<New>();
    agrees_in_all_forms::<Vec<u8>>();
    agrees_in_all_forms::<(u8, u8)>();
    agrees_in_all_forms::<Value>();
    agrees::<Value>();
    agrees::<Choice>();
}

#[test]
fn raw_values_have_their_text() {
    #[derive(Deserialize)]
    struct Raw {
        a: Box<RawValue>,
    }
    let object = "{\"a\":1.50}";
    let read = places(object).read::<Raw>(object).unwrap();
    assert_eq!(read.a.get(), "1.50");
    for object in [object, r#"{"$serde_json::private::RawValue":"not json"}"#] {
        let read = places(object).read::<Box<RawValue>>(object).unwrap();
        assert_eq!(read.get(), object);
    }
}

#[test]
fn many_members_and_escaped_keys_are_left_to_serde() {
    for object in [
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7}",
        "{\"\\u0061\":1}",
    ] {
        assert!(places(object).read::<Value>(object).is_none(), "{object}");
    }
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(70_000));
    assert!(places(&long).read::<Value>(&long).is_none());
    let empty: Option<Value> = places("{}").read("{}");
    assert_eq!(empty, Some(Value::Object(serde_json::Map::new())));
    assert!(Places::unknown().read::<Value>("{}").is_none());
}
