//! Bounds within the types of arguments: they are in the schema, and checked before the function runs.

mod texts;
mod tools;

use serde_json::{Value, json};

use self::tools::server;
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn values_within_nested_bounds_reach_the_function() {
    let table = [
        ("search", json!({"query": {}})),
        (
            "search",
            json!({"query": {
                "days": 7, "code": "\u{e9}\u{1f600}\n\"\\", "tagNames": ["abc", ""], "share": 0.5, "max/price": 1000,
                "plain": 2_147_483_647, "unknown": 9
            }}),
        ),
        (
            "search",
            json!({"query": {"days": null, "share": null, "max/price": null}}),
        ),
        ("search", json!({"query": {"days": 7.0, "code": "ab"}})),
        // The schema does not have the alias.
        ("search", json!({"query": {"price": 2000}})),
        (
            "search_all",
            json!({"queries": [null, {"days": 1}], "level": null}),
        ),
        ("search_all", json!({"queries": [], "level": 3})),
        ("by_name", json!({"levels": {"a": 1}, "pair": [200, 3]})),
        (
            "plant",
            json!({"tree": {"name": "abc", "children": [{"name": "d"}], "other": null}}),
        ),
        // Properties beside the other members, and alternatives.
        (
            "others",
            json!({"rest": {"free": 99, "a": 3}, "choice": {"Level": 99}}),
        ),
        // Arrays: the fields of a variant, and a tuple.
        ("others", json!({"rest": {}, "choice": {"Pair": [99]}})),
        (
            "by_id",
            json!({"levels": {"7": 3, "12": 1}, "marks": [[3, 200]]}),
        ),
    ];
    for revision in covering("SRV-TOOL-17, ALL-JSCH-11") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_ne!(result["isError"], true, "{arguments}: {}", text(&result));
        }
    }
}

#[tokio::test]
async fn values_outside_of_nested_bounds_are_reported_with_their_place() {
    let table: [(&str, Value, &[&str]); 17] = [
        (
            "search",
            json!({"query": {"days": 200}}),
            &["- /query/days: expected an integer (at least 1, at most 7), got 200"],
        ),
        (
            "search",
            json!({"query": {"days": 8.0}}),
            &["- /query/days: expected an integer (at least 1, at most 7), got 8.0"],
        ),
        (
            "search",
            json!({"query": {"code": "\u{e9}", "share": 1, "max/price": 1001}}),
            &[
                "- /query/code: expected a string (characters at least 2, characters at most 5), got the string \"\u{e9}\"",
                "- /query/share: expected a number (more than 0, less than 1), got 1",
                "- /query/max~1price: expected an integer (at least 0, at most 1000), got 1001",
            ],
        ),
        (
            "search",
            json!({"query": {"share": 0.0, "days": 0}}),
            &[
                "- /query/share: expected a number (more than 0, less than 1), got 0.0",
                "- /query/days: expected an integer (at least 1, at most 7), got 0",
            ],
        ),
        (
            "search",
            json!({"query": {"code": "\u{1f600}\u{1f600}\n\"\\/"}}),
            &[
                r#"- /query/code: expected a string (characters at least 2, characters at most 5), got the string "😀😀\n\"\\/""#,
            ],
        ),
        (
            "search",
            json!({"query": {"tagNames": ["abcd", "a", "abcde"]}}),
            &[
                r#"- /query/tagNames: expected an array (items at most 2), got the array ["abcd","a","abcde"]"#,
                "- /query/tagNames/0: expected a string (characters at most 3), got the string \"abcd\"",
                "- /query/tagNames/2: expected a string (characters at most 3), got the string \"abcde\"",
            ],
        ),
        (
            "search_all",
            json!({"queries": [{}, {"days": 9}, null], "level": 4}),
            &[
                "- /queries/1/days: expected an integer (at least 1, at most 7), got 9",
                "- /level: expected an integer (at least 1, at most 3), got 4",
            ],
        ),
        // Another argument cannot be read.
        (
            "search_all",
            json!({"queries": [{"days": 9}], "level": "high"}),
            &[
                "- /queries/0/days: expected an integer (at least 1, at most 7), got 9",
                "- /level: expected an integer (at least 1, at most 3), got the string \"high\"",
            ],
        ),
        // Only the error of the deserializer.
        (
            "search",
            json!({"query": {"code": "", "days": 300}}),
            &["- /query/days: expected an integer (at least 1, at most 7), got 300"],
        ),
        (
            "by_name",
            json!({"levels": {"a~b": 0, "c": 1}}),
            &["- /levels/a~0b: expected an integer (at least 1, at most 3), got 0"],
        ),
        (
            "by_name",
            json!({"levels": {}, "pair": [5, 5]}),
            &["- /pair/1: expected an integer (at least 1, at most 3), got 5"],
        ),
        (
            "plant",
            json!({"tree": {"name": "a", "children": [{"name": "b", "other": {"name": "wide"}}]}}),
            &[
                "- /tree/children/0/other/name: expected a string (characters at most 3), got the string \"wide\"",
            ],
        ),
        (
            "others",
            json!({"rest": {"free": 99, "a": 4}}),
            &["- /rest/a: expected an integer (at least 1, at most 3), got 4"],
        ),
        // The deserializer of a struct accepts an array of its fields.
        (
            "search",
            json!({"query": [200, "ab", [], null, null, null]}),
            &["- /query: expected an object, got the array [200,\"ab\",[],null,null,null]"],
        ),
        (
            "search_all",
            json!({"queries": [{}, [1, "ab", [], null, null, null], {"days": 9}]}),
            &[
                "- /queries/1: expected an object or null, got the array [1,\"ab\",[],null,null,null]",
                "- /queries/2/days: expected an integer (at least 1, at most 7), got 9",
            ],
        ),
        (
            "by_id",
            json!({"levels": {"7": 99}}),
            &["- /levels/7: expected an integer (at least 1, at most 3), got 99"],
        ),
        (
            "by_id",
            json!({"levels": {}, "marks": [[4, 200]]}),
            &["- /marks/0/0: expected an integer (at least 1, at most 3), got 4"],
        ),
    ];
    for revision in covering("SRV-TOOL-17, ALL-JSCH-11") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, lines) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_eq!(result["isError"], true, "{arguments}");
            let expected = format!(
                "Wrong arguments for the tool `{name}`:\n{}\nCorrect them and call the tool again.",
                lines.join("\n")
            );
            assert_eq!(text(&result), expected);
        }
    }
}

#[tokio::test]
async fn the_number_of_reported_violations_is_bounded() {
    let mut peer = Peer::connect(&server(), MODERN).await;
    let queries = vec![json!({"days": 9}); 1000];
    let result = peer
        .call("search_all", json!({"queries": queries, "level": 9}))
        .await;
    let lines: Vec<_> = text(&result).lines().collect();
    // 16 of the first argument, and one of the second.
    assert_eq!(lines.len(), 1 + 16 + 1 + 1);
    assert!(lines[16].starts_with("- /queries/15/days: "));
    assert!(lines[17].starts_with("- /level: "));
}

#[tokio::test]
async fn many_violations_below_a_long_name_are_reported_quickly() {
    let mut peer = Peer::connect(&server(), MODERN).await;
    let levels = json!({"k".repeat(2_000_000): vec![9; 1_000_000]});
    let result = peer.call("lists", json!({"levels": levels})).await;
    assert_eq!(result["isError"], true);
    let lines: Vec<_> = text(&result).lines().collect();
    assert_eq!(lines.len(), 1 + 16 + 1);
    assert!(lines[16].starts_with("- /levels/kkk"));
}
