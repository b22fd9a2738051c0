//! Two processes with one store, of which one may use a refresh token. AUTH-X-15.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use treenail::auth::{AuthError, Callback, Clock, FileStore, OAuth};
use treenail::prelude::*;

use crate::fixture::{REDIRECT_URI, World, extensions};

const DIRECTORY: &str = "TREENAIL_TEST_STORE";
const URL: &str = "TREENAIL_TEST_URL";
const CALLS: usize = 20;
/// Longer than the lifetime of a token.
const LATER: Duration = Duration::from_secs(600);

fn store(directory: &Path) -> FileStore {
    let builder = FileStore::builder("planner").directory(directory);
    builder.key_file().open().expect("a store")
}

/// Starts `child_that_calls` in another process.
fn child(world: &World, directory: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "processes::child_that_calls", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(URL, &world.url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// Runs in a process of `two_processes_share_one_refresh`, and has nothing to do otherwise.
#[tokio::test]
async fn child_that_calls() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let no_user = Callback::new(REDIRECT_URI, |_| async {
        Err(AuthError::NotAuthorized("no user in this process".into()))
    });
    let oauth = OAuth::callback("test client", no_user).store(store(Path::new(&directory)));
    let oauth = oauth.clock(Clock::manual(SystemTime::now() + LATER));
    let url = std::env::var(URL).expect("a URL");
    writeln!(std::io::stdout(), "\nready").expect("written");
    // The parent lets all children start at once.
    let _ = std::io::stdin().lines().next();
    let client = McpClient::builder().url(url).oauth(oauth).build().await;
    let client = client.expect("a session");
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { extensions(&client).await })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic").expect("a result");
    }
}

#[tokio::test]
async fn two_processes_share_one_refresh() {
    let world = World::start().await;
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("tokens");
    let oauth = world.user().store(store(&directory));
    world.call(&oauth).await.expect("a result");
    world.clock.advance(LATER);
    let mut children = [(); 2].map(|()| child(&world, &directory));
    for child in &mut children {
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut lines = output.lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "ready"));
        // The rest of the output must find a reader.
        std::thread::spawn(move || lines.count());
    }
    for child in &mut children {
        let input = child.stdin.as_mut().expect("piped");
        input.write_all(b"\n").expect("written");
    }
    let ended = tokio::task::spawn_blocking(move || {
        children.map(|mut child| child.wait().expect("an end").success())
    });
    assert_eq!(ended.await.expect("no panic"), [true, true]);
    let requests = world.token_requests();
    let grants = requests
        .iter()
        .filter_map(|request| request.parameter("grant_type"));
    // A second use of the refresh token would have revoked all tokens.
    assert_eq!(
        grants.collect::<Vec<_>>(),
        ["authorization_code", "refresh_token"]
    );
    world.finish().await;
}
