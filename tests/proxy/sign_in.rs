//! Users who sign in at a server: the timeouts of the proxy pause meanwhile.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use treenail::client::{Session, SessionFuture, SessionRequest, SessionWrapper};
use treenail::prelude::*;
use treenail::proxy::Remote;
use treenail_runtime::internal::timeout::paused;

use crate::station::{MODERN, client_of, gateway, station};

const SIGN_IN: Duration = Duration::from_secs(250);
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// Session whose user signs in before each request of one method.
#[derive(Debug)]
struct SigningIn {
    session: Arc<dyn Session>,
    method: &'static str,
}

impl SessionWrapper for SigningIn {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        let signs_in = request.method == self.method;
        Box::pin(async move {
            if signs_in {
                paused(sleep(SIGN_IN)).await;
            }
            self.session.request(request).await
        })
    }
}

fn signing_in(server: &Server, method: &'static str) -> Remote {
    let server = server.clone();
    Remote::new("st", move || {
        let builder = client_of(&server, MODERN);
        builder.wrap_session(move |session| Arc::new(SigningIn { session, method }))
    })
}

#[tokio::test(start_paused = true)]
async fn a_user_may_sign_in_while_the_proxy_connects() {
    // AUTH-C-11
    for method in ["server/discover", "tools/list", "resources/list"] {
        let (station, _) = station();
        let (gateway, proxy) = gateway();
        let start = Instant::now();
        let mounted = proxy.mount(signing_in(&station, method)).unwrap();
        let connected = timeout(PATIENCE, mounted.connected()).await;
        assert!(connected.is_ok(), "{method}: {}", mounted.status());
        assert_eq!(start.elapsed().as_secs(), SIGN_IN.as_secs(), "{method}");
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        assert!(!client.tools().await.unwrap().is_empty(), "{method}");
        assert!(!client.resources().await.unwrap().is_empty(), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_user_may_sign_in_during_a_call() {
    // AUTH-C-11
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let mounted = proxy.mount(signing_in(&station, "tools/call")).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let call = |name: &'static str| {
        let call = client.session().tools_call(name, json!({"a": 1, "b": 2}));
        call.timeout(PATIENCE).into_future()
    };
    let result = call("st.add").await.unwrap();
    assert_eq!(result.as_text(), Some("3"));
    // The timeout continues after the sign-in.
    let start = Instant::now();
    let session = client.session();
    let work = session.tools_call("st.work", ()).timeout(PATIENCE).await;
    let text = "the server `st` did not answer: no answer within 60s";
    assert_eq!(work.unwrap().as_text(), Some(text));
    assert_eq!(start.elapsed().as_secs(), SIGN_IN.as_secs() + 60);
}
