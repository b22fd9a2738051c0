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
        let said = content[0]["text"].as_str().unwrap().to_owned();
        check(
            &json!({"content": content, "structuredContent": structured}),
            &[&said, describe],
        );
    }
    check(
        &json!({"content": [], "structuredContent": {"a": 1}}),
        &[r#"{"a":1}"#],
    );
}
