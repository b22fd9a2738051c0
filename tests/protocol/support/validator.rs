//! Validation of server messages against the official schema of a revision.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};
use treenail::schema::Revision;

static VALIDATORS: LazyLock<Mutex<HashMap<(Revision, String), &'static Validator>>> =
    LazyLock::new(Mutex::default);

/// Panics if `message`, the response to `method`, violates the schema of `revision`.
pub(crate) fn validate(revision: Revision, method: &str, message: &Value) {
    assert_ne!(
        message.get("result").is_some(),
        message.get("error").is_some(),
        "ALL-BASE-05: {message}"
    );
    assert_eq!(message.get("method"), None, "SRV-BASE-08: {message}");
    check_code(revision, &message["error"]["code"]);
    // Revisions before 2025-11-25 define no error response for an unreadable ID.
    if revision >= Revision::V2025_11_25 || message.get("id").is_some() {
        check(revision, response_definition(revision, message), message);
    }
    if let Some(result) = message.get("result") {
        if result["resultType"] == "input_required" {
            check(revision, "InputRequiredResult", result);
            let questions = result["inputRequests"].as_object().into_iter().flatten();
            questions.for_each(|(_, question)| validate_request(revision, question));
        } else {
            check(revision, result_of(method), result);
        }
    }
    let definition = error_of(&message["error"]["code"]);
    if let Some(definition) = definition.filter(|_| revision.is_modern()) {
        check(revision, definition, message);
    }
}

/// Returns the name of the definition of a response.
pub(crate) fn response_definition(revision: Revision, message: &Value) -> &'static str {
    if message.get("error").is_none() {
        "JSONRPCResponse"
    } else if revision >= Revision::V2025_11_25 {
        "JSONRPCErrorResponse"
    } else {
        "JSONRPCError"
    }
}

/// Panics if `message` is not a server request of `revision`; in the modern era it is part of a result.
pub(crate) fn validate_request(revision: Revision, message: &Value) {
    let definition = match message["method"].as_str() {
        Some("elicitation/create") => "ElicitRequest",
        Some("sampling/createMessage") => "CreateMessageRequest",
        Some("roots/list") => "ListRootsRequest",
        _ => panic!("not a request that is expected: {message}"),
    };
    check(revision, definition, message);
}

/// Panics if `message` is not a notification of `revision`.
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

/// Panics for reserved codes that `revision` does not define: ALL-ERR-03, ALL-ERR-04, ALL-ERR-05, ALL-ERR-07.
fn check_code(revision: Revision, code: &Value) {
    let allowed = match code.as_i64() {
        // Older revisions do not define -32021. Extensions use it in all of them.
        None | Some(-32700 | -32603..=-32600 | -32021) => true,
        Some(-32022 | -32020) => revision.is_modern(),
        Some(-32002) => !revision.is_modern(),
        Some(-32042) => revision == Revision::V2025_11_25,
        Some(code) => !(-32768..=-32000).contains(&code),
    };
    assert!(allowed, "{revision} has no error {code}");
}

fn error_of(code: &Value) -> Option<&'static str> {
    match code.as_i64()? {
        -32021 => Some("MissingRequiredClientCapabilityError"),
        -32022 => Some("UnsupportedProtocolVersionError"),
        _ => None,
    }
}

/// Panics if `instance` violates `definition` in the schema of `revision`.
pub(crate) fn check(revision: Revision, definition: &str, instance: &Value) {
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

/// Returns whether `instance` matches `definition` and has no other members.
pub(crate) fn is_plain(revision: Revision, definition: &str, instance: &Value) -> bool {
    let (schema, definitions) = load(revision);
    let known = &schema[definitions][definition]["properties"];
    let members = instance.as_object().into_iter().flatten();
    let mut names = members.map(|(name, _)| name);
    names.all(|name| known.get(name).is_some()) && compile(revision, definition).is_valid(instance)
}

/// Returns the names of the definitions in the schema of `revision`.
pub(crate) fn definitions(revision: Revision) -> Vec<String> {
    let (schema, definitions) = load(revision);
    let definitions = schema[definitions].as_object().unwrap();
    definitions.keys().cloned().collect()
}

/// Returns the schema of a revision, and the name of its member with the definitions.
pub(crate) fn load(revision: Revision) -> (Value, &'static str) {
    let path = format!("{}/schema/json/{revision}.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let definitions = if schema.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    (schema, definitions)
}

fn compile(revision: Revision, definition: &str) -> Validator {
    let (mut schema, definitions) = load(revision);
    assert!(
        schema[definitions].get(definition).is_some(),
        "{revision} has no {definition}"
    );
    // In draft-07, keywords beside a `$ref` are ignored, so the reference moves into an `allOf`.
    schema["allOf"] = json!([{ "$ref": format!("#/{definitions}/{definition}") }]);
    jsonschema::validator_for(&schema).unwrap()
}
