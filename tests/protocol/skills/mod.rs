//! Skills of a server: `skills/list`, `skills/get`, `resources/directory/read`, and the resources of their files.

mod building;
mod folders;
mod reload;
mod serving;
mod visibility;

use treenail::Server;
use treenail::prelude::*;
use treenail::skills::Skills;

use crate::support::peer::Peer;

const ID: &str = "io.modelcontextprotocol/skills";
const TRIP: &str = "skill://plan-trip/SKILL.md";
const VISA: &str = "skill://plan-trip/references/visa/SKILL.md";

const TRIP_FILE: &str = "\
---
name: plan-trip
description: Plans a trip.
license: MIT
metadata:
  version: \"1.0\"
---
Ask for the dates.
";
const VISA_FILE: &str = "---\nname: visa\ndescription: Finds out about visas.\n---\n";
const BYTES: &[u8] = b"\x89PNG\xff";

/// Two skills, one in the other, and one in a folder of its own.
fn skills() -> Skills {
    let files: [(&str, &[u8]); 6] = [
        ("plan-trip/SKILL.md", TRIP_FILE.as_bytes()),
        ("plan-trip/map.png", BYTES),
        ("plan-trip/references/visa/SKILL.md", VISA_FILE.as_bytes()),
        ("plan-trip/references/visa/us a.md", b"B-2\r\n"),
        (
            "workplace/a/SKILL.md",
            b"---\nname: a\ndescription: A.\n---\n",
        ),
        ("workplace/a/empty.txt", b""),
    ];
    Skills::embedded(files).unwrap()
}

fn server() -> Server {
    server_of(skills())
}

fn server_of(skills: Skills) -> Server {
    treenail::server!().extension(skills).build().unwrap()
}

/// Sends a request and returns its result.
async fn result(peer: &mut Peer, method: &str, params: Value) -> Value {
    let mut answer = peer.request(method, params).await;
    assert!(answer.get("result").is_some(), "{method}: {answer}");
    answer["result"].take()
}

/// Returns the URIs of all pages.
async fn uris(peer: &mut Peer, method: &str, member: &str, params: Value) -> Vec<String> {
    let (mut uris, mut params) = (Vec::new(), params);
    loop {
        let page = result(peer, method, params.clone()).await;
        let items = page[member].as_array().unwrap().iter();
        uris.extend(items.map(|item| item["uri"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return uris,
        }
    }
}

async fn listed(peer: &mut Peer) -> Vec<String> {
    uris(peer, "skills/list", "skills", json!({})).await
}
