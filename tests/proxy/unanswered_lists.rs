//! Servers that never answer a request for a list.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use treenail::prelude::*;
use treenail::proxy::ProxyLimits;

use crate::list_faults::failing;
use crate::script::tools;
use crate::station::{MODERN, client_of, gateway};

#[tokio::test(start_paused = true)]
async fn a_list_that_is_never_answered_does_not_hide_the_others() {
    let limit = Duration::from_secs(60);
    for silent in ["tools/list", "resources/list", "resources/templates/list"] {
        let is_silent = Arc::new(AtomicBool::new(true));
        let noted = Arc::clone(&is_silent);
        let remote = failing(move |message, line| {
            let method = message["method"].as_str().unwrap();
            let result = match method {
                _ if method == silent && noted.load(Ordering::SeqCst) => return true,
                "tools/list" => json!({"tools": tools(&["one"])}),
                "resources/list" => {
                    json!({"resources": [{"name": "file", "uri": "file:///a"}]})
                }
                _ => json!({"resourceTemplates": [{"name": "all", "uriTemplate": "dir:///{a}"}]}),
            };
            line.answer(message, &result);
            true
        });
        let (gateway, proxy) = gateway();
        let limits = ProxyLimits::default().connect_timeout(limit);
        let mounted = proxy.limits(limits).mount(remote).unwrap();
        let connected = tokio::time::timeout(limit + Duration::from_secs(1), mounted.connected());
        connected.await.expect(silent);
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        let tools = client.tools().await.unwrap();
        let resources = client.resources().await.unwrap();
        let templates = client.url_templates().await.unwrap();
        let silent_now = [
            ("tools/list", tools.is_empty()),
            ("resources/list", resources.is_empty()),
            ("resources/templates/list", templates.is_empty()),
        ];
        for (method, is_empty) in silent_now {
            assert_eq!(is_empty, method == silent, "{silent}: {method}");
        }
        // The list is fetched again.
        is_silent.store(false, Ordering::SeqCst);
        tokio::time::sleep(limit * 2).await;
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 1, "{silent}");
        assert_eq!(client.resources().await.unwrap().len(), 1, "{silent}");
        assert_eq!(client.url_templates().await.unwrap().len(), 1, "{silent}");
    }
}
