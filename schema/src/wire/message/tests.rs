//! Messages that are parsed, and the errors of malformed ones.

use super::*;

const LIMITS: ParseLimits = ParseLimits {
    depth: 8,
    id_bytes: 6,
    batch_messages: 2,
};

fn outcome(text: &str) -> String {
    match parse(text.as_bytes(), LIMITS) {
        Body::Batch(messages) => format!("batch of {}", messages.len()),
        Body::One(Ok(Message::Request(id, envelope))) => {
            format!("request {id} {}", envelope.method)
        }
        Body::One(Ok(Message::Notification(envelope))) => {
            format!("notification {}", envelope.method)
        }
        Body::One(Ok(Message::Response(id, answer))) => format!("response {id} {answer:?}"),
        Body::One(Err(Invalid {
            answered: Some(id),
            error,
            ..
        })) => format!("response to {id}: {error}"),
        Body::One(Err(invalid)) => format!("{:?} {}", invalid.id, invalid.error),
    }
}

/// A message, and what it is taken for.
const MESSAGES: [(&str, &str); 38] = [
    (
        r#"{"jsonrpc":"2\u002e0","id":1,"method":"ping"}"#,
        "request 1 ping",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "request 1 ping",
    ),
    (
        r#"{"params":{},"method":"a\/b","id":"x","jsonrpc":"2.0"}"#,
        "request \"x\" a/b",
    ),
    (
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "notification notifications/initialized",
    ),
    (
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#,
        "notification notifications/initialized",
    ),
    (
        r#"{"jsonrpc":"2.0","id":5.0,"method":"ping"}"#,
        "request 5.0 ping",
    ),
    (
        r#"{"jsonrpc":"2.0","id":5.00,"result":{}}"#,
        "response 5.00 Ok(\"{}\")",
    ),
    (
        r#"{"jsonrpc":"2.0","id":-7,"result":{}}"#,
        "response -7 Ok(\"{}\")",
    ),
    (
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":1}}"#,
        r#"response "a" Err("{\"code\":1}")"#,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#,
        "response to 1: member `result or error` is given twice (code -32600)",
    ),
    (
        r#"{"id":1,"result":{}}"#,
        "response to 1: `jsonrpc` is not \"2.0\" (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        "Some(\"1\") a message has a `method` or an answer, not both (code -32600)",
    ),
    (
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 3]"#,
        "batch of 2",
    ),
    ("[1,2,3,4,5]", "batch of 3"),
    (
        "[1,2,3,4,5",
        "None not valid JSON: expected `,` or `]` at byte 10 (code -32700)",
    ),
    ("[]", "batch of 0"),
    ("3", "None a message is a JSON object (code -32600)"),
    (
        "{",
        "None not valid JSON: expected a key in double quotes at byte 1 (code -32700)",
    ),
    (
        r#"{"id":1,"method":"ping"}"#,
        "Some(\"1\") `jsonrpc` is not \"2.0\" (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        "None `id` is neither a string nor an integer (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        "None `id` is neither a string nor an integer (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":"abcd","method":"a"}"#,
        "request \"abcd\" a",
    ),
    (
        r#"{"jsonrpc":"2.0","id":"abcde","method":"a"}"#,
        "None `id` is longer than 6 bytes (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1234567,"result":{}}"#,
        "None `id` is longer than 6 bytes (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#,
        "Some(\"2\") member `id` is given twice (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
        "Some(\"1\") `params` is not an object (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null,"params":{}}"#,
        "Some(\"1\") member `params` is given twice (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":null}"#,
        "Some(\"1\") member `params` is given twice (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        "Some(\"1\") `method` is not a string (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1}"#,
        "Some(\"1\") `method` is missing (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[[[[[[[[1]]]]]]]]}"#,
        "Some(\"1\") the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"{"method":"a","params":{"a":[[[[[[[[1]]]]]]]]},"jsonrpc":"2.0","id":1}"#,
        "Some(\"1\") the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":"abcde","method":"a","params":{"a":[[[[[[[[1]]]]]]]]}}"#,
        "None the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"[{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":[[[[[[[[1]]]]]]]]}}]"#,
        "None the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"result":{"id":2,"a":[[[[[[[[1]]]]]]]]}}"#,
        "response to 1: the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"{"error":{"id":2,"a":[[[[[[[[1]]]]]]]]},"jsonrpc":"2.0","id":1}"#,
        "response to 1: the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1234567,"result":[[[[[[[[1]]]]]]]]}"#,
        "None the message is nested deeper than 8 levels (code -32600)",
    ),
    (
        r#"{"params":{"result":[[[[[[[[1]]]]]]]]},"jsonrpc":"2.0","id":1}"#,
        "Some(\"1\") the message is nested deeper than 8 levels (code -32600)",
    ),
];

#[test]
fn a_known_meta_changes_nothing() {
    let known = r#"{"a":"}"}"#;
    for meta in [
        known,
        r#"{"a":"}"} "#,
        r#"{"a":"}","b":1}"#,
        r#"{"a":"}"}}"#,
        r#"{"a":"#,
    ] {
        for rest in ["", r#","name":"n""#, r#","_meta":{}"#] {
            let params = format!(r#"{{"_meta":{meta}{rest}}}"#);
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{params}}}"#);
            let read = |known| {
                format!(
                    "{:?}",
                    parse_with_known_meta(text.as_bytes(), LIMITS, known)
                )
            };
            assert_eq!(read(known), read(""), "{text}");
        }
    }
}

#[test]
fn messages_are_told_apart() {
    for (text, expected) in MESSAGES {
        assert_eq!(outcome(text), expected, "{text}");
    }
    assert!(
        matches!(parse(b"\xff", LIMITS), Body::One(Err(invalid)) if invalid.error.code == -32700)
    );
}
