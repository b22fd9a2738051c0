//! Conversations whose requests go to one replica and to another: what they have in common is a key.

use serde_json::{Value, json};

use crate::process::Replica;
use crate::request::call;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const OTHER: &str = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";

fn book(replica: &Replica, more: Value) -> Value {
    call(replica, "book", json!({"city": "Oslo"}), more)
}

/// What the client says to what it is asked, with the state that it was given.
fn agree(answer: &Value) -> Value {
    let result = &answer["result"];
    assert_eq!(
        result["resultType"], "input_required",
        "SRV-MRTR-04: {answer}"
    );
    let asked = result["inputRequests"].as_object().unwrap();
    let content = json!({"name": "Ada", "nights": 3, "confirm": true});
    let responses = asked.iter().map(|(key, question)| {
        let fields = question["params"]["requestedSchema"]["properties"]
            .as_object()
            .unwrap();
        let content: Value = fields
            .keys()
            .map(|name| (name.clone(), content[name].clone()))
            .collect();
        (key.clone(), json!({"action": "accept", "content": content}))
    });
    let responses: Value = responses.collect();
    json!({"requestState": result["requestState"], "inputResponses": responses})
}

#[test]
fn two_replicas_serve_one_conversation() {
    let replicas = [Replica::start(KEY), Replica::start(KEY)];
    let mut asked = Vec::new();
    let mut answer = book(&replicas[0], json!({}));
    for round in 1..=3 {
        let requests = answer["result"]["inputRequests"].as_object().unwrap();
        asked.extend(requests.keys().cloned());
        answer = book(&replicas[round % 2], agree(&answer));
    }
    assert_eq!(asked, ["guest", "stay", "sure"], "SRV-MRTR-14: each once");
    // The deposit was taken in the first round, and not again in the last one, by the other replica.
    let [first, last] = replicas.each_ref().map(Replica::id);
    let expected = format!("Ada in Oslo, 3 nights: deposit at {first}, booked at {last}");
    assert_eq!(
        answer["result"]["content"][0]["text"], expected,
        "SRV-STATE-03, ALL-MRTR-01"
    );
    for replica in replicas {
        let log = replica.end();
        assert!(!log.contains(&KEY[..20]), "a key is not logged: {log}");
    }
}

#[test]
fn a_replica_with_another_key_refuses_the_state() {
    let (here, there) = (Replica::start(KEY), Replica::start(OTHER));
    for (here, there) in [(&here, &there), (&there, &here)] {
        let begun = book(here, json!({}));
        let refused = book(there, agree(&begun));
        assert_eq!(refused["error"]["code"], -32602, "SRV-MRTR-08: {refused}");
        let more = book(here, agree(&begun));
        assert_eq!(more["result"]["resultType"], "input_required", "{more}");
    }
}

#[test]
fn a_key_is_replaced_while_conversations_go_on() {
    let steps = [
        [KEY.to_owned(), format!("{KEY},{OTHER}")],
        [format!("{KEY},{OTHER}"), format!("{OTHER},{KEY}")],
        [format!("{OTHER},{KEY}"), OTHER.to_owned()],
    ];
    for step in steps {
        let [here, there] = step.clone().map(|keys| Replica::start(&keys));
        for (one, two) in [(&here, &there), (&there, &here)] {
            let answer = book(one, json!({}));
            let answer = book(two, agree(&answer));
            assert_eq!(
                answer["result"]["resultType"], "input_required",
                "{step:?}: {answer}"
            );
        }
    }
}
