//! `examples/agent.rs` with two servers of the npm registry, and the model behind the endpoint.

use serde_json::json;
use treenail::agent::StopReason;

use super::fake::{Endpoint, Reply};
use super::model;
use crate::example::{agent, installed};
use crate::fixture::{assert_well_formed, results};

/// Replies of the endpoint, including a rate limit, a broken stream and truncated arguments.
fn script(file: &str) -> Vec<Reply> {
    let read = json!({"path": file}).to_string();
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["programs"]});
    let create = json!({"entities": [entity]}).to_string();
    let write = json!({"path": file, "content": ""}).to_string();
    vec![
        Reply::error(429, "slow down", "rate_limit_exceeded").header("retry-after-ms", "1"),
        Reply::calls(&[("c1", "files__read_text_file", &read)])
            .broken_before("finish_reason\":\"tool"),
        Reply::calls(&[("c1", "files__read_text_file", &read)]).in_pieces(&[7, 100]),
        Reply::calls(&[
            ("c2", "memory__create_entities", "{\"entities\": [{\"na"),
            ("c3", "files__write_file", &write),
        ]),
        Reply::calls(&[("c4", "memory__create_entities", &create)]),
        Reply::text("Ada programs."),
    ]
}

#[tokio::test]
async fn the_agent_of_the_example_runs_with_a_model_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("a.txt"), "Ada wrote the first program.\n").unwrap();
    let at = |name: &str| path.join(name).to_str().unwrap().to_owned();
    let servers = [
        installed::reference("filesystem").arg(&path),
        installed::reference("memory").env("MEMORY_FILE_PATH", at("memory.json")),
    ];
    let endpoint = Endpoint::start(script(&at("a.txt")));
    let model = model(&endpoint).key("sk-1").build().unwrap();
    let report = agent::run(model, servers, "Who is Ada?").await.unwrap();

    assert_well_formed(&report.transcript);
    assert_eq!(
        (report.stop_reason.clone(), report.text()),
        (StopReason::Finished, "Ada programs.".to_owned())
    );
    let reported: Vec<_> = results(&report)
        .into_iter()
        .map(|(id, failed, _)| (id, failed))
        .collect();
    let reported: Vec<_> = reported
        .iter()
        .map(|(id, failed)| (&**id, *failed))
        .collect();
    assert_eq!(
        reported,
        [("c1", false), ("c2", true), ("c3", true), ("c4", false)]
    );
    let usage = report.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (3 * 11 + 7, 3 * 5 + 3)
    );

    check_asked(&endpoint);
    assert_eq!(
        std::fs::read_to_string(at("a.txt")).unwrap(),
        "Ada wrote the first program.\n"
    );
}

/// The last conversation that the endpoint received.
fn check_asked(endpoint: &Endpoint) {
    let asked = endpoint.all_asked();
    assert_eq!(asked.len(), 6);
    let last = asked[5].json();
    let messages = last["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    let expected = [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
    ];
    assert_eq!(roles, expected, "ALL-SAM-03");
    let read = messages[2]["content"].as_str().unwrap();
    assert!(read.starts_with("Ada wrote the first program."), "{read}");
    let wrong = messages[4]["content"].as_str().unwrap();
    assert!(
        wrong.contains("not valid JSON") && wrong.contains("line 1 column 18"),
        "{wrong}"
    );
    let denied = messages[5]["content"].as_str().unwrap();
    assert!(denied.contains("files stay as they are"), "{denied}");
}
