//! Messages and exit codes of answers that fail or stop early.

use super::{chat, run, without_server};
use crate::fake::{Endpoint, Reply};

#[test]
fn stop_reasons_have_messages_and_exit_codes() {
    let call = || Reply::calls(&[("c1", "add", r#"{"a": 1}"#)]);
    let cases = [
        (
            vec![Reply::error(401, "no key", "invalid_api_key")],
            4,
            "error: the model rejected the request: HTTP status 401: no key\n \
             note: no key was sent; use --key-env to name the environment variable with the key\n",
        ),
        (
            vec![Reply::of(200, "text/html", "<html>")],
            6,
            "error: the model returned an invalid response: the response has the content type `text/html`, expected JSON or an event stream\n",
        ),
        (
            vec![Reply::error(429, "later", "x").header("retry-after", "3600")],
            3,
            "error: the model is unavailable for 3600 s: HTTP status 429: later\n",
        ),
        (
            vec![call(), Reply::text("I have enough.")],
            12,
            "the limit of tool rounds was reached; see --max-rounds\n",
        ),
    ];
    for (replies, code, expected) in cases {
        let endpoint = Endpoint::start(replies);
        let outcome = run(chat(&endpoint, &["--max-rounds", "1", "1 + 1?"]));
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert!(outcome.stderr.ends_with(expected), "{}", outcome.stderr);
    }
}

#[test]
fn invalid_command_line_is_reported_before_the_start() {
    let wrong: [(&[&str], &str); 5] = [
        (
            &["hi"],
            "error: the model is misconfigured: the environment variable `OPENAI_API_KEY` contains no key\n",
        ),
        (
            &["--base-url", "http://10.0.0.1/v1", "hi"],
            "error: the model is misconfigured: the base URL uses plain `http`, which exposes the key; use `https` or `allow_plain_http`\n",
        ),
        (
            &["--base-url", "http://localhost", "-s", "a b=c", "hi"],
            "error: invalid value `a b=c` for --server: expected `name=command` or `name=https://…`; a name consists of letters, digits, `_` and `-`\n",
        ),
        (
            &[
                "--base-url",
                "http://localhost",
                "-s",
                "a=b",
                "-s",
                "a=c",
                "hi",
            ],
            "error: duplicate server name `a`\n",
        ),
        (
            &["--base-url", "http://localhost", "--trust", "b", "hi"],
            "error: unknown server `b`\n",
        ),
    ];
    for (args, expected) in wrong {
        run(without_server(args)).check(2, "", expected);
    }
}
