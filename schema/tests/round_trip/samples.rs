//! Every type deserializes and serializes our samples of every revision.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use treenail_schema::*;

use crate::revisions::assert_valid;

/// Samples by type, followed by ` = place` if the schema has the type inline or under another name.
const SAMPLES: [&str; 5] = [
    include_str!("../samples/2024-11-05.json"),
    include_str!("../samples/2025-03-26.json"),
    include_str!("../samples/2025-06-18.json"),
    include_str!("../samples/2025-11-25.json"),
    include_str!("../samples/2026-07-28.json"),
];

/// Deserializes a sample from text and from a value, and serializes both.
type RoundTrip = fn(&Value) -> serde_json::Result<[Value; 2]>;

fn round_trip<T: Serialize + DeserializeOwned>(sample: &Value) -> serde_json::Result<[Value; 2]> {
    let from_text: T = serde_json::from_str(&sample.to_string())?;
    let from_value = T::deserialize(sample)?;
    Ok([
        serde_json::to_value(from_text)?,
        serde_json::to_value(from_value)?,
    ])
}

macro_rules! types {
    ($($ty:ty),* $(,)?) => {
        [$((stringify!($ty), round_trip::<$ty> as RoundTrip)),*]
    };
}

#[rustfmt::skip]
const TYPES: [(&str, RoundTrip); 144] = types![
    Annotations, AudioContent, BlobResourceContents, BooleanSchema, CacheScope,
    CallToolRequestParams, CallToolResult, CancelTaskRequestParams, CancelTaskResult,
    CancelledNotificationParams, ClientCapabilities, ClientCapabilitiesElicitation,
    ClientCapabilitiesRoots, ClientCapabilitiesSampling, ClientCapabilitiesTasks,
    ClientCapabilitiesTasksRequests, ClientCapabilitiesTasksRequestsElicitation,
    ClientCapabilitiesTasksRequestsSampling, CompleteRequestParams, CompleteResult, Completion,
    CompletionArgument, CompletionContext, CompletionReference, ContentBlock,
    CreateMessageRequestParams, CreateMessageResult, CreateTaskResult, DiscoverResult,
    ElicitAction, ElicitFormMode, ElicitRequestFormParams, ElicitRequestParams,
    ElicitRequestUrlParams, ElicitResult, ElicitSchema, ElicitationCompleteNotificationParams,
    EmbeddedResource, EmptyResult, EnumOption, GetPromptRequestParams, GetPromptResult,
    GetTaskPayloadRequestParams, GetTaskPayloadResult, GetTaskRequestParams, GetTaskResult,
    Icon, IconTheme, ImageContent, Implementation, IncludeContext, InitializeRequestParams,
    InitializeResult, InputRequest, InputRequests, InputRequiredResult, InputResponse,
    InputResponses, LegacyTitledEnumSchema, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListRootsResult, ListTasksResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParams, MaybeInputRequired<CallToolResult>, MetaObject,
    MissingRequiredClientCapabilityErrorData, ModelHint, ModelPreferences,
    NotificationMetaObject, NotificationParams, Number, NumberSchema, NumberSchemaType,
    OneOrMany<SamplingMessageContentBlock>, PaginatedRequestParams, PrimitiveSchemaDefinition,
    ProgressNotificationParams, ProgressToken, Prompt, PromptArgument, PromptMessage,
    PromptReference, ReadResourceRequestParams, ReadResourceResult, RelatedTaskMetadata,
    RequestId, RequestMetaObject, RequestParams, Resource, ResourceContents, ResourceLink,
    ResourceTemplate, ResourceTemplateReference, ResourceUpdatedNotificationParams,
    ResultMetaObject, ResultType, Role, Root, SamplingMessage, SamplingMessageContentBlock,
    SchemaObject, ServerCapabilities, ServerCapabilitiesPrompts, ServerCapabilitiesResources,
    ServerCapabilitiesTasks, ServerCapabilitiesTasksRequests,
    ServerCapabilitiesTasksRequestsTools, ServerCapabilitiesTools, SetLevelRequestParams,
    StringSchema, StringSchemaFormat, SubscribeRequestParams, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult, SubscriptionsListenResultMetaObject, Task, TaskMetadata,
    TaskStatus, TaskStatusNotificationParams, TaskSupport, TextContent, TextResourceContents,
    TitledEnumItems, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema, Tool,
    ToolAnnotations, ToolChoice, ToolChoiceMode, ToolExecution, ToolResultContent,
    ToolUseContent, UnsubscribeRequestParams, UnsupportedProtocolVersionErrorData,
    UntitledEnumItems, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
    UrlElicitationRequiredErrorData,
];

fn samples() -> Vec<(Revision, String, Vec<Value>)> {
    let mut all = Vec::new();
    for (revision, text) in Revision::ALL.into_iter().zip(SAMPLES) {
        let by_type: Map<String, Value> = serde_json::from_str(text).unwrap();
        for (key, samples) in by_type {
            all.push((revision, key, samples.as_array().unwrap().clone()));
        }
    }
    all
}

#[test]
fn samples_are_written_as_they_were_read() {
    for (revision, key, samples) in samples() {
        let name = key.split(" = ").next().unwrap();
        let (_, round_trip) = TYPES.iter().find(|(known, _)| *known == name).expect(name);
        for sample in samples {
            match round_trip(&sample) {
                Ok(written) => assert_eq!(written, [sample.clone(), sample], "{name}, {revision}"),
                Err(error) => panic!("{name} of {revision} does not read {sample}: {error}"),
            }
        }
    }
}

#[test]
fn samples_are_valid_in_their_revision() {
    for (revision, key, samples) in samples() {
        let place = key.split(" = ").last().unwrap();
        for sample in samples {
            assert_valid(revision, place, &sample);
        }
    }
}

#[test]
fn every_type_has_a_sample() {
    let sampled: BTreeSet<String> = samples()
        .iter()
        .map(|(_, key, _)| key.split(" = ").next().unwrap().to_owned())
        .collect();
    let generated = include_str!("../../src/generated/types.rs")
        .lines()
        .filter_map(|line| {
            let item = line
                .strip_prefix("pub struct ")
                .or_else(|| line.strip_prefix("pub enum "))?;
            item.split(' ').next()
        });
    let tested = TYPES.iter().map(|(name, _)| *name);
    let without: Vec<&str> = generated
        .chain(tested)
        .filter(|name| !sampled.contains(*name))
        .collect();
    assert!(without.is_empty(), "without a sample: {without:?}");
}
