//! Arguments and results over the wire.

use treenail::client::TypedCall;
use treenail::schema::{ContentBlock, Revision};

use super::station::{Forecast, WeatherApiClient, client, server};

#[tokio::test]
async fn each_method_calls_its_tool() {
    let server = server();
    for revision in Revision::ALL {
        let weather = WeatherApiClient::new(&client(&server, revision).await);
        let call: TypedCall<Forecast> = weather.forecast("Oslo".to_owned(), 2);
        assert_eq!(call.name(), "weather.forecast");
        let forecast = call.await.unwrap();
        assert_eq!(
            (&*forecast.city, &*forecast.days),
            ("Oslo", &[0.0, 1.0][..])
        );
        for text in [
            None,
            Some("a"),
            Some("\"a\""),
            Some("null"),
            Some("7"),
            Some(""),
        ] {
            let text = text.map(str::to_owned);
            assert_eq!(
                weather.echo(text.clone()).await.unwrap(),
                text,
                "{revision}"
            );
        }
        let blocks: Vec<ContentBlock> = weather.blocks(2).await.unwrap();
        assert_eq!(blocks, ["block 0".into(), "block 1".into()]);
        assert_eq!(weather.block().await.unwrap().text, "block");
        let alerts = weather.alerts();
        assert_eq!(alerts.all().name(), "weather.alerts.list");
        assert_eq!(alerts.all().await.unwrap(), ["storm"]);
        assert_eq!(alerts.below().depth(3).name(), "weather.alerts.deep.depth");
        assert_eq!(alerts.below().depth(3).await.unwrap(), 3);
    }
}
