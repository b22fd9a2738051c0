//! Reading and writing of members and strings, and the errors of malformed ones.

use serde::de::DeserializeOwned;
use serde_json::json;

use crate::wire::RpcError;
use crate::{
    CallToolResult, CancelTaskResult, ClientCapabilities, Icon, ImageContent, Implementation,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParams, MetaObject, ProgressToken,
    RequestMetaObject, Resource, TaskStatus,
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
fn a_lenient_count_is_never_negative_and_saturates() {
    let read = |ttl: &str| {
        let text = format!(r#"{{"tools":[],"ttlMs":{ttl}}}"#);
        let result = serde_json::from_str::<ListToolsResult>(&text);
        let tree = serde_json::from_str::<serde_json::Value>(&text).unwrap();
        assert_eq!(
            result.as_ref().ok(),
            serde_json::from_value(tree).ok().as_ref()
        );
        result.map(|result| result.ttl_ms)
    };
    for (ttl, expected) in [
        ("5", Some(5)),
        ("0", Some(0)),
        ("-0", Some(0)),
        ("-1", Some(0)),
        ("-1e300", Some(0)),
        ("60000.0", Some(60_000)),
        ("6e4", Some(60_000)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", Some(u64::MAX)),
        ("1e300", Some(u64::MAX)),
        ("null", None),
    ] {
        assert_eq!(read(ttl).unwrap(), expected, "CLI-CACHE-03: {ttl}");
    }
    for ttl in ["1.5", "-0.5", "\"1\"", "true", "[]"] {
        read(ttl).unwrap_err();
    }
    let repeated = error::<ListToolsResult>(r#"{"tools":[],"ttlMs":1,"ttlMs":1}"#);
    assert!(
        repeated.starts_with("duplicate field `ttlMs`"),
        "{repeated}"
    );
    let written = ListToolsResult::new([]).with_ttl_ms(7);
    let written = serde_json::to_value(&written).unwrap();
    assert_eq!(written, json!({"tools": [], "ttlMs": 7}));
}

#[test]
fn an_integer_may_be_written_as_a_float() {
    let read = |size: &str| {
        let text = format!(r#"{{"uri":"a:b","name":"n","size":{size}}}"#);
        serde_json::from_str::<Resource>(&text).map(|resource| resource.size)
    };
    for (size, expected) in [
        ("7", Some(7)),
        ("7.0", Some(7)),
        ("-70e-1", Some(-7)),
        ("null", None),
    ] {
        assert_eq!(read(size).unwrap(), expected, "{size}");
    }
    for size in ["7.5", "1e300", "\"7\"", "18446744073709551615"] {
        read(size).unwrap_err();
    }
    let error: RpcError = serde_json::from_str(r#"{"code":-32603.0,"message":"m"}"#).unwrap();
    assert_eq!(error.code, -32603);
    let token: ProgressToken = serde_json::from_str("3.0").unwrap();
    assert_eq!(token, 3.into());
    serde_json::from_str::<ProgressToken>("3.5").unwrap_err();
}

#[test]
fn settings_that_are_not_an_object_are_empty() {
    let text = r#"{"extensions":{"a/b":true,"c/d":null,"e/f":{"g":1}},"experimental":{"h":[]}}"#;
    let read: ClientCapabilities = serde_json::from_str(text).unwrap();
    let expected =
        json!({"extensions": {"a/b": {}, "c/d": {}, "e/f": {"g": 1}}, "experimental": {"h": {}}});
    assert_eq!(serde_json::to_value(&read).unwrap(), expected);
    let text = r#"{"extensions":["a/b"],"experimental":5}"#;
    let read: ClientCapabilities = serde_json::from_str(text).unwrap();
    let expected = json!({"extensions": {}, "experimental": {}});
    assert_eq!(serde_json::to_value(&read).unwrap(), expected);
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
