//! Mocks of contracts.

use serde_json::json;
use tokio_stream::StreamExt;
use treenail::client::ClientError;
use treenail::prelude::*;

use super::station::{Forecast, Frame, MockAlertsApi, MockDeepApi, MockWeatherApi, WeatherApi};

fn mock() -> MockWeatherApi {
    let deep = MockDeepApi::new().on_depth(|depth| Ok(depth + 1));
    let alerts = MockAlertsApi::new()
        .on_all(|| Ok(vec!["flood".to_owned()]))
        .on_below(deep);
    MockWeatherApi::new()
        .on_forecast(|city, days| {
            let days = vec![0.5; usize::from(days)];
            Ok(Forecast { city, days })
        })
        .on_radar(|minutes| minutes.into_iter().map(|minute| Ok(Frame { minute })))
        .on_alerts(alerts)
}

#[tokio::test]
async fn a_mock_answers_over_a_real_server() {
    let mock = mock();
    let weather = mock.client().await.unwrap();
    let forecast = weather.forecast("Oslo".to_owned(), 2).await.unwrap();
    assert_eq!(forecast.days, [0.5, 0.5]);
    let frames: Result<Vec<Frame>, _> = weather.radar(vec![1, 2]).collect().await;
    assert_eq!(frames.unwrap(), [Frame { minute: 1 }, Frame { minute: 2 }]);
    assert_eq!(weather.alerts().all().await.unwrap(), ["flood"]);
    assert_eq!(weather.alerts().below().depth(1).await.unwrap(), 2);
    let calls = mock.calls();
    let tools: Vec<_> = calls.iter().map(|call| call.tool).collect();
    assert_eq!(tools, ["forecast", "radar"]);
    assert_eq!(calls[0].arguments, json!({"city": "Oslo", "days": 2}));
    let wrong = weather.forecast("Oslo".to_owned(), 8).await.unwrap_err();
    assert!(wrong.to_string().contains("Wrong arguments"), "{wrong}");
    assert_eq!(mock.calls().len(), 2, "the arguments are checked before");
}

#[tokio::test]
async fn a_missing_answer_is_an_error() {
    let weather = MockWeatherApi::new().client().await.unwrap();
    let error = weather.forecast("Oslo".to_owned(), 2).await.unwrap_err();
    assert!(matches!(error, ClientError::Tool(_)));
    assert_eq!(
        error.to_string(),
        "the tool failed: `MockWeatherApi` has no answer for `forecast`; set one with `on_forecast(…)`"
    );
    let error = weather.alerts().below().depth(1).await.unwrap_err();
    assert!(error.to_string().contains("`MockDeepApi`"), "{error}");
    let error = weather.radar(Vec::new()).next().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("`on_radar(…)`"), "{error}");
}

#[tokio::test]
async fn a_mock_implements_the_trait() {
    async fn total(weather: &impl WeatherApi) -> Result<f64, ToolError> {
        Ok(weather
            .forecast("Oslo".to_owned(), 2)
            .await?
            .days
            .iter()
            .sum())
    }
    assert!((total(&mock()).await.unwrap() - 1.0).abs() < f64::EPSILON);
}
