//! `examples/agent.rs` with the reference servers of the npm registry.

use serde_json::json;
use treenail::agent::{ScriptedModel, ScriptedReply, StopReason};

// Cargo does not run examples as tests; this one runs here.
#[path = "../../examples/agent.rs"]
#[allow(dead_code, reason = "it is a program")]
pub(crate) mod agent;
#[path = "../servers/installed.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
pub(crate) mod installed;

use crate::fixture::{assert_well_formed, results};

#[tokio::test]
async fn an_agent_uses_two_real_servers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("a.txt"), "Ada wrote the first program.\n").unwrap();
    let at = |name: &str| path.join(name).to_str().unwrap().to_owned();
    let servers = [
        installed::reference("filesystem").arg(&path),
        installed::reference("memory").env("MEMORY_FILE_PATH", at("memory.json")),
    ];

    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["programs"]});
    let model = ScriptedModel::new([
        ScriptedReply::call("files__list_directory", json!({"path": at("")}))
            .and_call("files__read_text_file", json!({"path": at("a.txt")})),
        ScriptedReply::call("memory__create_entities", json!({"entities": [ada]})).and_call(
            "files__write_file",
            json!({"path": at("a.txt"), "content": ""}),
        ),
        ScriptedReply::call("memory__search_nodes", json!({"query": "Ada"}))
            .and_call("files__read_text_file", json!({"path": "/etc/passwd"})),
        ScriptedReply::text("Ada programs."),
    ]);
    let report = agent::run(model.clone(), servers, "Who is Ada?")
        .await
        .unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(
        (report.stop_reason.clone(), report.text()),
        (StopReason::Finished, "Ada programs.".to_owned())
    );
    let results = results(&report);
    let (failed, reported): (Vec<_>, Vec<_>) = results.into_iter().map(|it| (it.1, it.2)).unzip();
    assert_eq!(
        failed,
        [false, false, false, true, false, true],
        "{reported:?}"
    );
    assert!(
        reported[0].contains("a.txt") && reported[1].contains("the first program"),
        "{reported:?}"
    );
    assert!(
        reported[3].contains("files stay as they are"),
        "{reported:?}"
    );
    assert!(reported[4].contains("programs"), "{reported:?}");
    assert!(
        std::fs::read_to_string(at("a.txt"))
            .unwrap()
            .starts_with("Ada")
    );
    let offered = model.requests()[0].tools.as_ref().unwrap().len();
    assert_eq!(offered, 14 + 9, "the tools of both");
}
