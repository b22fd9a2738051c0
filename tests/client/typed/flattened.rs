//! Contracts with a flattened argument.

use std::collections::BTreeMap;

use treenail::prelude::*;
use treenail::schema::Revision;

use super::station::client;

#[mcp_type]
#[derive(Clone, Debug, PartialEq)]
struct Find {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<u8>,
}

#[mcp_client]
trait SearchApi {
    async fn find(
        &self,
        city: String,
        #[arg(flatten)] find: Find,
        sorted: Option<bool>,
    ) -> Result<String, ToolError>;

    async fn count(
        &self,
        prefix: String,
        #[arg(flatten)] counts: BTreeMap<String, u32>,
    ) -> Result<usize, ToolError>;
}

struct Search;

#[mcp_tool]
impl SearchApi for Search {
    async fn find(
        &self,
        city: String,
        find: Find,
        sorted: Option<bool>,
    ) -> Result<String, ToolError> {
        Ok(format!("{city} {} {:?} {sorted:?}", find.name, find.limit))
    }

    async fn count(
        &self,
        prefix: String,
        counts: BTreeMap<String, u32>,
    ) -> Result<usize, ToolError> {
        Ok(prefix.len() + counts.len())
    }
}

#[tokio::test]
async fn a_member_cannot_replace_another_argument() {
    let server = treenail::server!().mount(Search).build().unwrap();
    let search = SearchApiClient::new(&client(&server, Revision::LATEST).await);
    let count = async |name: &str| {
        let counts = BTreeMap::from([(name.to_owned(), 1)]);
        search.count("a".to_owned(), counts).await
    };
    assert_eq!(count("b").await.unwrap(), 2);
    let error = count("prefix").await.unwrap_err();
    assert!(matches!(error, ClientError::Invalid(_)), "{error}");
    assert!(
        error.to_string().contains("`prefix` is an argument"),
        "{error}"
    );
}

#[tokio::test]
async fn the_client_sends_the_fields() {
    let server = treenail::server!().mount(Search).build().unwrap();
    for revision in Revision::ALL {
        let search = SearchApiClient::new(&client(&server, revision).await);
        for (limit, sorted) in [(None, None), (Some(3), Some(true))] {
            let name = "Main \"street\"".to_owned();
            let find = Find { name, limit };
            let found = search.find("Oslo".to_owned(), find, sorted).await.unwrap();
            let expected = format!("Oslo Main \"street\" {limit:?} {sorted:?}");
            assert_eq!(found, expected, "{revision}");
        }
    }
}

#[tokio::test]
async fn the_contract_and_the_mock_have_the_fields() {
    let contract = SearchApiClient::contract().unwrap();
    let schema = &contract.tool("find").unwrap().input_schema;
    assert_eq!(schema["required"], json!(["city", "name"]));
    let mock = MockSearchApi::new().on_find(|_, find, _| Ok(find.name));
    let find = Find {
        name: "a".to_owned(),
        limit: None,
    };
    let search = mock.client().await.unwrap();
    let found = search.find("Oslo".to_owned(), find, None).await.unwrap();
    assert_eq!(found, "a");
    let arguments = &mock.calls()[0].arguments;
    assert_eq!(*arguments, json!({"city": "Oslo", "name": "a"}));
}
