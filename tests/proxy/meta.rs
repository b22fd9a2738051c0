//! `_meta` of calls at a mounted server: the members of the client, and those of the proxy.

use treenail::context::Principal;
use treenail::dynamic::{RawResult, Tool};
use treenail::prelude::*;
use treenail::schema::MetaObject;

use crate::station::{ERAS, client_of, gateway, remote};

const TENANT: &str = "com.example/tenant";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Returns members of `_meta`.
#[mcp_tool(read_only)]
fn meta(cx: &Context) -> String {
    let meta = cx.meta();
    json!([
        meta.get(TENANT),
        meta.get("com.example/trace"),
        meta.contains_key("progressToken"),
        meta.contains_key("io.modelcontextprotocol/forged"),
    ])
    .to_string()
}

#[tokio::test]
async fn members_of_the_proxy_replace_those_of_the_client() {
    for (caller, mounted) in ERAS {
        let server = Server::builder("tenants", "1.0.0").tools(tools![meta]);
        let server = server.build().unwrap();
        let (gateway, proxy) = gateway();
        let plain = remote("plain", &server, mounted);
        let trusted = remote("trusted", &server, mounted).meta(|cx| {
            let tenant = cx.principal().map(Principal::as_str);
            let members = [TENANT, "progressToken", "io.modelcontextprotocol/forged"];
            members
                .map(|key| (key, tenant))
                .into_iter()
                .collect::<MetaObject>()
        });
        for one in [plain, trusted] {
            proxy.mount(one).unwrap().connected().await;
        }
        for (principal, tenant) in [(Some("acme"), json!("acme")), (None, Value::Null)] {
            let mut connection = gateway.connect();
            if let Some(principal) = principal {
                connection
                    .extensions_mut()
                    .insert(Principal::new(principal));
            }
            let client = McpClient::builder().connection(connection);
            let client = client.protocol_version(caller).build().await.unwrap();
            for (name, tenant) in [("plain.meta", &json!("forged")), ("trusted.meta", &tenant)] {
                let call = client.call_tool(name, ());
                let call = call.meta(TENANT, "forged").meta("com.example/trace", 7);
                let result = call.await.unwrap();
                let expected = json!([tenant, 7, true, false]).to_string();
                assert_eq!(
                    result.as_text(),
                    Some(&*expected),
                    "{caller} {mounted} {name}"
                );
            }
        }
    }
}

#[tokio::test]
async fn members_of_a_result_that_belong_to_one_hop_are_not_passed_on() {
    // SRV-META-05
    for (caller, mounted) in ERAS {
        let tool = Tool::new("meta").raw(|_, _| async {
            let meta = json!({
                "com.example/trace": 7, "io.modelcontextprotocol/related-task": {"taskId": "x"},
            });
            Ok(RawResult::new(&json!({"content": [], "_meta": meta})).expect("it is JSON"))
        });
        let server = Server::builder("internal", "1.0.0").add(tool);
        let server = server.build().unwrap();
        let (gateway, proxy) = gateway();
        let remote = remote("plain", &server, mounted);
        proxy.mount(remote).unwrap().connected().await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        let result = client.call_tool("plain.meta", ()).await.unwrap();
        let mut meta = serde_json::to_value(&result.meta).unwrap();
        if let Some(info) = meta.as_object_mut().unwrap().remove(SERVER_INFO) {
            assert_ne!(info["name"], "internal", "{caller} {mounted}");
            assert!(caller.is_modern(), "{caller} {mounted}");
        }
        assert_eq!(meta, json!({"com.example/trace": 7}), "{caller} {mounted}");
    }
}
