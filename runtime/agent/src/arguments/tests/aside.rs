//! Checks that take long are done on another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use treenail_runtime::client::ClientLimits;
use treenail_schema::JsonObject;

use super::super::ArgumentChecker;
use super::tool;

fn input(items: u32) -> JsonObject {
    let list: Vec<u32> = (0..items).collect();
    JsonObject::from_iter([("list".to_owned(), json!(list))])
}

fn schema() -> Value {
    let items = json!({"allOf": vec![json!({"type": "integer"}); 8]});
    json!({"type": "object", "properties": {"list": {"items": items}}})
}

#[tokio::test]
async fn a_long_check_does_not_stop_the_other_tasks_of_its_thread() {
    let ticks = Arc::new(AtomicU32::new(0));
    let ticking = Arc::clone(&ticks);
    tokio::spawn(async move {
        loop {
            ticking.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    let arguments = Arc::new(ArgumentChecker::new(&ClientLimits::default()));
    let tool = Arc::new(tool(&schema()));
    let checked = arguments.prepare_aside(&tool, "t", input(10)).await;
    assert_eq!(checked.unwrap().unchecked, None);
    assert_eq!(
        ticks.load(Ordering::Relaxed),
        0,
        "a short one is done at once"
    );
    let checked = arguments.prepare_aside(&tool, "t", input(60_000)).await;
    let prepared = checked.unwrap();
    assert_eq!((prepared.unchecked, prepared.input), (None, input(60_000)));
    assert!(ticks.load(Ordering::Relaxed) > 10, "{ticks:?}");
}

#[tokio::test]
async fn arguments_that_are_too_large_are_not_checked() {
    let arguments = Arc::new(ArgumentChecker::new(&ClientLimits::default()));
    let tool = Arc::new(tool(&json!({"type": "object"})));
    let text = "x".repeat(5 << 20);
    let input = JsonObject::from_iter([("text".to_owned(), json!(text))]);
    let checked = arguments.prepare_aside(&tool, "t", input).await;
    let unchecked = checked.unwrap().unchecked.unwrap();
    assert!(unchecked.contains("larger than"), "{unchecked}");
}
