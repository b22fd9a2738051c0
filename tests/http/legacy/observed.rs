//! Observers of sessions over HTTP and of their requests.

use std::any::Any;
use std::sync::{Arc, Mutex};

use serde_json::json;
use treenail::context::Extensions;
use treenail::http::http_service;
use treenail::observe::{
    Observation, ObservedRequest, ObservedSession, ObservedTransport, ServerObserver,
};
use treenail::schema::Revision;

use super::Client;
use crate::fixture::builder;

/// Records the transport and the session id of each request. A session has the name `session`, and no id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Observed>>>);

type Observed = (String, ObservedTransport, Option<String>);

impl Seen {
    pub(crate) fn take(&self) -> Vec<Observed> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl ServerObserver for Seen {
    fn request(
        &self,
        request: &ObservedRequest<'_>,
        _: &mut Extensions,
    ) -> Option<Box<dyn Observation>> {
        let method = request.method.map_or("", |method| method.as_str());
        let id = request.session_id.map(str::to_owned);
        let seen = (method.to_owned(), request.transport, id);
        self.0.lock().unwrap().push(seen);
        None
    }

    fn session(&self, session: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        let seen = ("session".to_owned(), session.transport, None);
        self.0.lock().unwrap().push(seen);
        None
    }
}

#[tokio::test]
async fn all_requests_of_a_session_have_its_transport_and_id() {
    for is_filtered in [false, true] {
        let seen = Seen::default();
        let mut builder = builder().observe(seen.clone());
        if is_filtered {
            builder = builder.visible(|_, _| true);
        }
        let service = http_service(builder.build().unwrap());
        let client = Client::start(&service, Revision::V2025_03_26).await;
        client.send(client.ping()).await;
        let list = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
        client.send(client.post(&list(2))).await;
        let subscribe = client.request(3, "resources/subscribe", &json!({"uri": "notes://7"}));
        client.send(subscribe).await;
        client.send(client.add(4)).await;
        client.send(client.post(&json!([list(5)]))).await;
        let expected = [
            ("initialize", false),
            ("session", false),
            ("ping", true),
            ("tools/list", true),
            ("resources/subscribe", true),
            ("tools/call", true),
            ("tools/list", true),
        ];
        let expected = expected.map(|(name, has_id)| {
            let id = has_id.then(|| client.session.clone());
            (name.to_owned(), ObservedTransport::Http("1.1"), id)
        });
        assert_eq!(seen.take(), expected, "filtered: {is_filtered}");
    }
}
