//! `_meta` of calls at a mounted server: the members of the client, and those of the proxy.

use treenail::context::Principal;
use treenail::prelude::*;
use treenail::schema::MetaObject;

use crate::station::{ERAS, gateway, remote};

const TENANT: &str = "com.example/tenant";

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
