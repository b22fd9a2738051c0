//! The example `report`, whose process is killed while its task works, and while it waits for an answer.

use std::future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult};

const FINISHED: &str = "\
Quarter 1: 1000 sold
Quarter 2: 2000 sold
Quarter 3: 3000 sold
Quarter 4: 4000 sold
Edited by Ada
";

/// Process of the example, over HTTP.
struct Report {
    process: Child,
    url: String,
}

impl Report {
    /// Starts it in a folder, which has its reports and its tasks.
    async fn start(folder: &Path) -> Self {
        let mut process = Command::new(built_example("report"))
            .args(["--http", "127.0.0.1:0"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap()).lines();
        let url = stderr.next_line().await.unwrap().unwrap();
        // Reads on, so that the pipe stays open.
        tokio::spawn(async move { while let Ok(Some(_)) = stderr.next_line().await {} });
        Self { process, url }
    }

    /// Connects a client with a handler of questions.
    async fn client<F>(&self, on_elicit: impl Fn() -> F + Send + Sync + 'static) -> McpClient
    where
        F: Future<Output = ElicitResult> + Send + 'static,
    {
        let builder = McpClient::builder().url(&*self.url).tasks();
        let builder = builder.on_elicit(move |_| {
            let answer = on_elicit();
            async { Ok(answer.await) }
        });
        builder.build().await.unwrap()
    }

    /// Kills it at once, as the operating system would (SIGKILL).
    async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }
}

#[tokio::test]
async fn a_killed_server_finishes_its_report_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();

    let report = Report::start(folder.path()).await;
    let client = report.client(future::pending).await;
    let call = client.call_tool("write_report", json!({"year": 2026}));
    let ticket = call.task().await.unwrap().ticket().expect("it is a task");
    report.kill().await; // while it counts

    let report = Report::start(folder.path()).await;
    let asked = Arc::new(Notify::new());
    let asks = Arc::clone(&asked);
    let client = report.client(move || {
        asks.notify_one();
        future::pending()
    });
    let mut task = client.await.resume_task(&ticket).unwrap();
    tokio::select! {
        () = asked.notified() => {}
        result = task.wait() => panic!("the task ended without an answer: {result:?}"),
    }
    report.kill().await; // while it waits

    let report = Report::start(folder.path()).await;
    let client = report.client(|| {
        let mut accepted = ElicitResult::new(ElicitAction::Accept);
        accepted.content = Some([("name".to_owned(), "Ada".into())].into());
        future::ready(accepted)
    });
    let mut task = client.await.resume_task(&ticket).unwrap();
    let result = task.wait().await.unwrap();
    assert_eq!(result.as_text(), Some(FINISHED));
    report.kill().await; // while the result is in the store only

    let report = Report::start(folder.path()).await;
    let client = report.client(future::pending).await;
    let result = client.resume_task(&ticket).unwrap().wait().await.unwrap();
    assert_eq!(result.as_text(), Some(FINISHED));
}

#[tokio::test]
async fn a_second_report_replaces_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::start(folder.path()).await;
    let answer = || async { ElicitResult::accept(json!({"name": "Ada"})).unwrap() };
    let client = report.client(answer).await;
    for _ in 0..2 {
        let call = client.call_tool("write_report", json!({"year": 2026}));
        assert_eq!(call.await.unwrap().as_text(), Some(FINISHED));
    }
}

/// Returns the path of an example next to this test binary.
fn built_example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let example = profile.join("examples").join(file);
    assert!(
        example.is_file(),
        "the example is not built; run `cargo build --example {name}`"
    );
    example
}
