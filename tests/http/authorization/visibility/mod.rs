//! Lists per caller, with the scopes of tokens and with the tenants of a `tower` layer.

mod challenges;
mod scopes;
mod tenants;

use treenail::schema::Revision;

use super::session::Session;
use super::tenants::{add_paid, add_plain};
use super::{
    Guarded, ISSUER, METADATA, builder, expect_challenge, expect_forbidden, tool, with_token,
};
use crate::client::CompleteResponse;

const LEGACY: [Revision; 2] = [Revision::V2025_03_26, Revision::V2025_11_25];

/// A server that hides what the token of the caller does not grant.
fn hiding() -> Guarded {
    let server = builder().visible(|feature, caller| caller.has_scopes(feature.scopes()));
    Guarded::of(server.dynamic(), |resource| resource)
}

/// A server that hides one tool for another reason than a scope.
fn partly_hiding() -> Guarded {
    let server = builder().visible(|feature, caller| {
        let subject = caller.principal().map_or("", |one| one.as_str());
        feature.name() != "files.audit" || subject.ends_with("bob")
    });
    Guarded::of(server, |resource| resource)
}

fn tools(response: &CompleteResponse) -> Vec<String> {
    let list = &response.json()["result"]["tools"];
    let names = list.as_array().unwrap().iter().map(|tool| &tool["name"]);
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Fails unless the response is that to an unknown tool or resource.
fn expect_unknown(response: &CompleteResponse, case: &str) {
    assert_eq!(response.status, 200, "AUTH-R-57: {case}: {response:?}");
    assert_eq!(response.header("www-authenticate"), None, "{case}");
    let error = &response.json()["error"];
    let code = error["code"].as_i64().unwrap();
    assert!(
        [-32602, -32002].contains(&code),
        "AUTH-R-57: {case}: {error}"
    );
    assert!(error.get("data").is_none() || code == -32002 || error["data"]["uri"].is_string());
}
