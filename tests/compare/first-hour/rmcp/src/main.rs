//! Calculator over the Model Context Protocol.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServiceExt, schemars, tool, tool_router};
use serde::Deserialize;

#[derive(Deserialize, schemars::JsonSchema)]
struct Numbers {
    /// The first number
    a: i64,
    #[serde(default = "one")]
    b: i64,
}

fn one() -> i64 {
    1
}

#[derive(Clone)]
struct Calculator;

#[tool_router(server_handler)]
impl Calculator {
    /// Adds two integers.
    #[tool(annotations(read_only_hint = true))]
    fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> String {
        (a + b).to_string()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Calculator.serve(rmcp::transport::stdio()).await?;
    server.waiting().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolRequestParams;
    use serde_json::{Map, json};

    use super::*;

    #[tokio::test]
    async fn second_number_has_a_default() -> anyhow::Result<()> {
        let (near, far) = tokio::io::duplex(4096);
        let serving = tokio::spawn(async move {
            Calculator.serve(far).await?.waiting().await?;
            anyhow::Ok(())
        });
        let client = ().serve(near).await?;
        let arguments = Map::from_iter([("a".to_owned(), json!(2))]);
        let params = CallToolRequestParams::new("add").with_arguments(arguments);
        let result = client.call_tool(params).await?;
        let text = result.content[0].as_text().map(|text| text.text.as_str());
        assert_eq!(text, Some("3"));
        client.cancel().await?;
        serving.await?
    }
}
