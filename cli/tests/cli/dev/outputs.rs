//! Files beside the sources that are written by restarts, and by the program.

use std::fs;

use treenail::schema::Revision;

use super::project::{Project, connect, description};

#[tokio::test]
async fn files_that_the_server_writes_are_no_sources() {
    let project = Project::new("before");
    project.write("built", "before");
    // Each start also writes a file with a new name.
    let script = Project::run_script("echo > log-$$");
    project.write("run.sh", &script);
    let words = ["dev", "--", "sh", "run.sh"];
    let client = connect(project.dev(&words), Revision::V2025_11_25).await;
    description(&client, "forecast").await;
    // Changes are reported in their order.
    project.write("run.sh", &format!("# changed\n{script}"));
    project.stderr.wait_for("run.sh changed", 1).await;
    assert!(!project.stderr.contain("pid changed"));
    assert!(!project.stderr.contain("log-"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn each_edit_counts_however_soon_after_a_restart() {
    let project = Project::new("before");
    project.write("built", "before");
    let script = Project::run_script("");
    let words = ["dev", "--", "sh", "run.sh"];
    let client = connect(project.dev(&words), Revision::V2025_11_25).await;
    for count in 1..=12 {
        project.write("run.sh", &format!("{script}# {count}\n"));
        project.stderr.wait_for("run.sh changed", count).await;
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn the_trace_of_the_program_is_no_source() {
    let project = Project::new("before");
    project.write("built", "before");
    fs::create_dir(project.path("watched")).unwrap();
    let options = "dev --watch watched --trace=watched/trace.jsonl -- sh run.sh";
    let words: Vec<_> = options.split(' ').collect();
    let client = connect(project.dev(&words), Revision::V2025_11_25).await;
    description(&client, "forecast").await;
    assert!(project.read("watched/trace.jsonl").contains("tools/list"));
    // Changes are reported in their order.
    project.write("watched/source", "1");
    project.stderr.wait_for("source changed", 1).await;
    assert!(!project.stderr.contain("trace.jsonl changed"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_build_that_fails_without_output_is_reported() {
    let project = Project::new("before");
    let words = ["dev", "--build", "false", "--watch", "source", "--", "sh"];
    let command = project.dev(&words);
    let client = treenail::McpClient::builder().command(command);
    assert!(client.build().await.is_err(), "there is no server");
    project.stderr.wait_for("the build failed", 1).await;
}
