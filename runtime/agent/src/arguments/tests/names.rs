//! Tests of differently spelled names of arguments.

use serde_json::json;

use super::{check, check_wrong};

#[test]
fn differently_spelled_names_are_repaired() {
    let schema = json!({
        "type": "object",
        "properties": {"user_name": {"type": "string"}, "maxItems": {"type": "integer"}, "max_size": {}},
        "required": ["user_name"],
        "additionalProperties": false,
    });
    check(
        &schema,
        &[
            (json!({"userName": "a"}), json!({"user_name": "a"})),
            (
                json!({"max-items": "3", "User Name": 7, "max_size": 1}),
                json!({"maxItems": 3, "user_name": "7", "max_size": 1}),
            ),
        ],
    );
    check_wrong(
        &schema,
        &[
            // Ambiguous.
            (
                json!({"userName": "a", "username": "b"}),
                &[
                    "/userName: unknown argument; did you mean `user_name`?",
                    "/username: unknown argument; did you mean `user_name`?",
                    "/user_name: missing; expected a string",
                ],
            ),
            (
                // The near name is given already.
                json!({"user_name": "a", "userName": "b"}),
                &[
                    "/userName: unknown argument; known arguments: `user_name`, `maxItems`, `max_size`",
                ],
            ),
            (
                json!({"name": "a"}),
                &[
                    "/name: unknown argument; known arguments: `user_name`, `maxItems`, `max_size`",
                    "/user_name: missing; expected a string",
                ],
            ),
        ],
    );
    // An unknown member that the schema allows is unchanged.
    let open = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    check(&open, &[(json!({"Days": "3"}), json!({"Days": "3"}))]);
    let required = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]});
    check(
        &required,
        &[(json!({"Days": "3", "a": 1}), json!({"days": 3, "a": 1}))],
    );
}
