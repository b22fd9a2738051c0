//! Responses that a layer caches, for clients of all revisions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::super::shapes::add_shapes;
use super::{build, requests};
use crate::support::peer::Peer;

/// A server with a layer that caches every response, whichever client requests it.
fn caching() -> Server {
    let cache: Arc<Mutex<HashMap<String, Response>>> = Arc::default();
    let layer = layer_fn(move |inner: RequestService| {
        let cache = Arc::clone(&cache);
        service_fn(move |request: Request| {
            let (inner, cache) = (inner.clone(), Arc::clone(&cache));
            async move {
                let mut params: Value = serde_json::from_str(request.params())?;
                // It names the revision.
                params.as_object_mut().unwrap().remove("_meta");
                let key = format!("{} {params}", request.method().as_str());
                let cached = cache.lock().unwrap().get(&key).cloned();
                if let Some(response) = cached {
                    return Ok::<_, BoxError>(response);
                }
                let response = inner.oneshot(request).await?;
                cache.lock().unwrap().insert(key, response.clone());
                Ok(response)
            }
        })
    });
    build(|server| add_shapes(server).layer(layer))
}

/// Returns the names of the items of a list, if the result is one.
fn names(result: &Value) -> Option<Vec<&Value>> {
    let lists = ["tools", "prompts", "resources", "resourceTemplates"];
    let list = lists.iter().find_map(|list| result.get(list)?.as_array())?;
    Some(list.iter().map(|item| &item["name"]).collect())
}

/// Checks a cached response against that of a server without layers.
fn check(cached: &Value, expected: &Value, revision: Revision, place: &str) {
    let (result, expected_result) = (&cached["result"], &expected["result"]);
    let Some(names_of_all) = names(expected_result) else {
        assert_eq!(cached.to_string(), expected.to_string(), "{place}");
        return;
    };
    assert_eq!(names(result), Some(names_of_all), "{place}");
    let is_modern = revision.is_modern();
    for member in ["resultType", "ttlMs", "cacheScope"] {
        assert_eq!(result.get(member).is_some(), is_modern, "{place}: {member}");
    }
    // An output schema is that of the results in the revision, or absent.
    let tools = |result: &Value| result["tools"].as_array().cloned().unwrap_or_default();
    for (tool, expected) in tools(result).iter().zip(tools(expected_result)) {
        let schema = tool.get("outputSchema");
        let is_same = schema == expected.get("outputSchema");
        assert!(schema.is_none() || is_same, "{place}: {tool}");
    }
}

#[tokio::test]
async fn a_cached_response_serves_clients_of_other_revisions() {
    let plain = build(add_shapes);
    for first in Revision::ALL {
        for second in Revision::ALL {
            let server = caching();
            let mut filling = Peer::connect(&server, first).await;
            let mut cached = Peer::connect(&server, second).await;
            let mut expected = Peer::connect(&plain, second).await;
            for (method, params, _) in requests(Revision::V2024_11_05) {
                let place = format!("{method} {params} of {first} for {second}");
                filling.request(method, params.clone()).await;
                // Each response is validated against the schema of the revision.
                let response = cached.request(method, params.clone()).await;
                let expected = expected.request(method, params).await;
                check(&response, &expected, second, &place);
            }
            let record = json!({"name": "record", "arguments": {}});
            filling.request("tools/call", record.clone()).await;
            let response = cached.request("tools/call", record.clone()).await;
            let expected = expected.request("tools/call", record).await;
            check(&response, &expected, second, "record");
        }
    }
}
