//! Server information, and results of requests.

use std::sync::{Arc, Mutex};

use serde_json::json;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{
    CompleteRequestParams, CompletionArgument, CompletionReference, LoggingLevel, PromptReference,
    ResourceTemplateReference,
};

use super::Harbour;
use crate::results::{text, wait_for};

pub(super) async fn server_info_is_received(harbour: Harbour) {
    let client = harbour.client().await;
    let session = client.session();
    assert_eq!(session.protocol_version(), harbour.revision, "CLI-ERA-02");
    let info = session.server_info().unwrap();
    assert_eq!((&*info.name, &*info.version), ("harbour", "1.2.3"));
    assert_eq!(session.instructions().unwrap(), "Ask before you sail.");
    let found = if harbour.revision.is_modern() {
        let discovered = session.server_discover().await.unwrap();
        discovered.supported_versions
    } else {
        session.ping().await.unwrap();
        vec![harbour.revision.to_string()]
    };
    assert!(found.contains(&harbour.revision.to_string()), "{found:?}");
    client.close().await.unwrap();
}

pub(super) async fn tools_return_values_and_errors(harbour: Harbour) {
    #[mcp_type]
    struct Days {
        city: String,
        days: u8,
    }
    #[mcp_type]
    #[derive(Debug, PartialEq)]
    struct Forecast {
        city: String,
        temperatures: Vec<f64>,
    }

    let client = harbour.client().await;
    let tool = client.tool("forecast").await.unwrap().unwrap();
    let tool = json!(*tool);
    assert_eq!(tool["title"], "Forecast");
    assert_eq!(tool["description"], "The weather of some days.");
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(tool["inputSchema"]["properties"]["days"]["maximum"], 7);
    assert_eq!(tool["outputSchema"]["type"], "object");
    let city = "Ålesund".to_owned();
    let days = Days {
        city: city.clone(),
        days: 3,
    };
    let forecast: Forecast = client.call_tool_as("forecast", &days).await.unwrap();
    let temperatures = vec![0.5, 1.5, 2.5];
    assert_eq!(forecast, Forecast { city, temperatures });

    let failed = client.call_tool("fail", ()).await.unwrap();
    assert_eq!(failed.is_error, Some(true));
    assert!(
        text(&failed).contains("the sea is rough"),
        "{}",
        text(&failed)
    );
    let wrong = client.call_tool("forecast", json!({"city": 7, "days": 9}));
    let wrong = wrong.await.unwrap();
    assert_eq!(wrong.is_error, Some(true), "{}", text(&wrong));
    let error = client.call_tool("no-such-tool", ()).await;
    match error {
        Ok(result) => assert_eq!(result.is_error, Some(true)),
        Err(error) => assert_eq!(error.as_refused().unwrap().code, -32602, "{error}"),
    }

    client.close().await.unwrap();
}

pub(super) async fn media_links_and_resources_are_returned(harbour: Harbour) {
    let client = harbour.client().await;
    let media = client.call_tool("media", ()).await.unwrap();
    let content = json!(media.content);
    assert_eq!(
        content[0],
        json!({"type": "text", "text": "a dot and a beep"})
    );
    assert_eq!(content[1]["mimeType"], "image/png");
    assert!(
        content[1]["data"]
            .as_str()
            .unwrap()
            .starts_with("iVBORw0KGgo")
    );
    let audio = json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"});
    assert_eq!(content[2], audio);
    let link = json!({"type": "resource_link", "uri": "note://today", "name": "today"});
    assert_eq!(content[3], link);
    assert_eq!(content[4]["resource"]["blob"], "AAEC");
    client.close().await.unwrap();
}

pub(super) async fn prompts_resources_and_completions(harbour: Harbour) {
    let client = harbour.client().await;
    let prompt = client.prompt("trip").await.unwrap().unwrap();
    assert_eq!(prompt.description.as_deref(), Some("Plans a trip."));
    let trip = client.get_prompt("trip", json!({"city": "Oslo"})).await;
    let message = trip.unwrap().messages[0]
        .content
        .as_text()
        .unwrap()
        .to_owned();
    assert_eq!(message, "Plan a trip to Oslo");
    let error = client.get_prompt("no-such-prompt", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused(_)), "{error}");

    let today = client.resource("note://today").await.unwrap().unwrap();
    assert_eq!(today.mime_type.as_deref(), Some("text/plain"));
    let read = client.read_resource("note://today").await.unwrap();
    assert_eq!(json!(read.contents[0])["text"], "rain");
    let template = client.url_template("note").await.unwrap().unwrap();
    let uri = template.expand(json!({"city": "Bodø", "day": 3})).unwrap();
    assert_eq!(uri, "note://Bod%C3%B8/3");
    let read = client.read_resource(&uri).await.unwrap();
    assert_eq!(json!(read.contents[0])["text"], "Bodø on day 3");
    let error = client.read_resource("other://thing").await.unwrap_err();
    assert!(
        matches!(error.as_refused().unwrap().code, -32602 | -32002),
        "CLI-ERR-01: {error}"
    );

    let references: [CompletionReference; 2] = [
        PromptReference::new("trip").into(),
        ResourceTemplateReference::new("note://{city}/{day}").into(),
    ];
    for reference in references {
        let argument = CompletionArgument::new("city", "B");
        let params = CompleteRequestParams::new(reference, argument);
        let completed = client.session().completion_complete(&params).await;
        assert_eq!(completed.unwrap().completion.values, ["Bergen", "Bodø"]);
    }
    client.close().await.unwrap();
}

pub(super) async fn progress_and_log_messages_are_received(harbour: Harbour) {
    let client = harbour.client().await;
    let session = client.session();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    let call = session.tools_call("steps", json!({"count": 3}));
    let call = call.on_progress(move |progress| {
        let progress = json!(progress);
        let line = format!("{} {}", progress["total"], progress["message"]);
        sink.lock().unwrap().push(line);
    });
    assert_eq!(text(&call.await.unwrap()), "3");
    let reported = reported.lock().unwrap().join(", ").replace(".0 ", " ");
    assert_eq!(
        reported, r#"3 "step 1", 3 "step 2", 3 "step 3""#,
        "CLI-PROG-01"
    );

    let mut notifications = session.notifications();
    let mut expected = vec![json!(["warning", "said"])];
    if harbour.revision.is_modern() {
        // Without a level in the request, the server sends no messages.
        session.tools_call("log", ()).await.unwrap();
    } else if session.server_capabilities().logging.is_some() {
        session.logging_set_level(LoggingLevel::Info).await.unwrap();
    } else {
        // Without log levels, the server sends all messages.
        expected.insert(0, json!(["debug", "whispered"]));
    }
    let call = session.tools_call("log", ()).log_level(LoggingLevel::Info);
    assert_eq!(text(&call.await.unwrap()), "logged");
    for expected in expected {
        let message = wait_for(&mut notifications, "notifications/message", |_| true).await;
        let received = json!([message["level"], message["data"]]);
        assert_eq!(received, expected, "CLI-META-04, CLI-LOG-01");
        assert_eq!(message["logger"], "harbour");
    }
    client.close().await.unwrap();
}

pub(super) async fn dropped_call_is_cancelled(harbour: Harbour) {
    let client = harbour.client().await;
    let session = client.session();
    let call = tokio::spawn(session.tools_call("wait", ()).into_future());
    // The server answers this call after it has started the previous one.
    assert_eq!(text(&client.call_tool("cancelled", ()).await.unwrap()), "0");
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    // The server answers this call after it has processed the cancellation.
    assert_eq!(
        text(&client.call_tool("cancelled", ()).await.unwrap()),
        "1",
        "CLI-STDIO-07"
    );
    client.close().await.unwrap();
}
