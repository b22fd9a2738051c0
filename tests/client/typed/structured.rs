//! Outputs with a typed value and content of their own, in contracts.

use serde_json::json;
use treenail::Server;
use treenail::client::{ClientError, Contract};
use treenail::prelude::*;
use treenail::schema::{ContentBlock, ResultMetaObject, Revision};
use treenail::tool::Structured;

use super::station::{Forecast, client};

#[mcp_client(namespace = "beside")]
trait BesideApi {
    /// Daily forecast.
    async fn forecast(&self, city: String) -> Result<Structured<Forecast>, ToolError>;

    async fn hours(&self) -> Result<Structured<Vec<u32>>, ToolError>;

    async fn motto(&self) -> Result<Structured<String>, ToolError>;

    async fn perhaps(&self, there: bool) -> Result<Option<Structured<Forecast>>, ToolError>;

    async fn plain(&self) -> Result<Structured<String>, ToolError>;
}

/// The same tools, for clients that need the values alone.
#[mcp_client(namespace = "beside")]
trait ValuesApi {
    /// Daily forecast.
    async fn forecast(&self, city: String) -> Result<Forecast, ToolError>;

    async fn hours(&self) -> Result<Vec<u32>, ToolError>;

    async fn motto(&self) -> Result<String, ToolError>;

    async fn perhaps(&self, there: bool) -> Result<Option<Forecast>, ToolError>;

    async fn plain(&self) -> Result<String, ToolError>;
}

struct Beside;

fn oslo() -> Forecast {
    Forecast {
        city: "Oslo".to_owned(),
        days: vec![0.5],
    }
}

#[mcp_tool]
impl BesideApi for Beside {
    async fn forecast(&self, city: String) -> Result<Structured<Forecast>, ToolError> {
        if city.is_empty() {
            return Err(ToolError::new("no city"));
        }
        let link = ContentBlock::resource_link("map://oslo", "map");
        let meta = ResultMetaObject::from_iter([("com.example/zoom", 3)]);
        Ok(Structured::new(Forecast { city, ..oslo() })
            .with_text("Sunny")
            .with_content([link])
            .with_meta(meta))
    }

    async fn hours(&self) -> Result<Structured<Vec<u32>>, ToolError> {
        Ok(Structured::new(vec![1, 2]).with_text("Two hours"))
    }

    async fn motto(&self) -> Result<Structured<String>, ToolError> {
        Ok(Structured::new("7".to_owned()).with_text("A number"))
    }

    async fn perhaps(&self, there: bool) -> Result<Option<Structured<Forecast>>, ToolError> {
        Ok(there.then(|| Structured::new(oslo()).with_text("Sunny")))
    }

    async fn plain(&self) -> Result<Structured<String>, ToolError> {
        Ok(Structured::new("7".to_owned()))
    }
}

fn server() -> Server {
    let builder = Server::builder("beside", "1").mount(Beside);
    builder.build().unwrap()
}

fn revisions() -> impl Iterator<Item = Revision> {
    let all = Revision::ALL.into_iter();
    all.filter(|revision| *revision >= Revision::V2025_06_18)
}

#[tokio::test]
async fn a_client_reads_the_value_and_the_content() {
    for revision in revisions() {
        let beside = BesideApiClient::new(&client(&server(), revision).await);
        let forecast = beside.forecast("Oslo".to_owned()).await.unwrap();
        assert_eq!(forecast.value, oslo(), "{revision}");
        assert_eq!(forecast.content[0].as_text(), Some("Sunny"), "{revision}");
        let link = ContentBlock::resource_link("map://oslo", "map");
        assert_eq!(forecast.content[1..], [link], "{revision}");
        let meta = forecast.meta.unwrap();
        assert_eq!(meta.extra["com.example/zoom"], 3, "{revision}");
        let hours = beside.hours().await.unwrap();
        assert_eq!(hours.value, [1, 2], "{revision}");
        assert_eq!(hours.content, ["Two hours".into()], "{revision}");
        assert_eq!(beside.motto().await.unwrap().value, "7", "{revision}");
        let some = beside.perhaps(true).await.unwrap().unwrap();
        assert_eq!(some.value, oslo(), "{revision}");
        assert_eq!(some.content, ["Sunny".into()], "{revision}");
        assert_eq!(beside.perhaps(false).await.unwrap(), None, "{revision}");
        assert_eq!(beside.plain().await.unwrap().value, "7", "{revision}");
    }
}

#[tokio::test]
async fn a_trait_with_the_values_reads_the_same_tools() {
    for revision in revisions() {
        let values = ValuesApiClient::new(&client(&server(), revision).await);
        let forecast = values.forecast("Oslo".to_owned()).await.unwrap();
        assert_eq!(forecast, oslo(), "{revision}");
        assert_eq!(values.hours().await.unwrap(), [1, 2], "{revision}");
        assert_eq!(values.motto().await.unwrap(), "7", "{revision}");
        let perhaps = values.perhaps(true).await.unwrap();
        assert_eq!(perhaps, Some(oslo()), "{revision}");
        assert_eq!(values.perhaps(false).await.unwrap(), None, "{revision}");
        assert_eq!(values.plain().await.unwrap(), "7", "{revision}");
        let error = values.forecast(String::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "the tool failed: no city", "{revision}");
    }
}

#[tokio::test]
async fn content_for_the_model_is_not_read_as_a_value() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let beside = BesideApiClient::new(&client(&server(), revision).await);
        let error = beside.motto().await.unwrap_err();
        assert!(matches!(error, ClientError::Output(_)), "{error:?}");
        let error = error.to_string();
        assert!(error.contains("no structured content"), "{error}");
        // The text copy is the value.
        assert_eq!(beside.plain().await.unwrap().value, "7", "{revision}");
        assert_eq!(beside.perhaps(false).await.unwrap(), None, "{revision}");
    }
}

#[tokio::test]
async fn the_contract_has_the_schemas_of_the_values() {
    let contract = BesideApiClient::contract().unwrap();
    let live = client(&server(), Revision::LATEST).await;
    let tools = live.tools().await.unwrap();
    let listed: Vec<_> = tools.iter().map(|tool| (**tool).clone()).collect();
    let listed = Contract::new().with_tools(listed);
    assert_eq!(contract.tools(), listed.tools());
    let values = ValuesApiClient::contract().unwrap();
    let names = |name: &str| format!("beside.{name}");
    for name in ["forecast", "hours", "perhaps"].map(names) {
        let (found, expected) = (contract.tool(&name), values.tool(&name));
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test]
async fn a_mock_answers_with_content() {
    let mock = MockBesideApi::new().on_forecast(|city| {
        let forecast = Forecast { city, ..oslo() };
        Ok(Structured::new(forecast).with_text("Sunny"))
    });
    let beside = mock.client().await.unwrap();
    let forecast = beside.forecast("Oslo".to_owned()).await.unwrap();
    assert_eq!(forecast.value, oslo());
    assert_eq!(forecast.content, ["Sunny".into()]);
    assert_eq!(mock.calls()[0].arguments, json!({"city": "Oslo"}));
}
