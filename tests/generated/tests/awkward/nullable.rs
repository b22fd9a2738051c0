//! Arguments for which `null` differs from absence, as `Client::keep_null` generates them.

use std::sync::Arc;

use generated::awkward::nullable::{AwkwardClient, types::*};
use serde_json::json;
use treenail::client::{McpClient, MockSession};

use crate::round_trips;

#[test]
fn null_is_not_read_as_absence() {
    for value in [
        json!({"needed": null}),
        json!({"needed": null, "contact": null, "level": null, "place": null}),
        json!({"needed": "a", "contact": "b", "level": "low", "place": {"room": 7}}),
        json!({"needed": "a", "place": {"room": null}}),
    ] {
        round_trips::<Change>(value);
    }
}

#[tokio::test]
async fn null_is_sent_where_it_was_set() {
    let session = MockSession::new().answer("tools/call", |params| {
        Ok(json!({"content": [], "structuredContent": params["arguments"]}))
    });
    let client = McpClient::builder().session(Arc::new(session));
    let client = AwkwardClient::new(&client.build().await.unwrap());
    let change = || Change::new(None);
    for (change, expected) in [
        (change(), json!({"needed": null})),
        (
            change().with_contact(None),
            json!({"needed": null, "contact": null}),
        ),
        (
            change().with_contact(Some("a".to_owned())),
            json!({"needed": null, "contact": "a"}),
        ),
        (
            change().with_place(Some(ChangePlace::new().with_room(None))),
            json!({"needed": null, "place": {"room": null}}),
        ),
    ] {
        let result = client.change(change).await.unwrap();
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result["structuredContent"], expected);
    }
}
