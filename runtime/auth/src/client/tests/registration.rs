//! Client ids: configured, documents, registrations, and answers of the caller.

use std::sync::Arc;
use std::time::Duration;

use super::fixture::{REDIRECT_URI, Resource, Verdict, approve, call, clock, oauth, session};
use crate::testing::{Endpoint, TestAuthorizationServer, TestClient};
use crate::{Callback, ClientCredentials, MemoryStore, OAuth};

async fn start() -> (TestAuthorizationServer, Resource) {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    (server, resource)
}

#[tokio::test]
async fn credentials_and_documents_need_no_registration() {
    let server = TestAuthorizationServer::builder()
        .client(TestClient::secret("planner", "s3cret").redirect_uri(REDIRECT_URI))
        .start()
        .await
        .unwrap();
    let resource = Resource::start(&server).await;
    let credentials = ClientCredentials::secret("planner", "s3cret").issuer(server.issuer());
    call(
        &session(&resource, &oauth().client(credentials)),
        "tools/list",
    )
    .await
    .unwrap();
    let token = &server.requests_at(Endpoint::Token)[0];
    assert!(token.headers.contains_key("authorization"), "AUTH-C-95");
    assert!(
        server.requests_at(Endpoint::Registration).is_empty(),
        "AUTH-C-51"
    );

    let client = oauth().client_id_url("https://app.example/client.json");
    let document: serde_json::Value =
        serde_json::from_str(&client.client_id_document().unwrap()).unwrap();
    assert_eq!(
        document["client_id"], "https://app.example/client.json",
        "AUTH-C-58"
    );
    let server = TestAuthorizationServer::builder().client_metadata(&document);
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    call(&session(&resource, &client), "tools/list")
        .await
        .unwrap();
    assert!(
        server.requests_at(Endpoint::Registration).is_empty(),
        "AUTH-C-56"
    );
}

#[tokio::test]
async fn the_caller_is_asked_for_a_client_as_a_last_resort() {
    let server = TestAuthorizationServer::builder()
        .without_registration()
        .client(TestClient::public("asked").redirect_uri(REDIRECT_URI))
        .start()
        .await
        .unwrap();
    let resource = Resource::start(&server).await;
    let error = call(&session(&resource, &oauth()), "tools/list")
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains(&server.issuer()),
        "AUTH-C-51: {error}"
    );
    let asking = oauth().ask_client(|_| async { Ok(ClientCredentials::public("asked")) });
    call(&session(&resource, &asking), "tools/list")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_document_of_a_web_client_has_its_type() {
    let callback = Callback::new("https://app.example/back", approve);
    let client = OAuth::callback("app", callback).client_id_url("https://app.example/c.json");
    let document = client.client_id_document().unwrap();
    assert!(
        document.contains(r#""application_type":"web""#),
        "AUTH-C-63: {document}"
    );
    assert!(OAuth::console("app").client_id_document().is_err());
}

#[tokio::test]
async fn one_of_several_authorization_servers_is_chosen() {
    let (server, resource) = start().await;
    let other = TestAuthorizationServer::builder().start().await.unwrap();
    resource.set_issuers([server.issuer(), other.issuer()]);
    let authorizations = |server: &TestAuthorizationServer| {
        let count = server.requests_at(Endpoint::Authorization).len();
        server.clear_requests();
        count
    };
    call(&session(&resource, &oauth()), "tools/list")
        .await
        .unwrap();
    assert_eq!(
        (authorizations(&server), authorizations(&other)),
        (1, 0),
        "AUTH-C-30"
    );
    let preferring = oauth().prefer_issuer(other.issuer());
    call(&session(&resource, &preferring), "tools/list")
        .await
        .unwrap();
    assert_eq!(
        (authorizations(&server), authorizations(&other)),
        (0, 1),
        "AUTH-C-30"
    );
    // The registration at the other server takes precedence over the order.
    let store: Arc<MemoryStore> = Arc::default();
    let preferring = preferring.store(store.clone());
    call(&session(&resource, &preferring), "tools/list")
        .await
        .unwrap();
    let resource = Resource::start(&server).await;
    resource.set_issuers([server.issuer(), other.issuer()]);
    authorizations(&other);
    call(&session(&resource, &oauth().store(store)), "tools/list")
        .await
        .unwrap();
    assert_eq!(
        (authorizations(&server), authorizations(&other)),
        (0, 1),
        "AUTH-C-30"
    );
}

#[tokio::test]
async fn a_program_can_refuse_a_sign_in() {
    let (server, resource) = start().await;
    let refusing = oauth().confirm_sign_in(|request| async move {
        !request.authorization_server().starts_with("127.0.0.1:")
    });
    let error = call(&session(&resource, &refusing), "tools/list")
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("refused to sign in"),
        "AUTH-C-81: {error}"
    );
    assert!(
        server.requests_at(Endpoint::Authorization).is_empty(),
        "AUTH-C-81"
    );
}

#[tokio::test]
async fn credentials_that_fit_every_server_leave_the_choice_to_the_preference() {
    let start = || async {
        let app = TestClient::public("app").redirect_uri(REDIRECT_URI);
        let builder = TestAuthorizationServer::builder().client(app);
        builder.start().await.unwrap()
    };
    let (first, other) = (start().await, start().await);
    let resource = Resource::start(&first).await;
    resource.set_issuers([first.issuer(), other.issuer()]);
    let public = || ClientCredentials::public("app");
    for (credentials, preferred, expected) in [
        (public(), &other, (0, 1)),
        (public().allow_any_issuer(), &other, (0, 1)),
        (public().issuer(other.issuer()), &first, (0, 1)),
        (public(), &first, (1, 0)),
    ] {
        first.clear_requests();
        other.clear_requests();
        let client = oauth().prefer_issuer(preferred.issuer());
        let client = client.client(credentials.clone());
        let called = call(&session(&resource, &client), "tools/list").await;
        called.unwrap();
        let count =
            |server: &TestAuthorizationServer| server.requests_at(Endpoint::Authorization).len();
        let actual = (count(&first), count(&other));
        assert_eq!(actual, expected, "AUTH-C-30: {credentials:?}");
    }
}

/// Signs in at two resources with clients of different redirect URIs, the second one with a registration of its own.
async fn register_twice(
    server: &TestAuthorizationServer,
    configure: impl Fn(OAuth) -> OAuth,
) -> (Resource, OAuth) {
    let store: Arc<MemoryStore> = Arc::default();
    let client = |redirect_uri: &str| {
        let agent = Callback::new(redirect_uri, approve);
        configure(OAuth::callback("test client", agent).store(store.clone()))
    };
    let (first, second) = (
        client(REDIRECT_URI),
        client("http://127.0.0.1:4001/callback"),
    );
    let resources = [Resource::start(server).await, Resource::start(server).await];
    for (resource, client) in resources.iter().zip([&first, &second]) {
        call(&session(resource, client), "tools/list")
            .await
            .unwrap();
    }
    assert_eq!(server.requests_at(Endpoint::Registration).len(), 2);
    let [resource, _] = resources;
    (resource, first)
}

#[tokio::test]
async fn tokens_of_a_replaced_registration_are_refreshed() {
    let server = TestAuthorizationServer::builder();
    let server = server.access_token_lifetime(Duration::from_secs(3600));
    let server = server.start().await.unwrap();
    let clock = clock();
    let (resource, client) = register_twice(&server, |client| client.clock(clock.clone())).await;
    let old = resource.tokens()[1].clone();
    resource.rule(move |seen| {
        if seen.token.is_none() || seen.token == old {
            Verdict::Unauthorized(String::new())
        } else {
            Verdict::Accept
        }
    });
    clock.advance(Duration::from_secs(3700));
    call(&session(&resource, &client), "tools/list")
        .await
        .unwrap();
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 2);
}

#[tokio::test]
async fn logout_revokes_tokens_of_clients_that_are_not_known_any_more() {
    let server = TestAuthorizationServer::builder()
        .client(TestClient::public("app").redirect_uri(REDIRECT_URI))
        .client(TestClient::secret("secret app", "s3cret").redirect_uri(REDIRECT_URI));
    let server = server.start().await.unwrap();
    let (resource, client) = register_twice(&server, |client| client).await;
    client.logout(&resource.url()).await.unwrap();
    assert_eq!(
        server.requests_at(Endpoint::Revocation).len(),
        1,
        "AUTH-C-121"
    );

    let public = ClientCredentials::public("app");
    let secret = ClientCredentials::secret("secret app", "s3cret").issuer(server.issuer());
    for (credentials, is_revoked) in [(public, true), (secret, false)] {
        server.clear_requests();
        let store: Arc<MemoryStore> = Arc::default();
        let client = oauth().client(credentials).store(store.clone());
        call(&session(&resource, &client), "tools/list")
            .await
            .unwrap();
        // The program that logs out has another configuration, such as `treenail auth logout`.
        let outcome = oauth().store(store).logout(&resource.url()).await;
        assert_eq!(outcome.is_ok(), is_revoked, "AUTH-C-121: {outcome:?}");
        assert_eq!(
            server.requests_at(Endpoint::Revocation).len(),
            1,
            "AUTH-C-121"
        );
    }
}

#[tokio::test]
async fn logout_ends_the_binding_of_a_client_id() {
    let start = || {
        let app = TestClient::public("app").redirect_uri(REDIRECT_URI);
        TestAuthorizationServer::builder().client(app).start()
    };
    let (former, new) = (start().await.unwrap(), start().await.unwrap());
    let resource = Resource::start(&former).await;
    let client = oauth().client(ClientCredentials::public("app"));
    let session = session(&resource, &client);
    let call = || call(&session, "tools/list");
    call().await.unwrap();
    resource.set_issuers([new.issuer()]);
    resource.rule(|_| Verdict::Unauthorized(String::new()));
    let error = call().await.unwrap_err().to_string();
    assert!(error.contains("sign out"), "AUTH-C-54: {error}");
    client.logout(&resource.url()).await.unwrap();
    resource.rule(|seen| match seen.token {
        None => Verdict::Unauthorized(String::new()),
        Some(_) => Verdict::Accept,
    });
    call().await.unwrap();
    assert_eq!(new.requests_at(Endpoint::Authorization).len(), 1);
}
