//! Outputs with a typed value and content of their own, in contracts.

use serde_json::json;
use treenail::Server;
use treenail::client::{ClientError, Contract};
use treenail::dynamic::Tool;
use treenail::prelude::*;
use treenail::schema::{ContentBlock, ResultMetaObject, Revision};
use treenail::tool::{Structured, WrapResults};

use super::station::{Forecast, client};

#[mcp_client(namespace = "beside")]
trait BesideApi {
    /// Daily forecast.
    async fn forecast(&self, city: String) -> Result<Structured<Forecast>, ToolError>;

    async fn hours(&self) -> Result<Structured<Vec<u32>>, ToolError>;

    async fn motto(&self) -> Result<Structured<String>, ToolError>;

    async fn perhaps(&self, there: bool) -> Result<Option<Structured<Forecast>>, ToolError>;

    async fn plain(&self) -> Result<Structured<String>, ToolError>;

    async fn minutes(&self) -> Result<Structured<u32>, ToolError>;

    async fn count(&self) -> Result<Structured<u32>, ToolError>;
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

    async fn minutes(&self) -> Result<u32, ToolError>;

    async fn count(&self) -> Result<u32, ToolError>;
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

    async fn minutes(&self) -> Result<Structured<u32>, ToolError> {
        Ok(Structured::new(1260).with_text("21"))
    }

    async fn count(&self) -> Result<Structured<u32>, ToolError> {
        Ok(Structured::new(7))
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
        // The copy of the value is not content of the function.
        let plain = Structured::new("7".to_owned());
        assert_eq!(beside.plain().await.unwrap(), plain, "{revision}");
        let minutes = Structured::new(1260).with_text("21");
        assert_eq!(beside.minutes().await.unwrap(), minutes, "{revision}");
        let count = beside.count().await.unwrap();
        assert_eq!(count, Structured::new(7), "{revision}");
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
        assert_eq!(values.minutes().await.unwrap(), 1260, "{revision}");
        assert_eq!(values.count().await.unwrap(), 7, "{revision}");
        let error = values.forecast(String::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "the tool failed: no city", "{revision}");
    }
}

#[tokio::test]
async fn without_structured_content_both_traits_read_the_text() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let client = client(&server(), revision).await;
        let (beside, values) = (BesideApiClient::new(&client), ValuesApiClient::new(&client));
        let error = beside.hours().await.unwrap_err();
        assert!(matches!(error, ClientError::Output(_)), "{error:?}");
        let error = values.hours().await.unwrap_err();
        assert!(matches!(error, ClientError::Output(_)), "{error:?}");
        // The text for the model is all that the server sends.
        assert_eq!(beside.motto().await.unwrap().value, "A number");
        assert_eq!(values.motto().await.unwrap(), "A number", "{revision}");
        assert_eq!(beside.minutes().await.unwrap().value, 21, "{revision}");
        assert_eq!(values.minutes().await.unwrap(), 21, "{revision}");
        // Without such a text, it is the value.
        assert_eq!(beside.plain().await.unwrap().value, "7", "{revision}");
        assert_eq!(values.plain().await.unwrap(), "7", "{revision}");
        assert_eq!(beside.count().await.unwrap().value, 7, "{revision}");
        assert_eq!(values.count().await.unwrap(), 7, "{revision}");
        assert_eq!(beside.perhaps(false).await.unwrap(), None, "{revision}");
    }
}

/// Server that answers with the results of another one.
struct Gateway(BesideApiClient);

#[mcp_tool]
impl Gateway {
    #[tool]
    async fn hours(&self) -> Result<Structured<Vec<u32>>, ClientError> {
        self.0.hours().await
    }

    #[tool]
    async fn forecast(&self) -> Result<Structured<Forecast>, ClientError> {
        self.0.forecast("Oslo".to_owned()).await
    }
}

#[tokio::test]
async fn a_gateway_sends_results_of_another_server_as_its_own() {
    let eras = [Revision::V2025_06_18, Revision::LATEST];
    for (upstream, wrap) in eras.into_iter().flat_map(|upstream| {
        [WrapResults::Legacy, WrapResults::Always].map(|wrap| (upstream, wrap))
    }) {
        let other = Server::builder("beside", "1").mount(Beside);
        let other = other.wrap_results(wrap).build().unwrap();
        let client = client(&other, upstream).await;
        client.tools().await.unwrap();
        let gateway = Gateway(BesideApiClient::new(&client));
        let gateway = Server::builder("gateway", "1").mount(gateway);
        let gateway = gateway.build().unwrap();
        for revision in eras {
            let client = super::station::client(&gateway, revision).await;
            let place = format!("{revision} after {upstream}, {wrap:?}");
            let hours = client.call_tool("hours", ()).await.unwrap();
            let meta = hours.meta.unwrap();
            let info = meta.server_info.map(|info| info.name);
            let own = revision.is_modern().then(|| "gateway".to_owned());
            assert_eq!(info, own, "{place}");
            let is_marked = meta.extra.contains_key("fastmcp");
            assert_eq!(is_marked, !revision.is_modern(), "{place}");
            let blocks: Vec<_> = hours.content.iter().map(ContentBlock::as_text).collect();
            let expected = [Some("Two hours"), Some("[1,2]")];
            let sent = if revision.is_modern() { 2 } else { 1 };
            assert_eq!(blocks, expected[..sent], "{place}");
            let forecast = client.call_tool("forecast", ()).await.unwrap();
            let meta = forecast.meta.unwrap();
            assert_eq!(meta.extra["com.example/zoom"], 3, "{place}");
            assert_eq!(meta.extra.len(), 1, "{place}");
        }
    }
}

/// Reads results of a server whose tools have no structured content.
#[mcp_client]
trait PlainApi {
    async fn number(&self) -> Result<Structured<u32>, ToolError>;

    async fn nothing(&self) -> Result<Option<Structured<u32>>, ToolError>;
}

#[tokio::test]
async fn a_text_of_any_server_is_read_as_a_value() {
    let number = Tool::new("number").handler(|_, _| async { "3.0" });
    let nothing = Tool::new("nothing").handler(|_, _| async {});
    let server = Server::builder("plain", "1").add(number).add(nothing);
    let server = server.build().unwrap();
    for revision in Revision::ALL {
        let plain = PlainApiClient::new(&client(&server, revision).await);
        assert_eq!(plain.number().await.unwrap().value, 3, "{revision}");
        assert_eq!(plain.nothing().await.unwrap(), None, "{revision}");
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
