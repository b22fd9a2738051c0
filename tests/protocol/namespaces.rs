//! Nested namespaces: the resulting names, and the errors for wrong names.

use serde_json::{Value, json};
use treenail::ServerBuilder;
use treenail::schema::Revision;
use treenail::server::Namespace;

use super::notes::{add_extra, add_first, add_notes, add_second};
use super::team::{INSTRUCTIONS, add_clash, add_count};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, text};

fn team(team: Namespace) -> Namespace {
    add_second(add_count(team, 2))
}

fn nested(builder: ServerBuilder) -> ServerBuilder {
    add_first(builder).namespace("admin", |admin| {
        let admin = add_extra(add_count(admin, 1));
        add_first(admin.namespace("team", team))
    })
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|item| item[key].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn namespaces_prefix_all_names() {
    let server = nested(treenail::server!()).build().unwrap();
    for revision in covering("SRV-TOOL-07, SRV-PRM-03, SRV-RES-03") {
        let mut peer = Peer::connect(&server, revision).await;
        let mut list = peer.request("tools/list", json!({})).await["result"].take();
        let tools = [
            "first",
            "admin.count.get",
            "admin.extra_tool",
            "admin.go_away",
            "admin.team.count.get",
            "admin.team.second",
            "admin.first",
        ];
        assert_eq!(names(&list["tools"], "name"), tools);
        list = peer.request("prompts/list", json!({})).await["result"].take();
        let prompts = [
            "admin.count.ask",
            "admin.extra_prompt",
            "admin.team.count.ask",
        ];
        assert_eq!(names(&list["prompts"], "name"), prompts);
        list = peer.request("resources/list", json!({})).await["result"].take();
        assert_eq!(names(&list["resources"], "name"), ["admin.extra_resource"]);
        assert_eq!(
            names(&list["resources"], "uri"),
            ["extra://one"],
            "a URI is known outside of the server"
        );
        // Each has the state with which it was mounted.
        for (name, count) in [("admin.count", "1"), ("admin.team.count", "2")] {
            let result = peer.call(&format!("{name}.get"), json!({})).await;
            assert_eq!(text(&result), count);
            let params = json!({"name": format!("{name}.ask")});
            let answer = peer.request("prompts/get", params).await;
            assert_eq!(
                answer["result"]["messages"][0]["content"]["text"], count,
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn instructions_of_a_type_mounted_twice_appear_once() {
    let server = nested(treenail::server!()).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let answer = peer.request("server/discover", json!({})).await;
    let instructions = answer["result"]["instructions"].as_str();
    assert_eq!(instructions, INSTRUCTIONS);
}

#[tokio::test]
async fn errors_locate_the_wrong_part_of_a_name() {
    let revision = covering_one("SRV-TOOL-15 in 2026-07-28");
    let server = nested(treenail::server!()).build().unwrap();
    let mut peer = Peer::connect(&server, revision).await;
    let table = [
        (
            "admin",
            "`admin` is a namespace, not a tool; see `tools/list`",
        ),
        (
            "admin.team",
            "`admin.team` is a namespace, not a tool; see `tools/list`",
        ),
        (
            "admin.team.secand",
            "unknown tool `admin.team.secand`: namespace `admin.team` has no `secand`; did you mean `admin.team.second`?",
        ),
        (
            "admin.taem.second",
            "unknown tool `admin.taem.second`: there is no namespace `admin.taem`; did you mean `admin.team.second`?",
        ),
        ("team", "unknown tool `team`"),
    ];
    for (name, expected) in table {
        let refused = peer.refused("tools/call", json!({"name": name})).await;
        assert_eq!(refused, (-32602, expected.to_owned()));
    }
}

#[tokio::test]
async fn another_separator_replaces_each_dot() {
    let server = nested(treenail::server!()).name_separator("__").build();
    let mut peer = Peer::connect(&server.unwrap(), MODERN).await;
    let result = peer.call("admin__team__count__get", json!({})).await;
    assert_eq!(text(&result), "2");
    let (_, message) = peer
        .refused("tools/call", json!({"name": "admin__team"}))
        .await;
    assert!(message.contains("is a namespace"), "{message}");
}

#[tokio::test]
async fn names_may_contain_the_separator() {
    let server = nested(treenail::server!()).name_separator("_").build();
    let mut peer = Peer::connect(&server.unwrap(), MODERN).await;
    peer.call("admin_extra_tool", json!({})).await;
    let result = peer.call("admin_team_count_get", json!({})).await;
    assert_eq!(text(&result), "2");
    // Only the text in front of the separator that is a namespace is called one.
    for (name, expected) in [
        (
            "admin_team",
            "`admin_team` is a namespace, not a tool; see `tools/list`",
        ),
        (
            "admin_extra",
            "unknown tool `admin_extra`: namespace `admin` has no `extra`",
        ),
        (
            "admin_team_secand_x",
            "unknown tool `admin_team_secand_x`: namespace `admin_team` has no `secand_x`",
        ),
        ("word_x", "unknown tool `word_x`"),
    ] {
        let (_, message) = peer.refused("tools/call", json!({"name": name})).await;
        let message = message.split("; did you mean").next().unwrap();
        assert_eq!(message, expected);
    }
}

#[test]
fn errors_contain_the_complete_name() {
    let add = |fill: fn(Namespace) -> Namespace| treenail::server!().namespace("admin", fill);
    let table = [
        (
            add(|admin| add_count(add_count(admin, 1), 2)),
            "two tools have the name `admin.count.get`; give one of them `name = \"…\"` or a namespace",
        ),
        (
            add(|admin| admin.namespace("a b", |inner| inner)),
            "the namespace `admin.a b` has characters other than `A-Z a-z 0-9 _ - .`",
        ),
        (
            add(|admin| admin.namespace("", add_first)),
            "the namespace `admin.` has an empty part before, after or between dots",
        ),
        (
            treenail::server!().namespace("", |inner| inner),
            "the namespace `` is empty",
        ),
        (
            add(|admin| admin.namespace("x".repeat(122), add_first)),
            "is longer than 128 characters",
        ),
        (
            add(|admin| admin.namespace("team", add_first))
                .namespace("admin_team", add_first)
                .name_separator("_"),
            "two tools have the name `admin_team_first`; give one of them `name = \"…\"` or a namespace",
        ),
        (
            add_notes(treenail::server!()).namespace("more", add_notes),
            "two resources have the URI `notes://all`",
        ),
        // The first mistake is reported.
        (
            add(|admin| {
                admin
                    .namespace("!", |inner| inner)
                    .namespace("?", |inner| inner)
            }),
            "the namespace `admin.!` has characters other than `A-Z a-z 0-9 _ - .`",
        ),
    ];
    for (builder, expected) in table {
        let message = builder.build().unwrap_err().to_string();
        assert!(message.ends_with(expected), "{message}");
    }
}

#[tokio::test]
async fn unambiguous_names_without_dots_are_accepted() {
    let builder = add_clash(nested(treenail::server!()));
    let server = builder.build().unwrap();
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for (name, expected) in [
            ("admin.team.count.get", "2"),
            ("admin_team_count_get", "2"),
            ("admin__team__count__get", "2"),
            ("a_d", "a_d"),
            ("a__d", "a.d"),
            ("a__b_c", "a.b_c"),
            ("a_b__c", "a_b.c"),
        ] {
            let result = peer.call(name, json!({})).await;
            assert_eq!(text(&result), expected, "{name} in {revision}");
        }
        // It could be `a.b_c` or `a_b.c`; all dots are replaced alike.
        for name in [
            "a_b_c",
            "admin__team_count_get",
            "admin_team",
            "Admin_first",
        ] {
            let (code, message) = peer.refused("tools/call", json!({"name": name})).await;
            assert_eq!(code, -32602, "{name} in {revision}");
            assert!(message.starts_with("unknown tool"), "{message}");
        }
        let params = json!({"name": "admin_count_ask"});
        let (code, _) = peer.refused("prompts/get", params).await;
        assert_eq!(code, -32602, "prompts are called by people and programs");
    }
}
