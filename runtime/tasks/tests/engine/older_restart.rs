//! Questions of tasks of revision 2025-11-25 whose server crashes.

use serde_json::{Value, json};
use treenail::tasks::Tasks;

use crate::older_asking::{able, asked, create, is_not_asked, text, until, with};
use crate::works::{crash, limits, shared};

#[tokio::test(start_paused = true)]
async fn a_page_that_the_user_has_agreed_to_open_is_not_asked_again() {
    let store = shared();
    let server = with(Tasks::new().store(store.clone()));
    let mut peer = able(&server).await;
    let task = create(&mut peer, "pay").await;
    let page = asked(&mut peer, &task).await;
    assert_eq!(page["params"]["message"], "Pay");
    peer.answer(&page, json!({"action": "accept"})).await;
    assert_eq!(
        asked(&mut peer, &task).await["params"]["message"],
        "Keep it?"
    );
    peer.abort().await;
    crash(server).await;

    let server = with(Tasks::new().store(store));
    let mut peer = able(&server).await;
    // The function runs again.
    tokio::time::sleep(limits().lease * 4).await;
    let question = asked(&mut peer, &task).await;
    assert_eq!(question["params"]["message"], "Keep it?", "LTASK-S-04");
    is_not_asked(&mut peer, &task).await;
    let agreed = json!({"action": "accept", "content": {}});
    peer.answer(&question, agreed).await;
    until(&mut peer, &task, "completed").await;
    assert_eq!(text(&mut peer, &task).await, "paid");
}

#[tokio::test(start_paused = true)]
async fn an_open_page_keeps_its_id_and_is_asked_once() {
    let store = shared();
    let server = with(Tasks::new().store(store.clone()));
    let mut peer = able(&server).await;
    let task = create(&mut peer, "pay").await;
    let page = asked(&mut peer, &task).await;
    peer.abort().await;
    crash(server).await;

    let server = with(Tasks::new().store(store));
    let mut peer = able(&server).await;
    tokio::time::sleep(limits().lease * 4).await;
    let again = asked(&mut peer, &task).await;
    let id = |page: &Value| page["params"]["elicitationId"].clone();
    assert!(id(&page).is_string(), "{page}");
    assert_eq!(id(&again), id(&page), "LTASK-S-04");
    is_not_asked(&mut peer, &task).await;
    peer.answer(&again, json!({"action": "accept"})).await;
    let question = asked(&mut peer, &task).await;
    assert_eq!(question["params"]["message"], "Keep it?", "LTASK-S-04");
}
