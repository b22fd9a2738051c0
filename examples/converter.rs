//! Server whose tools are conversions of units from a JSON file: `converter <file>`. Its tool `reload` reads the file again,
//! and replaces the conversions while the server runs.
//!
//! ```json
//! [{"name": "miles_to_km", "unit": "km", "factor": 1.609344}]
//! ```

use std::path::PathBuf;

use treenail::dynamic::{Feature, Tool};
use treenail::prelude::*;
use treenail::server::Component;

/// Conversion of one unit to another.
#[mcp_type]
struct Conversion {
    name: String,
    unit: String,
    factor: f64,
}

impl Conversion {
    fn into_tool(self) -> Feature {
        let Self { name, unit, factor } = self;
        Tool::new(name)
            .description(format!("Converts an amount to {unit}."))
            .input(json!({
                "type": "object",
                "properties": {"amount": {"type": "number"}},
                "required": ["amount"],
            }))
            .read_only(true)
            .handler(move |_, arguments| {
                let amount = arguments.value()["amount"].as_f64().unwrap_or_default();
                let text = format!("{:.3} {unit}", amount * factor);
                async { text }
            })
    }
}

struct Converter {
    file: PathBuf,
}

#[mcp_tool]
impl Converter {
    /// Reads the conversions again and returns their number.
    #[tool(blocking)]
    fn reload(&self, cx: &Context) -> anyhow::Result<usize> {
        let conversions = read(&self.file)?;
        let count = conversions.len();
        let tools = conversions.into_iter().map(Conversion::into_tool);
        let all = Component::namespace("convert");
        cx.server()
            .edit(|edit| edit.remove(all).namespace("convert", |it| it.add(tools)))?;
        Ok(count)
    }
}

fn read(file: &PathBuf) -> anyhow::Result<Vec<Conversion>> {
    Ok(serde_json::from_slice(&std::fs::read(file)?)?)
}

fn server(file: PathBuf) -> anyhow::Result<Server> {
    let tools = read(&file)?.into_iter().map(Conversion::into_tool);
    let builder = treenail::server!().dynamic().mount(Converter { file });
    Ok(builder.namespace("convert", |it| it.add(tools)).build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let file = std::env::args().nth(1).unwrap_or("conversions.json".into());
    Ok(server(file.into())?.serve_stdio().await?)
}

#[cfg(test)]
#[tokio::test]
async fn conversions_change_with_the_file() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("conversions.json");
    let miles = json!({"name": "miles_to_km", "unit": "km", "factor": 1.609_344});
    std::fs::write(&file, json!([miles]).to_string())?;
    let client = McpClient::builder().server(&server(file.clone())?);
    let client = client.build().await?;
    let ten = json!({"amount": 10});
    let result = client.call_tool("convert.miles_to_km", &ten).await?;
    assert_eq!(result.texts().collect::<String>(), "16.093 km");

    let inches = json!({"name": "inches_to_cm", "unit": "cm", "factor": 2.54});
    std::fs::write(&file, json!([inches]).to_string())?;
    client.call_tool("reload", json!({})).await?;
    let result = client.call_tool("convert.inches_to_cm", &ten).await?;
    assert_eq!(result.texts().collect::<String>(), "25.400 cm");
    let gone = client.call_tool("convert.miles_to_km", &ten).await;
    assert!(gone.is_err());
    Ok(())
}
