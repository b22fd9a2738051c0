//! Types of other crates, with nothing but a feature of `treenail` enabled for each.

use treenail::form::Form as _;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{chrono, jiff, rust_decimal, url, uuid};

use crate::support::peer::{Peer, text};

/// Everything that schemars supports and a feature enables.
#[mcp_type]
#[derive(Clone)]
struct Order {
    id: uuid::Uuid,
    page: url::Url,
    price: rust_decimal::Decimal,
    placed: chrono::DateTime<chrono::Utc>,
    delivery: Option<chrono::NaiveDate>,
    reminder: jiff::Timestamp,
    opens: jiff::civil::Time,
}

#[mcp_form]
#[derive(Debug)]
struct Delivery {
    day: chrono::NaiveDate,
    sent: Option<jiff::Timestamp>,
    page: url::Url,
    id: Option<uuid::Uuid>,
    price: rust_decimal::Decimal,
}

struct Shop;

#[mcp_tool]
impl Shop {
    /// Returns its argument.
    #[tool]
    fn order(order: Order) -> Order {
        order
    }

    /// The day after.
    #[tool]
    fn next_day(at: chrono::NaiveDateTime, zone: Option<jiff::Zoned>) -> String {
        let zone = zone.map(|zone| zone.to_string()).unwrap_or_default();
        format!("{} {zone}", at + chrono::TimeDelta::days(1))
    }

    /// Plans a day.
    #[prompt]
    fn plan(day: chrono::NaiveDate) -> String {
        day.to_string()
    }
}

async fn peer() -> Peer {
    let server = treenail::server!().mount(Shop).build().unwrap();
    Peer::connect(&server, Revision::V2025_11_25).await
}

fn order() -> Value {
    json!({
        "id": "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "page": "https://example.com/page",
        "price": "12.50",
        "placed": "2026-12-01T10:00:00Z",
        "delivery": "2026-12-03",
        "reminder": "2026-12-02T10:00:00Z",
        "opens": "09:30:00",
    })
}

#[tokio::test]
async fn values_are_arguments_and_results() {
    let mut peer = peer().await;
    let result = peer.call("order", json!({"order": order()})).await;
    assert_eq!(result["structuredContent"], order());
    let mut number = order();
    number["price"] = json!(3);
    let result = peer.call("order", json!({"order": number})).await;
    assert_eq!(result["structuredContent"]["price"], "3");
}

#[tokio::test]
async fn schemas_have_standard_formats_or_examples() {
    let mut peer = peer().await;
    let tools = peer.request("tools/list", json!({})).await["result"]["tools"].take();
    let properties = &tools[0]["inputSchema"]["properties"]["order"]["properties"];
    let string = |keyword: &str, value: Value| json!({"type": "string", keyword: value});
    let table = [
        ("id", string("format", json!("uuid"))),
        ("page", string("format", json!("uri"))),
        ("placed", string("format", json!("date-time"))),
        ("delivery", string("format", json!("date"))),
        ("reminder", string("format", json!("date-time"))),
        ("opens", string("examples", json!(["10:00:00"]))),
    ];
    for (name, expected) in table {
        assert_eq!(properties[name], expected, "{name}");
    }
    assert_eq!(properties["price"]["anyOf"][0]["type"], "string");
    assert_eq!(properties["price"]["anyOf"][1]["type"], "number");
}

#[tokio::test]
async fn errors_name_the_format_with_an_example() {
    let table = [
        (
            "placed",
            "tomorrow",
            "expected a date and time such as 2026-12-01T10:00:00Z, got the string \"tomorrow\"",
        ),
        (
            "delivery",
            "2026-02-30",
            "expected a date such as 2026-12-01, got the string \"2026-02-30\": input is out of range",
        ),
        (
            "id",
            "7",
            "expected a UUID such as 67e55044-10b1-426f-9247-bb680e5fe0c8, got the string \"7\"",
        ),
        (
            "page",
            "/index",
            "expected a URI such as https://example.com/page, got the string \"/index\"",
        ),
        (
            "opens",
            "soon",
            "expected a string such as \"10:00:00\", got the string \"soon\"",
        ),
    ];
    let mut peer = peer().await;
    for (name, value, expected) in table {
        let mut order = order();
        order[name] = json!(value);
        let result = peer.call("order", json!({"order": order})).await;
        let expected = format!("- /order/{name}: {expected}");
        assert!(text(&result).contains(&expected), "{}", text(&result));
    }
    let at = json!({"at": "tomorrow"});
    let result = peer.call("next_day", at).await;
    let expected = "- /at: expected a string such as \"2026-12-01T10:00:00\", got";
    assert!(text(&result).contains(expected), "{}", text(&result));
    let arguments = json!({"at": "2026-12-01T10:00:00", "zone": "2026-12-01T10:00:00+00:00[UTC]"});
    let result = peer.call("next_day", arguments).await;
    assert!(text(&result).starts_with("2026-12-02 10:00:00 2026-12-01T10:00:00"));
}

#[tokio::test]
async fn arguments_of_prompts_are_parsed_from_their_text() {
    let mut peer = peer().await;
    let params = json!({"name": "plan", "arguments": {"day": "2026-12-01"}});
    let messages = peer.request("prompts/get", params).await["result"]["messages"].take();
    assert_eq!(messages[0]["content"]["text"], "2026-12-01");
    let params = json!({"name": "plan", "arguments": {"day": "Monday"}});
    let error = peer.request("prompts/get", params).await["error"].take();
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("expected a date such as 2026-12-01"),
        "{message}"
    );
}

#[test]
fn values_are_fields_of_forms() {
    let content = |day: &str| {
        [
            ("day", day),
            ("page", "https://example.com/"),
            ("id", "67e55044-10b1-426f-9247-bb680e5fe0c8"),
            ("price", "12.50"),
        ]
        .map(|(name, value)| (name.to_owned(), value.into()))
    };
    let delivery = Delivery::read(content("2026-12-03").into()).unwrap();
    assert_eq!(delivery.day.to_string(), "2026-12-03");
    assert_eq!(delivery.price.to_string(), "12.50");
    assert_eq!(delivery.page.as_str(), "https://example.com/");
    assert!(delivery.sent.is_none() && delivery.id.is_some());
    let empty = content("2026-12-03").map(|(name, value)| match &*name {
        "id" => (name, "".into()),
        _ => (name, value),
    });
    assert!(Delivery::read(empty.into()).unwrap().id.is_none());
    let error = Delivery::read(content("soon").into()).unwrap_err();
    assert!(
        error.to_string().contains("`day`: expected a date"),
        "{error}"
    );
}
