//! Tests of values that are transmitted as strings.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Other {
    B(u8),
}

#[derive(Debug, Deserialize, PartialEq)]
struct Id(u64);

#[track_caller]
fn check<T: DeserializeOwned + Debug + PartialEq>(text: &str, expected: Result<T, &str>) {
    let found = TextDeserializer::read(text).map_err(|error| error.to_string());
    assert_eq!(found, expected.map_err(str::to_owned), "{text}");
}

#[test]
fn types_are_read_from_texts() {
    check("a \"b\"", Ok("a \"b\"".to_owned()));
    check("", Ok(Some(String::new())));
    check("-7", Ok(-7_i8));
    check(
        "300",
        Err::<u8, _>("invalid value: integer `300`, expected u8"),
    );
    check("x", Err::<u8, _>("invalid type: string \"x\", expected u8"));
    check("0.5", Ok(0.5_f32));
    check("1e300", Ok(1e300_f64));
    for text in ["NaN", "nan", "-NaN", "inf", "-inf", "+infinity", "1e999"] {
        let reason = format!("invalid type: string \"{text}\", expected f64");
        check::<f64>(text, Err(&reason));
        check::<f32>(text, Err(&reason.replace("f64", "f32")));
        check::<Option<f64>>(text, Err(&reason));
    }
    let large = Err("invalid type: string \"1e300\", expected f32");
    check::<f32>("1e300", large);
    check("true", Ok(true));
    check("é", Ok('é'));
    check("12", Ok(Id(12)));
    check("metric", Ok(Unit::Metric));
    check(
        "feet",
        Err::<Unit, _>("unknown variant `feet`, expected `metric`"),
    );
    check("[1,2]", Ok(vec![1_u8, 2]));
    check("{\"a\":1}", Ok(BTreeMap::from([("a".to_owned(), 1_u8)])));
    check(" [1]\n", Ok(vec![1_u8]));
    for text in ["1, 2", "7", "\"a\"", ""] {
        check(text, Err::<Vec<u8>, _>(NO_CONTAINER));
    }
    for (text, error) in [
        ("[1] 2", "trailing characters at line 1 column 5"),
        ("[a, b]", "expected value at line 1 column 2"),
        (" [1,]", "trailing comma at line 1 column 5"),
        ("[1", "EOF while parsing a list at line 1 column 2"),
    ] {
        let reason = format!("{NO_CONTAINER}: {error}");
        check(text, Err::<Vec<u8>, _>(&reason));
    }
    check(
        "[\"x\"]",
        Err::<Vec<u8>, _>("invalid type: string \"x\", expected u8 at line 1 column 4"),
    );
}

#[test]
fn types_that_need_an_object_are_read_from_json() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "k")]
    enum Tagged {
        A { x: u8 },
    }
    check(r#"{"k":"A","x":1}"#, Ok(Tagged::A { x: 1 }));
    check(r#"{"k":"A","x":1}"#, Ok(Some(Tagged::A { x: 1 })));
    check(r#"{"B":2}"#, Ok(Other::B(2)));
    check(
        r#"{"k":"A","x":"s"}"#,
        Err::<Tagged, _>("invalid type: string \"s\", expected u8"),
    );
    check(
        "A",
        Err::<Tagged, _>("invalid type: string \"A\", expected internally tagged enum Tagged"),
    );
    let text = r#"{"k":1}"#;
    check(text, Ok(serde_json::Value::from(text)));
}

#[test]
fn strings_are_never_read_as_json() {
    for text in ["[draft] x", "[1]", "{}", "\"quoted\"", "[\u{e9}"] {
        let read = String::deserialize(TextDeserializer::json(text));
        assert_eq!(read.unwrap(), text);
    }
    let reason = "invalid IP address syntax";
    for text in ["[::1]", "[1]", "{}"] {
        check::<IpAddr>(text, Err(reason));
    }
}

#[test]
fn text_that_is_not_json_is_a_wrong_variant() {
    for text in ["{unit}", "{", "[1]", "[metric", "{} {}"] {
        let reason = format!("unknown variant `{text}`, expected `metric`");
        check::<Unit>(text, Err(&reason));
    }
    check(
        r#"{"feet":1}"#,
        Err::<Unit, _>("unknown variant `feet`, expected `metric` at line 1 column 7"),
    );
}
