//! Input rounds across replicas that share only a key.

use serde_json::{Value, json};

use crate::process::Replica;
use crate::request::call;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const OTHER_KEY: &str = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";

fn book(replica: &Replica, more: Value) -> Value {
    call(replica, "book", json!({"city": "Oslo"}), more)
}

/// Returns the answers to all input requests, with the request state.
fn accept_all(answer: &Value) -> Value {
    let result = &answer["result"];
    assert_eq!(
        result["resultType"], "input_required",
        "SRV-MRTR-04: {answer}"
    );
    let requests = result["inputRequests"].as_object().unwrap();
    let content = json!({"name": "Ada", "nights": 3, "confirm": true});
    let responses = requests.iter().map(|(key, request)| {
        let fields = request["params"]["requestedSchema"]["properties"]
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
fn two_replicas_serve_one_call() {
    let replicas = [Replica::start(KEY), Replica::start(KEY)];
    let mut keys = Vec::new();
    let mut answer = book(&replicas[0], json!({}));
    for round in 1..=3 {
        let requests = answer["result"]["inputRequests"].as_object().unwrap();
        keys.extend(requests.keys().cloned());
        answer = book(&replicas[round % 2], accept_all(&answer));
    }
    assert_eq!(
        keys,
        ["guest", "stay", "sure"],
        "SRV-MRTR-14: one request each"
    );
    // The deposit was taken once, in the first round, although another replica served the last round.
    let [first, last] = replicas.each_ref().map(Replica::id);
    let expected = format!("Ada in Oslo, 3 nights: deposit at {first}, booked at {last}");
    assert_eq!(
        answer["result"]["content"][0]["text"], expected,
        "SRV-STATE-03, ALL-MRTR-01"
    );
    for replica in replicas {
        let log = replica.stop();
        assert!(!log.contains(&KEY[..20]), "a key is not logged: {log}");
    }
}

#[test]
fn replica_with_another_key_rejects_the_state() {
    let (here, there) = (Replica::start(KEY), Replica::start(OTHER_KEY));
    for (here, there) in [(&here, &there), (&there, &here)] {
        let first = book(here, json!({}));
        let refused = book(there, accept_all(&first));
        assert_eq!(refused["error"]["code"], -32602, "SRV-MRTR-08: {refused}");
        let more = book(here, accept_all(&first));
        assert_eq!(more["result"]["resultType"], "input_required", "{more}");
    }
}

#[test]
fn key_can_be_rotated_during_calls() {
    let steps = [
        [KEY.to_owned(), format!("{KEY},{OTHER_KEY}")],
        [format!("{KEY},{OTHER_KEY}"), format!("{OTHER_KEY},{KEY}")],
        [format!("{OTHER_KEY},{KEY}"), OTHER_KEY.to_owned()],
    ];
    for step in steps {
        let [here, there] = step.clone().map(|keys| Replica::start(&keys));
        for (one, two) in [(&here, &there), (&there, &here)] {
            let answer = book(one, json!({}));
            let answer = book(two, accept_all(&answer));
            assert_eq!(
                answer["result"]["resultType"], "input_required",
                "{step:?}: {answer}"
            );
        }
    }
}
