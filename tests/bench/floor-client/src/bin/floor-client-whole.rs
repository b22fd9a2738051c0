//! The client that returns the whole result.

use client_load::Result;
use floor_client::CallResult;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a caller would read them")]
struct Whole {
    #[serde(default)]
    content: Vec<Block>,
    structured_content: Option<Value>,
    is_error: Option<bool>,
    result_type: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "a caller would read it")]
struct Block {
    r#type: String,
    text: String,
}

impl CallResult for Whole {
    fn text(&self) -> Option<&str> {
        self.content.first().map(|block| &*block.text)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    floor_client::run::<Whole>().await
}
