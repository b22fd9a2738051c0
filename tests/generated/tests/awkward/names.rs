//! Names of types, members and methods: readable, distinct, and legal although they are keywords.

use std::sync::Arc;

use generated::awkward::{keywords, names};
use serde_json::json;
use treenail::client::{McpClient, MockSession};

use crate::{generated_code, round_trips};

#[test]
fn names_are_readable_and_differ() {
    use names::types::*;

    round_trips::<GetMinusSum>(
        json!({"first-number": 1, "second number": 2, "third.number": 3, "fourthNumber": 4, "FifthNumber": 5}),
    );
    let sum = GetMinusSum::new(1).with_third_number(3);
    assert_eq!(
        serde_json::to_value(sum).unwrap(),
        json!({"first-number": 1, "third.number": 3})
    );
    let odd = AdminUsersListAll::new()
        .with_groesse(1)
        .with_u540du524d("a")
        .with_empty("b")
        .with_n2fa("c");
    let odd = odd.with_minus("d").with_meta("e").with_nandu("f");
    assert_eq!(
        serde_json::to_value(odd).unwrap(),
        json!({"größe": 1.0, "名前": "a", "": "b", "2fa": "c", "-": "d", "_meta": "e", "ÑANDÚ": "f"})
    );
    round_trips::<HttpRequest>(
        json!({"URL": "a", "userID": "b", "htmlToXML": "c", "iPhone15Pro": "d"}),
    );
    let same: Same = round_trips(
        json!({"a_b": 1, "a-b": 2, "aB": 3, "A_B": 4, "a_b_2": 5, "additional": 6, "more": 7}),
    );
    assert_eq!((same.a_underscore_b_lower, same.a_b_camel), (1, Some(3)));
    assert_eq!(
        (same.additional_lower, same.additional_members["more"]),
        (Some(6), 7)
    );
    let option = OptionType::new().with_self("a").with_none("b");
    assert_eq!(
        serde_json::to_value(option).unwrap(),
        json!({"self": "a", "none": "b"})
    );
    let city = ReadCityWeather::new(ReadCityWeatherRequired {
        country: "no".into(),
        city: "Oslo".into(),
    });
    let city = city.with_units(["c".to_owned()]);
    assert_eq!(
        serde_json::to_value(city).unwrap(),
        json!({"country": "no", "city": "Oslo", "units": ["c"]})
    );
    let text = generated_code("names");
    for method in [
        "get_minus_sum",
        "get_underscore_sum",
        "get_sum_camel",
        "get_space_sum",
        "new_tool",
        "clone_tool",
        "prompt_get_sum",
        "read_city_weather",
        "n7zip",
        "u1f980",
    ] {
        assert!(text.contains(&format!("fn {method}(")), "{method}");
    }
    assert!(text.contains("pub struct N2ndNameSClient {"));
}

#[test]
fn keywords_are_names() {
    use keywords::types::*;

    let required = AllRequired {
        self_lower: "a".into(),
        r#type: "b".into(),
    };
    let all: All = All::new(required).with_async("c").with_union("d");
    assert_eq!((&*all.self_lower, &*all.r#type), ("a", "b"));
    assert_eq!(
        serde_json::to_value(all).unwrap(),
        json!({"self": "a", "type": "b", "async": "c", "union": "d"})
    );
    round_trips::<AllOutput>(json!({"kind": "Self"}));
}

#[tokio::test]
async fn a_template_reads_the_resource_of_its_expansion() {
    use names::types::{ReadCityWeather, ReadCityWeatherRequired};

    let read = json!({"contents": [], "ttlMs": 0});
    let session = MockSession::new().answer("resources/read", move |_| Ok(read.clone()));
    let session = Arc::new(session);
    let client = McpClient::builder().session(session.clone());
    let client = names::AwkwardClient::new(&client.build().await.unwrap());
    let city = ReadCityWeather::new(ReadCityWeatherRequired {
        country: "no".into(),
        city: "Oslo".into(),
    });
    client.read_city_weather(city).await.unwrap();
    let requests = session.requests("resources/read");
    assert_eq!(requests, [json!({"uri": "weather://no/Oslo"})]);
}
