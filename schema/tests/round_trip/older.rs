//! Values created with this crate and conformed to a revision are valid in it.

use serde::Serialize;
use serde_json::{Value, json};
use treenail_schema::*;

use crate::revisions::assert_valid;

fn schema() -> SchemaObject {
    let Value::Object(schema) = json!({"type": "object"}) else {
        unreachable!()
    };
    schema.into()
}

/// Validates the result in all revisions that define it.
fn check<T: ResultObject + Serialize + Clone>(place: &str, result: &T, since: Revision) {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| *revision >= since)
    {
        let mut result = result.clone();
        result.conform_to(revision);
        let written = serde_json::to_value(&result).unwrap();
        assert_valid(revision, place, &written);
        for field in ["resultType", "ttlMs", "cacheScope"] {
            let known = treenail_schema::field(place, field);
            let known = known.is_some_and(|facts| facts.revisions.contains(revision));
            assert_eq!(
                written.get(field).is_some(),
                known,
                "{field} of {place} in {revision}"
            );
        }
    }
}

#[test]
fn results_conform_to_every_revision() {
    let oldest = Revision::V2024_11_05;
    check("CallToolResult", &CallToolResult::text("Sunny"), oldest);
    check(
        "ListToolsResult",
        &ListToolsResult::new([Tool::new("t", schema())]),
        oldest,
    );
    check(
        "ListPromptsResult",
        &ListPromptsResult::new([Prompt::new("p")]),
        oldest,
    );
    check(
        "ListResourcesResult",
        &ListResourcesResult::new([Resource::new("a:b", "a")]),
        oldest,
    );
    let template = ResourceTemplate::new("a:{b}", "a");
    check(
        "ListResourceTemplatesResult",
        &ListResourceTemplatesResult::new([template]),
        oldest,
    );
    let contents = TextResourceContents::new("a:b", "text");
    check(
        "ReadResourceResult",
        &ReadResourceResult::new([contents.into()]),
        oldest,
    );
    check(
        "GetPromptResult",
        &GetPromptResult::new([PromptMessage::user("Hi")]),
        oldest,
    );
    check(
        "CompleteResult",
        &CompleteResult::new(Completion::new(["a".to_owned()])),
        oldest,
    );
    check("EmptyResult", &EmptyResult::new(), oldest);
    check(
        "ListRootsResult",
        &ListRootsResult::new([Root::new("file:///a")]),
        oldest,
    );
    let versions = ["2026-07-28".to_owned()];
    let discover = DiscoverResult::new(ServerCapabilities::new(), versions);
    check("DiscoverResult", &discover, Revision::V2026_07_28);
}

#[test]
fn values_that_are_set_are_not_overwritten() {
    let mut result = ListToolsResult::new([])
        .with_ttl_ms(5)
        .with_cache_scope(CacheScope::Public);
    result.conform_to(Revision::LATEST);
    assert_eq!(
        (result.ttl_ms, result.cache_scope),
        (Some(5), Some(CacheScope::Public))
    );
    assert_eq!(result.result_type, Some(ResultType::Complete));
}

#[test]
fn a_result_that_requires_input_always_has_its_type() {
    let result = InputRequiredResult::new().with_request_state("s");
    let written = serde_json::to_value(&result).unwrap();
    assert_eq!(
        written,
        json!({"resultType": "input_required", "requestState": "s"})
    );
}

#[test]
fn constants_are_written_outside_of_unions_too() {
    let url = ElicitRequestUrlParams::new("m", "https://example.com").with_elicitation_id("e");
    let data = UrlElicitationRequiredErrorData::new([url]);
    let written = serde_json::to_value(&data).unwrap();
    assert_eq!(written["elicitations"][0]["mode"], "url");
}

#[test]
fn variants_know_since_when_they_exist() {
    assert_eq!(ContentBlock::text("a").since(), Revision::V2024_11_05);
    assert_eq!(
        ContentBlock::audio("", "a/b").since(),
        Revision::V2025_03_26
    );
    assert_eq!(
        ContentBlock::resource_link("a:b", "a").since(),
        Revision::V2025_06_18
    );
    let tool_use = ToolUseContent::new("c", "t", JsonObject::new());
    assert_eq!(
        SamplingMessageContentBlock::from(tool_use).since(),
        Revision::V2025_11_25
    );
    let form = ElicitRequestFormParams::new("m", ElicitSchema::new([]));
    assert_eq!(
        ElicitRequestParams::from(form).since(),
        Revision::V2025_06_18
    );
}

#[test]
fn methods_name_their_types() {
    fn params<R: Request<Params = P>, P>() -> &'static str {
        R::METHOD
    }
    assert_eq!(
        params::<CallToolRequest, CallToolRequestParams>(),
        "tools/call"
    );
    assert_eq!(params::<PingRequest, RequestParams>(), "ping");
    assert_eq!(
        params::<ListTasksRequest, PaginatedRequestParams>(),
        "tasks/list"
    );
}

/// `InputRequest` is written by hand, so a new embedded request would be missed.
#[test]
fn input_requests_are_what_the_schema_embeds() {
    let embedded = method::all()
        .iter()
        .filter(|facts| !facts.embedded.is_empty());
    let embedded: Vec<&str> = embedded.map(|facts| facts.name).collect();
    assert_eq!(
        embedded,
        ["elicitation/create", "roots/list", "sampling/createMessage"]
    );
}

#[test]
fn revisions_are_ordered_and_named() {
    assert!(Revision::ALL.is_sorted());
    for (index, revision) in Revision::ALL.into_iter().enumerate() {
        assert_eq!(revision.index(), index);
        assert_eq!(revision.to_string().parse(), Ok(revision));
        assert_eq!(serde_json::to_value(revision).unwrap(), revision.as_str());
    }
    assert!(Revision::LATEST.is_modern() && !Revision::LATEST_LEGACY.is_modern());
}
