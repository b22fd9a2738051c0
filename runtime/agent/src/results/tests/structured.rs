//! Tests of structured content, which is often in the text too.

use serde_json::json;

use super::check;

#[test]
fn structured_content_is_not_repeated() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let once = [
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
    ];
    for (structured, content) in once {
        let given = json!({"content": content, "structuredContent": structured});
        let expected: Vec<_> = content
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["text"].as_str().unwrap())
            .collect();
        check(&given, &expected);
    }
    let twice = [
        (
            json!({"content": "words"}),
            text("other"),
            r#"{"content":"words"}"#,
        ),
        (
            json!({"ids": [2, 1]}),
            json!([{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]),
            r#"{"ids":[2,1]}"#,
        ),
        (json!({"a": 1}), text("one"), r#"{"a":1}"#),
        (json!({"a": 1}), text("{\"a\": 2}"), r#"{"a":1}"#),
        (json!(null), text("nothing"), "null"),
        (
            json!({"result": 7, "more": 8}),
            text("7"),
            r#"{"result":7,"more":8}"#,
        ),
    ];
    for (structured, content, describe) in twice {
        let given = json!({"content": content, "structuredContent": structured});
        let mut expected: Vec<_> = content
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["text"].as_str().unwrap())
            .collect();
        expected.push(describe);
        check(&given, &expected);
    }
    check(
        &json!({"content": [], "structuredContent": {"a": 1}}),
        &[r#"{"a":1}"#],
    );
}

#[test]
fn structured_content_blocks_are_not_repeated() {
    let image = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    let words = json!({"type": "text", "text": "words"});
    let with_nulls = json!({"type": "image", "data": "QUJD", "mimeType": "image/png", "annotations": null, "_meta": null});
    let shown = "[image of type image/png, 3 bytes, which you cannot process]";
    for structured in [
        json!({"content": [image, words]}),
        json!({"result": [with_nulls, "words"]}),
        json!({"image": image}),
        image.clone(),
    ] {
        let given = json!({"content": [image, words], "structuredContent": structured});
        check(&given, &[shown, "words"]);
    }
    let other = json!({"type": "image", "data": "QQ==", "mimeType": "image/png"});
    let given = json!({"content": [image], "structuredContent": {"content": [other]}});
    let appended = json!({"content": [other]}).to_string();
    check(&given, &[shown, &appended]);
}
