//! A server whose functions send requests to the client, and a client that answers them.

/// The same at run time.
pub(crate) mod twin;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, Revision, Role, SamplingMessage, SamplingMessageContentBlock,
    TextContent,
};
use treenail::{Limits, Server};

use crate::support::peer::{MODERN, Peer};
use crate::support::validator::validate_request;

pub(crate) const ELICITS: [Revision; 3] = [Revision::V2025_06_18, Revision::V2025_11_25, MODERN];

#[mcp_form]
struct Booking {
    name: String,
    #[field(default = false)]
    breakfast: bool,
}

#[mcp_type]
struct Stars {
    from: u8,
    to: u8,
}

#[derive(Clone, Default)]
pub(crate) struct Hotel {
    pub(crate) runs: Arc<AtomicUsize>,
    pub(crate) effects: Arc<AtomicUsize>,
    /// Gets a permit when `wait` is dropped.
    pub(crate) dropped: Arc<Gate>,
}

pub(crate) struct Gate(pub(crate) Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

struct OnDrop(Arc<Gate>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.0.add_permits(1);
    }
}

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
impl Hotel {
    #[tool]
    async fn book(&self, cx: &Context, city: String) -> Result<String, AskError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let Booking { name, breakfast } = cx.elicit(format!("Who stays in {city}?")).await?;
        cx.confirm(format!("Book for {name}?")).key("sure").await?;
        Ok(format!("{name} in {city}, breakfast: {breakfast}"))
    }

    #[tool]
    async fn book_twin(&self, cx: &Context, city: String) -> Result<String, AskError> {
        self.book(cx, city).await
    }

    #[tool]
    async fn book_and_pay(&self, cx: &Context) -> Result<String, AskError> {
        let Booking { name, .. } = cx.elicit("Who?").key("who").await?;
        cx.elicit_url("Pay there", "https://example.com/pay")
            .key("pay")
            .await?;
        Ok(name)
    }

    #[tool]
    async fn all_at_once(&self, cx: &Context) -> Result<String, AskError> {
        let (Booking { name, .. }, model, roots) = tokio::try_join!(
            async { cx.elicit("Who?").key("user_name").await },
            async { cx.sample(capital()).key("capital").await },
            async { cx.roots().key("client_roots").await },
        )?;
        Ok(format!("{name} {} {}", model.model, roots[0].uri))
    }

    #[tool]
    async fn reserve(&self, cx: &Context) -> Result<String, AskError> {
        let number: usize = cx
            .once("number", async {
                Ok::<_, AskError>(self.effects.fetch_add(1, Ordering::SeqCst) + 41)
            })
            .await?;
        cx.confirm("Keep it?").await?;
        cx.confirm("Really?").await?;
        Ok(number.to_string())
    }

    #[tool]
    async fn degrade(&self, cx: &Context) -> Result<String, AskError> {
        let who: Option<Booking> = cx.elicit("Who?").if_supported().await?;
        Ok(who.map_or("somebody".to_owned(), |who| who.name))
    }

    #[tool]
    async fn degrade_and_fail(&self, cx: &Context) -> Result<(), String> {
        let who = cx.elicit::<Booking>("Who?").if_supported().await;
        match who {
            Ok(None) => Err("no room is free".to_owned()),
            _ => Ok(()),
        }
    }

    #[tool]
    async fn sample(&self, cx: &Context) -> Result<String, AskError> {
        let answer = cx.sample(capital()).await?;
        match answer.content.iter().next() {
            Some(SamplingMessageContentBlock::Text(text)) => Ok(text.text.clone()),
            _ => Ok("no text".to_owned()),
        }
    }

    #[tool]
    async fn roots(&self, cx: &Context) -> Result<String, AskError> {
        let roots = cx.roots().await?;
        Ok(roots.into_iter().map(|root| root.uri).collect())
    }

    #[tool]
    async fn wait(&self, cx: &Context) -> Result<(), AskError> {
        let _guard = OnDrop(Arc::clone(&self.dropped));
        cx.confirm("Still there?").await
    }

    #[tool]
    async fn endless(&self, cx: &Context) -> Result<(), AskError> {
        loop {
            cx.confirm("Again?").await?;
        }
    }

    #[tool]
    async fn hoard(&self, cx: &Context) -> Result<String, AskError> {
        let much = cx
            .once("much", async { Ok::<_, AskError>("x".repeat(100_000)) })
            .await?;
        cx.confirm("Carry it?").await?;
        Ok(much)
    }

    #[tool]
    async fn spawned(&self, cx: &Context) -> Result<String, AskError> {
        let clone = cx.clone();
        let asked = tokio::spawn(async move { clone.elicit::<Booking>("Who?").await });
        let who = asked.await.expect("it does not panic")?;
        Ok(who.name)
    }

    #[tool]
    async fn search(&self, cx: &Context, city: String, stars: Stars) -> Result<String, AskError> {
        cx.confirm("Really?").await?;
        Ok(format!("{city} {} to {}", stars.from, stars.to))
    }

    #[prompt]
    async fn greet(&self, cx: &Context) -> Result<String, AskError> {
        let who: Booking = cx.elicit("Who?").key("user_context").await?;
        Ok(format!("Greet {}", who.name))
    }

    /// Has the name and the arguments of a tool.
    #[prompt(name = "book")]
    async fn book_prompt(&self, cx: &Context, city: String) -> Result<String, AskError> {
        self.book(cx, city).await
    }

    #[resource("hotel://guest")]
    async fn guest(&self, cx: &Context) -> Result<String, AskError> {
        let who: Booking = cx.elicit("Who?").await?;
        Ok(who.name)
    }
}

fn capital() -> CreateMessageRequestParams {
    let question = |text: &str| SamplingMessageContentBlock::Text(TextContent::new(text));
    let blocks = vec![question("What is the capital"), question("of France?")];
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, blocks)], 100)
}

pub(crate) fn hotel() -> (Hotel, Server) {
    hotel_with(Limits::default())
}

pub(crate) fn hotel_with(limits: Limits) -> (Hotel, Server) {
    let hotel = Hotel::default();
    let builder = Server::builder("hotel", "1.0.0").limits(limits);
    let server = builder.mount(hotel.clone()).build().unwrap();
    (hotel, server)
}

fn everything(revision: Revision) -> Value {
    let mut capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    if revision >= Revision::V2025_11_25 {
        capabilities["elicitation"] = json!({"form": {}, "url": {}});
    }
    capabilities
}

pub(crate) async fn guest(server: &Server, revision: Revision) -> Peer {
    Peer::connect_as(server, revision, everything(revision)).await
}

/// The answers of a user who accepts everything.
pub(crate) fn agree(question: &Value) -> Value {
    match question["method"].as_str().unwrap() {
        "elicitation/create" if question["params"]["mode"] == "url" => json!({"action": "accept"}),
        "elicitation/create" => {
            json!({"action": "accept", "content": {"name": "Ada", "breakfast": true}})
        }
        "sampling/createMessage" => {
            json!({"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"})
        }
        _ => json!({"roots": [{"uri": "file:///home"}]}),
    }
}

impl Peer {
    /// Sends a request and answers the client requests meanwhile. Returns the response and all client requests.
    pub(crate) async fn converse(
        &mut self,
        method: &str,
        params: Value,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> (Value, Vec<Value>) {
        let mut questions = Vec::new();
        let mut request = params.clone();
        loop {
            self.begin(method, request.clone()).await;
            let message = loop {
                let message = self.receive_any().await.expect("the server continues");
                if message.get("method").is_none() {
                    break message;
                }
                assert!(
                    !self.revision.is_modern(),
                    "SRV-MRTR-01: no requests of the server in the modern era: {message}"
                );
                validate_request(self.revision, &message);
                let result = answer(&message);
                questions.push(message.clone());
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
                    .await;
            };
            crate::support::validator::validate(self.revision, method, &message);
            let result = &message["result"];
            if result["resultType"] != "input_required" {
                return (message, questions);
            }
            request = params.clone();
            request["requestState"] = result["requestState"].clone();
            for (key, question) in result["inputRequests"].as_object().unwrap() {
                request["inputResponses"][key] = answer(question);
                questions.push(question.clone());
            }
        }
    }

    pub(crate) async fn call_and_agree(
        &mut self,
        name: &str,
        arguments: Value,
    ) -> (Value, Vec<Value>) {
        let params = json!({"name": name, "arguments": arguments});
        self.converse("tools/call", params, agree).await
    }

    /// Receives the next message, a client request of the legacy era.
    pub(crate) async fn question(&mut self) -> Value {
        let question = self.receive_any().await.expect("the server continues");
        validate_request(self.revision, &question);
        question
    }

    /// Runs one round of the modern era and returns the result of the request.
    pub(crate) async fn round(&mut self, name: &str, arguments: Value, extra: Value) -> Value {
        let mut params = json!({"name": name, "arguments": arguments});
        for (key, value) in extra.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.request("tools/call", params).await
    }
}
