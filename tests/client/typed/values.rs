//! Values that JSON of the wire holds exactly, and a `serde_json::Value` does not.

use std::net::IpAddr;

use tokio_stream::StreamExt;
use treenail::prelude::*;
use treenail::rust_decimal::Decimal;
use treenail::schema::Revision;

use super::station::client;

#[mcp_type]
#[derive(Clone, Debug, PartialEq)]
struct Big {
    name: String,
    unsigned: u128,
    signed: Option<i128>,
}

#[mcp_client]
trait ValuesApi {
    async fn price(&self, of: Decimal) -> Result<Decimal, ToolError>;

    async fn discount(&self, of: Option<Decimal>) -> Result<Option<Decimal>, ToolError>;

    async fn big(&self, of: Big) -> Result<Big, ToolError>;

    async fn number(&self, of: u128) -> Result<u128, ToolError>;

    fn prices(&self) -> impl Stream<Item = Result<Decimal, ToolError>>;

    fn addresses(&self) -> impl Stream<Item = Result<IpAddr, ToolError>>;
}

const PRICES: [&str; 5] = [
    "0.1234567890123456789012345",
    "0.10",
    "-12.50",
    "7",
    "79228162514264337593543950335",
];

const ADDRESSES: [&str; 2] = ["10.0.0.1", "::1"];

struct Echo;

#[mcp_tool]
impl ValuesApi for Echo {
    async fn price(&self, of: Decimal) -> Result<Decimal, ToolError> {
        Ok(of)
    }

    async fn discount(&self, of: Option<Decimal>) -> Result<Option<Decimal>, ToolError> {
        Ok(of)
    }

    async fn big(&self, of: Big) -> Result<Big, ToolError> {
        Ok(of)
    }

    async fn number(&self, of: u128) -> Result<u128, ToolError> {
        Ok(of)
    }

    fn prices(&self) -> impl Stream<Item = Result<Decimal, ToolError>> {
        tokio_stream::iter(PRICES.map(|text| Ok(text.parse().unwrap())))
    }

    fn addresses(&self) -> impl Stream<Item = Result<IpAddr, ToolError>> {
        tokio_stream::iter(ADDRESSES.map(|text| Ok(text.parse().unwrap())))
    }
}

async fn values(revision: Revision) -> ValuesApiClient {
    let server = treenail::server!().mount(Echo).build().unwrap();
    ValuesApiClient::new(&client(&server, revision).await)
}

async fn texts<T: ToString>(
    mut items: impl Stream<Item = Result<T, ClientError>> + Unpin,
) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(item) = items.next().await {
        texts.push(item.unwrap().to_string());
    }
    texts
}

#[tokio::test]
async fn decimals_keep_their_digits() {
    for revision in Revision::ALL {
        let values = values(revision).await;
        for text in PRICES {
            let price: Decimal = text.parse().unwrap();
            let found = values.price(price).await.unwrap();
            assert_eq!(found.to_string(), text, "{revision}");
            let found = values.discount(Some(price)).await.unwrap();
            assert_eq!(found.unwrap().to_string(), text, "{revision}");
        }
        assert_eq!(values.discount(None).await.unwrap(), None, "{revision}");
    }
}

#[tokio::test]
async fn integers_have_128_bits() {
    let numbers = [0, u128::from(u64::MAX), u128::MAX];
    for revision in Revision::ALL {
        let values = values(revision).await;
        for unsigned in numbers {
            for signed in [None, Some(7), Some(i128::MIN)] {
                let name = "big".to_owned();
                let big = Big {
                    name,
                    unsigned,
                    signed,
                };
                assert_eq!(values.big(big.clone()).await.unwrap(), big, "{revision}");
            }
            let found = values.number(unsigned).await.unwrap();
            assert_eq!(found, unsigned, "{revision}");
        }
    }
}

#[tokio::test]
async fn items_with_a_format_or_a_pattern_arrive_one_by_one() {
    for revision in Revision::ALL {
        let values = values(revision).await;
        assert_eq!(texts(values.prices()).await, PRICES, "{revision}");
        assert_eq!(texts(values.addresses()).await, ADDRESSES, "{revision}");
    }
}
