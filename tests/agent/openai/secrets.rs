//! Secrecy of the key.

use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use treenail::agent::ApiKey;

use super::fake::{Endpoint, Reply};
use super::{ask, model, question};

const KEY: &str = "sk-very-5ecret";
/// A header value, which is secret too.
const OTHER: &str = "tenant/0ther";

/// Log of the whole process, by any crate and at any level. A thread-local subscriber is not enough: `tracing` caches
/// for each call site if anyone is interested, and a thread without a subscriber may be the first to reach it.
static LOG: Mutex<String> = Mutex::new(String::new());

struct Log;

/// Appends the fields of a span or an event to the log.
struct Fields;

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = LOG.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(text, "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Fields);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn the_key_never_appears_in_logs_or_errors() {
    tracing::subscriber::set_global_default(Log).unwrap();
    // Some endpoints echo the request.
    let reported = format!("Incorrect API key provided: {KEY}. Not of {OTHER}.");
    let padded = format!("{}{KEY}", "x".repeat(480));
    let replies = [
        Reply::error(503, &reported, "server_error"),
        Reply::error(401, &reported, "invalid_api_key"),
        Reply::error(400, &padded, "x"),
        Reply::events(&format!(
            "data: {{\"error\": {{\"message\": \"{KEY}\"}}}}\n\n"
        )),
        Reply::of(200, KEY, ""),
    ];
    let endpoint = Endpoint::start(replies);
    let mut limits = super::limits();
    limits.retries = 1;
    let builder = model(&endpoint)
        .limits(limits)
        .key(KEY)
        .header("x-other", OTHER);
    let shown = format!("{builder:?}");
    let model = builder.build().unwrap();
    let mut said = format!("{shown} {model:?} {:?}", ApiKey::new(KEY));
    for _ in 0..3 {
        let error = ask(&model, &question("Why?")).await.0.unwrap_err();
        write!(said, " {error} {error:?}").unwrap();
    }
    assert!(
        said.contains("Incorrect API key provided: [key]. Not of [secret]."),
        "{said}"
    );
    for asked in endpoint.all_asked() {
        assert_eq!(asked.header("authorization"), Some("Bearer sk-very-5ecret"));
        assert_eq!(asked.header("x-other"), Some(OTHER));
    }
    let log = LOG.lock().unwrap();
    assert!(
        log.contains("retrying the model request"),
        "something is logged: {log}"
    );
    for text in [&said, &*log] {
        assert!(!text.contains("5ecret"), "{text}");
        assert!(!text.contains("sk-very"), "{text}");
        assert!(!text.contains("0ther"), "{text}");
    }
}
