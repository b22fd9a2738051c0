//! Cache of the documents of authorization servers.

use std::sync::Arc;

use crate::fetch::Budget;
use crate::metadata::DiscoveryRules;
use crate::metadata::tests::{Web, discovery, document};

#[tokio::test]
async fn a_document_is_cached_until_it_is_forgotten() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    let web = Arc::<Web>::default();
    web.json(PLACE, &document("https://as.example"));
    let discovery = discovery(&web, "https://mcp.example/mcp", DiscoveryRules::default());
    let budget = Budget::discovery();
    for _ in 0..2 {
        let found = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        assert!(!found.unwrap().is_assumed);
    }
    assert_eq!(web.asked(), [PLACE], "AUTH-C-45");
    #[cfg(feature = "oauth")]
    {
        discovery.forget("https://as.example");
        let found = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        assert!(found.is_ok());
        assert_eq!(web.asked(), [PLACE], "AUTH-C-45");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cached_document_expires() {
    const PLACE: &str = "https://as.example/.well-known/oauth-authorization-server";
    let web = Arc::<Web>::default();
    web.json(PLACE, &document("https://as.example"));
    let discovery = discovery(&web, "https://mcp.example/mcp", DiscoveryRules::default());
    for _ in 0..2 {
        let budget = Budget::discovery();
        let found = discovery
            .authorization_server("https://as.example", &budget)
            .await;
        assert!(found.is_ok());
        tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    }
    assert_eq!(web.asked(), [PLACE, PLACE], "AUTH-C-45");
}
