//! Server over HTTP with two scopes: `notes:read` lists the notes, and `notes:write` adds one.
//!
//! Arguments: the issuer of the tokens, such as `https://id.example.com`, and the address to listen at.

use std::sync::Mutex;

use treenail::auth::ResourceServer;
use treenail::http::HttpServer;
use treenail::prelude::*;

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

#[mcp_tool(namespace = "notes", scope = "notes:read")]
impl Notes {
    /// List all notes.
    #[tool(read_only)]
    async fn list(&self) -> Vec<String> {
        self.0.lock().map(|notes| notes.clone()).unwrap_or_default()
    }

    /// Add a note. A note for everyone needs the scope `notes:admin`.
    #[tool(scope = "notes:write")]
    async fn add(
        &self,
        cx: &Context,
        text: String,
        #[arg(default)] for_everyone: bool,
    ) -> Result<usize, ToolError> {
        if for_everyone {
            cx.require_scope("notes:admin")?;
        }
        let author = cx.grant().map_or("anonymous", |grant| grant.subject());
        let mut notes = self
            .0
            .lock()
            .map_err(|_| ToolError::new("the notes are lost"))?;
        notes.push(format!("{author}: {text}"));
        Ok(notes.len())
    }
}

/// Binds the server to an address, with tokens of `issuer`.
pub(crate) async fn bind(issuer: &str, address: &str) -> treenail::Result<HttpServer> {
    let server = treenail::server!().mount(Notes::default()).build()?;
    let http = server.bind_http(address).await?;
    // Behind a proxy it is the public URL, such as `https://notes.example.com/mcp`.
    let url = format!("http://{}/mcp", http.local_addr());
    let authorization = ResourceServer::new(url)
        .issuer(issuer)
        .scopes(["notes:read", "notes:write", "notes:admin"])
        .basic_scopes(["notes:read"])
        .implies("notes:admin", ["notes:read", "notes:write"]);
    http.authorize(authorization)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let issuer = args.next().ok_or("the first argument is the issuer")?;
    let address = args.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    Ok(bind(&issuer, &address).await?.serve().await?)
}
