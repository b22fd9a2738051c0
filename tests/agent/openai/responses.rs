//! Responses of endpoints, in many forms.

use serde_json::{Value, json};
use treenail::agent::{
    ModelCapabilities, ModelError, OpenAiLimits, RAW_ARGUMENTS, ToolLoop, ToolSource, Usage,
};

use super::fake::{self, Endpoint, Reply, arguments, content, finish, usage};
use super::{ask, calls_of, limits, model, question, text_of};
use crate::fixture::{desk, results};

/// Text and stop reason of a reply.
async fn read(reply: Reply) -> (String, Option<String>) {
    let endpoint = Endpoint::start([reply]);
    let model = model(&endpoint).build().unwrap();
    let (reply, pieces) = ask(&model, &question("Why?")).await;
    let reply = reply.unwrap();
    assert_eq!(
        pieces.concat(),
        text_of(&reply),
        "what was given out is the text"
    );
    (text_of(&reply), reply.message.stop_reason)
}

#[tokio::test]
async fn text_is_streamed_regardless_of_chunk_boundaries() {
    for sizes in [&[usize::MAX][..], &[1], &[3, 50, 7], &[1000, 1]] {
        let reply = Reply::text("Because of the “Rayleigh” scattering 🌤.").in_pieces(sizes);
        let endpoint = Endpoint::start([reply]);
        let model = model(&endpoint).build().unwrap();
        let (reply, pieces) = ask(&model, &question("Why?")).await;
        let expected = [
            "Because ",
            "of ",
            "the ",
            "“Rayleigh” ",
            "scattering ",
            "🌤.",
        ];
        assert_eq!(pieces, expected, "{sizes:?}");
        let reply = reply.unwrap();
        assert_eq!(text_of(&reply), expected.concat());
        assert_eq!(reply.message.model, "fake-1-2026", "CLI-SAM-06");
        assert_eq!(reply.message.stop_reason.as_deref(), Some("endTurn"));
        let mut usage = Usage::default();
        (usage.input_tokens, usage.output_tokens) = (7, 3);
        assert_eq!(reply.usage, Some(usage));
    }
}

#[tokio::test]
async fn interleaved_calls_are_assembled() {
    let calls = [
        ("c1", "forecast", r#"{"city": "Oslo", "days": 3}"#),
        ("c2", "forecast", r#"{"city": "Bergen \" {}"}"#),
        ("c3", "now", ""),
    ];
    let endpoint = Endpoint::start([Reply::calls(&calls).in_pieces(&[5, 17])]);
    let model = model(&endpoint).build().unwrap();
    let (reply, pieces) = ask(&model, &question("Rain?")).await;
    let reply = reply.unwrap();
    assert!(pieces.is_empty());
    assert_eq!(reply.message.stop_reason.as_deref(), Some("toolUse"));
    let calls: Vec<_> = calls_of(&reply)
        .into_iter()
        .map(|call| (&*call.id, &*call.name, Value::from(call.input.clone())))
        .collect();
    let expected = [
        ("c1", "forecast", json!({"city": "Oslo", "days": 3})),
        ("c2", "forecast", json!({"city": "Bergen \" {}"})),
        ("c3", "now", json!({})),
    ];
    assert_eq!(calls, expected);
    assert_eq!(reply.message.content.iter().count(), 3, "no empty text");
}

#[tokio::test]
async fn malformed_arguments_are_preserved_as_raw_text() {
    let written = r#"{"city": "Os"#;
    let endpoint = Endpoint::start([Reply::calls(&[("c1", "forecast", written)])]);
    let model = model(&endpoint).build().unwrap();
    let reply = ask(&model, &question("Rain?")).await.0.unwrap();
    let [call] = calls_of(&reply)[..] else {
        panic!("{reply:?}");
    };
    assert!(call.input.is_empty());
    assert_eq!(call.meta.as_ref().unwrap()[RAW_ARGUMENTS], written);
}

#[tokio::test]
async fn responses_without_streaming_are_supported() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}});
    let message =
        json!({"role": "assistant", "content": "Hm.", "tool_calls": [call], "refusal": null});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    let answer = json!({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let endpoint = Endpoint::start([Reply::json(200, &answer)]);
    let model = model(&endpoint).build().unwrap();
    let (reply, pieces) = ask(&model, &question("Why?")).await;
    let reply = reply.unwrap();
    assert_eq!(
        (pieces, text_of(&reply)),
        (vec!["Hm.".to_owned()], "Hm.".to_owned())
    );
    assert_eq!(calls_of(&reply)[0].input["a"], 1);
    assert_eq!(reply.usage.unwrap().output_tokens, 2);
    assert_eq!(reply.message.model, "m");
}

#[tokio::test]
async fn finish_reasons_map_to_the_protocol() {
    let cases = [
        ("stop", "endTurn"),
        ("length", "maxTokens"),
        ("content_filter", "contentFilter"),
        ("tool_calls", "toolUse"),
        ("eos", "eos"),
    ];
    for (reason, expected) in cases {
        let (_, stop) = read(Reply::stream([content("a"), finish(reason)])).await;
        assert_eq!(stop.as_deref(), Some(expected), "CLI-SAM-06: {reason}");
    }
    let refusal = fake::chunk(&json!({"refusal": "I cannot."}));
    let (text, stop) = read(Reply::stream([refusal, finish("stop")])).await;
    assert_eq!((&*text, stop.as_deref()), ("I cannot.", Some("refusal")));
    // Some endpoints send `stop` after calls.
    let calls = [fake::call(0, "c", "f"), finish("stop")];
    assert_eq!(
        read(Reply::stream(calls)).await.1.as_deref(),
        Some("toolUse")
    );
}

#[tokio::test]
async fn irregular_streams_are_tolerated() {
    let line = |value: Value| value.to_string();
    let (hello, end) = (line(content("Hello")), line(finish("stop")));
    let parts = json!([{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hello"}]);
    let parts = line(fake::chunk(&json!({"content": parts})));
    let streams = [
        // Keep-alives, line ends, no space.
        format!(": keep-alive\r\n\r\ndata:{hello}\r\n\r\n:\r\n\r\ndata:{end}\r\n\r\ndata:[DONE]\r\n\r\n"),
        // Without `[DONE]`.
        format!("data: {hello}\n\ndata: {end}\n\n"),
        // Without a finish reason.
        format!("data: {hello}\n\ndata: [DONE]\n\n"),
        // An event with an arbitrary name.
        format!("event: ping\ndata: pong\n\ndata: {hello}\n\ndata: {end}\n\n"),
        // Content in parts, some of which are reasoning.
        format!("data: {parts}\n\ndata: {end}\n\n"),
        // A choice that was not requested.
        format!("data: {hello}\n\ndata: {{\"choices\":[{{\"index\":1,\"delta\":{{\"content\":\"No\"}}}}]}}\n\ndata: {end}\n\n"),
        // Missing or null members.
        "data: {}\n\ndata: {\"choices\":null,\"error\":null}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hello\",\"tool_calls\":null}}]}\n\ndata: {\"choices\":[{\"delta\":null,\"finish_reason\":\"stop\"}]}\n\n".to_owned(),
    ];
    for stream in streams {
        let (text, _) = read(Reply::events(&stream)).await;
        assert_eq!(text, "Hello", "{stream}");
    }
}

#[tokio::test]
async fn a_complete_message_does_not_wait_for_the_end_of_the_stream() {
    let endpoint = Endpoint::start([
        // Missing usage, and a lost connection.
        Reply::text("Hello").broken_before(
            "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\"",
        ),
        // The connection stays open after `[DONE]`.
        Reply::text("Hello").held(),
    ]);
    let model = model(&endpoint).build().unwrap();
    for usage in [None, Some(3)] {
        let reply = ask(&model, &question("Why?")).await.0.unwrap();
        assert_eq!(text_of(&reply), "Hello");
        assert_eq!(reply.usage.map(|usage| usage.output_tokens), usage);
    }
}

#[tokio::test]
async fn a_complete_message_is_not_lost_by_what_follows_it() {
    let (hello, end) = (content("Hello"), finish("stop"));
    for last in [
        r#"{"error":{"message":"usage unavailable"}}"#,
        "not JSON",
        r#"{"choices":[],"usage":"many"}"#,
    ] {
        let stream = format!("data: {hello}\n\ndata: {end}\n\ndata: {last}\n\n");
        let (text, reason) = read(Reply::events(&stream)).await;
        assert_eq!((&*text, reason.as_deref()), ("Hello", Some("endTurn")));
    }
}

#[tokio::test]
async fn each_size_limit_is_enforced() {
    let bounded = |change: fn(&mut OpenAiLimits)| {
        let mut limits = limits();
        change(&mut limits);
        limits
    };
    let call = |index| fake::call(index, &format!("c{index}"), "f");
    let text = "x".repeat(100);
    let whole = json!({"choices": [{"message": {"content": text}}]});
    let long = Reply::stream([content(&text), finish("stop")]);
    let cases = [
        (
            bounded(|limits| limits.message_bytes = 99),
            long.clone(),
            "the message has more than 99 bytes",
        ),
        (
            bounded(|limits| limits.message_bytes = 99),
            Reply::calls(&[("c", "f", &format!("\"{text}\""))]),
            "the message has more than 99 bytes",
        ),
        (
            bounded(|limits| limits.tool_calls = 2),
            Reply::stream([call(0), call(1), call(2)]),
            "the message has more than 2 tool calls",
        ),
        (
            bounded(|limits| limits.event_bytes = 150),
            long,
            "an event has more than 150 bytes",
        ),
        (
            bounded(|limits| limits.event_bytes = 100),
            Reply::json(200, &whole),
            "the response has more than 100 bytes",
        ),
    ];
    for (limits, reply, expected) in cases {
        let endpoint = Endpoint::start([reply]);
        let model = model(&endpoint).limits(limits).build().unwrap();
        let result = ask(&model, &question("Why?")).await.0;
        let Err(ModelError::InvalidResponse(why)) = result else {
            panic!("{expected}: {result:?}");
        };
        assert_eq!(&*why, expected);
        assert_eq!(endpoint.all_asked().len(), 1, "it is not tried again");
    }
}

#[tokio::test]
async fn a_call_without_arguments_at_the_end_of_a_cut_off_message_is_not_run() {
    let cut_off = |reason| {
        [
            fake::call(0, "c1", "unsaid"),
            arguments(0, "{}"),
            fake::call(1, "c2", "unsaid"),
            finish(reason),
        ]
    };
    for (tools, reason) in [
        (true, "length"),
        (false, "length"),
        (true, "content_filter"),
        (false, "content_filter"),
    ] {
        let endpoint = Endpoint::start([Reply::stream(cut_off(reason)), Reply::text("Done.")]);
        let capabilities = ModelCapabilities::default().tools(tools);
        let model = model(&endpoint).capabilities(capabilities).build().unwrap();
        let source = ToolSource::from(desk().0).auto_approve();
        let report = ToolLoop::new(model).source("desk", source).run("Go").await;
        let results = results(&report.unwrap());
        assert_eq!(results[0].2, "done");
        let (_, is_error, text) = &results[1];
        assert!(*is_error && text.contains("cut off"), "{text}");
    }
}

#[tokio::test]
async fn the_last_reported_usage_counts() {
    let stream = [usage(1, 1), content("a"), finish("stop"), usage(5, 6)];
    let endpoint = Endpoint::start([Reply::stream(stream)]);
    let model = model(&endpoint).build().unwrap();
    let reply = ask(&model, &question("Why?")).await.0.unwrap();
    let reported = reply.usage.unwrap();
    assert_eq!((reported.input_tokens, reported.output_tokens), (5, 6));
}
