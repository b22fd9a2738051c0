//! The service within an application of `axum`: under a path, beside other routes, behind middleware.

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
use treenail::{Principal, Server, http_service};

use crate::client::{Post, messages};
use crate::fixture::{Desk, builder_of};
use crate::sockets::{ask_at, text};

/// Lets in who says a name, and tells it to the functions.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let name = request.headers().get(AUTHORIZATION);
    let name = name.and_then(|name| name.to_str().ok()?.strip_prefix("Bearer "));
    let principal = Principal::new(name.ok_or(StatusCode::UNAUTHORIZED)?);
    request.extensions_mut().insert(principal);
    Ok(next.run(request).await)
}

/// An application in which the server is one part, and how many requests it has had.
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
    let answer = ask_at(address, &whoami(), path).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(
        answer.contains("ada"),
        "the middleware found out who is calling: {answer}"
    );
    let answer = ask_at(address, &whoami().without("authorization"), path).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let answer = ask_at(
        address,
        &whoami().with("origin", "http://evil.example"),
        path,
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "SRV-HTTP-03: {answer}");
    let answer = ask_at(address, &Post::raw("").method("GET"), "/health").await;
    assert!(answer.ends_with("fine"), "{answer}");
    let answer = ask_at(address, &whoami(), "/mcp").await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    let stream = Post::tool("count", json!({"to": 2}))
        .with("authorization", "Bearer ada")
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into());
    let answer = ask_at(address, &stream, path).await;
    assert!(
        answer.contains("text/event-stream"),
        "SRV-HTTP-08: {answer}"
    );
    assert_eq!(messages(&answer).len(), 3, "{answer}");
    assert_eq!(count.load(Ordering::SeqCst), 6);

    // A client that goes away cancels its call.
    let wait = Post::tool("wait", json!({})).with("authorization", "Bearer ada");
    let mut gone = TcpStream::connect(address).await.unwrap();
    gone.write_all(text(&wait, path).as_bytes()).await.unwrap();
    desk.begun.notified().await;
    drop(gone);
    desk.ended.notified().await;

    // The end of the server is that of the application; subscriptions end with their results.
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let listen = Post::modern("subscriptions/listen", filter).with("authorization", "Bearer ada");
    let mut listener = TcpStream::connect(address).await.unwrap();
    listener
        .write_all(text(&listen, path).as_bytes())
        .await
        .unwrap();
    let mut answer = vec![0; 4096];
    let length = listener.read(&mut answer).await.unwrap();
    answer.truncate(length);
    server.close();
    listener.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let told = messages(&answer);
    let last = &told.last().expect("it was told something")["result"];
    assert_eq!(last["resultType"], "complete", "SRV-SUB-07: {answer}");
    serving.await.unwrap().unwrap();
}
