//! Folders that are read again.

use std::fs;

use tempfile::TempDir;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::skills::Skills;

use super::folders::{skill, write};
use super::{listed, server_of, skills};
use crate::support::peer::{MODERN, Peer};

#[tokio::test]
async fn changes_are_served_and_announced() {
    for revision in Revision::ALL {
        let folder = TempDir::new().unwrap();
        skill(folder.path(), "a");
        let skills = Skills::folder(folder.path()).unwrap();
        let server = server_of(skills.clone());
        let mut peer = Peer::connect(&server, revision).await;
        if revision.is_modern() {
            let filter =
                json!({"notifications": {"resourcesListChanged": true, "toolsListChanged": true}});
            peer.begin("subscriptions/listen", filter).await;
            let (method, params) = peer.next_notification().await;
            assert_eq!(method, "notifications/subscriptions/acknowledged");
            assert_eq!(
                params["notifications"],
                json!({"resourcesListChanged": true})
            );
        }
        write(folder.path(), "a/x.txt", "one");
        skill(folder.path(), "b");
        assert_eq!(
            listed(&mut peer).await,
            ["skill://a/SKILL.md"],
            "until the reload"
        );
        skills.reload().unwrap();
        let (method, _) = peer.next_notification().await;
        assert_eq!(method, "notifications/resources/list_changed", "{revision}");
        let both = ["skill://a/SKILL.md", "skill://b/SKILL.md"];
        assert_eq!(listed(&mut peer).await, both);
        assert_eq!(
            peer.read("skill://a/x.txt").await["contents"][0]["text"],
            "one"
        );

        // Nothing has changed, so nothing is announced.
        skills.reload().unwrap();
        assert_eq!(listed(&mut peer).await, both);

        // The bytes in memory are those of the digest.
        write(folder.path(), "a/x.txt", "two");
        assert_eq!(
            peer.read("skill://a/x.txt").await["contents"][0]["text"],
            "one"
        );
        fs::remove_dir_all(folder.path().join("b")).unwrap();
        skills.reload().unwrap();
        assert_eq!(
            peer.next_notification().await.0,
            "notifications/resources/list_changed"
        );
        assert_eq!(
            peer.read("skill://a/x.txt").await["contents"][0]["text"],
            "two"
        );
        assert_eq!(listed(&mut peer).await, ["skill://a/SKILL.md"]);
    }
}

#[tokio::test]
async fn entries_are_new_when_a_change_is_announced() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a");
    let skills = Skills::folder(folder.path()).unwrap();
    let servers = (0..50).map(|_| server_of(skills.clone()));
    let servers: Vec<_> = servers.collect();
    let mut peer = Peer::connect(&servers[0], Revision::LATEST_LEGACY).await;
    skill(folder.path(), "b");
    let reload = tokio::task::spawn_blocking(move || skills.reload());
    let (method, _) = peer.next_notification().await;
    assert_eq!(method, "notifications/resources/list_changed");
    // The other servers follow meanwhile.
    assert_eq!(
        listed(&mut peer).await,
        ["skill://a/SKILL.md", "skill://b/SKILL.md"]
    );
    reload.await.unwrap().unwrap();
}

#[tokio::test]
async fn wrong_changes_leave_the_skills_as_they_are() {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a");
    let skills = Skills::folder(folder.path()).unwrap();
    let server = server_of(skills.clone());
    let mut peer = Peer::connect(&server, MODERN).await;
    write(folder.path(), "a/SKILL.md", "---\nname: a\n---\n");
    let error = skills.reload().unwrap_err().to_string();
    assert!(error.contains("has no `description`"), "{error}");
    assert_eq!(listed(&mut peer).await, ["skill://a/SKILL.md"]);
    fs::remove_dir_all(folder.path()).unwrap();
    skills.reload().unwrap_err();
    assert_eq!(listed(&mut peer).await, ["skill://a/SKILL.md"]);
}

#[tokio::test]
async fn all_servers_change_or_none() {
    struct Own;

    #[mcp_tool]
    impl Own {
        #[resource("skill://b/SKILL.md")]
        fn own() -> &'static str {
            "own"
        }
    }

    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a");
    let skills = Skills::folder(folder.path()).unwrap();
    let one = server_of(skills.clone());
    let other = treenail::server!()
        .mount(Own)
        .extension(skills.clone())
        .build()
        .unwrap();
    skill(folder.path(), "b");
    let error = skills.reload().unwrap_err().to_string();
    assert_eq!(
        error,
        "the server has another resource at `skill://b/SKILL.md`"
    );
    for server in [&one, &other] {
        let mut peer = Peer::connect(server, MODERN).await;
        assert_eq!(listed(&mut peer).await, ["skill://a/SKILL.md"]);
        peer.vanish().await;
    }
    drop(other);
    skills.reload().unwrap();
    let mut peer = Peer::connect(&one, MODERN).await;
    assert_eq!(
        listed(&mut peer).await,
        ["skill://a/SKILL.md", "skill://b/SKILL.md"]
    );
}

#[test]
fn skills_from_memory_stay() {
    skills().reload().unwrap();
}
