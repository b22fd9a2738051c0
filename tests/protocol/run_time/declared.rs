//! Declared schemas and arguments of features that are made at run time, and their calls.

use serde_json::{Value, json};
use treenail::Server;
use treenail::args::IntoScopes as _;
use treenail::dynamic::{Arguments, Feature, Fold, Prompt, RawResult, Tool};
use treenail::schema::{PromptArgument, Revision};
use treenail::scope::{OneOf, RequiredScopes};
use treenail::tool::WrapResults;

use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

fn server(feature: Feature) -> Server {
    treenail::server!().add(feature).build().unwrap()
}

/// Returns the listed definition of the only tool.
async fn listed(peer: &mut Peer) -> Value {
    peer.request("tools/list", json!({})).await["result"]["tools"][0].take()
}

/// Makes a tool with each kind of text or null output and this schema, with the values of their calls.
fn declared(schema: &Value) -> [(Feature, Value); 5] {
    let tool = || Tool::new("a").output(schema.clone());
    let raw = |_, _| async {
        let result = r#"{"structuredContent":"hi"}"#;
        Ok(RawResult::from(result.to_owned()))
    };
    [
        (tool().handler(|_, _| async { "hi" }), json!("hi")),
        (tool().blocking(|_, _| Some("hi")), json!("hi")),
        (tool().handler(|_, _| async {}), json!(null)),
        (
            tool()
                .fold(Fold::Concat)
                .stream(|_, _| tokio_stream::iter(["h", "\"i"])),
            json!("h\"i"),
        ),
        (tool().raw(raw), json!("hi")),
    ]
}

#[tokio::test]
async fn a_declared_text_or_null_is_structured_content() {
    let schemas = [
        json!({"type": "string"}),
        json!({"type": "null"}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ];
    for revision in covering("SRV-TOOL-12, SRV-TOOL-14") {
        for (schema, wrap) in schemas.iter().flat_map(|schema| {
            [WrapResults::Never, WrapResults::Legacy, WrapResults::Always]
                .map(|wrap| (schema, wrap))
        }) {
            for (feature, value) in declared(schema) {
                if !jsonschema::is_valid(schema, &value) {
                    continue;
                }
                let server = treenail::server!().wrap_results(wrap).add(feature);
                let mut peer = Peer::connect(&server.build().unwrap(), revision).await;
                let listed = listed(&mut peer).await;
                let result = peer.call("a", json!({})).await;
                let place = format!("{schema} in {revision}, {wrap:?}: {result}");
                let copy: Value = serde_json::from_str(text(&result)).unwrap();
                assert_eq!(copy, value, "{place}");
                match (listed.get("outputSchema"), result.get("structuredContent")) {
                    (Some(listed), Some(found)) => {
                        assert!(jsonschema::is_valid(listed, found), "{place}");
                        let found = found.get("result").unwrap_or(found);
                        assert_eq!(*found, value, "{place}");
                    }
                    (None, None) => assert!(!revision.is_modern(), "{place}"),
                    _ => panic!("{place}: {listed}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn unknown_prompt_arguments_are_compared_with_missing_ones_only() {
    let prompt = Prompt::new("p")
        .argument(PromptArgument::new("city").with_required(true))
        .argument(PromptArgument::new("cities"))
        .handler(|_, _| async { "" });
    let mut peer = Peer::connect(&server(prompt), MODERN).await;
    let arguments = json!({"city": "Oslo", "citi": "Bergen", "cite": 1});
    let params = json!({"name": "p", "arguments": arguments});
    let (_, message) = peer.refused("prompts/get", params).await;
    let expected = "wrong arguments for the prompt `p`:\n\
                    - /citi: unknown argument; did you mean `cities`?\n\
                    - /cite: unknown argument; did you mean `cities`?";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn the_first_unknown_prompt_arguments_are_reported() {
    let argument = |at| PromptArgument::new(format!("{}{at}", "argument".repeat(12)));
    let mut prompt = Prompt::new("p").argument(PromptArgument::new("city").with_required(true));
    for at in 0..30 {
        prompt = prompt.argument(argument(at));
    }
    let server = server(prompt.handler(|_, _| async { "" }));
    let mut peer = Peer::connect(&server, MODERN).await;
    let members = (0..200).map(|at| (format!("{}{at}", "arguments".repeat(11)), json!("")));
    let arguments: Value = members
        .chain([("city".to_owned(), json!("Oslo"))])
        .collect();
    let params = json!({"name": "p", "arguments": arguments});
    let (code, message) = peer.refused("prompts/get", params).await;
    assert_eq!(code, -32602);
    assert_eq!(message.lines().count(), 17, "{message}");
    assert!(
        !message.contains("missing"),
        "arguments after the reported ones count"
    );
}

#[test]
fn a_repeated_prompt_argument_does_not_build() {
    let prompt = || {
        Prompt::new("p")
            .argument(PromptArgument::new("city").with_required(true))
            .argument(PromptArgument::new("city").with_required(true))
    };
    for feature in [
        prompt().handler(|_, _| async { "" }),
        prompt().blocking(|_, _| ""),
    ] {
        let built = treenail::server!().add(feature).build();
        let error = built.unwrap_err().to_string();
        assert_eq!(error, "prompt `p`: it has two arguments called `city`");
    }
    // The server behind a proxy decides about its arguments.
    server(prompt().raw(|_, _| async { Ok(RawResult::from(String::new())) }));
}

#[tokio::test]
async fn a_null_argument_does_not_change_the_others() {
    let tool = Tool::new("a")
        .input(json!({"type": "object", "properties": {
            "a\"": {"type": "number"},
            "b": {"type": "integer"},
            "c": {},
        }}))
        .handler(|_, arguments| async move { arguments.into_text() });
    let server = server(tool);
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for (given, accepted) in [
            (
                r#"{"a\"":0.12345678901234567890,"b":null,"c":{"b": 1.0e2}}"#,
                r#"{"a\"":0.12345678901234567890,"c":{"b": 1.0e2}}"#,
            ),
            (r#"{"b":null}"#, "{}"),
        ] {
            let params = json!({"name": "a", "arguments": {}});
            let message = peer.message(&json!(1), "tools/call", params).to_string();
            let arguments = format!("\"arguments\":{given}");
            peer.send_line(&message.replace("\"arguments\":{}", &arguments))
                .await;
            let answer = peer.receive("tools/call").await;
            assert_eq!(text(&answer["result"]), accepted);
        }
    }
}

#[tokio::test]
async fn each_listed_input_schema_is_that_of_an_object() {
    fn tool(schema: Value) -> Feature {
        let tool = Tool::new("a").input(schema);
        tool.raw(|_, _| async { Ok(RawResult::from(r#"{"content":[]}"#.to_owned())) })
    }
    for schema in [
        json!({}),
        json!({"properties": {"a": {}}}),
        json!({"type": ["object", "null"]}),
    ] {
        let server = server(tool(schema.clone()));
        for revision in Revision::ALL {
            let mut peer = Peer::connect(&server, revision).await;
            let found = listed(&mut peer).await["inputSchema"].take();
            let mut expected = schema.clone();
            expected["type"] = json!("object");
            assert_eq!(found, expected);
            let result = peer.call("a", json!({"a": 1})).await;
            assert_eq!(result["content"], json!([]));
        }
    }
    for schema in [
        json!({"type": "array"}),
        json!({"type": ["string", 3]}),
        json!({"type": 1}),
    ] {
        let built = treenail::server!().add(tool(schema)).build();
        let error = built.unwrap_err().to_string();
        let expected = "tool `a`: its input schema does not have `\"type\": \"object\"`";
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn a_function_with_the_error_of_the_crate_reads_its_arguments() {
    #[derive(serde::Deserialize)]
    struct Half {
        of: u32,
    }

    fn half(arguments: &Arguments) -> treenail::Result<String> {
        let half: Half = arguments.parse()?;
        Ok((half.of / 2).to_string())
    }

    let tool = Tool::new("half").input(json!({"type": "object", "properties": {"of": {}}}));
    let half = tool.handler(async |_, arguments: Arguments| half(&arguments));
    let mut peer = Peer::connect(&server(half), MODERN).await;
    assert_eq!(text(&peer.call("half", json!({"of": 8})).await), "4");
    let result = peer.call("half", json!({"of": true})).await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("/of"), "{result}");
}

#[test]
fn scopes_of_a_configuration_can_be_alternatives() {
    let configured = "files:audit files:admin".to_owned();
    let scopes = RequiredScopes::one_of(configured.split(' ').map(str::to_owned));
    let audit = Tool::new("audit").scope(scopes);
    let server = server(audit.handler(async |_, _| "audited"));
    let required = server.scopes_of("tools/call", "audit");
    let expected = OneOf(["files:audit", "files:admin"]).into_scopes();
    assert_eq!(required, expected);
    let none = RequiredScopes::one_of(Vec::<String>::new());
    let tool = Tool::new("audit").scope(none).handler(async |_, _| "");
    let error = treenail::server!().add(tool).build().unwrap_err();
    assert!(
        error.to_string().contains("alternative scopes is empty"),
        "{error}"
    );
}
