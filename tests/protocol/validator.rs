//! Messages of the server, validated against the official schema of a revision.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};
use treenail::schema::Revision;

static VALIDATORS: LazyLock<Mutex<HashMap<(Revision, String), &'static Validator>>> =
    LazyLock::new(Mutex::default);

/// Fails if `message`, the answer to `method`, is not what the schema of `revision` says.
pub(crate) fn validate(revision: Revision, method: &str, message: &Value) {
    let modern = revision >= Revision::V2025_11_25;
    let definition = if message.get("error").is_none() {
        "JSONRPCResponse"
    } else if modern {
        "JSONRPCErrorResponse"
    } else {
        "JSONRPCError"
    };
    // Revisions before 2025-11-25 have no form for an error whose id could not be read.
    if modern || message.get("id").is_some() {
        check(revision, definition, message);
    }
    if let Some(result) = message.get("result") {
        check(revision, result_of(method), result);
    }
    if let Some(definition) = error_of(&message["error"]["code"]) {
        check(revision, definition, message);
    }
}

/// Fails if `message` is not a notification that `revision` knows.
pub(crate) fn validate_notification(revision: Revision, message: &Value) {
    let definition = match message["method"].as_str() {
        Some("notifications/progress") => "ProgressNotification",
        Some("notifications/message") => "LoggingMessageNotification",
        Some("notifications/tools/list_changed") => "ToolListChangedNotification",
        Some("notifications/prompts/list_changed") => "PromptListChangedNotification",
        Some("notifications/resources/list_changed") => "ResourceListChangedNotification",
        Some("notifications/resources/updated") => "ResourceUpdatedNotification",
        Some("notifications/subscriptions/acknowledged") => "SubscriptionsAcknowledgedNotification",
        Some("notifications/cancelled") => "CancelledNotification",
        _ => panic!("not a notification that is expected: {message}"),
    };
    check(revision, definition, message);
}

fn result_of(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        _ => "EmptyResult",
    }
}

fn error_of(code: &Value) -> Option<&'static str> {
    match code.as_i64()? {
        -32022 => Some("UnsupportedProtocolVersionError"),
        _ => None,
    }
}

fn check(revision: Revision, definition: &str, instance: &Value) {
    let validator = *VALIDATORS
        .lock()
        .unwrap()
        .entry((revision, definition.to_owned()))
        .or_insert_with(|| Box::leak(Box::new(compile(revision, definition))));
    let errors: Vec<_> = validator
        .iter_errors(instance)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "not a {definition} of {revision}: {errors:#?}\n{instance:#}"
    );
}

fn compile(revision: Revision, definition: &str) -> Validator {
    let path = format!("{}/schema/json/{revision}.json", env!("CARGO_MANIFEST_DIR"));
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let definitions = if schema.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    assert!(
        schema[definitions].get(definition).is_some(),
        "{revision} has no {definition}"
    );
    // In draft-07, what stands beside a `$ref` is ignored, so the reference goes into an `allOf`.
    schema["allOf"] = json!([{ "$ref": format!("#/{definitions}/{definition}") }]);
    jsonschema::validator_for(&schema).unwrap()
}
