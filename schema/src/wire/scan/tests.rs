//! Comparison with `serde_json` on the same texts, nesting, and members.

use super::*;
use crate::wire::Members;

fn check(text: &str) -> Result<(), SyntaxError> {
    let mut scanner = Scanner::new(text, DEEPEST);
    scanner.value()?;
    scanner.end()
}

#[test]
fn accepts_the_same_texts_as_serde_json() {
    let texts = [
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5e+10",
        "\"\"",
        "\"a\\u00e9\\n\"",
        " { \"a\" : [ 1 , { } ] } ",
        "[[],{},[{}]]",
        "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":\"\\\\\"}",
        "",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "+1",
        "tru",
        "nul",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "{\"a\"}",
        "{a:1}",
        "[1 2]",
        "{\"a\" 1}",
        "\"\t\"",
        "[}",
        "{]",
        "1 1",
        "\u{feff}1",
        "\"\\",
        "[\"\\\"]",
        "{\"a\":1}}",
        "{\"\\u0061\":1}",
        "NaN",
        "[,1]",
    ];
    for text in texts {
        let expected = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        assert_eq!(check(text).is_ok(), expected, "{text}: {:?}", check(text));
    }
}

/// Mutates random bytes of a valid text, and compares the outcomes of both parsers.
#[test]
fn agrees_with_serde_json_on_mutated_texts() {
    let seed = br#"{"a":[1,-2.5e3,{"b\u00e9":"x\\y"},true,null],"c":{},"d":[[]]}"#;
    let alphabet = br#"{}[]":,\ue+-.019tfn 	x"#;
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let mut text = seed.to_vec();
        for _ in 0..=random.usize(..3) {
            let (at, byte) = (
                random.usize(..text.len()),
                alphabet[random.usize(..alphabet.len())],
            );
            match random.usize(..3) {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        let Ok(text) = String::from_utf8(text) else {
            continue;
        };
        // serde_json rejects lone surrogates, which JSON allows. They cannot occur in these texts.
        let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text);
        assert_eq!(
            check(&text).is_ok(),
            expected.is_ok(),
            "{text} {expected:?} {:?}",
            check(&text)
        );
    }
}

#[test]
fn nesting_is_bounded_in_objects_and_arrays() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth| open.repeat(depth) + "1" + &close.repeat(depth);
        assert_eq!(check(&nested(128)), Ok(()));
        assert!(check(&nested(129)).is_err_and(|error| error.reason == "nested too deeply"));
    }
}

#[test]
fn members_are_extracted_with_unescaped_keys() {
    let mut members = Members::new(r#"{"a":[1, 2] , "b\u0063" : "x"}"#).expect("an object");
    assert_eq!(members.next(), Ok(Some(("a".into(), "[1, 2]"))));
    assert_eq!(members.next(), Ok(Some(("bc".into(), "\"x\""))));
    assert_eq!(members.next(), Ok(None));
}

#[test]
fn keys_that_are_extracted_are_unicode() {
    let mut members = Members::new(r#"{"a":{"\ud800":1},"\ud800":1}"#).expect("an object");
    assert_eq!(members.next(), Ok(Some(("a".into(), r#"{"\ud800":1}"#))));
    let error = members.next().expect_err("half of a surrogate pair");
    assert_eq!(error.reason, "invalid escape in a key");
}
