//! Results of the methods, in each revision.

use treenail::prelude::*;
use treenail::schema::{CacheScope, Revision};
use treenail::skills::Skills;
use treenail::{Limits, Server};

use std::time::Duration;

use super::{BYTES, ID, TRIP, TRIP_FILE, VISA, listed, result, server, server_of, skills, uris};
use crate::support::peer::{Peer, initialize};

#[tokio::test]
async fn the_extension_is_declared_beside_resources() {
    for revision in Revision::ALL {
        let mut peer = Peer::silent(&server(), revision);
        let (method, params) = if revision.is_modern() {
            ("server/discover", json!({}))
        } else {
            ("initialize", initialize(revision.as_str()))
        };
        let answer = result(&mut peer, method, params).await;
        let capabilities = &answer["capabilities"];
        let expected = json!({ID: {"directoryRead": true}});
        assert_eq!(
            capabilities["extensions"], expected,
            "SKILL-S-01: {revision}"
        );
        let resources = json!({"listChanged": true});
        assert_eq!(
            capabilities["resources"], resources,
            "SKILL-S-01, SKILL-B-01"
        );
        assert_eq!(capabilities["tools"], Value::Null, "only resources change");
    }
}

#[tokio::test]
async fn entries_have_the_front_matter_and_all_files() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let list = result(&mut peer, "skills/list", json!({})).await;
        let trip = &list["skills"][0];
        let frontmatter = json!({
            "name": "plan-trip", "description": "Plans a trip.", "license": "MIT", "metadata": {"version": "1.0"},
        });
        assert_eq!(
            trip["uri"], TRIP,
            "SKILL-S-06, SKILL-S-07, SKILL-S-08, SKILL-S-11"
        );
        assert_eq!(trip["frontmatter"], frontmatter, "SKILL-S-03, SKILL-S-05");
        let files = trip["resources"].as_array().unwrap();
        let of = |uri: &str| files.iter().find(|file| file["uri"] == uri).unwrap();
        assert_eq!(
            files.len(),
            4,
            "SKILL-S-13: nested skills are included, SKILL-S-10"
        );
        for (uri, size, digest) in [
            (
                TRIP,
                TRIP_FILE.len(),
                "sha256:fefeb7e9ca73f7e7cf4bb97128488be799fd6dc1e0554221a932558463687a58",
            ),
            (
                "skill://plan-trip/map.png",
                BYTES.len(),
                "sha256:88d68653bc6eba8184e26ce031ad2c828ea72973d7fd3863823a2704e6b41940",
            ),
        ] {
            let expected = json!({"uri": uri, "digest": digest, "size": size});
            assert_eq!(*of(uri), expected, "SKILL-S-12");
        }
        of("skill://plan-trip/references/visa/us%20a.md");

        let get = result(&mut peer, "skills/get", json!({"uri": VISA})).await;
        assert_eq!(get["skill"], list["skills"][1], "SKILL-S-02, SKILL-S-17");
        assert_eq!(get["skill"]["resources"].as_array().unwrap().len(), 2);
        for caching in ["ttlMs", "cacheScope", "resultType"] {
            let has = revision.is_modern();
            assert_eq!(
                list.get(caching).is_some(),
                has,
                "SKILL-S-16, SKILL-B-01: {caching}"
            );
            assert_eq!(get.get(caching).is_some(), has, "SKILL-S-17, SKILL-B-01");
        }
    }
}

#[tokio::test]
async fn cache_attributes_are_those_of_lists() {
    let server = treenail::server!().extension(skills());
    let server = server.cache_lists(Duration::from_secs(60), CacheScope::Public);
    let mut peer = Peer::connect(&server.build().unwrap(), Revision::LATEST).await;
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/get", json!({"uri": TRIP})),
    ] {
        let answer = result(&mut peer, method, params).await;
        let caching = (&answer["ttlMs"], &answer["cacheScope"]);
        assert_eq!(
            caching,
            (&json!(60_000), &json!("public")),
            "SKILL-S-16, SKILL-S-17"
        );
    }
    let folder = json!({"uri": "skill://plan-trip"});
    let answer = result(&mut peer, "resources/directory/read", folder).await;
    assert_eq!(answer.get("ttlMs"), None, "SKILL-S-18");
    assert_eq!(answer["resultType"], "complete", "SKILL-S-18");
}

#[tokio::test]
async fn lists_have_pages() {
    for revision in Revision::ALL {
        let server = treenail::server!().extension(skills());
        let server: Server = server
            .limits(Limits::default().page_size(1))
            .build()
            .unwrap();
        let mut peer = Peer::connect(&server, revision).await;
        let all = [TRIP, VISA, "skill://workplace/a/SKILL.md"];
        assert_eq!(listed(&mut peer).await, all, "SKILL-S-16");
        let folder = json!({"uri": "skill://plan-trip"});
        let children = uris(&mut peer, "resources/directory/read", "resources", folder).await;
        let expected = [
            TRIP,
            "skill://plan-trip/map.png",
            "skill://plan-trip/references",
        ];
        assert_eq!(children, expected, "SKILL-S-18");
        for (method, params) in [
            ("skills/list", json!({"cursor": "x"})),
            (
                "resources/directory/read",
                json!({"uri": "skill://plan-trip", "cursor": VISA}),
            ),
        ] {
            let (code, message) = peer.refused(method, params).await;
            assert_eq!(code, -32602, "{message}");
            assert!(message.contains("no page at the cursor"), "{message}");
        }
    }
}

#[tokio::test]
async fn pages_of_large_entries_are_short() {
    let files = (0..20).flat_map(|skill| {
        let front = format!("---\nname: s{skill}\ndescription: Large.\n---\n");
        let others = (0..511).map(move |file| {
            (
                format!("s{skill}/{file}-{}", "x".repeat(100)),
                String::new(),
            )
        });
        others.chain([(format!("s{skill}/SKILL.md"), front)])
    });
    let skills = Skills::embedded(files).unwrap();
    let server = server_of(skills);
    let mut peer = Peer::connect(&server, Revision::LATEST).await;
    let page = result(&mut peer, "skills/list", json!({})).await;
    let count = page["skills"].as_array().unwrap().len();
    assert!((2..20).contains(&count), "{count}");
    assert!(page.to_string().len() < 1100 * 1024);
    assert_eq!(listed(&mut peer).await.len(), 20, "SKILL-S-16");
}

#[tokio::test]
async fn folders_list_their_direct_children() {
    let mut peer = Peer::connect(&server(), Revision::LATEST).await;
    let read = |uri: &str| ("resources/directory/read", json!({"uri": uri}));
    let (method, params) = read("skill://plan-trip/references/visa");
    let answer = result(&mut peer, method, params).await;
    let expected = json!([
        {"uri": VISA, "name": "SKILL.md", "mimeType": "text/markdown", "size": 55},
        {"uri": "skill://plan-trip/references/visa/us%20a.md", "name": "us a.md", "mimeType": "text/markdown", "size": 5},
    ]);
    assert_eq!(answer["resources"], expected, "SKILL-S-18");
    let (method, params) = read("skill://workplace");
    let answer = result(&mut peer, method, params).await;
    let expected =
        json!([{"uri": "skill://workplace/a", "name": "a", "mimeType": "inode/directory"}]);
    assert_eq!(
        answer["resources"], expected,
        "SKILL-S-18: a folder around skills"
    );
    for uri in [
        TRIP,
        "skill://plan-trip/",
        "skill://plan",
        "skill://none",
        "skill://",
        "x",
    ] {
        let (method, params) = read(uri);
        let (code, message) = peer.refused(method, params).await;
        assert_eq!(code, -32602, "SKILL-S-18: {message}");
        assert!(
            message.contains("there is no folder of skills"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn files_are_read_byte_for_byte() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (uri, mime_type, member, content) in [
            (TRIP, "text/markdown", "text", TRIP_FILE),
            ("skill://plan-trip/map.png", "image/png", "blob", "iVBOR/8="),
            (
                "skill://plan-trip/references/visa/us%20a.md",
                "text/markdown",
                "text",
                "B-2\r\n",
            ),
            ("skill://workplace/a/empty.txt", "text/plain", "text", ""),
        ] {
            let read = peer.read(uri).await;
            let expected = json!([{"uri": uri, "mimeType": mime_type, member: content}]);
            assert_eq!(read["contents"], expected, "SKILL-S-19: {revision}");
        }
        let code = if revision.is_modern() { -32602 } else { -32002 };
        for uri in [
            "skill://plan-trip",
            "skill://plan-trip/references/visa/us a.md",
            "skill://x",
        ] {
            let refused = peer.refused("resources/read", json!({"uri": uri})).await;
            assert_eq!(refused.0, code, "SKILL-S-19: {uri}: {}", refused.1);
        }
    }
}

#[tokio::test]
async fn only_the_instructions_are_listed_as_resources() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let list = result(&mut peer, "resources/list", json!({})).await;
        let resources = list["resources"].as_array().unwrap();
        assert_eq!(resources.len(), 3, "XAMB-14");
        let trip = &resources[0];
        assert_eq!(trip["uri"], TRIP);
        assert_eq!(trip["mimeType"], "text/markdown", "SKILL-S-09");
        assert_eq!(trip["name"], "plan-trip", "SKILL-S-09");
        assert_eq!(trip["description"], "Plans a trip.", "SKILL-S-09");
        let list = result(&mut peer, "resources/templates/list", json!({})).await;
        assert_eq!(list["resourceTemplates"], json!([]));
    }
}

#[tokio::test]
async fn unknown_skills_are_refused() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let long = format!("skill://{}", "x".repeat(100_000));
        for uri in ["skill://none/SKILL.md", "skill://plan-trip", "", &*long] {
            let (code, message) = peer.refused("skills/get", json!({"uri": uri})).await;
            assert_eq!(code, -32602, "SKILL-S-17: {message}");
            assert!(message.contains("there is no skill"), "{message}");
            assert!(message.len() < 300, "the message repeats a part of the URI");
        }
        let (code, message) = peer.refused("skills/get", json!({})).await;
        assert_eq!(
            (code, message.contains("`uri`")),
            (-32602, true),
            "{message}"
        );
        let without = treenail::server!().build().unwrap();
        let mut peer = Peer::connect(&without, revision).await;
        assert_eq!(
            peer.refused("skills/list", json!({})).await.0,
            -32601,
            "SKILL-B-02"
        );
    }
}
