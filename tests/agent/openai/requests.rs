//! Requests to the endpoint, byte by byte.

use serde_json::{Value, json};
use treenail::agent::{MaxTokensField, ModelCapabilities, ModelError, OpenAiModelBuilder};
use treenail::schema::{
    AudioContent, ContentBlock, CreateMessageRequestParams, ImageContent, JsonObject, Role,
    SamplingMessage, SamplingMessageContentBlock as Block, Tool, ToolChoice, ToolChoiceMode,
    ToolResultContent, ToolUseContent,
};

use super::fake::{Asked, Endpoint, Reply};
use super::{ask, model, question, user};

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

async fn sent(
    request: &CreateMessageRequestParams,
    change: impl FnOnce(OpenAiModelBuilder) -> OpenAiModelBuilder,
) -> Asked {
    let endpoint = Endpoint::start([Reply::text("ok")]);
    let model = change(model(&endpoint)).build().unwrap();
    ask(&model, request).await.0.unwrap();
    endpoint.asked()
}

#[tokio::test]
async fn a_request_has_all_its_fields() {
    let request = question("Why?")
        .with_system_prompt("Be brief.")
        .with_temperature(0.5)
        .with_stop_sequences(["END".to_owned()]);
    let asked = sent(&request, |model| {
        model
            .key("sk-1")
            .organization("org-1")
            .project("proj-1")
            .header("x-title", "me")
    })
    .await;
    let expected = r#"{"model":"fake-1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"}],"max_tokens":100,"temperature":0.5,"stop":["END"],"stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(asked.body, expected, "CLI-SAM-03");
    assert_eq!(asked.head[0], "POST /v1/chat/completions HTTP/1.1");
    let headers = [
        ("authorization", Some("Bearer sk-1")),
        ("openai-organization", Some("org-1")),
        ("openai-project", Some("proj-1")),
        ("x-title", Some("me")),
        ("content-type", Some("application/json")),
        ("accept", Some("text/event-stream, application/json")),
        (
            "user-agent",
            Some(concat!("treenail/", env!("CARGO_PKG_VERSION"))),
        ),
        ("accept-encoding", None),
    ];
    for (name, value) in headers {
        assert_eq!(asked.header(name), value, "{name}");
    }
}

#[tokio::test]
async fn a_model_without_a_key_sends_none() {
    let asked = sent(&question("Why?"), |model| model).await;
    assert_eq!(asked.header("authorization"), None);
}

#[tokio::test]
async fn invalid_tool_names_are_replaced_and_restored() {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = [
        Tool::new("weather.forecast", object(schema)).with_description("Daily forecast."),
        Tool::new("now", JsonObject::new()).with_title("The time"),
    ];
    for (mode, expected) in [
        (ToolChoiceMode::Auto, "auto"),
        (ToolChoiceMode::Required, "required"),
        (ToolChoiceMode::None, "none"),
    ] {
        let request = question("Rain?")
            .with_tools(tools.clone())
            .with_tool_choice(ToolChoice::new().with_mode(mode));
        let calls = [
            ("c1", "weather_forecast", r#"{"city":"Oslo"}"#),
            ("c2", "now", ""),
        ];
        let endpoint = Endpoint::start([Reply::calls(&calls)]);
        let model = model(&endpoint).build().unwrap();
        let reply = ask(&model, &request).await.0.unwrap();
        let names: Vec<_> = super::calls_of(&reply)
            .iter()
            .map(|call| &*call.name)
            .collect();
        assert_eq!(names, ["weather.forecast", "now"]);
        let body = endpoint.asked().body;
        let expected = format!(
            r#""tools":[{{"type":"function","function":{{"name":"weather_forecast","description":"Daily forecast.","parameters":{{"type":"object","properties":{{"city":{{"type":"string"}}}},"required":["city"]}}}}}},{{"type":"function","function":{{"name":"now","description":"The time","parameters":{{"type":"object","properties":{{}}}}}}}}],"tool_choice":"{expected}","stream":true"#
        );
        assert!(body.contains(&expected), "ALL-SAM-04: {body}");
    }
}

fn conversation() -> CreateMessageRequestParams {
    let called = vec![
        Block::text("I look."),
        Block::ToolUse(ToolUseContent::new(
            "c1",
            "look",
            object(json!({"at": "sky"})),
        )),
        treenail::agent::tool_use_from_raw("c2", "look", "{\"at\": ").into(),
    ];
    let seen = [
        ContentBlock::text("blue"),
        ContentBlock::image("AQID", "image/png"),
        ContentBlock::audio("BAUG", "audio/wav"),
    ];
    let results = vec![
        Block::ToolResult(ToolResultContent::new("c1", seen)),
        Block::ToolResult(
            ToolResultContent::new("c2", [ContentBlock::text("not JSON")]).with_is_error(true),
        ),
    ];
    let last = vec![
        Block::text("And this?"),
        Block::Image(ImageContent::new("BwgJ", "image/jpeg")),
        Block::Audio(AudioContent::new("CgsM", "audio/mpeg")),
        Block::Audio(AudioContent::new("DQ4P", "audio/ogg")),
    ];
    let messages = [
        user("What is up?"),
        SamplingMessage::new(Role::Assistant, called),
        SamplingMessage::new(Role::User, results),
        SamplingMessage::new(Role::Assistant, Block::text("Blue.")),
        SamplingMessage::new(Role::User, last),
    ];
    CreateMessageRequestParams::new(messages, 100)
}

#[tokio::test]
async fn a_conversation_is_encoded_for_the_endpoint() {
    let capabilities = ModelCapabilities::default().images(true).audio(true);
    let asked = sent(&conversation(), |model| model.capabilities(capabilities)).await;
    let expected = json!([
        {"role": "user", "content": "What is up?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"type": "function", "id": "c1", "function": {"name": "look", "arguments": "{\"at\":\"sky\"}"}},
            {"type": "function", "id": "c2", "function": {"name": "look", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "c1",
            "content": "blue\n[images and audio follow in the next message]"},
        {"role": "tool", "tool_call_id": "c2", "content": "The tool failed.\nnot JSON"},
        {"role": "user", "content": [
            {"type": "text", "text": "Images and audio of the tool call c1:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQID"}},
            {"type": "input_audio", "input_audio": {"data": "BAUG", "format": "wav"}},
        ]},
        {"role": "assistant", "content": "Blue."},
        {"role": "user", "content": [
            {"type": "text", "text": "And this?"},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BwgJ"}},
            {"type": "input_audio", "input_audio": {"data": "CgsM", "format": "mp3"}},
            {"type": "text", "text": "[audio of type audio/ogg, which you cannot process]"},
        ]},
    ]);
    assert_eq!(asked.json()["messages"], expected, "ALL-SAM-03");
}

#[tokio::test]
async fn unsupported_content_is_described_in_words() {
    let asked = sent(&conversation(), |model| model).await;
    let messages = &asked.json()["messages"];
    let expected = "blue\n[image of type image/png, which you cannot process]\n\
        [audio of type audio/wav, which you cannot process]";
    assert_eq!(messages[2]["content"], expected);
    let expected = "And this?\n\n[image of type image/jpeg, which you cannot process]\n\n\
        [audio of type audio/mpeg, which you cannot process]\n\n\
        [audio of type audio/ogg, which you cannot process]";
    assert_eq!(messages[5]["content"], expected);
    assert_eq!(messages.as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn images_that_endpoints_reject_are_described() {
    let seen = [
        ContentBlock::image("QUJD", "image/svg+xml"),
        ContentBlock::image("<svg/>", "image/png"),
        ContentBlock::image("QUJD", "IMAGE/JPG"),
    ];
    let call = Block::ToolUse(ToolUseContent::new("c1", "f", JsonObject::new()));
    let messages = [
        SamplingMessage::new(Role::Assistant, call),
        SamplingMessage::new(
            Role::User,
            Block::ToolResult(ToolResultContent::new("c1", seen)),
        ),
    ];
    let capabilities = ModelCapabilities::default().images(true);
    let request = CreateMessageRequestParams::new(messages, 1);
    let asked = sent(&request, |model| model.capabilities(capabilities)).await;
    let messages = &asked.json()["messages"];
    let expected = "[image of type image/svg+xml, which you cannot process]\n\
        [image of type image/png, which you cannot process]\n\
        [images and audio follow in the next message]";
    assert_eq!(messages[1]["content"], expected);
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}});
    assert_eq!(messages[2]["content"][1], image);
    assert_eq!(messages[2]["content"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn messages_without_text_are_encoded() {
    let call = Block::ToolUse(ToolUseContent::new("c1", "f", JsonObject::new()));
    let nothing = ToolResultContent::new("c1", []);
    let structured = ToolResultContent::new("c2", []).with_structured_content(json!([1]));
    let link = ToolResultContent::new("c3", [ContentBlock::resource_link("file:///a", "a")]);
    let results = [nothing, structured, link].map(Block::ToolResult).to_vec();
    let messages = [
        SamplingMessage::new(Role::Assistant, call),
        SamplingMessage::new(Role::User, results),
    ];
    let asked = sent(&CreateMessageRequestParams::new(messages, 1), |model| model).await;
    let messages = &asked.json()["messages"];
    assert_eq!(messages[0]["content"], Value::Null);
    assert_eq!(messages[1]["content"], "[the tool returned nothing]");
    assert_eq!(messages[2]["content"], "[1]");
    let link = r#"{"type":"resource_link","name":"a","uri":"file:///a"}"#;
    assert_eq!(messages[3]["content"], link);
    assert_eq!(messages[4], Value::Null, "ALL-SAM-02: only results");
}

#[tokio::test]
async fn invalid_conversations_are_not_sent() {
    let call = Block::ToolUse(ToolUseContent::new("c1", "f", JsonObject::new()));
    let result = Block::ToolResult(ToolResultContent::new("c1", []));
    let cases = [
        (Role::User, call, "a user message contains a tool call"),
        (
            Role::Assistant,
            result,
            "an assistant message contains a tool result",
        ),
    ];
    for (role, block, expected) in cases {
        let endpoint = Endpoint::start([]);
        let model = model(&endpoint).build().unwrap();
        let request = CreateMessageRequestParams::new([SamplingMessage::new(role, block)], 1);
        let refused = ask(&model, &request).await.0;
        assert!(matches!(refused, Err(ModelError::Refused(why)) if &*why == expected));
        assert!(endpoint.all_asked().is_empty());
    }
}

#[tokio::test]
async fn fields_can_be_added_replaced_and_omitted() {
    let request = question("Why?").with_temperature(0.5);
    let asked = sent(&request, |model| {
        let model = model.max_tokens_field(MaxTokensField::MaxCompletionTokens);
        let model = model
            .extra("stream_options", Value::Null)
            .extra("temperature", 1);
        model
            .extra("reasoning_effort", "low")
            .extra("parallel_tool_calls", false)
    })
    .await;
    let expected = r#"{"model":"fake-1","messages":[{"role":"user","content":"Why?"}],"max_completion_tokens":100,"stream":true,"temperature":1,"reasoning_effort":"low","parallel_tool_calls":false}"#;
    assert_eq!(asked.body, expected);
}

#[tokio::test]
async fn stream_options_are_sent_with_streams_only() {
    for stream in [json!(false), Value::Null] {
        let asked = sent(&question("Why?"), |model| model.extra("stream", stream)).await;
        assert_eq!(asked.json()["stream_options"], Value::Null);
    }
}

#[tokio::test]
async fn unsupported_fields_are_not_sent() {
    let request = question("Why?").with_metadata(object(json!({"store": true})));
    let asked = sent(&request, |model| model).await;
    assert!(!asked.body.contains("store"), "CLI-SAM-04: {}", asked.body);
}
