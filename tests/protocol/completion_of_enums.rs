//! Completion of arguments that are enums.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::peer::Peer;

fn reference(kind: &str, key: &str, value: &str) -> Value {
    json!({"type": kind, (key): value})
}

/// Metre of a poem.
#[mcp_type]
enum Metre {
    Dactyl,
    /// Two syllables. A variant with a description is an alternative of its own in the schema.
    Iamb,
    #[serde(rename = "IA")]
    Ionic,
}

struct Poems;

#[mcp_tool(namespace = "poems")]
impl Poems {
    #[prompt]
    fn write(
        metre: Metre,
        echo: Option<Metre>,
        #[arg(complete = own)] own: Option<Metre>,
        theme: String,
    ) -> String {
        let metres = [Some(metre), echo, own].into_iter().flatten();
        let count = metres.filter(|metre| matches!(metre, Metre::Iamb)).count();
        format!("{theme} {count}")
    }

    #[resource("poems://{metre}")]
    fn poem(metre: Metre) -> String {
        String::from(if matches!(metre, Metre::Ionic) {
            "1"
        } else {
            "0"
        })
    }
}

fn own(_: &str) -> [&'static str; 1] {
    ["mine"]
}

#[tokio::test]
async fn variants_of_an_enum_are_suggested() {
    let server = treenail::server!().mount(Poems).build().unwrap();
    let write = reference("ref/prompt", "name", "poems.write");
    let poem = reference("ref/resource", "uri", "poems://{metre}");
    let none: [&str; 0] = [];
    let table = [
        (&write, "metre", "", json!(["Dactyl", "Iamb", "IA"])),
        (&write, "metre", "ia", json!(["Iamb", "IA"])),
        (&write, "echo", "D", json!(["Dactyl"])),
        (&write, "own", "D", json!(["mine"])),
        (&write, "theme", "D", json!(none)),
        (&poem, "metre", "i", json!(["Iamb", "IA"])),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for (reference, argument, typed, expected) in &table {
            let params = json!({"ref": reference, "argument": {"name": argument, "value": typed}});
            let answer = peer.request("completion/complete", params).await;
            let completion = &answer["result"]["completion"];
            assert_eq!(completion["values"], *expected, "{argument} {typed}");
        }
    }
}
