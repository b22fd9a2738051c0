//! Client of the tests: JSON messages over a stream in memory.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use treenail::Server;
use treenail::context::Principal;
use treenail::transport::Connection;

pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Client of one connection.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    /// The connection in the server.
    connection: JoinHandle<treenail::Result<()>>,
    last_id: u64,
    /// The `_meta` of each request.
    meta: Option<Value>,
    /// Messages that are not responses, in order.
    pub(crate) messages: VecDeque<Value>,
    responses: HashMap<u64, Value>,
}

impl Peer {
    /// Connects a client of 2026-07-28 that declares tasks.
    pub(crate) fn modern(server: &Server) -> Self {
        Self::with(
            server,
            None,
            json!({"extensions": {TASKS: {}}, "elicitation": {}}),
        )
    }

    /// Connects one that also opens pages.
    pub(crate) fn modern_with_pages(server: &Server) -> Self {
        Self::with(
            server,
            None,
            json!({"extensions": {TASKS: {}}, "elicitation": {"form": {}, "url": {}}}),
        )
    }

    /// Connects one that does not declare tasks.
    pub(crate) fn without_tasks(server: &Server) -> Self {
        Self::with(
            server,
            None,
            json!({"tasks": {"requests": {}}, "elicitation": {}}),
        )
    }

    /// Connects one that is authenticated.
    pub(crate) fn of(server: &Server, principal: &str) -> Self {
        let capabilities = json!({"extensions": {TASKS: {}}, "elicitation": {}});
        Self::with(server, Some(principal), capabilities)
    }

    fn with(server: &Server, principal: Option<&str>, capabilities: impl Into<Value>) -> Self {
        let mut peer = Self::connect(server, principal);
        peer.meta = Some(meta(&capabilities.into()));
        peer
    }

    /// Connects a client of an older revision. Returns the capabilities of the server too.
    pub(crate) async fn older(
        server: &Server,
        revision: &str,
        principal: Option<&str>,
    ) -> (Self, Value) {
        let mut peer = Self::connect(server, principal);
        let capabilities = json!({"extensions": {TASKS: {}}, "elicitation": {}});
        let capabilities = peer.initialize(revision, &capabilities).await;
        (peer, capabilities)
    }

    /// Connects a client of 2025-11-25 with these capabilities.
    pub(crate) async fn older_with(server: &Server, capabilities: &Value) -> Self {
        let mut peer = Self::connect(server, None);
        peer.initialize("2025-11-25", capabilities).await;
        peer
    }

    /// Returns the capabilities of the server.
    async fn initialize(&mut self, revision: &str, capabilities: &Value) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let result = self.result("initialize", params).await;
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        result["capabilities"].clone()
    }

    fn connect(server: &Server, principal: Option<&str>) -> Self {
        let mut connection = server.connect();
        if let Some(principal) = principal {
            connection
                .extensions_mut()
                .insert(Principal::new(principal));
        }
        Self::serve(connection)
    }

    /// Serves a client of 2026-07-28 that declares tasks.
    pub(crate) fn modern_on(connection: Connection) -> Self {
        let mut peer = Self::serve(connection);
        peer.meta = Some(meta(&json!({"extensions": {TASKS: {}}})));
        peer
    }

    fn serve(connection: Connection) -> Self {
        let (here, there) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(there);
        let connection = tokio::spawn(connection.serve(BufReader::new(reader), writer));
        let (reader, writer) = tokio::io::split(here);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            connection,
            last_id: 0,
            meta: None,
            messages: VecDeque::new(),
            responses: HashMap::new(),
        }
    }

    /// Ends the connection at once, with all of its calls.
    pub(crate) async fn abort(self) {
        self.connection.abort();
        assert!(self.connection.await.unwrap_err().is_cancelled());
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap();
        serde_json::from_str(&line.expect("the server has not closed")).unwrap()
    }

    /// Reads a message, and stores it.
    async fn take(&mut self) {
        let message = self.read().await;
        match message["id"].as_u64() {
            Some(id) if message.get("method").is_none() => {
                self.responses.insert(id, message);
            }
            _ => self.messages.push_back(message),
        }
    }

    /// Sends a request. Returns its id.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if let Some(meta) = &self.meta {
            let members = params.as_object_mut().unwrap();
            let own = members.entry("_meta").or_insert_with(|| json!({}));
            for (key, value) in meta.as_object().unwrap() {
                own[key] = value.clone();
            }
        }
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Waits for the response to a request.
    pub(crate) async fn response(&mut self, id: u64) -> Value {
        loop {
            if let Some(response) = self.responses.remove(&id) {
                return response;
            }
            self.take().await;
        }
    }

    /// Waits for the next message that is not a response.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            if let Some(message) = self.messages.pop_front() {
                return message;
            }
            self.take().await;
        }
    }

    /// Answers a request of the server.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        let id = &request["id"];
        self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    }

    /// Refuses a request of the server.
    pub(crate) async fn refuse(&mut self, request: &Value, message: &str) {
        let (id, error) = (&request["id"], json!({"code": -32_603, "message": message}));
        self.write(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
            .await;
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.response(id).await
    }

    /// Sends a request, and returns its result.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Sends a request, and returns the code of its error.
    pub(crate) async fn code(&mut self, method: &str, params: Value) -> i64 {
        let response = self.request(method, params).await;
        let code = response["error"]["code"].as_i64();
        code.unwrap_or_else(|| panic!("{method} has succeeded: {response}"))
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.result("tools/call", params).await
    }

    /// Calls a tool whose call becomes a task. Returns the id of the task.
    pub(crate) async fn task(&mut self, tool: &str, arguments: Value) -> String {
        let created = self.call(tool, arguments).await;
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn get(&mut self, task: &str) -> Value {
        self.result("tasks/get", json!({"taskId": task})).await
    }

    /// Reads a task until it has one of the statuses.
    pub(crate) async fn until(&mut self, task: &str, statuses: &[&str]) -> Value {
        for _ in 0..1_000 {
            let state = self.get(task).await;
            if statuses.contains(&state["status"].as_str().unwrap()) {
                return state;
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        panic!("the task never became {statuses:?}");
    }

    /// Reads a task until it has ended.
    pub(crate) async fn end(&mut self, task: &str) -> Value {
        self.until(task, &["completed", "failed", "cancelled"])
            .await
    }

    /// Answers a question of a task with a form.
    pub(crate) async fn update(&mut self, task: &str, key: &str, content: Value) -> Value {
        let responses = json!({key: {"action": "accept", "content": content}});
        let params = json!({"taskId": task, "inputResponses": responses});
        self.result("tasks/update", params).await
    }
}

/// Returns the `_meta` of the requests of a client of 2026-07-28.
fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}
