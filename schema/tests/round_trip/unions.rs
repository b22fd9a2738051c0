//! Unions select their member by its tag, and report the reason for input that they reject.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use treenail_schema::*;

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

fn error<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn audio_is_not_an_image() {
    for text in [
        r#"{"type":"audio","data":"","mimeType":"a/b"}"#,
        r#"{"data":"","mimeType":"a/b","type":"audio"}"#,
    ] {
        let block: ContentBlock = serde_json::from_str(text).unwrap();
        assert!(matches!(block, ContentBlock::Audio(_)));
        let block: SamplingMessageContentBlock = serde_json::from_str(text).unwrap();
        assert!(matches!(block, SamplingMessageContentBlock::Audio(_)));
    }
}

#[test]
fn an_elicitation_is_not_a_request_for_roots() {
    let params = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
    let request = read(&json!({"method": "elicitation/create", "params": params}));
    let InputRequest::Elicit(ElicitRequestParams::Form(form)) = request else {
        panic!("it is {request:?}");
    };
    assert_eq!(form.message, "m");
}

#[test]
fn a_complete_result_does_not_require_input() {
    let complete = json!({"content": [{"type": "text", "text": "a"}], "resultType": "complete"});
    for result in [
        complete,
        json!({"content": [{"type": "text", "text": "a"}]}),
    ] {
        let result: MaybeInputRequired<CallToolResult> = read(&result);
        assert_eq!(
            result.complete().unwrap().content,
            [ContentBlock::text("a")]
        );
    }
    let required = json!({"requestState": "s", "resultType": "input_required", "content": []});
    let result: MaybeInputRequired<CallToolResult> = read(&required);
    assert!(matches!(result, MaybeInputRequired::InputRequired(_)));
}

#[test]
fn a_choice_of_strings_is_not_a_text_field() {
    use PrimitiveSchemaDefinition as Field;
    let field = |schema: Value| read::<Field>(&schema);
    assert!(matches!(field(json!({"type": "string"})), Field::String(_)));
    let untitled = json!({"type": "string", "enum": ["a"]});
    assert!(matches!(
        field(untitled),
        Field::UntitledSingleSelectEnum(_)
    ));
    let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]});
    assert!(matches!(field(titled), Field::TitledSingleSelectEnum(_)));
    let legacy = json!({"type": "string", "enum": ["a"], "enumNames": ["A"]});
    assert!(matches!(field(legacy), Field::LegacyTitledEnum(_)));
    let untitled = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
    assert!(matches!(field(untitled), Field::UntitledMultiSelectEnum(_)));
    let titled = json!({"type": "array", "items": {"anyOf": []}});
    assert!(matches!(field(titled), Field::TitledMultiSelectEnum(_)));
    assert!(matches!(
        field(json!({"type": "integer"})),
        Field::Number(_)
    ));
}

#[test]
fn an_absent_mode_is_a_form() {
    let form = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
    assert!(matches!(read(&form), ElicitRequestParams::Form(_)));
    let url = json!({"url": "https://example.com", "message": "m", "mode": "url"});
    assert!(matches!(read(&url), ElicitRequestParams::Url(_)));
}

#[test]
fn contents_are_text_or_blob_by_their_key() {
    let text = read(&json!({"uri": "a:b", "text": "t"}));
    assert!(matches!(text, ResourceContents::Text(_)));
    let blob = read(&json!({"uri": "a:b", "blob": "AA=="}));
    assert!(matches!(blob, ResourceContents::Blob(_)));
}

#[test]
fn a_string_and_a_number_are_different_ids() {
    assert_ne!(read::<RequestId>(&json!("1")), read::<RequestId>(&json!(1)));
    assert_eq!(RequestId::from("a").to_string(), "a");
    assert_eq!(ProgressToken::from(-1).to_string(), "-1");
}

#[test]
fn absent_and_null_are_different_where_null_is_a_value() {
    let absent: CallToolResult = read(&json!({"content": []}));
    assert_eq!(absent.structured_content, None);
    let null: CallToolResult = read(&json!({"content": [], "structuredContent": null}));
    assert_eq!(null.structured_content, Some(Value::Null));
}

/// The schemas have integers where the protocol means any number.
#[test]
fn answers_may_have_fractions() {
    let result: ElicitResult = read(&json!({"action": "accept", "content": {"a": 1.5, "b": 50}}));
    let content = result.content.unwrap();
    assert_eq!(content["a"], ElicitValue::from(1.5));
    assert_eq!(serde_json::to_string(&content["b"]).unwrap(), "50");
}

#[test]
fn an_input_response_is_decoded_by_its_request_type() {
    let result = ElicitResult::new(ElicitAction::Accept)
        .with_content([("unit".to_owned(), ElicitValue::from("C"))]);
    let response = InputResponse::encode::<ElicitRequest>(&result).unwrap();
    assert_eq!(response.decode::<ElicitRequest>().unwrap(), result);
    assert!(response.decode::<ListRootsRequest>().is_err());
}

#[test]
fn errors_describe_the_problem() {
    let check = |error: String, expected: &str| assert!(error.contains(expected), "{error}");
    check(
        error::<ContentBlock>(r#"{"type":"hologram"}"#),
        "unknown content type `hologram`, expected one of `text`, `image`, `audio`, \
         `resource_link`, `resource`",
    );
    check(
        error::<ContentBlock>(r#"{"type":"image","data":""}"#),
        "missing field `mimeType`",
    );
    check(
        error::<ContentBlock>(r#"{"data":"","type":"image"}"#),
        "missing field `mimeType`",
    );
    check(
        error::<ContentBlock>(r#"{"text":"a"}"#),
        "missing field `type`",
    );
    check(
        error::<ContentBlock>("[]"),
        "expected an object with the content type in `type`",
    );
    check(
        error::<ElicitRequestParams>(r#"{"mode":"voice","message":"m"}"#),
        "unknown elicitation mode `voice`, expected one of `form`, `url`",
    );
    check(
        error::<InputRequest>(r#"{"method":"tools/call"}"#),
        "unknown input request `tools/call`, expected one of `sampling/createMessage`",
    );
    check(
        error::<InputRequest>(r#"{"method":"elicitation/create"}"#),
        "missing field `params`",
    );
    check(
        error::<PrimitiveSchemaDefinition>(r#"{"type":"object"}"#),
        "unknown field type `object`",
    );
    check(
        error::<ResourceContents>(r#"{"uri":"a:b"}"#),
        "without `text` or `blob`",
    );
    for id in ["null", "1.5", "true", "[]", "18446744073709551615"] {
        check(
            error::<RequestId>(id),
            "a request id, which is a string or an integer",
        );
    }
    check(
        error::<ElicitValue>("null"),
        "a string, a number, a boolean or an array of strings",
    );
    check(
        error::<MaybeInputRequired<CallToolResult>>(r#"{"resultType":"complete"}"#),
        "missing field `content`",
    );
    check(
        error::<Revision>(r#""1900-01-01""#),
        "unknown protocol revision `1900-01-01`",
    );
}
