//! Two processes with one store, of which one may use a refresh token. AUTH-X-15.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use treenail::auth::{
    AuthError, Callback, Clock, FileStore, Generation, OAuth, StoreFuture, StoreKey, StoreLock,
    StoredEntry, TokenStore,
};
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

/// Starts a test of this file in another process.
fn child(test: &str, world: &World, directory: &Path) -> Child {
    let name = format!("processes::{test}");
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", &name, "--nocapture"])
        .env(DIRECTORY, directory)
        .env(URL, &world.url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// Returns a client without a user, whose tokens have expired.
fn expired(store: impl TokenStore) -> OAuth {
    let no_user = Callback::new(REDIRECT_URI, |_| async {
        Err(AuthError::NotAuthorized("no user in this process".into()))
    });
    let oauth = OAuth::callback("test client", no_user).store(store);
    oauth.clock(Clock::manual(SystemTime::now() + LATER))
}

/// Returns the store of the parent process; `None` if there is no parent, and thus nothing to do.
fn of_parent() -> Option<FileStore> {
    std::env::var_os(DIRECTORY).map(|directory| store(Path::new(&directory)))
}

#[tokio::test]
async fn child_that_calls() {
    let Some(store) = of_parent() else { return };
    let oauth = expired(store);
    let url = std::env::var(URL).expect("a URL");
    writeln!(std::io::stdout(), "\nready").expect("written");
    // The parent lets all children start at once.
    let _ = std::io::stdin().lines().next();
    let client = McpClient::builder()
        .url(url)
        .authorization(oauth)
        .build()
        .await;
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
    let mut children = [(); 2].map(|()| child("child_that_calls", &world, &directory));
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

/// Store of a process that ends when it stores the tokens of a response.
#[derive(Debug)]
struct Crashing(FileStore);

impl TokenStore for Crashing {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        self.0.load(key)
    }

    fn store<'a>(&'a self, _: &'a StoreKey, _: StoredEntry) -> StoreFuture<'a, ()> {
        std::process::abort()
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        self.0.delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        self.0.lock(key)
    }
}

#[tokio::test]
async fn child_that_crashes() {
    let Some(store) = of_parent() else { return };
    let oauth = expired(Crashing(store));
    let url = std::env::var(URL).expect("a URL");
    let client = McpClient::builder()
        .url(url)
        .authorization(oauth)
        .build()
        .await;
    drop(client);
}

#[tokio::test]
async fn a_process_that_ends_after_the_response_costs_one_new_sign_in() {
    let world = World::start().await;
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("tokens");
    let oauth = world.user().store(store(&directory));
    world.call(&oauth).await.expect("a result");
    world.clock.advance(LATER);
    let child = child("child_that_crashes", &world, &directory);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let output = output.await.expect("no panic").expect("an end");
    assert!(!output.status.success());
    // The lock is free, and the refresh token is void.
    let again = world.user().store(store(&directory));
    world.call(&again).await.expect("a result");
    let grants = world.token_requests();
    let grants = grants
        .iter()
        .filter_map(|request| request.parameter("grant_type"));
    let expected = [
        "authorization_code",
        "refresh_token",
        "refresh_token",
        "authorization_code",
    ];
    assert_eq!(grants.collect::<Vec<_>>(), expected);
    world.finish().await;
}
