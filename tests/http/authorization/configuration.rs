//! Errors of the configuration, which building finds.

use std::time::Duration;

use treenail::auth::ResourceServer;
use treenail::http::http_service;
use treenail::prelude::*;
use treenail::schema::CacheScope;
use treenail::scope::OneOf;

use super::{ISSUER, RESOURCE, Tokens, builder, resource_server};

fn error(resource: ResourceServer) -> String {
    let service = http_service(builder().build().unwrap());
    service.authorize(resource).unwrap_err().to_string()
}

#[test]
fn an_invalid_configuration_is_refused_with_a_remedy() {
    let tokens = Tokens::default();
    let guard = |resource: &str| {
        let resource = ResourceServer::new(resource).verifier(tokens.clone());
        resource.scopes(["files:read", "files:write", "files:audit", "files:admin"])
    };
    let full = || resource_server(&tokens);
    let many = || (0..65).map(|number| number.to_string());
    let cases = [
        (guard("").issuer(ISSUER), "is not a URL"),
        (
            guard("http://mcp.example.com/mcp").issuer(ISSUER),
            "use `https`",
        ),
        (
            guard("https://mcp.example.com/mcp#x").issuer(ISSUER),
            "fragment",
        ),
        (
            guard("https://alice@mcp.example.com/mcp").issuer(ISSUER),
            "user information",
        ),
        (guard(RESOURCE), "issuer(\"https://…\")"),
        (
            guard(RESOURCE).issuer("http://id.example.com"),
            "use `https`",
        ),
        (
            guard(RESOURCE).issuer("id.example.com"),
            "issuer `id.example.com`",
        ),
        (
            full().scopes(["offline_access"]),
            "`offline_access` is no scope of a resource server",
        ),
        (full().scopes(["a\"b"]), "not allowed"),
        (
            full().basic_scopes(["files:raed"]),
            "did you mean `files:read`?",
        ),
        (
            full().scopes(many()).basic_scopes(many()),
            "name more than 64 scopes",
        ),
        (
            full().required_scopes(["mcp"]),
            "`required_scopes` names the scope `mcp`",
        ),
        (
            full().implies("files", ["file"]),
            "`implies` names the scope `file`",
        ),
        (full().implies("files:write", ["files"]), "implies itself"),
        (
            ResourceServer::new(RESOURCE)
                .issuer(ISSUER)
                .verifier(tokens.clone())
                .scopes(["files:read"]),
            "the tool `files.write` requires the scope `files:write`, which the resource server does not declare",
        ),
    ];
    for (resource, expected) in cases {
        let error = error(resource);
        assert!(
            error.contains(expected),
            "AUTH-R-03 AUTH-R-05 AUTH-R-23 AUTH-R-24 AUTH-R-55: {error}"
        );
    }
}

#[test]
fn shared_lists_are_refused() {
    let server = builder().cache_lists(Duration::from_secs(60), CacheScope::Public);
    let service = http_service(server.build().unwrap());
    let error = service
        .authorize(resource_server(&Tokens::default()))
        .unwrap_err();
    assert!(error.to_string().contains("private"), "AUTH-R-52: {error}");
}

const WITH_SPACE: &str = "files:\u{e4}";

/// Has a malformed scope.
#[mcp_tool(scope = WITH_SPACE)]
fn malformed() {}

/// Has no alternatives.
#[mcp_tool(scope = OneOf([]))]
fn impossible() {}

#[test]
fn malformed_scopes_fail_the_build_of_the_server() {
    for (tools, expected) in [
        (tools![malformed], "the scopes of the tool `malformed`"),
        (tools![impossible], "a group of alternative scopes is empty"),
    ] {
        let built = Server::builder("demo", "1.0.0").tools(tools).build();
        let error = built.unwrap_err().to_string();
        assert!(error.contains(expected), "AUTH-R-23: {error}");
    }
}

#[mcp_client(namespace = "notes")]
trait NotesApi {
    /// Counts the notes.
    async fn count(&self) -> Result<u32, ToolError>;

    /// Removes all notes.
    #[tool(scope = "files:admin")]
    async fn clear(&self) -> Result<(), ToolError>;
}

struct Notes;

#[mcp_tool(scope = "files:read")]
impl NotesApi for Notes {
    async fn count(&self) -> Result<u32, ToolError> {
        Ok(0)
    }

    async fn clear(&self) -> Result<(), ToolError> {
        Ok(())
    }
}

#[test]
fn implementations_of_contracts_have_scopes() {
    let server = Server::builder("demo", "1.0.0").mount(std::sync::Arc::new(Notes));
    let scopes = server.build().unwrap().required_scopes();
    let scopes = scopes.iter().map(|(item, scopes)| {
        let scopes = scopes.names().collect::<Vec<_>>().join(" ");
        format!("{item}: {scopes}")
    });
    let expected = [
        "tool `notes.count`: files:read",
        "tool `notes.clear`: files:admin",
    ];
    assert_eq!(scopes.collect::<Vec<_>>(), expected, "AUTH-R-53");
}

#[test]
fn a_server_lists_the_scopes_of_its_functions() {
    let server = builder().build().unwrap();
    let scopes = server.required_scopes();
    let of = |name: &str| {
        let (_, scopes) = scopes.iter().find(|(item, _)| item == name).unwrap();
        scopes.names().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        of("tool `files.read`"),
        "files:read",
        "AUTH-R-58: the default of the block"
    );
    assert_eq!(of("tool `files.write`"), "files:write", "AUTH-R-58");
    assert_eq!(of("tool `files.about`"), "", "AUTH-R-58");
    assert_eq!(of("tool `files.audit`"), "files:audit", "AUTH-R-56");
    assert_eq!(
        of("prompt `files.review`"),
        "files:write files:read",
        "AUTH-R-53"
    );
    assert_eq!(of("template `file:///{name}`"), "files:read", "AUTH-R-53");
    assert_eq!(of("resource `file:///public`"), "", "AUTH-R-53");
}
