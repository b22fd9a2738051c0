//! Files in a watched directory that are written by restarts.

use std::fs;

use treenail::schema::Revision;

use super::project::{Project, connect, description};

#[tokio::test]
async fn a_file_that_the_server_writes_at_its_start_is_ignored() {
    let project = Project::new("before");
    project.write("built", "before");
    // The script writes the file `pid`.
    let words = ["dev", "--", "sh", "run.sh"];
    let client = connect(project.dev(&words), Revision::V2025_11_25).await;
    project
        .stderr
        .wait_for("pid changes after each start, so it is ignored", 1)
        .await;
    // Sources count as before.
    project.write("built", "after");
    project.stderr.wait_for("built changed", 1).await;
    assert!(project.stderr.contain("pid changed"));
    description(&client, "forecast").await;
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
