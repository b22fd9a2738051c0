//! Contracts of live servers: recording, and checks when connecting and later.

use serde_json::json;
use treenail::client::{ClientError, Contract, Severity};
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision, Tool};

use crate::fixture::server;
use crate::script::{Reply, discovered, initialized, scripted};

fn tool(name: &str) -> Tool {
    Tool::new(name, serde_json::Map::new())
}

#[tokio::test]
async fn a_recorded_server_matches_its_contract_in_every_revision() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let builder = || {
            McpClient::builder()
                .server(&server)
                .protocol_version(revision)
        };
        let client = builder().build().await.unwrap();
        let contract = client.contract().await.unwrap();
        assert_eq!(contract.protocol_version(), Some(revision.as_str()));
        assert_eq!(contract.server().unwrap().name, "everything");
        assert_eq!(contract.tools().len(), 7);
        assert_eq!(contract.prompts().len(), 1);
        assert_eq!(contract.resource_templates().len(), 1);
        assert_eq!(contract.resources(), None);
        assert_eq!(
            client.contract().await.unwrap().to_json(),
            contract.to_json()
        );
        let with_resources = client.contract_with_resources().await.unwrap();
        assert_eq!(with_resources.resources().unwrap().len(), 1);

        let read = Contract::from_json(&with_resources.to_json()).unwrap();
        assert_eq!(read, with_resources, "{revision}");
        assert!(client.check(&read).await.unwrap().is_empty());
        assert!(
            client.drift().is_none(),
            "there was no contract to compare it with"
        );
        let builder = builder().contract(read).deny_drift(Severity::Wording);
        let client = builder.build().await.unwrap();
        assert!(client.drift().unwrap().is_empty(), "{revision}");
        let sum: i64 = client
            .call_tool_as("add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum, 3);
    }
}

#[tokio::test]
async fn denied_drift_fails_the_build_and_other_drift_is_stored() {
    let (server, _) = server();
    let builder = || McpClient::builder().server(&server);
    let live = builder().build().await.unwrap().contract().await.unwrap();
    let tools = live.tools().to_vec();

    let more = live
        .clone()
        .with_tools(tools.iter().cloned().chain([tool("gone")]));
    let error = builder().contract(more.clone()).build().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server is not what its contract says: 1 breaking change; the first: tool `gone`: it is gone"
    );
    let ClientError::Drift(drift) = error else {
        panic!("{error}");
    };
    assert_eq!(drift.changes()[0].name, "gone");

    let fewer = live.clone().with_tools(tools[1..].to_vec());
    let client = builder().contract(fewer.clone()).build().await.unwrap();
    assert_eq!(client.drift().unwrap().worst(), Some(Severity::Additive));
    let error = builder().contract(fewer).deny_drift(Severity::Additive);
    assert!(matches!(error.build().await, Err(ClientError::Drift(_))));
    let client = builder().contract(more.clone()).deny_drift(None);
    let client = client.build().await.unwrap();
    assert_eq!(client.drift().unwrap().worst(), Some(Severity::Breaking));

    // Changes of unused tools do not matter.
    let used = more.only_tools(["add", "echo"]).unwrap();
    let builder = builder().contract(used).deny_drift(Severity::Wording);
    assert!(builder.build().await.unwrap().drift().unwrap().is_empty());
}

#[tokio::test]
async fn a_check_fetches_cached_lists_again() {
    // A legacy server without change notifications.
    let mut asked = 0;
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/list") => {
            asked += 1;
            let tool = json!({"name": format!("tool-{asked}"), "inputSchema": {"type": "object"}});
            Reply::result(message, &json!({"tools": [tool]}))
        }
        _ => Reply::nothing(),
    });
    let builder = McpClient::builder().session(session);
    let client = builder
        .protocol_version(Revision::V2025_11_25)
        .build()
        .await
        .unwrap();
    let contract = client.contract().await.unwrap();
    assert_eq!(client.tools().await.unwrap()[0].name, "tool-1");
    let drift = client.check(&contract).await.unwrap();
    assert_eq!(
        (
            drift.count(Severity::Breaking),
            drift.count(Severity::Additive)
        ),
        (1, 1)
    );
    assert_eq!(client.tools().await.unwrap()[0].name, "tool-2");
    let methods = received.methods();
    let others = methods.iter().filter(|method| method.ends_with("/list"));
    assert!(
        others.into_iter().all(|method| method == "tools/list"),
        "{methods:?}"
    );
}

#[tokio::test]
async fn a_failed_list_fails_the_contract_check() {
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::error(message, &json!({"code": -32603, "message": "no"})),
    });
    let builder = McpClient::builder().session(session);
    let error = builder.contract(Contract::new()).build().await.unwrap_err();
    assert!(matches!(error, ClientError::Refused(_)), "{error}");
}

#[tokio::test]
async fn missing_client_capabilities_are_reported_with_the_drift() {
    // A server that hides features which the client does not support.
    let hiding = || {
        let (session, _) = scripted(|message| match message["method"].as_str() {
            Some("server/discover") => discovered(message),
            Some("tools/list") => {
                let meta = &message["params"]["_meta"];
                let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
                let mut tools = vec![json!({"name": "echo", "inputSchema": {"type": "object"}})];
                if !capabilities["elicitation"].is_null() {
                    tools.push(json!({"name": "ask", "inputSchema": {"type": "object"}}));
                }
                let result = json!({"resultType": "complete", "tools": tools});
                Reply::result(message, &result)
            }
            _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        });
        McpClient::builder().session(session)
    };
    let asked = |_| async { Ok(ElicitResult::new(ElicitAction::Decline)) };
    let able = hiding().on_elicit(asked).build().await.unwrap();
    let lock = able.contract().await.unwrap().to_json();
    let contract = || Contract::from_json(&lock).unwrap();
    assert_eq!(contract().tools().len(), 2);

    let refused = hiding().contract(contract()).build().await.unwrap_err();
    let expected = "1 breaking change; the first: tool `ask`: it is gone; it was recorded by a client that declares \
                    `elicitation`, and this client does not: ";
    assert!(refused.to_string().contains(expected), "{refused}");
    let able = hiding().on_elicit(asked).contract(contract()).build();
    assert!(able.await.unwrap().drift().unwrap().is_empty());
}
