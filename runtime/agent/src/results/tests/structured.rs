//! Tests of structured content, which is often in the text too.

use serde_json::{Value, json};

use super::check;

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Checks that the model reads the texts of the content, followed by `appended`.
#[track_caller]
fn check_texts(structured: &Value, content: &Value, appended: Option<&str>) {
    let given = json!({"content": content, "structuredContent": structured});
    let blocks = content.as_array().unwrap().iter();
    let texts = blocks.map(|block| block["text"].as_str().unwrap());
    check(&given, &texts.chain(appended).collect::<Vec<_>>());
}

#[test]
fn structured_content_is_not_repeated() {
    for (structured, content) in [
        (
            json!({"a": 1, "b": [2]}),
            text("{\n  \"b\": [2],\n  \"a\": 1\n}"),
        ),
        (json!([1, 2]), text("[1,2]")),
        (json!(null), text("null")),
        (json!("words"), text("words")),
        (json!("words"), text("\"words\"")),
        (json!({"result": 7}), text("7")),
        (json!({"result": "words"}), text("words")),
        (json!({"content": "words"}), text("words")),
        (json!({"entities": [{"a": 1}]}), text("[{\"a\": 1}]")),
        (
            json!({"result": ["a", {"b": 1}]}),
            json!([
                {"type": "text", "text": "a"}, {"type": "text", "text": "{\"b\": 1}"},
            ]),
        ),
    ] {
        check_texts(&structured, &content, None);
    }
}

#[test]
fn other_structured_content_is_appended() {
    for (structured, content, appended) in [
        (json!({"a": 1}), text("one"), r#"{"a":1}"#),
        (json!({"a": 1}), text("{\"a\": 2}"), r#"{"a":1}"#),
        (json!(null), text("nothing"), "null"),
        (
            json!({"content": "words"}),
            text("other"),
            r#"{"content":"words"}"#,
        ),
        (
            json!({"result": 7, "more": 8}),
            text("7"),
            r#"{"result":7,"more":8}"#,
        ),
        (
            json!({"ids": [2, 1]}),
            json!([{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]),
            r#"{"ids":[2,1]}"#,
        ),
        (json!({"a": 1}), json!([]), r#"{"a":1}"#),
        (json!({"ids": []}), json!([]), r#"{"ids":[]}"#),
    ] {
        check_texts(&structured, &content, Some(appended));
    }
}

#[test]
fn structured_content_that_selects_from_the_content_is_appended() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let content = json!([text("1"), text("2"), text("b")]);
    for structured in [
        json!({"winner": "b"}),
        json!({"selected": ["b"]}),
        json!({"remaining": 2}),
        json!({"match": text("b")}),
        json!({"result": ["1", "b"]}),
        json!(["1", "2"]),
    ] {
        check_texts(&structured, &content, Some(&structured.to_string()));
    }
}

#[test]
fn structured_blocks_with_more_than_the_content_are_appended() {
    let words = json!({"type": "text", "text": "words"});
    let mut scored = words.clone();
    scored["score"] = json!(0.9);
    let mut noted = words.clone();
    noted["annotations"] = json!({"priority": 0.5, "reason": "none"});
    for structured in [
        json!({"hits": [scored]}),
        json!({"result": noted}),
        scored.clone(),
        json!({"type": "text"}),
    ] {
        check_texts(&structured, &json!([words]), Some(&structured.to_string()));
    }
}

#[test]
fn structured_content_blocks_are_not_repeated() {
    let image = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    let words = json!({"type": "text", "text": "words"});
    let mut with_nulls = image.clone();
    with_nulls["annotations"] = Value::Null;
    let shown = "[image of type image/png, 3 bytes, which you cannot process]";
    for structured in [
        json!({"content": [image, words]}),
        json!({"result": [with_nulls, "words"]}),
        json!({"result": image}),
        image.clone(),
    ] {
        let given = json!({"content": [image, words], "structuredContent": structured});
        check(&given, &[shown, "words"]);
    }
    let given = json!({"content": [image], "structuredContent": {"image": image}});
    check(&given, &[shown]);
    let other = json!({"type": "image", "data": "QQ==", "mimeType": "image/png"});
    let given = json!({"content": [image], "structuredContent": {"content": [other]}});
    let appended = json!({"content": [other]}).to_string();
    check(&given, &[shown, &appended]);
}
