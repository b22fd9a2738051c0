//! Client of a server: `client <command> [argument]…` starts a server and lists its tools. The functions show different
//! ways to use a client.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use serde_json::json;
use treenail::client::ServerCommand;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult};

#[tokio::main(flavor = "current_thread")]
#[allow(
    clippy::print_stdout,
    reason = "standard output is the output of the program"
)]
async fn main() -> treenail::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let program = arguments.next().unwrap_or_else(|| "weather-server".into());
    let command = ServerCommand::new(program).args(arguments);
    let client = McpClient::builder().command(command).auto_refresh(true);
    let client = client.build().await?;
    for tool in client.tools().await? {
        println!(
            "{}: {}",
            tool.name,
            tool.description.as_deref().unwrap_or("-")
        );
    }
    client.close().await?;
    Ok(())
}

/// Calls a tool with arguments as JSON, as a struct and as a map, and reads the output as JSON and as a type.
#[cfg_attr(not(test), allow(dead_code, reason = "only the test uses it"))]
async fn call_tool(client: &McpClient) -> Result<Vec<i64>, ClientError> {
    #[mcp_type]
    struct Sum {
        a: i64,
        b: i64,
    }

    let by_json = client.call_tool("add", json!({"a": 1, "b": 2})).await?;
    let by_json = by_json.structured_content.and_then(|sum| sum.as_i64());
    let by_struct = client.call_tool_as("add", Sum { a: 3, b: 4 }).await?;
    let map = BTreeMap::from([("a", 5), ("b", 6)]);
    let by_map = client.call_tool_as("add", map).await?;
    Ok(vec![by_json.unwrap_or_default(), by_struct, by_map])
}

/// Opens a session, which has a method for each request, and wraps it in a client.
#[cfg_attr(not(test), allow(dead_code, reason = "only the test uses it"))]
async fn client_from_session(server: &Server) -> Result<McpClient, ClientError> {
    let session = McpClientSession::builder()
        .client_info("reader", "1.0.0")
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Decline)) })
        .server(server)
        .build()
        .await?;
    session.tools_list(None).await?;
    session
        .prompts_get("greeting", json!({"name": "Ada"}))
        .await?;
    Ok(McpClient::new(Arc::new(session)))
}

/// Prints a resource, and prints it again after each change, until the connection ends.
#[cfg_attr(not(test), allow(dead_code, reason = "only the test uses it"))]
async fn follow(client: &McpClient, uri: &str, print: impl Fn(&str)) -> Result<(), ClientError> {
    let mut updates = client.resource_updates([uri]).await?;
    loop {
        // Reading after the subscription misses no change.
        let resource = client.read_resource(uri).await?;
        print(resource.as_text().unwrap_or_default());
        match updates.next().await {
            Some(Ok(_)) => {}
            Some(Err(ClientError::Closed(_))) | None => return Ok(()),
            Some(Err(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
#[tokio::test]
async fn client_calls_tools_and_reads_resources() -> Result<(), Box<dyn std::error::Error>> {
    struct Desk;

    #[mcp_tool]
    impl Desk {
        #[tool]
        fn add(a: i64, b: i64) -> i64 {
            a + b
        }

        #[prompt]
        fn greeting(name: String) -> String {
            format!("Hello {name}")
        }

        #[resource("note://{city}/{day}")]
        fn note(city: String, day: u8) -> String {
            format!("{city} on day {day}")
        }
    }

    let server = treenail::server!().mount(Desk).build()?;
    let client = client_from_session(&server).await?;
    assert_eq!(call_tool(&client).await?, [3, 7, 11]);
    let template = client.url_template("note").await?.ok_or("no template")?;
    let uri = template.expand(json!({"city": "São Paulo", "day": 3}))?;
    let note = client.read_resource(&uri).await?;
    assert_eq!(json!(*note)["contents"][0]["text"], "São Paulo on day 3");
    client.close().await?;
    Ok(())
}

#[cfg(test)]
#[tokio::test]
async fn client_follows_a_resource() -> Result<(), Box<dyn std::error::Error>> {
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Counter(AtomicU32);

    #[mcp_tool]
    impl Counter {
        #[resource("counter://value", subscribable)]
        fn value(&self) -> String {
            self.0.fetch_add(1, Ordering::Relaxed).to_string()
        }
    }

    let server = treenail::server!()
        .mount(Counter(AtomicU32::new(0)))
        .build()?;
    let client = McpClient::builder().server(&server).build().await?;
    let (printed, mut values) = tokio::sync::mpsc::unbounded_channel();
    let following = tokio::spawn({
        let client = client.clone();
        async move {
            let print = |value: &str| printed.send(value.to_owned()).unwrap();
            follow(&client, "counter://value", print).await
        }
    });
    for value in ["0", "1"] {
        assert_eq!(values.recv().await.as_deref(), Some(value));
        server.resource_updated("counter://value");
    }
    assert_eq!(values.recv().await.as_deref(), Some("2"));
    client.close().await?;
    Ok(following.await??)
}
