//! Cancellations by the peer of a server.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use treenail::Limits;

use super::peer::{INITIALIZED, Peer, call, hello};

fn cancelled(id: &Value) -> String {
    let params = json!({"requestId": id});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

/// Receives a message, if there is one.
async fn next(peer: &mut Peer) -> Value {
    let message = timeout(Duration::from_secs(60), peer.receive()).await;
    message.expect("a message arrives").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_handshake_is_answered() {
    let mut peer = Peer::connected(Limits::default());
    peer.send(&format!("{}\n{}", hello(), cancelled(&json!("hello"))))
        .await;
    let answer = next(&mut peer).await;
    assert_eq!(answer["id"], "hello", "SRV-CANC-04: {answer}");
    peer.send(INITIALIZED).await;
    peer.ping().await;
}

#[tokio::test(start_paused = true)]
async fn one_of_two_calls_with_an_id_is_cancelled() {
    // With one call at a time, the second is deferred.
    for calls in [2, 1] {
        let mut peer = Peer::with_limits(Limits::default().calls_in_flight(calls)).await;
        for number in [6, 5] {
            peer.send(&call(5, "slow", &json!({"number": number})))
                .await;
        }
        peer.send(&cancelled(&json!(5))).await;
        let answer = next(&mut peer).await;
        assert_eq!(answer["id"], 5, "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], "6", "{answer}");
        tokio::time::sleep(Duration::from_secs(60)).await;
        peer.send(r#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#)
            .await;
        let answer = next(&mut peer).await;
        assert_eq!(answer["id"], "last", "SRV-CANC-03: {answer}");
    }
}
