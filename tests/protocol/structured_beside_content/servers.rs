//! Tools with content beside their values.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::{ContentBlock, ResultMetaObject};
use treenail::tool::Structured;

#[mcp_type(output)]
pub(super) struct Forecast {
    #[schemars(range(max = 50))]
    pub(super) celsius: f64,
}

#[mcp_type(output)]
pub(super) enum Choice {
    Seven,
}

type Output<T> = Result<Structured<T>, ToolError>;

/// Values with content.
pub(super) struct Station;

#[mcp_tool]
impl Station {
    #[tool]
    async fn forecast(celsius: Option<f64>) -> Output<Forecast> {
        let celsius = celsius.unwrap_or(21.0);
        let blocks = [
            ContentBlock::audio("AA==", "audio/wav"),
            ContentBlock::resource_link("file:///map.png", "map"),
        ];
        let meta = ResultMetaObject::from_iter([("com.example/zoom", 3)]);
        Ok(Structured::new(Forecast { celsius })
            .with_text("Sunny")
            .with_content(blocks)
            .with_meta(meta))
    }

    #[tool]
    fn hours() -> Structured<Vec<i64>> {
        let meta = ResultMetaObject::from_iter([("com.example/zoom", 3)]);
        Structured::new(vec![1, 2])
            .with_text("Two hours")
            .with_meta(meta)
    }

    #[tool]
    fn motto() -> Structured<String> {
        Structured::new("one\ntwo".to_owned()).with_text("Two lines")
    }

    #[tool]
    fn name() -> Structured<String> {
        Structured::new("7".to_owned())
    }

    #[tool]
    fn choice() -> Structured<Choice> {
        Structured::new(Choice::Seven)
    }

    #[tool]
    fn anything(object: bool) -> Structured<Value> {
        let value = if object { json!({"a": 1}) } else { json!(1) };
        Structured::new(value).with_text("Anything")
    }

    #[tool]
    fn perhaps(celsius: Option<f64>) -> Option<Structured<Forecast>> {
        let output = |celsius| Structured::new(Forecast { celsius }).with_text("Perhaps");
        celsius.map(output)
    }

    #[tool]
    fn fails() -> Output<Forecast> {
        Err(ToolError::new("the station does not answer"))
    }

    #[tool]
    fn unwritable() -> Structured<f64> {
        Structured::new(f64::NAN).with_text("Not a number")
    }
}

/// Outputs without content of their own, and the same values as outputs themselves.
pub(super) struct Twins;

#[mcp_tool]
impl Twins {
    #[tool]
    fn forecast() -> Structured<Forecast> {
        Structured::new(Forecast { celsius: 21.0 })
    }

    #[tool]
    fn forecast_itself() -> Forecast {
        Forecast { celsius: 21.0 }
    }

    #[tool]
    fn hours() -> Structured<Vec<i64>> {
        Structured::new(vec![1, 2])
    }

    #[tool]
    fn hours_itself() -> Vec<i64> {
        vec![1, 2]
    }

    #[tool]
    fn anything() -> Structured<Value> {
        Structured::new(json!([1]))
    }

    #[tool]
    fn anything_itself() -> Value {
        json!([1])
    }

    #[tool]
    fn perhaps() -> Option<Structured<Forecast>> {
        None
    }

    #[tool]
    fn perhaps_itself() -> Option<Forecast> {
        None
    }
}
