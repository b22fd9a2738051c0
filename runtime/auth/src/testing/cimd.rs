//! Client id metadata documents.

use serde_json::Value;

use super::register::texts;
use super::test_client::{Credential, TestClient};

/// Returns the client of a metadata document.
pub(super) fn client_of(document: &Value) -> TestClient {
    let empty = serde_json::Map::new();
    let members = document.as_object().unwrap_or(&empty);
    let id = members.get("client_id").and_then(Value::as_str);
    let grants = texts(members, "grant_types");
    TestClient {
        id: id.unwrap_or_default().to_owned(),
        credential: members
            .get("jwks")
            .cloned()
            .map_or(Credential::None, Credential::Keys),
        redirect_uris: texts(members, "redirect_uris").unwrap_or_default(),
        refreshes: grants.is_some_and(|grants| grants.iter().any(|grant| grant == "refresh_token")),
    }
}
