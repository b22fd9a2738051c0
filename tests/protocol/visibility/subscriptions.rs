//! Subscriptions to resources that are hidden, or become hidden.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{add_desk, builder, office, peer};
use crate::support::covering::{covering, covering_one};

#[tokio::test]
async fn updates_of_hidden_resources_are_not_sent() {
    let open = Arc::new(AtomicBool::new(true));
    let is_open = Arc::clone(&open);
    let server = add_desk(builder())
        .visible(move |feature, _| {
            feature.uri() != Some("desk://lamp") || is_open.load(Ordering::Relaxed)
        })
        .build()
        .unwrap();
    for revision in covering("SRV-RES-08, SRV-SUB-02 in 2025-06-18, 2026-07-28") {
        open.store(true, Ordering::Relaxed);
        let mut guest = peer(&server, "guest", revision).await;
        let uris = ["desk://lamp", "desk://drawer/a"];
        if revision.is_modern() {
            guest
                .listen(1, json!({"resourceSubscriptions": uris}))
                .await;
        } else {
            for uri in uris {
                let params = json!({"uri": uri});
                guest.request("resources/subscribe", params).await;
            }
        }
        server.resource_updated(uris[0]);
        guest.told_update(uris[0]).await;
        open.store(false, Ordering::Relaxed);
        server.resource_updated(uris[0]);
        server.resource_updated(uris[1]);
        guest.told_update(uris[1]).await;
    }
}

#[tokio::test]
async fn hidden_resources_are_left_out_of_a_subscription() {
    let revision = covering_one("SRV-SUB-03 in 2026-07-28");
    let server = office().build().unwrap();
    let wanted = json!({"resourceSubscriptions": ["desk://lamps", "desk://lamp", "desk://x"]});
    let mut guest = peer(&server, "guest", revision).await;
    let accepted = guest.listen(1, wanted.clone()).await;
    assert_eq!(accepted["resourceSubscriptions"], json!(["desk://lamp"]));
    let mut admin = peer(&server, "admin", revision).await;
    let accepted = admin.listen(1, wanted).await;
    let all = json!(["desk://lamps", "desk://lamp"]);
    assert_eq!(accepted["resourceSubscriptions"], all);
}
