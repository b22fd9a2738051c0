//! Errors of building a server with extensions.

use treenail::extension::Extension;
use treenail::prelude::*;
use treenail::{RpcError, Server};

use super::jobs::{self, ID, Signals};

async fn echo(_: Context, params: Value) -> Result<Value, RpcError> {
    Ok(params)
}

#[test]
fn invalid_and_duplicate_extensions_are_build_errors() {
    let method = |name: &str| vec![Extension::new("com.example/x").method(name, echo)];
    let one = |extension: Extension| vec![extension];
    let twice = || Extension::new(ID).method("jobs/add", echo);
    let cases = [
        (one(Extension::new("jobs")), "has no prefix"),
        (
            one(Extension::new("com..example/jobs")),
            "has an invalid prefix",
        ),
        (
            one(Extension::new("com.example/")),
            "has an invalid name after `/`",
        ),
        (
            one(Extension::new(ID).settings(json!([1]))),
            "the settings of the extension `com.example/jobs` are not a JSON object",
        ),
        (
            vec![Extension::new(ID), Extension::new(ID)],
            "the extension `com.example/jobs` is added twice",
        ),
        (
            one(twice().method("jobs/add", echo)),
            "the extension `com.example/jobs` has the method `jobs/add` twice",
        ),
        (
            vec![
                twice(),
                Extension::new("com.example/b").method("jobs/add", echo),
            ],
            "the extensions `com.example/jobs` and `com.example/b` both have the method `jobs/add`",
        ),
        (
            method("tools/call"),
            "`tools/call` of the extension `com.example/x` has the name of a message of the protocol",
        ),
        (
            method("elicitation/create"),
            "has the name of a message of the protocol",
        ),
        (
            method("tasks/get"),
            "has the name of a message of the protocol",
        ),
        (
            method("notifications/x"),
            "has the name of a message of the protocol",
        ),
        (method(""), "expected 1 to 128 visible ASCII characters"),
        (method("a b"), "expected 1 to 128 visible ASCII characters"),
        (
            method("a\r\nb"),
            "expected 1 to 128 visible ASCII characters",
        ),
    ];
    for (extensions, expected) in cases {
        let builder = Server::builder("demo", "1.0.0");
        let builder = extensions
            .into_iter()
            .fold(builder, treenail::ServerBuilder::extension);
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected), "EXT-B-01: {error}");
    }
}

#[test]
fn one_method_may_differ_between_revisions() {
    use treenail::extension::ExtensionMethod;
    use treenail::schema::Revision;

    let old = ExtensionMethod::new("x/do", echo).revisions(..Revision::LATEST);
    let new = ExtensionMethod::new("x/do", echo).revisions(Revision::LATEST..);
    let extension = Extension::new("com.example/x")
        .add_method(old)
        .add_method(new);
    jobs::builder(&Signals::default())
        .extension(extension)
        .build()
        .unwrap();
}
