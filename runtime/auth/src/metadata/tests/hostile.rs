//! Random documents: any result, but no panic, and no text of a document beyond its names.

use super::*;

/// A random value, often with names and texts of metadata.
fn value(random: &mut fastrand::Rng, depth: u32) -> Value {
    const TEXTS: [&str; 8] = [
        "https://as.example",
        "https://mcp.example/mcp",
        "https://10.0.0.1/",
        "S256",
        "code",
        "\u{0}\u{1b}[2J",
        "",
        "https://[",
    ];
    match random.u8(..if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => random.bool().into(),
        2 => random.i64(..).into(),
        3 | 4 => (*random.choice(&TEXTS).unwrap()).into(),
        5 => (0..random.usize(..4))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => object(random, depth - 1),
    }
}

fn object(random: &mut fastrand::Rng, depth: u32) -> Value {
    const NAMES: [&str; 10] = [
        "issuer",
        "resource",
        "authorization_servers",
        "scopes_supported",
        "token_endpoint",
        "authorization_endpoint",
        "jwks_uri",
        "response_types_supported",
        "code_challenge_methods_supported",
        "authorization_response_iss_parameter_supported",
    ];
    let mut members = serde_json::Map::new();
    for _ in 0..random.usize(..10) {
        let name = *random.choice(&NAMES).unwrap();
        members.insert(name.to_owned(), value(random, depth));
    }
    Value::Object(members)
}

#[tokio::test]
async fn random_documents_are_read_or_refused() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..2_000 {
        let mut page = object(&mut random, 3).to_string().into_bytes();
        if random.u8(..4) == 0 {
            let at = random.usize(..page.len());
            page[at] = random.u8(..);
        }
        let web = Arc::<Web>::default();
        for url in [
            "https://as.example/.well-known/oauth-authorization-server",
            "https://mcp.example/.well-known/oauth-protected-resource/mcp",
        ] {
            web.page(url, 200, page.clone());
        }
        let discovery = discovery(&web, "https://mcp.example/mcp", DiscoveryRules::default());
        let budget = Budget::discovery();
        let server = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        if let Ok(server) = &server {
            assert_eq!(server.metadata.issuer, "https://as.example", "AUTH-C-39");
        }
        let shown = server
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            !shown.chars().any(char::is_control),
            "AUTH-C-134: {shown:?}"
        );
        #[cfg(feature = "oauth")]
        {
            let url = "https://mcp.example/mcp".parse().unwrap();
            let request = crate::metadata::ResourceRequest {
                server: &url,
                challenge: None,
                revision: None,
                accepts_legacy: true,
                bypass_cache: false,
                known: None,
            };
            let found = discovery.resource(&request, &budget).await;
            let shown = found
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(
                !shown.chars().any(char::is_control),
                "AUTH-C-134: {shown:?}"
            );
        }
    }
}
