//! The client that reads the text of a result.

use client_load::Result;
use floor_client::CallResult;
use serde::Deserialize;

#[derive(Deserialize)]
struct Sum {
    #[serde(default)]
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    text: String,
}

impl CallResult for Sum {
    fn text(&self) -> Option<&str> {
        self.content.first().map(|block| &*block.text)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    floor_client::run::<Sum>().await
}
