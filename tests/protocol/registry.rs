//! Servers with prompts and resources: capabilities, pagination, names.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use super::library::{add_library, add_prompts, add_templates, server};
use super::weather::add_weather;
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, error, initialize};

#[tokio::test]
async fn lists_are_paginated() {
    let limits = Limits::default().page_size(2);
    let lists = [
        ("tools/list", "tools", 5),
        ("prompts/list", "prompts", 6),
        ("resources/list", "resources", 9),
        ("resources/templates/list", "resourceTemplates", 3_usize),
    ];
    let builder = add_library(add_weather(treenail::server!()));
    let server = builder.limits(limits).build().unwrap();
    for revision in covering("SRV-PAGE-01, SRV-PAGE-02, SRV-CACHE-03") {
        let mut peer = Peer::connect(&server, revision).await;
        for (method, member, count) in lists {
            let (mut found, mut pages, mut params) = (0, 0, json!({}));
            loop {
                let result = peer.request(method, params).await["result"].take();
                found += result[member].as_array().unwrap().len();
                pages += 1;
                let scope = revision.is_modern().then(|| json!("private"));
                assert_eq!(result.get("cacheScope"), scope.as_ref(), "SRV-CACHE-03");
                match result.get("nextCursor") {
                    Some(cursor) => params = json!({ "cursor": cursor }),
                    None => break,
                }
            }
            assert_eq!((found, pages), (count, count.div_ceil(2)), "{method}");
            for cursor in [json!("no such"), json!(""), json!(7)] {
                let refused = peer.refused(method, json!({ "cursor": cursor })).await;
                assert_eq!(refused.0, -32602, "SRV-PAGE-02: {method}");
            }
        }
    }
}

#[tokio::test]
async fn capabilities_follow_the_mounted_items() {
    let methods = [
        ("tools/list", "tools"),
        ("tools/call", "tools"),
        ("prompts/list", "prompts"),
        ("prompts/get", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resources"),
        ("resources/read", "resources"),
        ("completion/complete", "completions"),
        ("resources/subscribe", "none"),
    ];
    let build = |builder: treenail::ServerBuilder| builder.build().unwrap();
    let servers = [
        (server(), &["completions", "prompts", "resources"][..]),
        (build(add_prompts(treenail::server!())), &["prompts"]),
        (build(add_templates(treenail::server!())), &["resources"]),
        (build(add_weather(treenail::server!())), &["tools"]),
        (build(treenail::server!()), &[]),
    ];
    for revision in covering(
        "SRV-TOOL-01, SRV-TOOL-02, SRV-PRM-01, SRV-PRM-02, SRV-RES-01, SRV-RES-02, SRV-CMP-01, SRV-CMP-03, SRV-LOG-02, SRV-DISC-04, SRV-ERR-01",
    ) {
        for (server, offered) in &servers {
            let method = if revision.is_modern() {
                "server/discover"
            } else {
                "initialize"
            };
            let params = if revision.is_modern() {
                json!({})
            } else {
                initialize(revision.as_str())
            };
            let mut peer = Peer::silent(server, revision);
            let result = peer.request(method, params).await["result"].take();
            let mut expected: serde_json::Map<_, _> = offered
                .iter()
                .filter(|name| **name != "completions" || revision >= Revision::V2025_03_26)
                .map(|name| ((*name).to_owned(), json!({})))
                .collect();
            if !offered.is_empty() {
                expected.insert("logging".to_owned(), json!({}));
            }
            assert_eq!(
                result["capabilities"],
                Value::Object(expected),
                "{revision}"
            );

            let mut peer = Peer::connect(server, revision).await;
            for (method, capability) in methods {
                let answer = peer.request(method, json!({})).await;
                let refused = answer.get("error").is_some() && error(&answer).0 == -32601;
                assert_eq!(
                    refused,
                    !offered.contains(&capability),
                    "{method}: {answer}"
                );
            }
        }
    }
}

#[tokio::test]
async fn duplicate_names_and_uris_do_not_build() {
    let both = add_prompts(add_prompts(treenail::server!()));
    let message = both.build().unwrap_err().to_string();
    assert!(
        message.starts_with("two prompts have the name `hello`; give"),
        "{message}"
    );
    let both = add_templates(add_templates(treenail::server!()));
    let message = both.build().unwrap_err().to_string();
    assert_eq!(message, "two templates have the URI `only://{name}`");
}

#[tokio::test]
async fn names_of_prompts_can_be_shown_without_dots() {
    let server = add_library(treenail::server!())
        .name_separator("__")
        .build()
        .unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let answer = peer
        .request("prompts/get", json!({"name": "library__motto"}))
        .await;
    assert!(answer["result"]["messages"].is_array(), "{answer}");
    let list = peer.request("resources/list", json!({})).await;
    assert_eq!(
        list["result"]["resources"][0]["name"],
        "library__motto_text"
    );
}
