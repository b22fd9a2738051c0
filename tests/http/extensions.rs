//! Extensions over HTTP: status codes, headers and subscriptions.

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::extension::{Extension, ExtensionMethod};
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail_runtime::internal::extension::publish;

use crate::client::{Post, messages, next};

const ID: &str = "com.example/jobs";

#[derive(serde::Deserialize)]
struct Get {
    #[serde(rename = "jobId")]
    job_id: String,
}

async fn get(_: Context, params: Get) -> Result<Value, RpcError> {
    Ok(json!({"job": params.job_id}))
}

fn server() -> Server {
    let named = ExtensionMethod::new("jobs/get", get).name_header("jobId");
    let accept = |_: Context, topics: Vec<String>| async move { Ok(topics) };
    let extension = Extension::new(ID)
        .add_method(named)
        .method("jobs/find", get)
        .listen_member("jobIds", accept);
    Server::builder("desk", "1.0.0")
        .extension(extension)
        .build()
        .unwrap()
}

fn service() -> HttpService {
    http_service(server())
}

fn post(method: &str) -> Post {
    let declared = json!({"extensions": {ID: {}}});
    Post::modern_as(method, json!({"jobId": "j-1"}), &declared)
}

fn named() -> Post {
    post("jobs/get").with("mcp-name", "j-1")
}

#[tokio::test]
async fn the_headers_of_a_method_must_match_its_body() {
    let service = service();
    let fine = [
        named(),
        named().with("mcp-name", "=?base64?ai0x?="),
        post("jobs/find"),
        post("jobs/find").with("mcp-name", "anything"),
    ];
    for post in fine {
        let response = post.send(&service).await;
        assert_eq!(response.status, 200, "TASK-S-28: {response:?}");
        assert_eq!(response.json()["result"]["job"], "j-1");
    }
    let wrong = [
        named().without("mcp-name"),
        named().with("mcp-name", "j-2"),
        named().and("mcp-name", "j-1"),
        named().without("mcp-method"),
        named().with("mcp-method", "jobs/find"),
        post("jobs/find").with("mcp-method", "jobs/get"),
        named().change(|body| body["params"]["jobId"] = 1.into()),
        named().change(|body| drop(body["params"].as_object_mut().unwrap().remove("jobId"))),
    ];
    for post in wrong {
        post.expect_rejected(&service, 400, -32020, "TASK-S-28")
            .await;
    }
}

#[tokio::test]
async fn the_status_is_that_of_the_table() {
    let undeclared = Post::modern("jobs/find", json!({"jobId": "j-1"}));
    undeclared
        .expect_rejected(&service(), 400, -32021, "EXT-B-05, XAMB-06")
        .await;
    let listen = json!({"notifications": {"jobIds": ["j-1"]}});
    let undeclared = Post::modern("subscriptions/listen", listen);
    undeclared
        .expect_rejected(&service(), 400, -32021, "TASK-S-27")
        .await;
    post("jobs/unknown")
        .expect_rejected(&service(), 404, -32601, "XAMB-06")
        .await;
    let plain = http_service(Server::builder("desk", "1.0.0").build().unwrap());
    post("jobs/get")
        .expect_rejected(&plain, 404, -32601, "XAMB-06")
        .await;
}

#[tokio::test]
async fn a_listening_stream_carries_the_messages_of_topics() {
    let server = server();
    let service = http_service(server.clone());
    let params = json!({"notifications": {"jobIds": ["j-1"]}});
    let declared = json!({"extensions": {ID: {}}});
    let post = Post::modern_as("subscriptions/listen", params, &declared);
    let response = post.begin(&service).await;
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let mut message = async || {
        let bytes = next(&mut body).await.unwrap();
        messages(std::str::from_utf8(&bytes).unwrap()).remove(0)
    };
    let acknowledged = message().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"jobIds": ["j-1"]})
    );
    publish(
        &server,
        ("jobIds", "j-1"),
        "notifications/jobs",
        r#"{"job":"j-1"}"#,
    )
    .unwrap();
    let told = message().await;
    assert_eq!(told["method"], "notifications/jobs");
    assert_eq!(told["params"]["job"], "j-1");
}

#[tokio::test]
async fn the_error_of_topics_that_are_refused_late_is_sent() {
    let refuse = |_: Context, _: Vec<String>| async {
        tokio::task::yield_now().await;
        Err::<Vec<String>, _>(RpcError::internal("no store"))
    };
    let extension = Extension::new(ID).listen_member("jobIds", refuse);
    let server = Server::builder("desk", "1.0.0").extension(extension);
    let service = http_service(server.build().unwrap());
    let params = json!({"notifications": {"jobIds": ["j-1"]}});
    let declared = json!({"extensions": {ID: {}}});
    let post = Post::modern_as("subscriptions/listen", params, &declared);
    let mut body = post.begin(&service).await.into_body();
    // hyper does not poll a body that has ended.
    assert!(!http_body::Body::is_end_stream(&body));
    let bytes = next(&mut body).await.unwrap();
    let error = messages(std::str::from_utf8(&bytes).unwrap()).remove(0);
    assert_eq!(error["error"]["message"], "no store");
    assert!(http_body::Body::is_end_stream(&body));
}

#[tokio::test]
async fn a_client_sends_the_header_of_the_method() {
    let http = server().bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    for revision in [
        Revision::V2025_06_18,
        Revision::LATEST_LEGACY,
        Revision::LATEST,
    ] {
        let builder = McpClient::builder()
            .url(url.clone())
            .protocol_version(revision);
        let client = builder.extension(ID, json!({})).build().await.unwrap();
        for id in ["j-1", "jøb"] {
            let params = json!({"jobId": id});
            let request = || client.extension_request::<Value>(ID, "jobs/get", &params);
            let found = request().name_header("jobId").await.unwrap();
            assert_eq!(found["job"], id, "TASK-C-11");
            let unnamed = request().await;
            assert_eq!(unnamed.is_err(), revision.is_modern(), "{unnamed:?}");
        }
    }
}

#[tokio::test]
async fn a_client_receives_notifications_of_a_call() {
    async fn report(cx: Context, _: Value) -> Result<(), RpcError> {
        cx.notify_extension(ID, "notifications/jobs", &json!({"job": "j-1"}))
            .await
    }

    let extension = Extension::new(ID).method("jobs/report", report);
    let server = Server::builder("desk", "1.0.0")
        .extension(extension)
        .build()
        .unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let builder = McpClient::builder()
            .url(url.clone())
            .protocol_version(revision);
        let client = builder.extension(ID, json!({})).build().await.unwrap();
        let mut notifications = client.session().notifications();
        client
            .extension_request::<Value>(ID, "jobs/report", &json!({}))
            .await
            .unwrap();
        let told = notifications.next().await.unwrap();
        let params: Value = told.decode_as("notifications/jobs").unwrap();
        assert_eq!(params["job"], "j-1");
    }
}
