//! Actions of the client in each scenario of the suite.

use std::env;

use serde_json::{Value, json};
use treenail::prelude::*;

pub(crate) type Failure = Box<dyn std::error::Error>;

pub(crate) async fn run(scenario: &str, client: &McpClient) -> Result<(), Failure> {
    match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {
            client.tools().await?;
        }
        "tools_call" => {
            client.tools().await?;
            let sum = json!({"a": 5, "b": 3});
            client.call_tool("add_numbers", sum).await?;
        }
        "elicitation-sep1034-client-defaults" => {
            client
                .call_tool("test_client_elicitation_defaults", ())
                .await?;
        }
        "sse-retry" => {
            client.call_tool("test_reconnection", ()).await?;
        }
        "sep-2322-client-request-state" => {
            for tool in ["echo_state", "no_state", "unrelated", "no_result_type"] {
                client.call_tool(&format!("test_mrtr_{tool}"), ()).await?;
            }
        }
        "http-standard-headers" => use_one_of_each(client).await?,
        "http-custom-headers" => make_context_calls(client).await?,
        "http-invalid-tool-headers" => {
            for tool in client.tools().await? {
                // The suite does not check whether the call succeeds.
                drop(
                    client
                        .call_tool(&tool.name, json!({"region": "here"}))
                        .await,
                );
            }
        }
        "json-schema-2020-12-preservation" => {
            let name = "json_schema_2020_12_tool";
            let tool = client.tool(name).await?.ok_or("the tool is not listed")?;
            let schema = json!({"schema": tool.input_schema});
            client.call_tool("json_schema_echo", schema).await?;
        }
        "sep-2640-client-no-prefetch" => {
            client.skills().list().await?;
        }
        falsified if falsified.starts_with("sep-2640-client-verify-") => {
            let skills = client.skills();
            for entry in skills.list().await? {
                let skill = skills.load(&entry).await?;
                skill.read("references/FORMS.md").await?;
            }
        }
        authorized if authorized.starts_with("auth/") => {
            client.tools().await?;
            client.call_tool("test-tool", ()).await?;
        }
        other => return Err(format!("unknown scenario `{other}`").into()),
    }
    Ok(())
}

/// Lists and uses one tool, one resource and one prompt.
async fn use_one_of_each(client: &McpClient) -> Result<(), Failure> {
    if let Some(tool) = client.tools().await?.first() {
        client.call_tool(&tool.name, json!({})).await?;
    }
    if let Some(resource) = client.resources().await?.first() {
        client.read_resource(&resource.uri).await?;
    }
    if let Some(prompt) = client.prompts().await?.first() {
        client.get_prompt(&prompt.name, ()).await?;
    }
    Ok(())
}

/// Makes the calls in the context of the scenario.
async fn make_context_calls(client: &McpClient) -> Result<(), Failure> {
    let context: Value = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    client.tools().await?;
    for call in context["toolCalls"].as_array().into_iter().flatten() {
        let name = call["name"].as_str().ok_or("a call has no name")?;
        client.call_tool(name, &call["arguments"]).await?;
    }
    Ok(())
}
