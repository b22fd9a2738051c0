//! The committed lock files are up to date with the servers.

use std::path::Path;
use std::{env, fs};

use crate::installed::{command, connect};

async fn check_fresh(name: &str, arguments: &[&Path]) {
    let arguments = arguments
        .iter()
        .map(|argument| argument.as_os_str().to_owned());
    let command = arguments.fold(command(name), treenail::client::ServerCommand::arg);
    let now = connect(command).await.contract().await.unwrap().to_json();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("servers/{name}.lock.json"));
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, now).unwrap();
        return;
    }
    let committed = fs::read_to_string(&file).unwrap();
    assert!(
        committed == now,
        "{} is not up to date with the server; run `UPDATE=1 cargo test -p generated fresh`",
        file.display()
    );
}

#[tokio::test]
async fn lock_file_of_everything_is_fresh() {
    check_fresh("everything", &[]).await;
}

#[tokio::test]
async fn lock_file_of_filesystem_is_fresh() {
    let folder = tempfile::tempdir().unwrap();
    check_fresh("filesystem", &[folder.path()]).await;
}

#[tokio::test]
async fn lock_file_of_memory_is_fresh() {
    check_fresh("memory", &[]).await;
}
