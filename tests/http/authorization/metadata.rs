//! The metadata document of the resource.

use serde_json::json;
use tower_service::Service as _;
use treenail::auth::{Dpop, ResourceServer};
use treenail::http::http_service;

use super::{Guarded, METADATA, RESOURCE, Tokens, builder, resource_server, tool};
use crate::client::Post;
use crate::sockets::{Running, ask};

const PATH: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";

fn get(path: &str) -> Post {
    Post::raw("")
        .method("GET")
        .at(path)
        .without("content-type")
        .without("accept")
}

#[tokio::test]
async fn the_document_describes_the_resource() {
    let guarded = Guarded::with(|resource| {
        resource
            .name("Files")
            .documentation("https://example.com/docs")
    });
    let expected = json!({
        "resource": RESOURCE,
        "authorization_servers": [super::ISSUER, super::OTHER_ISSUER],
        "scopes_supported": ["files:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Files",
        "resource_documentation": "https://example.com/docs",
    });
    for path in [PATH, ROOT] {
        let post = get(path).with("origin", "https://any.example");
        let response = post.send(&guarded.service).await;
        assert_eq!(response.status, 200, "AUTH-R-02 AUTH-R-06");
        assert_eq!(response.json(), expected, "AUTH-R-01 AUTH-R-04");
        assert_eq!(
            response.header("access-control-allow-origin"),
            Some("*"),
            "AUTH-R-06"
        );
        assert_eq!(response.header("access-control-allow-credentials"), None);
        assert_eq!(
            response.header("cache-control"),
            Some("public, max-age=300"),
            "AUTH-R-06"
        );
    }
    let head = get(PATH).method("HEAD").send(&guarded.service).await;
    assert_eq!((head.status.as_u16(), &*head.body), (200, ""), "AUTH-R-06");
    let options = get(PATH).method("OPTIONS").send(&guarded.service).await;
    assert_eq!(options.status, 204, "AUTH-R-06");
    assert_eq!(
        options.header("access-control-allow-methods"),
        Some("GET, HEAD, OPTIONS")
    );
    let post = Post::raw("{}").at(PATH).send(&guarded.service).await;
    assert_eq!(post.status, 405);
    let other = get(PATH)
        .with("host", "evil.example")
        .send(&guarded.service)
        .await;
    assert_eq!(other.status, 403, "AUTH-R-06: the host is checked");
}

#[tokio::test]
async fn forged_headers_do_not_change_the_public_url() {
    let guarded = Guarded::new();
    let forged = |post: Post| {
        post.with("host", "mcp.example.com")
            .with("forwarded", "host=evil.example;proto=http")
            .with("x-forwarded-host", "evil.example")
            .with("x-forwarded-proto", "http")
            .with("x-forwarded-prefix", "/evil")
    };
    let response = forged(get(PATH)).send(&guarded.service).await;
    assert_eq!(response.json()["resource"], RESOURCE, "AUTH-R-03 AUTH-X-33");
    let response = forged(tool("about")).send(&guarded.service).await;
    assert_eq!(response.status, 401, "the public host is allowed");
    let challenge = response.header("www-authenticate").unwrap();
    assert!(challenge.contains(METADATA), "AUTH-X-33: {challenge}");
    assert!(!challenge.contains("evil"), "AUTH-X-33: {challenge}");
}

#[tokio::test]
async fn a_router_can_serve_the_document_by_itself() {
    let resource = resource_server(&Tokens::default()).dpop(Dpop::required());
    let mut service = resource.metadata_service().unwrap();
    assert_eq!(service.path(), PATH);
    let request = http::Request::get("/anything").body(()).unwrap();
    let response = service.call(request).await.unwrap();
    assert_eq!(response.status(), 200, "AUTH-R-07");
    let mut body = response.into_body();
    let json = crate::client::next(&mut body).await.unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["dpop_bound_access_tokens_required"], true, "AUTH-R-61");
    let algorithms = json["dpop_signing_alg_values_supported"]
        .as_array()
        .unwrap();
    assert!(algorithms.contains(&json!("ES256")), "AUTH-R-61");
    assert!(!algorithms.contains(&json!("HS256")));
}

#[tokio::test]
async fn the_listener_serves_the_document() {
    let server = builder().build().unwrap();
    let http = http_service(server.clone())
        .bind("127.0.0.1:0")
        .await
        .unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    let resource = ResourceServer::new(&url)
        .issuer(super::ISSUER)
        .verifier(Tokens::default())
        .scopes(["files:read", "files:write", "files:audit", "files:admin"]);
    let running = Running::start_http(http.authorize(resource).unwrap(), server);
    for path in [PATH, ROOT] {
        let response = ask(&running, &get(path), path).await;
        assert!(
            response.starts_with("HTTP/1.1 200 OK\r\n"),
            "AUTH-R-02: {response}"
        );
        assert!(response.contains(&url), "{response}");
    }
    for path in [
        "/.well-known/oauth-protected-resource/mcpx",
        "/.well-known/x",
        "/",
    ] {
        let response = ask(&running, &get(path), path).await;
        assert!(response.starts_with("HTTP/1.1 404 "), "{path}: {response}");
    }
    let response = ask(&running, &tool("about"), "/mcp").await;
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    running.finish().await;
}
