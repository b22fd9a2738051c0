//! Requests through an HTTP client of the user, which dials for itself.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use treenail_http_client::{HttpClient, HttpClientBody, HttpClientFuture, TlsConfig};

use super::*;

/// Client that answers with a function, and records the URLs.
#[derive(Clone)]
struct Client {
    answer: fn(&Uri) -> Response<String>,
    urls: Arc<Mutex<Vec<Uri>>>,
}

impl Client {
    fn new(answer: fn(&Uri) -> Response<String>) -> Self {
        let urls = Arc::default();
        Self { answer, urls }
    }

    /// Fetcher for an MCP server with a public address.
    fn fetcher(&self) -> Fetcher {
        Fetcher::new(policy("https://mcp.example/mcp").http_client(self.clone()))
    }

    fn urls(&self) -> Vec<Uri> {
        self.urls.lock().unwrap().clone()
    }
}

impl HttpClient for Client {
    fn send(&self, request: Request<Bytes>) -> HttpClientFuture<'_> {
        self.urls.lock().unwrap().push(request.uri().clone());
        let response = (self.answer)(request.uri());
        Box::pin(async move {
            if response.status() == StatusCode::IM_A_TEAPOT {
                return Err("the tunnel is closed".into());
            }
            Ok(response.map(HttpClientBody::new))
        })
    }
}

fn answer(status: u16, location: &str, body: String) -> Response<String> {
    let response = Response::builder().status(status);
    response.header("location", location).body(body).unwrap()
}

#[tokio::test]
async fn urls_and_addresses_in_them_are_judged_before_the_client_is_used() {
    let client = Client::new(|_| answer(200, "", "{}".to_owned()));
    let fetcher = client.fetcher();
    for refused in [
        "http://id.example/x",
        "https://10.0.0.1/x",
        "https://[::1]/x",
        "https://localhost/x",
        "https://LOCALHOST./x",
        "https://id.localhost/x",
        "https://169.254.169.254/latest",
        "https://metadata.google.internal/x",
        "https://0x7f.1/x",
    ] {
        let outcome = get(&fetcher, refused).await;
        assert!(
            matches!(outcome, Err(AuthError::Forbidden(_))),
            "AUTH-C-129: {refused}"
        );
    }
    assert!(client.urls().is_empty());
    // As behind a proxy, other names are resolved by the client.
    get(&fetcher, "https://id.example/x").await.unwrap();
    assert_eq!(client.urls(), ["https://id.example/x"], "AUTH-C-133");
}

#[tokio::test]
async fn redirects_and_bodies_are_bounded() {
    let client = Client::new(|url| match url.path() {
        "/a" => answer(307, "/b", String::new()),
        "/c" => answer(307, "https://evil.example/x", String::new()),
        "/large" => answer(200, "", " ".repeat(300 * 1024)),
        "/fails" => answer(418, "", String::new()),
        _ => answer(200, "", "{}".to_owned()),
    });
    let fetcher = client.fetcher();
    let status = async |path: &str| {
        let found = get(&fetcher, &format!("https://id.example{path}")).await;
        found.map(|found| found.status.as_u16())
    };
    assert_eq!(status("/a").await.unwrap(), 200, "AUTH-X-02");
    assert_eq!(status("/c").await.unwrap(), 307, "AUTH-X-02");
    let is_elsewhere = |url: &Uri| url.host() != Some("id.example");
    assert!(!client.urls().iter().any(is_elsewhere), "AUTH-X-02");
    let error = status("/large").await.unwrap_err();
    assert!(matches!(error, AuthError::Document { .. }), "AUTH-C-135");
    let error = status("/fails").await.unwrap_err();
    assert!(matches!(error, AuthError::Unavailable(_)), "{error:?}");
    assert!(error.to_string().contains("the tunnel is closed"));
}

#[test]
fn settings_of_tls_beside_a_client_are_an_error() {
    let client = Client::new(|_| answer(200, "", String::new()));
    let policy = FetchPolicy::default().http_client(client);
    assert!(format!("{policy:?}").contains("has_http_client: true"));
    policy.check_connections().unwrap();
    let checked = policy.tls(TlsConfig::new()).check_connections();
    let Err(AuthError::Invalid(reason)) = checked else {
        panic!("{checked:?}");
    };
    assert!(reason.contains("`FetchPolicy::http_client`"), "{reason}");
}
