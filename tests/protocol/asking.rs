//! Questions that functions ask their client, in both eras: the same function, the same answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, Revision, Role, SamplingMessage, SamplingMessageContentBlock,
    TextContent,
};
use treenail::{Limits, RequestStateKey, Server};

use crate::covering::{covering, covering_one};
use crate::peer::{MODERN, Peer, error, text};
use crate::validator::{validate_notification, validate_request};

const ELICITS: [Revision; 3] = [Revision::V2025_06_18, Revision::V2025_11_25, MODERN];

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
struct Hotel {
    runs: Arc<AtomicUsize>,
    effects: Arc<AtomicUsize>,
    /// Gets a permit when `wait` is dropped.
    dropped: Arc<Gate>,
}

struct Gate(Semaphore);

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

fn hotel() -> (Hotel, Server) {
    hotel_with(Limits::default())
}

fn hotel_with(limits: Limits) -> (Hotel, Server) {
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

async fn guest(server: &Server, revision: Revision) -> Peer {
    Peer::connect_as(server, revision, everything(revision)).await
}

/// What a user who agrees to everything answers.
fn agree(question: &Value) -> Value {
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
    /// Makes a request, and answers what is asked meanwhile; returns the answer, and all questions in order.
    async fn converse(
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
                let message = self.receive_any().await.expect("the server goes on");
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
            crate::validator::validate(self.revision, method, &message);
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

    async fn call_and_agree(&mut self, name: &str, arguments: Value) -> (Value, Vec<Value>) {
        self.converse(
            "tools/call",
            json!({"name": name, "arguments": arguments}),
            agree,
        )
        .await
    }

    /// Takes the next message, which is a question of the legacy era.
    async fn question(&mut self) -> Value {
        let question = self.receive_any().await.expect("the server goes on");
        validate_request(self.revision, &question);
        question
    }

    /// One round of the modern era: the result of a request.
    async fn round(&mut self, name: &str, arguments: Value, extra: Value) -> Value {
        let mut params = json!({"name": name, "arguments": arguments});
        for (key, value) in extra.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.request("tools/call", params).await
    }
}

#[tokio::test]
async fn a_function_asks_twice_in_every_revision_that_has_forms() {
    for revision in covering(
        "SRV-ELI-02, SRV-ELI-03, SRV-BASE-08, SRV-STDIO-03, SRV-MRTR-01, ALL-TRN-01 since 2025-06-18",
    ) {
        let (hotel, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("book", json!({"city": "Oslo"})).await;
        assert_eq!(
            text(&answer["result"]),
            "Ada in Oslo, breakfast: true",
            "{revision}"
        );
        let messages: Vec<_> = questions
            .iter()
            .map(|question| question["params"]["message"].as_str().unwrap())
            .collect();
        assert_eq!(
            messages,
            ["Who stays in Oslo?", "Book for Ada?"],
            "SRV-ELI-02"
        );
        let runs = if revision.is_modern() { 3 } else { 1 };
        assert_eq!(hotel.runs.load(Ordering::SeqCst), runs, "{revision}");
        let mode = &questions[0]["params"]["mode"];
        let known = revision >= Revision::V2025_11_25;
        assert_eq!(mode == "form", known, "SRV-ELI-02 {revision}: {mode}");
    }
}

#[tokio::test]
async fn a_page_is_opened_where_the_revision_knows_that() {
    for revision in covering("SRV-ELI-06 since 2025-11-25") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("book_and_pay", json!({})).await;
        assert_eq!(text(&answer["result"]), "Ada", "{revision}");
        let params = &questions[1]["params"];
        assert_eq!(params["mode"], "url", "SRV-ELI-06");
        assert_eq!(params["url"], "https://example.com/pay", "SRV-ELI-06");
        let id = params.get("elicitationId").is_some();
        assert_eq!(id, !revision.is_modern(), "SRV-ELI-06 {revision}");
    }
}

#[tokio::test]
async fn several_questions_are_asked_in_one_round() {
    for revision in covering("SRV-MRTR-05 since 2025-06-18") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("all_at_once", json!({})).await;
        assert_eq!(text(&answer["result"]), "Ada m file:///home", "{revision}");
        assert_eq!(questions.len(), 3);
    }
    let (_, server) = hotel();
    let mut peer = guest(&server, MODERN).await;
    let answer = peer.round("all_at_once", json!({}), json!({})).await;
    let questions = answer["result"]["inputRequests"].as_object().unwrap();
    let keys: Vec<_> = questions.keys().collect();
    assert_eq!(
        keys,
        ["capital", "client_roots", "user_name"],
        "SRV-MRTR-05"
    );
    for question in questions.values() {
        assert!(question.get("id").is_none(), "SRV-MRTR-05: {question}");
        assert!(question.get("jsonrpc").is_none(), "SRV-MRTR-05: {question}");
    }
}

#[tokio::test]
async fn work_is_done_once() {
    for revision in ELICITS {
        let (hotel, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, _) = peer.call_and_agree("reserve", json!({})).await;
        assert_eq!(text(&answer["result"]), "41", "{revision}");
        assert_eq!(hotel.effects.load(Ordering::SeqCst), 1, "{revision}");
    }
}

#[tokio::test]
async fn a_no_is_an_error_that_the_function_gets() {
    for revision in covering("SRV-ELI-08 since 2025-06-18") {
        for (action, expected) in [
            ("decline", "the user declined"),
            ("cancel", "the user cancelled"),
        ] {
            let (_, server) = hotel();
            let mut peer = guest(&server, revision).await;
            let params = json!({"name": "book", "arguments": {"city": "Oslo"}});
            let (answer, questions) = peer
                .converse("tools/call", params, |_| json!({"action": action}))
                .await;
            assert_eq!(answer["result"]["isError"], true, "SRV-ELI-08");
            assert_eq!(text(&answer["result"]), expected, "SRV-ELI-08");
            assert_eq!(questions.len(), 1);
        }
    }
}

#[tokio::test]
async fn sampling_and_roots_are_asked_for_in_every_revision() {
    for revision in covering("SRV-SAM-03, SRV-SAM-04, SRV-ROOT-01, ALL-BASE-04") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, questions) = peer.call_and_agree("sample", json!({})).await;
        assert_eq!(text(&answer["result"]), "Paris", "{revision}");
        let params = &questions[0]["params"];
        assert_eq!(params["maxTokens"], 100, "SRV-SAM-03");
        let messages = params["messages"].as_array().unwrap().len();
        let expected = if revision < Revision::V2025_11_25 {
            2
        } else {
            1
        };
        assert_eq!(messages, expected, "SRV-SAM-04 {revision}: {params}");

        let first = questions[0].get("id").cloned();
        let (answer, questions) = peer.call_and_agree("roots", json!({})).await;
        let second = questions[0].get("id").cloned();
        assert_eq!(second == first, revision.is_modern(), "ALL-BASE-04");
        assert_eq!(text(&answer["result"]), "file:///home", "{revision}");
        assert_eq!(questions[0]["method"], "roots/list", "SRV-ROOT-01");
    }
}

#[tokio::test]
async fn prompts_and_resources_ask_too() {
    for revision in covering("SRV-MRTR-02, SRV-RES-08, SRV-PRM-06 since 2025-06-18") {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, _) = peer
            .converse("prompts/get", json!({"name": "greet"}), agree)
            .await;
        let message = &answer["result"]["messages"][0]["content"]["text"];
        assert_eq!(message, "Greet Ada", "SRV-MRTR-02 {revision}");
        let (answer, _) = peer
            .converse("resources/read", json!({"uri": "hotel://guest"}), agree)
            .await;
        assert_eq!(
            answer["result"]["contents"][0]["text"], "Ada",
            "SRV-MRTR-02"
        );
    }
}

#[tokio::test]
async fn a_client_that_cannot_answer_is_not_asked() {
    for revision in covering("SRV-MRTR-06, SRV-META-03, SRV-META-04, SRV-ERR-03, SRV-ROOT-02") {
        let (_, server) = hotel();
        let mut peer = Peer::connect(&server, revision).await;
        for (tool, arguments, needed) in [
            ("book", json!({"city": "Oslo"}), json!({"elicitation": {}})),
            ("sample", json!({}), json!({"sampling": {}})),
            ("roots", json!({}), json!({"roots": {}})),
        ] {
            let answer = peer.round(tool, arguments, json!({})).await;
            if revision.is_modern() {
                let (code, _) = error(&answer);
                assert_eq!(code, -32021, "SRV-MRTR-06 SRV-META-04");
                let required = &answer["error"]["data"]["requiredCapabilities"];
                assert_eq!(*required, needed, "SRV-ERR-03");
            } else {
                assert_eq!(answer["result"]["isError"], true, "SRV-ROOT-02 {answer}");
                assert!(
                    text(&answer["result"]).contains(&needed.to_string()),
                    "{answer}"
                );
            }
        }
        let answer = peer.round("degrade", json!({}), json!({})).await;
        assert_eq!(text(&answer["result"]), "somebody", "AMB-19 {revision}");
        let answer = peer.round("degrade_and_fail", json!({}), json!({})).await;
        assert_eq!(
            text(&answer["result"]),
            "no room is free",
            "AMB-19 {revision}"
        );
    }
}

#[tokio::test]
async fn a_mode_that_is_not_declared_is_not_used() {
    for revision in covering("SRV-ELI-01, SRV-MRTR-06 since 2025-11-25") {
        let (_, server) = hotel();
        let forms = json!({"elicitation": {}});
        let mut peer = Peer::connect_as(&server, revision, forms).await;
        let (answer, questions) = peer.call_and_agree("book_and_pay", json!({})).await;
        assert_eq!(questions.len(), 1, "SRV-ELI-01");
        if revision.is_modern() {
            let required = &answer["error"]["data"]["requiredCapabilities"];
            assert_eq!(*required, json!({"elicitation": {"url": {}}}), "SRV-ERR-03");
        } else {
            assert_eq!(answer["result"]["isError"], true, "SRV-ELI-01");
        }
        let urls = json!({"elicitation": {"url": {}}});
        let mut peer = Peer::connect_as(&server, revision, urls).await;
        let answer = peer.round("degrade", json!({}), json!({})).await;
        assert_eq!(text(&answer["result"]), "somebody", "SRV-ELI-01");
    }
}

#[tokio::test]
async fn the_result_says_that_input_is_required() {
    let revision =
        covering_one("SRV-MRTR-04, SRV-MRTR-14, SRV-BASE-04, SRV-CACHE-02 in 2026-07-28");
    let (_, server) = hotel();
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("book_and_pay", json!({}), json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "SRV-MRTR-04");
    let hints = (result.get("ttlMs"), result.get("cacheScope"));
    assert_eq!(hints, (None, None), "SRV-CACHE-02");
    let first = result["requestState"].as_str().unwrap();
    assert!(!first.contains("Ada"));
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "hotel", "{result}");

    let responses = json!({"who": agree(&result["inputRequests"]["who"])});
    let extra = json!({"requestState": first, "inputResponses": responses});
    let answer = peer.round("book_and_pay", json!({}), extra).await;
    let second = answer["result"]["requestState"].as_str().unwrap();
    assert_ne!(first, second);
    let keys: Vec<_> = answer["result"]["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        keys,
        ["pay"],
        "SRV-MRTR-14: what is answered is not asked again"
    );
}

#[tokio::test]
async fn a_state_that_is_not_ours_is_refused() {
    let revision = covering_one("SRV-MRTR-07, SRV-MRTR-08, SRV-MRTR-10 in 2026-07-28");
    let (_, server) = hotel();
    let (_, other_server) = hotel();
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("book", json!({"city": "Oslo"}), json!({})).await;
    let state = answer["result"]["requestState"]
        .as_str()
        .unwrap()
        .to_owned();
    let tampered = format!("{state}-TAMPERED");
    let mut flipped = state.clone();
    let last = flipped.pop().unwrap();
    flipped.push(if last == 'A' { 'B' } else { 'A' });

    let oslo = json!({"city": "Oslo"});
    for (what, state, tool, arguments) in [
        ("tampered", json!(tampered), "book", oslo.clone()),
        ("flipped", json!(flipped), "book", oslo.clone()),
        ("cut", json!(state[..20]), "book", oslo.clone()),
        ("empty", json!(""), "book", oslo.clone()),
        ("not a string", json!(5), "book", oslo.clone()),
        (
            "other arguments",
            json!(state),
            "book",
            json!({"city": "Rome"}),
        ),
        ("other tool", json!(state), "book_twin", oslo.clone()),
    ] {
        let answer = peer
            .round(tool, arguments, json!({"requestState": state}))
            .await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32602, "SRV-MRTR-08 SRV-MRTR-10 {what}: {message}");
    }
    let mut foreign = guest(&other_server, revision).await;
    let answer = foreign
        .round("book", oslo.clone(), json!({"requestState": state}))
        .await;
    assert_eq!(error(&answer).0, -32602, "SRV-MRTR-08 another server");
    let answer = peer
        .round("book", oslo, json!({"requestState": state}))
        .await;
    assert_eq!(
        answer["result"]["resultType"], "input_required",
        "it is still good"
    );
}

#[tokio::test]
async fn a_state_expires() {
    let revision = covering_one("SRV-MRTR-10 in 2026-07-28");
    let limits = Limits {
        answer_within: Duration::ZERO,
        ..Limits::default()
    };
    let (_, server) = hotel_with(limits);
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("reserve", json!({}), json!({})).await;
    let state = &answer["result"]["requestState"];
    let answer = peer
        .round("reserve", json!({}), json!({"requestState": state}))
        .await;
    let (code, message) = error(&answer);
    assert_eq!(code, -32602, "SRV-MRTR-10");
    assert!(message.contains("expired"), "SRV-MRTR-10: {message}");
}

#[tokio::test]
async fn replicas_that_share_a_key_serve_one_conversation() {
    let revision = covering_one("ALL-MRTR-01, SRV-STATE-03 in 2026-07-28");
    let replica = || {
        let builder = Server::builder("hotel", "1.0.0");
        let builder = builder.request_state_key(RequestStateKey::new([7; 32]));
        builder.mount(Hotel::default()).build().unwrap()
    };
    let mut peers = [
        guest(&replica(), revision).await,
        guest(&replica(), revision).await,
    ];
    let mut extra = json!({});
    for round in 0..3 {
        let peer = &mut peers[round % 2];
        let answer = peer
            .round("book", json!({"city": "Oslo"}), extra.take())
            .await;
        let result = &answer["result"];
        if round == 2 {
            assert_eq!(text(result), "Ada in Oslo, breakfast: true", "ALL-MRTR-01");
            return;
        }
        extra = json!({"requestState": result["requestState"], "inputResponses": {}});
        for (key, question) in result["inputRequests"].as_object().unwrap() {
            extra["inputResponses"][key] = agree(question);
        }
    }
}

#[tokio::test]
async fn arguments_may_come_back_in_another_order() {
    let (_, server) = hotel();
    let mut peer = guest(&server, MODERN).await;
    let orders = [
        r#"{"name": "search", "arguments": {"city": "Oslo", "stars": {"from": 2, "to": 5}}}"#,
        r#"{"arguments": {"stars": {"to": 5, "from": 2}, "city": "Oslo"}, "name": "search"}"#,
    ]
    .map(|params| serde_json::from_str::<Value>(params).unwrap());
    let answer = peer.request("tools/call", orders[0].clone()).await;
    let mut again = orders[1].clone();
    again["requestState"] = answer["result"]["requestState"].clone();
    again["inputResponses"] = json!({"question-1": {"action": "accept"}});
    let answer = peer.request("tools/call", again).await;
    assert_eq!(text(&answer["result"]), "Oslo 2 to 5");
}

#[tokio::test]
async fn answers_that_nobody_asked_for_are_ignored_and_missing_ones_asked_again() {
    let revision = covering_one("SRV-MRTR-16, SRV-MRTR-17 in 2026-07-28");
    let (_, server) = hotel();
    let mut peer = guest(&server, revision).await;
    let name = json!({"action": "accept", "content": {"name": "Ada"}});

    let all = json!({"inputResponses": {"user_context": name, "x": 1, "y": null}});
    let mut params = all.clone();
    params["name"] = json!("greet");
    let answer = peer.request("prompts/get", params).await;
    assert!(
        answer["result"]["messages"].is_array(),
        "SRV-MRTR-16: {answer}"
    );

    let wrong = json!({"inputResponses": {"wrong_key": name}});
    let answer = peer.round("book_and_pay", json!({}), wrong).await;
    assert_eq!(
        answer["result"]["resultType"], "input_required",
        "SRV-MRTR-17"
    );

    let state = answer["result"]["requestState"].clone();
    let extra = json!({"requestState": state, "inputResponses": {"pay": name}});
    let answer = peer.round("book_and_pay", json!({}), extra).await;
    let keys: Vec<_> = answer["result"]["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        keys,
        ["who"],
        "SRV-MRTR-17: only what was asked is answered"
    );
}

#[tokio::test]
async fn answers_of_the_wrong_shape_are_errors() {
    let revision = covering_one("SRV-MRTR-15 in 2026-07-28");
    let (_, server) = hotel();
    let mut peer = guest(&server, revision).await;
    for responses in [
        json!({"who": 12345}),
        json!({"who": ["accept", {}]}),
        json!({"who": {"action": "maybe"}}),
        json!({"who": {"action": "accept", "content": {"name": 5}}}),
        json!({"who": {"action": "accept"}}),
        json!(null),
        json!([]),
        json!("who"),
    ] {
        let extra = json!({"inputResponses": responses});
        let answer = peer.round("book_and_pay", json!({}), extra).await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32602, "SRV-MRTR-15 {responses}: {message}");
    }
}

#[tokio::test]
async fn a_legacy_client_may_refuse_answer_late_twice_or_nothing() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let params = json!({"name": "wait", "arguments": {}});
        peer.begin("tools/call", params.clone()).await;
        let question = peer.question().await;
        let refusal = json!({"code": -1, "message": "busy"});
        peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": refusal}))
            .await;
        let answer = peer.receive("tools/call").await;
        let expected = "the client could not answer: busy (code -1)";
        assert_eq!(text(&answer["result"]), expected, "SRV-ELI-08");

        let accepted = json!({"action": "accept", "content": {}});
        for id in [
            question["id"].clone(),
            json!("1"),
            json!(-1),
            json!(1.5),
            json!(99),
        ] {
            peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": accepted}))
                .await;
        }
        // One of them is no id at all, and is told so.
        let flawed = peer.receive_any().await.unwrap();
        assert_eq!(flawed["error"]["code"], -32600);

        peer.begin("tools/call", params.clone()).await;
        let question = peer.question().await;
        let malformed = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": 1}});
        peer.send(&malformed).await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
}

#[tokio::test]
async fn a_cancelled_call_takes_its_question_back() {
    for revision in covering("SRV-CANC-03, ALL-CANC-07 in 2025-06-18, 2025-11-25") {
        let (hotel, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let id = peer
            .begin("tools/call", json!({"name": "wait", "arguments": {}}))
            .await;
        let question = peer.question().await;
        peer.send(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": id},
        }))
        .await;
        hotel.dropped.0.acquire().await.unwrap().forget();
        let cancelled = peer.receive_any().await.unwrap();
        validate_notification(revision, &cancelled);
        assert_eq!(
            cancelled["params"]["requestId"], question["id"],
            "SRV-CANC-03"
        );
        assert_eq!(peer.finish().await, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn a_question_without_an_answer_times_out() {
    tokio::time::pause();
    let limits = Limits {
        answer_within: Duration::from_secs(60),
        ..Limits::default()
    };
    let (_, server) = hotel_with(limits);
    for revision in covering("ALL-CANC-03, ALL-CANC-04, ALL-CANC-06 in 2025-06-18, 2025-11-25") {
        let mut peer = guest(&server, revision).await;
        peer.begin("tools/call", json!({"name": "wait", "arguments": {}}))
            .await;
        let question = peer.question().await;
        let cancelled = peer.receive_any().await.unwrap();
        validate_notification(peer.revision, &cancelled);
        assert_eq!(
            cancelled["params"]["requestId"], question["id"],
            "ALL-CANC-03"
        );
        let answer = peer.receive("tools/call").await;
        assert_eq!(text(&answer["result"]), "there was no answer in time");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_ends_what_waits_for_it() {
    let (hotel, server) = hotel_with(Limits {
        finish_calls_within: Duration::ZERO,
        ..Limits::default()
    });
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    peer.begin("tools/call", json!({"name": "wait", "arguments": {}}))
        .await;
    peer.question().await;
    peer.finish().await;
    hotel.dropped.0.acquire().await.unwrap().forget();
}

#[tokio::test]
async fn the_modern_era_keeps_nothing_for_a_question() {
    let revision = covering_one("SRV-MRTR-13 in 2026-07-28");
    let (hotel, server) = hotel();
    let mut peer = guest(&server, revision).await;
    let answer = peer.round("wait", json!({}), json!({})).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    // The function has been dropped before the client knows of the question.
    let dropped = hotel.dropped.0.try_acquire();
    assert!(dropped.is_ok(), "SRV-MRTR-13");
}

#[tokio::test]
async fn what_a_function_spawns_can_ask() {
    for revision in ELICITS {
        let (_, server) = hotel();
        let mut peer = guest(&server, revision).await;
        let (answer, _) = peer.call_and_agree("spawned", json!({})).await;
        assert_eq!(text(&answer["result"]), "Ada", "{revision}");
    }
}

#[tokio::test]
async fn rounds_and_what_is_carried_are_bounded() {
    let (_, server) = hotel_with(Limits {
        question_rounds: 3,
        ..Limits::default()
    });
    let mut peer = guest(&server, MODERN).await;
    let (answer, questions) = peer.call_and_agree("endless", json!({})).await;
    assert_eq!(questions.len(), 3);
    let (code, message) = error(&answer);
    assert_eq!(code, -32603);
    assert!(message.contains("more than 3 rounds"), "{message}");

    let answer = peer.round("hoard", json!({}), json!({})).await;
    let (code, message) = error(&answer);
    assert_eq!(code, -32603);
    assert!(message.contains("65536 bytes"), "{message}");
}

#[tokio::test]
async fn calls_that_wait_for_answers_do_not_hold_the_answers_back() {
    let (_, server) = hotel_with(Limits {
        calls_in_flight: 2,
        held_bytes: 0,
        ..Limits::default()
    });
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    let params = json!({"name": "wait", "arguments": {}});
    let mut questions = Vec::new();
    for _ in 0..2 {
        peer.begin("tools/call", params.clone()).await;
        questions.push(peer.question().await);
    }
    let held = peer.begin("tools/call", params.clone()).await;
    let refused = peer.request("tools/call", params).await;
    let (code, message) = error(&refused);
    assert_eq!(code, -32603);
    assert!(message.contains("2 calls are in flight"), "{message}");
    let mut third = None;
    for question in questions {
        let accepted = json!({"action": "accept", "content": {}});
        peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted}))
            .await;
        let answer = peer.receive("tools/call").await;
        assert!(answer["result"].get("isError").is_none(), "{answer}");
        if third.is_none() {
            third = Some(peer.question().await);
        }
    }
    let third = third.unwrap();
    // The third one has begun when the first was answered.
    let accepted = json!({"action": "accept", "content": {}});
    let answer = json!({"jsonrpc": "2.0", "id": third["id"], "result": accepted});
    peer.send(&answer).await;
    assert_eq!(peer.receive("tools/call").await["id"], held);
}

#[tokio::test]
async fn open_questions_are_bounded_and_the_others_wait() {
    let (_, server) = hotel_with(Limits {
        open_questions: 1,
        ..Limits::default()
    });
    let mut peer = guest(&server, Revision::V2025_11_25).await;
    let params = json!({"name": "wait", "arguments": {}});
    peer.begin("tools/call", params.clone()).await;
    peer.begin("tools/call", params).await;
    let question = peer.question().await;
    // Whatever was sent before the answer to this would come before it.
    let pong = peer.request("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
    let accepted = json!({"action": "accept", "content": {}});
    let answer =
        |question: &Value| json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted});
    peer.send(&answer(&question)).await;
    for _ in 0..3 {
        let message = peer.receive_any().await.unwrap();
        if message.get("method").is_some() {
            peer.send(&answer(&message)).await;
        } else {
            assert!(message["result"].get("isError").is_none(), "{message}");
        }
    }
}
