//! Contracts as data.

use treenail::client::{ClientError, Contract};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::station::{AlertsApiClient, WeatherApiClient, client, server};

#[tokio::test]
async fn the_contract_equals_the_lists_of_a_server() {
    let contract = WeatherApiClient::contract().unwrap();
    let tools = client(&server(), Revision::LATEST)
        .await
        .tools()
        .await
        .unwrap();
    let listed: Vec<_> = tools.iter().map(|tool| (**tool).clone()).collect();
    let listed = Contract::new().with_tools(listed);
    assert_eq!(contract.tools(), listed.tools());
    assert!(contract.drift(&listed).is_empty());
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    let own = [
        "forecast", "radar", "forget", "echo", "wait", "blocks", "block",
    ];
    let own = own.map(|name| format!("weather.{name}"));
    let parts = ["weather.alerts.list", "weather.alerts.deep.depth"].map(str::to_owned);
    assert_eq!(names, [&own[..], &parts[..]].concat());
    let alone = AlertsApiClient::contract().unwrap();
    assert!(alone.tool("unused.list").is_some());
}

#[tokio::test]
async fn documentation_becomes_descriptions() {
    let server = server();
    let client = client(&server, Revision::LATEST).await;
    let tool = client.tool("weather.forecast").await.unwrap().unwrap();
    assert_eq!(
        tool.description.as_deref(),
        Some("Daily forecast for one city.")
    );
    assert_eq!(
        tool.annotations.as_ref().unwrap().read_only_hint,
        Some(true)
    );
    let city = &tool.input_schema["properties"]["city"];
    assert_eq!(city["description"], "City name");
    assert_eq!(
        client.session().instructions().unwrap(),
        "Contract with all kinds of features."
    );
}

#[tokio::test]
async fn a_text_that_becomes_structured_is_a_breaking_drift() {
    #[mcp_client]
    trait Thermometer {
        async fn temperature(&self) -> Result<String, ToolError>;
        async fn reset(&self) -> Result<(), ToolError>;
    }
    let contract = ThermometerClient::contract().unwrap();
    let connect = |tools| {
        let server = treenail::server!().tools(tools).build().unwrap();
        let builder = McpClient::builder().server(&server);
        builder.contract(contract.clone()).build()
    };
    let client = connect(tools![texts::temperature, texts::reset]).await;
    assert!(client.unwrap().drift().unwrap().is_empty());
    for tools in [
        tools![numbers::temperature, texts::reset],
        tools![texts::temperature, numbers::reset],
    ] {
        let error = connect(tools).await.unwrap_err();
        let ClientError::Drift(drift) = error else {
            panic!("{error}");
        };
        let paths: Vec<_> = drift.changes().iter().map(|it| &*it.path).collect();
        assert_eq!(paths, ["/outputSchema/type"]);
    }
}

mod texts {
    use super::*;

    #[mcp_tool]
    pub(super) fn temperature() -> String {
        "warm".to_owned()
    }

    #[mcp_tool]
    pub(super) fn reset() {}
}

mod numbers {
    use super::*;

    #[mcp_tool]
    pub(super) fn temperature() -> f64 {
        1.5
    }

    #[mcp_tool]
    pub(super) fn reset() -> u8 {
        1
    }
}

#[tokio::test]
async fn provided_methods_can_call_others() {
    #[mcp_client]
    trait Sum {
        async fn one(&self, a: i64) -> Result<i64, ToolError>;

        async fn twice(&self, a: i64) -> Result<i64, ToolError> {
            Ok(self.one(a).await? + self.one(a).await?)
        }
    }
    struct Adds;
    #[mcp_tool]
    impl Sum for Adds {
        async fn one(&self, a: i64) -> Result<i64, ToolError> {
            Ok(a + 1)
        }
    }
    let server = treenail::server!().mount(Adds).build().unwrap();
    let sum = SumClient::new(&client(&server, Revision::LATEST).await);
    assert_eq!(sum.twice(1).await.unwrap(), 4);
    let _ = MockSum::new();
}
