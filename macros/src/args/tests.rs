//! Suggestions for misspelled keys.

use super::suggestion::nearest;

#[test]
fn suggestion_is_the_nearest_key_or_none() {
    let known = [
        "name",
        "title",
        "read_only",
        "crate",
        "range",
        "max_concurrency",
        "subscribable",
        "mime_type",
    ];
    for (key, expected) in [
        ("titel", Some("title")),
        ("readonly", Some("read_only")),
        ("nam", Some("name")),
        ("rnage", Some("range")),
        ("readOnly", Some("read_only")),
        ("concurrency", Some("max_concurrency")),
        ("subscribe", Some("subscribable")),
        ("mime", Some("mime_type")),
        ("max", Some("max_concurrency")),
        ("na", Some("name")),
        ("namespace", None),
        ("x", None),
    ] {
        assert_eq!(nearest(key, &known), expected, "{key}");
    }
}
