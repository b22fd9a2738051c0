//! The service in an `axum` application: under a path, beside other routes, behind middleware.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use http::header::AUTHORIZATION;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use treenail::Server;
use treenail::context::Principal;
use treenail::http::http_service;

use crate::client::{Post, messages};
use crate::fixture::{Desk, builder_of};
use crate::sockets::{ask_at, text};

/// Authenticates requests that have a name, and passes it to the functions.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let name = request.headers().get(AUTHORIZATION);
    let name = name.and_then(|name| name.to_str().ok()?.strip_prefix("Bearer "));
    let principal = Principal::new(name.ok_or(StatusCode::UNAUTHORIZED)?);
    request.extensions_mut().insert(principal);
    Ok(next.run(request).await)
}

/// Creates an application that contains the server, and a counter of its requests.
fn application(server: Server) -> (Router, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let counter = tower::ServiceBuilder::new().map_request({
        let count = Arc::clone(&count);
        move |request: Request| {
            count.fetch_add(1, Ordering::SeqCst);
            request
        }
    });
    let tools = Router::new()
        .nest_service("/tools/mcp", http_service(server))
        .layer(from_fn(authenticate));
    let application = Router::new()
        .route("/health", get(|| async { "fine" }))
        .nest("/v1", tools)
        .layer(counter);
    (application, count)
}

fn whoami() -> Post {
    Post::tool("whoami", json!({})).with("authorization", "Bearer ada")
}

#[tokio::test]
async fn the_service_nests_in_axum() {
    let desk = Desk::default();
    let server = builder_of(&desk).build().unwrap();
    let (application, count) = application(server.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let closed = server.clone();
    let serving = axum::serve(listener, application)
        .with_graceful_shutdown(async move { closed.closed().await });
    let serving = tokio::spawn(async { serving.await });

    let path = "/v1/tools/mcp";
    let response = ask_at(address, &whoami(), path).await;
    assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
    assert!(
        response.contains("ada"),
        "the middleware sets the principal: {response}"
    );
    let response = ask_at(address, &whoami().without("authorization"), path).await;
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    let response = ask_at(
        address,
        &whoami().with("origin", "http://evil.example"),
        path,
    )
    .await;
    assert!(
        response.starts_with("HTTP/1.1 403 "),
        "SRV-HTTP-03: {response}"
    );
    let response = ask_at(address, &Post::raw("").method("GET"), "/health").await;
    assert!(response.ends_with("fine"), "{response}");
    let response = ask_at(address, &whoami(), "/mcp").await;
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    let stream = Post::tool("count", json!({"to": 2}))
        .with("authorization", "Bearer ada")
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into());
    let response = ask_at(address, &stream, path).await;
    assert!(
        response.contains("text/event-stream"),
        "SRV-HTTP-08: {response}"
    );
    assert_eq!(messages(&response).len(), 3, "{response}");
    assert_eq!(count.load(Ordering::SeqCst), 6);

    // A client that disconnects cancels its call.
    let wait = Post::tool("wait", json!({})).with("authorization", "Bearer ada");
    let mut gone = TcpStream::connect(address).await.unwrap();
    gone.write_all(text(&wait, path).as_bytes()).await.unwrap();
    desk.begun.notified().await;
    drop(gone);
    desk.ended.notified().await;

    // The application ends with the server. Subscriptions end with their results.
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let listen = Post::modern("subscriptions/listen", filter).with("authorization", "Bearer ada");
    let mut listener = TcpStream::connect(address).await.unwrap();
    listener
        .write_all(text(&listen, path).as_bytes())
        .await
        .unwrap();
    let mut response = vec![0; 4096];
    let length = listener.read(&mut response).await.unwrap();
    response.truncate(length);
    server.close();
    listener.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8(response).unwrap();
    let notifications = messages(&response);
    let last = &notifications.last().expect("the stream has messages")["result"];
    assert_eq!(last["resultType"], "complete", "SRV-SUB-07: {response}");
    serving.await.unwrap().unwrap();
}
