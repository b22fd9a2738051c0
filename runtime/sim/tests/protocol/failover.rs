//! Sessions of the legacy era whose replica cannot be reached for a while.

use std::time::Duration;

use tokio::time::sleep;
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};
use treenail::sim::{Client, Simulation};

/// Asks before it deletes a place.
#[mcp_tool(destructive)]
async fn forget(cx: &Context, place: String) -> Result<String, AskError> {
    cx.confirm(format!("Delete {place}?")).await?;
    Ok(format!("{place} is deleted"))
}

fn simulation() -> Simulation {
    Simulation::new(1).server(|_| treenail::server!().tools(tools![forget]).build())
}

/// Calls the tool with a user who answers after two seconds, and while the replica cannot be reached for as long as `away`.
async fn delete(client: &Client, away: Duration) {
    let asked = client.clone();
    let builder = client.builder().protocol_version(Revision::V2025_11_25);
    let builder = builder.on_elicit(move |_| {
        let client = asked.clone();
        async move {
            sleep(Duration::from_secs(2)).await;
            client.partition(0, away);
            ElicitResult::accept(())
        }
    });
    let session = builder.build().await.unwrap();
    sleep(Duration::from_secs(5)).await;
    let arguments = json!({"place": "Oslo"});
    let deleted: String = session.call_tool_as("forget", arguments).await.unwrap();
    assert_eq!(deleted, "Oslo is deleted");
}

#[test]
fn the_answer_of_a_user_arrives_after_a_partition() {
    let separated = simulation().clients(1, |client| async move {
        delete(&client, Duration::from_secs(6)).await;
        assert!(client.elapsed() > Duration::from_secs(13));
        assert!(client.elapsed() < Duration::from_secs(30));
    });
    separated.run().assert_ok();
}

#[test]
fn a_session_stays_at_the_replica_to_which_its_client_has_moved() {
    let moved = simulation().replicas(2).clients(1, |client| async move {
        client.kill(0, Duration::from_secs(3));
        // Until then, new connections lead to the replica that is down.
        sleep(Duration::from_secs(1)).await;
        delete(&client, Duration::ZERO).await;
    });
    let report = moved.run();
    report.assert_ok();
    let transcript = report.transcript().to_string();
    assert!(transcript.contains("client-0 to replica-1"), "{report}");
    let handshakes = transcript.matches("initialize {").count();
    assert_eq!(handshakes, 1, "{report}");
}
