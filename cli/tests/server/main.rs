//! Test server of the command-line program, with all features and with control characters in its texts.

#![allow(
    missing_docs,
    deprecated,
    clippy::unused_self,
    reason = "the program is for tests, including those of deprecated features, and its tools have no state"
)]

mod boatyard;
mod changing;
mod plain;
mod protected;
mod rogue;
mod secured;
mod tasks;
mod versions;

use std::time::Duration;

use serde_json::json;
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ContentBlock, LoggingLevel};

/// Guard that reports on standard error that a call was dropped.
struct DropReport;

impl Drop for DropReport {
    #[expect(clippy::print_stderr, reason = "the tests read it")]
    fn drop(&mut self) {
        eprintln!("the call was dropped");
    }
}

#[mcp_form]
enum Room {
    Single,
    #[field(name = "double", title = "Double room")]
    Double,
}

#[mcp_form]
struct Stay {
    /// Name as in the passport
    #[field(title = "Guest")]
    name: String,
    #[field(range = 1..=30, default = 2)]
    nights: u8,
    room: Room,
    note: Option<String>,
}

#[mcp_type]
struct Order {
    id: u64,
    tags: Vec<String>,
    express: bool,
}

struct Everything;

/// Be careful.\u{1b}[2J
#[mcp_tool]
impl Everything {
    /// Adds two integers.
    #[tool(read_only)]
    fn add(
        &self,
        /// The first one
        a: i64,
        #[arg(default = 1, range = ..=100)] b: i64,
    ) -> i64 {
        a + b
    }

    /// Takes an order.
    #[tool]
    fn order(&self, id: u64, #[arg(default)] tags: Vec<String>, express: bool) -> Order {
        Order { id, tags, express }
    }

    #[tool]
    fn echo(&self, text: String) -> String {
        text
    }

    #[tool]
    fn fail(&self) -> Result<String, String> {
        Err("the sea is \x1b[31mrough".to_owned())
    }

    #[tool]
    fn fail_at_length(&self, bytes: usize) -> Result<String, String> {
        Err("x".repeat(bytes))
    }

    #[doc = "Clears\x1b[2J the screen \u{202e}and turns text around"]
    #[tool]
    fn hostile(&self) -> CallToolResult {
        let mut result = CallToolResult::text("one\x1b]0;title\x07\r\ntwo\u{9b}31m\u{202e}");
        result
            .content
            .push(ContentBlock::resource_link("file:///\x08b", "a\x1b[1m"));
        result
    }

    /// Draws.
    #[tool]
    fn picture(&self, #[arg(default = 1)] count: usize) -> Vec<ContentBlock> {
        let mut blocks = vec![ContentBlock::text("here it is")];
        blocks.extend((0..count).map(|_| ContentBlock::image("AQID", "image/png")));
        blocks
    }

    /// Never ends.
    #[tool]
    async fn wait(&self, cx: &Context) -> String {
        let _report = DropReport;
        cx.log(LoggingLevel::Warning, json!("waiting started"))
            .await;
        std::future::pending().await
    }

    /// Reports progress after each step.
    #[tool]
    async fn steps(&self, cx: &Context, #[arg(default = 6)] count: u32) -> &'static str {
        for step in 1..=count {
            tokio::time::sleep(Duration::from_millis(400)).await;
            cx.progress(step)
                .total(count)
                .message("step\x1b[1m by step")
                .await;
        }
        "done"
    }

    #[tool]
    async fn book(&self, cx: &Context) -> Result<String, AskError> {
        let stay: Stay = cx.elicit("Who stays?\x1b[1m").await?;
        let room = match stay.room {
            Room::Single => "single",
            Room::Double => "double",
        };
        let note = stay.note.unwrap_or_else(|| "none".to_owned());
        Ok(format!(
            "{}, {} nights, {room}, note: {note}",
            stay.name, stay.nights
        ))
    }

    #[tool]
    async fn erase(&self, cx: &Context) -> Result<String, AskError> {
        cx.confirm("Erase everything?").await?;
        Ok("erased".to_owned())
    }

    #[tool]
    async fn pay(&self, cx: &Context) -> Result<String, AskError> {
        cx.elicit_url("Pay first", "http://shop@xn--e1afmkfd.example/pay?id=1")
            .await?;
        Ok("paid".to_owned())
    }

    #[tool]
    async fn whereabouts(&self, cx: &Context) -> Result<String, AskError> {
        let roots = cx.roots().await?;
        Ok(roots
            .into_iter()
            .map(|root| root.uri)
            .collect::<Vec<_>>()
            .join(" "))
    }

    #[resource("data://bytes", mime_type = "application/octet-stream")]
    fn bytes(&self) -> Vec<u8> {
        vec![0, 27, 91, 109, 255]
    }

    /// A note of the day.
    #[resource("note://today", mime_type = "text/plain")]
    fn today(&self) -> String {
        "rain\x1b[0m\n".to_owned()
    }

    #[resource("data://large", mime_type = "text/plain")]
    fn large(&self) -> String {
        "x".repeat(4 << 20)
    }

    #[resource("note://{city}/{day}")]
    fn note(&self, city: String, day: u8) -> String {
        format!("{city} on day {day}")
    }

    /// Greets.
    #[prompt]
    fn greeting(
        &self,
        /// Name of the person
        name: String,
    ) -> String {
        format!("Hello {name}")
    }
}

struct Environment;

#[mcp_tool]
impl Environment {
    /// A variable of the environment, or `none`.
    #[tool(read_only)]
    fn variable(name: String) -> String {
        std::env::var(name).unwrap_or_else(|_| "none".to_owned())
    }

    /// Prints to standard output, as libraries do.
    #[tool]
    #[expect(clippy::print_stdout, reason = "it must not break the session")]
    fn noisy() -> &'static str {
        println!("printed {{\"jsonrpc\":");
        print!("the start of a line");
        let printed = std::process::Command::new("echo").arg("a child").status();
        if printed.is_ok() { "done" } else { "no echo" }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let mode = std::env::args().nth(1);
    if mode.as_deref() == Some("rogue") {
        return Ok(rogue::serve()?);
    }
    match mode.as_deref() {
        Some("changing") => return changing::serve().await,
        Some("protected") => return protected::serve().await,
        Some("secured") => {
            let folder = std::env::args().nth(2).unwrap_or_default();
            return secured::serve(folder.as_ref()).await;
        }
        Some("step-up") => return protected::serve_step_up().await,
        Some("browse") => {
            let url = std::env::args().nth(2).unwrap_or_default();
            return Ok(protected::browse(&url)?);
        }
        _ => {}
    }
    if let Some(mode @ ("plain" | "slow")) = mode.as_deref() {
        return Ok(plain::serve(mode == "slow")?);
    }
    let server = match mode.as_deref() {
        Some("before") => Server::builder("versions", "1").mount(versions::Before),
        Some("after") => Server::builder("versions", "1").mount(versions::After),
        Some("boatyard") => {
            let server = Server::builder("boatyard", "1.4.0")
                .title("Boatyard")
                .dynamic();
            return server
                .mount(boatyard::Boatyard::default())
                .serve_stdio()
                .await;
        }
        Some("environment") => {
            return Server::builder("environment", "1")
                .mount(Environment)
                .serve_stdio()
                .await;
        }
        Some("tasks") => Server::builder("yard", "1").mount(tasks::Yard::default()),
        _ => Server::builder("test \x1b[1mserver", "1").mount(Everything),
    };
    let server = server.build()?;
    if let Some(address) = std::env::args().nth(2) {
        return server.bind_http(&*address).await?.serve().await;
    }
    match mode.as_deref() {
        Some("http" | "tasks") => serve_http(server).await,
        Some("closing") => {
            // The task runs once the server reads its input.
            let closing = server.clone();
            tokio::spawn(async move { closing.close() });
            server.serve_stdio().await
        }
        _ => server.serve_stdio().await,
    }
}

/// Prints the URL and serves HTTP.
#[expect(clippy::print_stdout, reason = "the tests read it")]
async fn serve_http(server: Server) -> treenail::Result<()> {
    let listening = server.bind_http("127.0.0.1:0").await?;
    println!("http://{}/mcp", listening.local_addr());
    listening.serve().await
}
