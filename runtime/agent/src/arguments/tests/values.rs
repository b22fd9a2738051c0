//! Tests of values: unambiguous mismatches of types are repaired, other mistakes are reported.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]

use serde_json::{Value, json};

use super::{check, check_wrong, types};

#[test]
fn unambiguous_type_mismatches_are_repaired() {
    let same = |value: Value| (value.clone(), value);
    check(
        &types(),
        &[
            (json!({"int": "3"}), json!({"int": 3})),
            (json!({"int": "3.0"}), json!({"int": 3})),
            (json!({"int": 3.0}), json!({"int": 3})),
            (json!({"num": "3.5"}), json!({"num": 3.5})),
            (json!({"num": "-1e3"}), json!({"num": -1000.0})),
            (json!({"bool": "true"}), json!({"bool": true})),
            (json!({"bool": "False"}), json!({"bool": false})),
            (json!({"text": 3}), json!({"text": "3"})),
            (json!({"text": 3.5}), json!({"text": "3.5"})),
            (json!({"text": true}), json!({"text": "true"})),
            (json!({"list": 3}), json!({"list": [3]})),
            (json!({"list": "3"}), json!({"list": [3]})),
            (json!({"list": "[1, \"2\"]"}), json!({"list": [1, 2]})),
            (json!({"list": ["1", 2.0]}), json!({"list": [1, 2]})),
            (json!({"words": "a, b"}), json!({"words": ["a, b"]})),
            (json!({"words": 7}), json!({"words": ["7"]})),
            (
                json!({"object": "{\"x\": \"1\"}"}),
                json!({"object": {"x": 1}}),
            ),
            (json!({"object": {"X": 1}}), json!({"object": {"x": 1}})),
            (json!({"maybe": "7"}), json!({"maybe": 7})),
            (json!({"either": "true"}), json!({"either": true})),
            (json!({"either": "12"}), json!({"either": 12})),
            (json!({"point": {"x": "1"}}), json!({"point": {"x": 1}})),
            (
                json!({"point": {"x": "1", "y": "2"}}),
                json!({"point": {"x": 1, "y": 2}}),
            ),
            (
                json!({"point": "{\"x\": \"1\"}"}),
                json!({"point": {"x": 1}}),
            ),
            (json!({"point": {"x": 2.0}}), json!({"point": {"x": 2}})),
            (json!({"some": "3"}), json!({"some": [3]})),
            (json!({"unit": "1"}), json!({"unit": 1})),
            (json!({"unit": "true"}), json!({"unit": true})),
            // `null` for an optional argument removes it.
            (json!({"int": null, "text": "a"}), json!({"text": "a"})),
            (
                json!({"object": {"x": 1, "y": null}}),
                json!({"object": {"x": 1}}),
            ),
            (json!({"either": null}), json!({})),
            (
                json!({"bool": "true", "int": "7", "text": 1}),
                json!({"bool": true, "int": 7, "text": "1"}),
            ),
            // Valid arguments are unchanged.
            same(json!({})),
            same(json!({"int": 3, "num": 3, "text": "3", "maybe": null, "either": 1, "list": []})),
            same(json!({"num": 3.0})),
            same(json!({"text": "true", "words": ["1"], "unit": "two", "point": null})),
        ],
    );
}

#[test]
fn remaining_mistakes_are_reported_as_by_a_server() {
    check_wrong(
        &types(),
        &[
            (
                json!({"int": "9", "num": "1e400", "bool": 1}),
                &[
                    "/int: expected an integer (at most 7), got the string \"9\"",
                    "/num: expected a number, got the string \"1e400\"",
                    "/bool: expected true or false, got 1",
                ],
            ),
            (
                json!({"int": "03"}),
                &["/int: expected an integer (at most 7), got the string \"03\""],
            ),
            (
                json!({"int": 3.5}),
                &["/int: expected an integer (at most 7), got 3.5"],
            ),
            (
                json!({"int": 9}),
                &["/int: expected an integer (at most 7), got 9"],
            ),
            (
                json!({"text": ""}),
                &["/text: expected a string (characters at least 1), got the string \"\""],
            ),
            (
                json!({"text": 1e300}),
                &["/text: expected a string (characters at least 1), got 1e+300"],
            ),
            (
                json!({"text": ["a"]}),
                &["/text: expected a string (characters at least 1), got the array [\"a\"]"],
            ),
            (
                json!({"list": "a"}),
                &["/list: expected an array, got the string \"a\""],
            ),
            (
                json!({"list": [1, "a"]}),
                &["/list/1: expected an integer, got the string \"a\""],
            ),
            (
                json!({"words": null, "object": {}}),
                &["/object/x: missing; expected an integer"],
            ),
            (
                json!({"object": {"x": null}}),
                &["/object/x: expected an integer, got null"],
            ),
            (
                json!({"object": "{\"x\": 1, \"z\": 2}"}),
                &["/object/z: unknown argument; known arguments: `x`, `y`"],
            ),
            (
                json!({"object": "{x: 1}"}),
                &["/object: expected an object, got the string \"{x: 1}\""],
            ),
            (
                json!({"either": "no"}),
                &["/either: expected an integer or true or false, got the string \"no\""],
            ),
            (
                json!({"point": {"y": 1}}),
                &["/point/x: missing; expected an integer"],
            ),
            (
                json!({"unit": "three"}),
                &["/unit: expected one of 1, \"two\", true, got the string \"three\""],
            ),
            (
                json!({"nothing like it": 1}),
                &[
                    "/nothing like it: unknown argument; known arguments: `int`, `num`, `bool`, `text`, `list`, `words`, `object`, `maybe`, `either`, `point`, `some`, `unit`",
                ],
            ),
            (
                json!({"itn": 1}),
                &["/itn: unknown argument; did you mean `int`?"],
            ),
        ],
    );
}

#[test]
fn mistakes_in_a_choice_refer_to_the_closest_branch() {
    let schema = json!({
        "type": "object",
        "oneOf": [
            {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
            {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}, "unit": {"type": "string"}},
             "required": ["kind", "side"]},
        ],
    });
    check(
        &schema,
        &[
            (
                json!({"kind": "circle", "radius": "1.5"}),
                json!({"kind": "circle", "radius": 1.5}),
            ),
            (
                json!({"kind": "square", "side": "2", "unit": 1}),
                json!({"kind": "square", "side": 2, "unit": "1"}),
            ),
        ],
    );
    check_wrong(
        &schema,
        &[(
            json!({"kind": "circle"}),
            &["/radius: missing; expected a number"],
        )],
    );
}

#[test]
fn mistakes_in_a_choice_refer_to_the_branch_with_the_tag() {
    let branch = |tag: &str, content: &Value| {
        let properties = json!({"kind": {"const": tag}, "of": content});
        json!({"type": "object", "properties": properties, "required": ["kind", "of"]})
    };
    let integer = json!({"type": "integer", "minimum": 0});
    let schema = json!({"type": "object", "properties": {"it": {"oneOf": [
        branch("count", &integer),
        branch("text", &json!({"type": "string", "maxLength": 1})),
        branch("list", &json!({"type": "array", "items": {"type": "object"}, "minItems": 1})),
    ]}}});
    check_wrong(
        &schema,
        &[
            (
                json!({"it": {"kind": "text", "of": true}}),
                &["/it/of: expected a string (characters at most 1), got true"],
            ),
            (
                json!({"it": {"kind": "list", "of": "x"}}),
                &["/it/of: expected an array (items at least 1), got the string \"x\""],
            ),
            (
                json!({"it": {"kind": "list", "of": [5]}}),
                &["/it/of/0: expected an object, got 5"],
            ),
            (
                json!({"it": {"kind": "map", "of": {}}}),
                &[
                    "/it/kind: expected one of \"count\", \"text\", \"list\", got the string \"map\"",
                ],
            ),
            (
                json!({"it": {"kind": "text"}}),
                &["/it/of: missing; expected a string (characters at most 1)"],
            ),
        ],
    );
    check(
        &json!({"type": "object", "properties": {"it": {"oneOf": [
            branch("text", &json!({"type": "string"})), branch("count", &integer),
        ]}}}),
        &[(
            json!({"it": {"kind": "count", "of": 5.0}}),
            json!({"it": {"kind": "count", "of": 5}}),
        )],
    );
}
