//! A model without tool use behind the endpoint.

use serde_json::{Value, json};
use treenail::ToolLoop;
use treenail::agent::{ModelCapabilities, RunEvent};

use super::fake::{Endpoint, Reply};
use super::model;
use crate::fixture::{desk, events};

#[tokio::test]
async fn calls_are_parsed_from_streamed_text() {
    let written = "I echo.\n\nTOOL: echo\nPARAMETERS: {\"text\": \"so {it} is\"}\n";
    for sizes in [&[usize::MAX][..], &[1], &[40, 7]] {
        let endpoint =
            Endpoint::start([Reply::text(written).in_pieces(sizes), Reply::text("Done.")]);
        let capabilities = ModelCapabilities::default().tools(false);
        let model = model(&endpoint).capabilities(capabilities).build().unwrap();
        let (server, log) = desk();
        let mut run = ToolLoop::new(model).source("desk", server).run("Go");
        let shown = events(&mut run).await;
        let shown: String = shown
            .iter()
            .filter_map(|event| match event {
                RunEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(
            shown.starts_with("I echo.") && shown.ends_with("Done."),
            "{shown}"
        );
        assert!(
            !shown.contains("TOOL"),
            "no half of a call is shown: {shown}"
        );
        assert_eq!(run.await.unwrap().text(), "Done.");
        assert_eq!(log.lines(), ["echo so {it} is"]);

        let first = endpoint.asked().json();
        assert_eq!(first.get("tools"), None);
        let reported = first["messages"][0]["content"].as_str().unwrap();
        assert!(
            reported.contains("TOOL:") && reported.contains("echo"),
            "{reported}"
        );
        let second = endpoint.asked().json();
        let roles: Vec<_> = (0..4)
            .map(|at| second["messages"][at]["role"].clone())
            .collect();
        assert_eq!(
            Value::from(roles),
            json!(["system", "user", "assistant", "user"])
        );
    }
}
