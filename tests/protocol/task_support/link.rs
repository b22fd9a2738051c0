//! Link of a task that records the messages of its function, and its questions with the senders of their answers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use treenail::RpcError;
use treenail::elicit::AskError;
use treenail::schema::Number;
use treenail_runtime::internal::task::{BoxFuture, OnceState, TaskLink, TaskQuestion};

use super::support::lock;

/// Link of a task, which records everything.
#[derive(Debug)]
pub(super) struct Link {
    asked: mpsc::UnboundedSender<Asked>,
    record: Mutex<Record>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Work that an earlier run has begun.
    pub(super) begun_before: Vec<String>,
    pub(super) once: BTreeMap<String, String>,
    /// Events in order.
    pub(super) events: Vec<String>,
    /// Set if the record cannot be changed.
    pub(super) is_full: bool,
}

/// Question of a task, with the sender of its answer.
pub(super) struct Asked {
    pub(super) question: TaskQuestion,
    answer: oneshot::Sender<Result<Box<RawValue>, AskError>>,
}

impl Link {
    pub(super) fn new(record: Record) -> (Arc<Self>, mpsc::UnboundedReceiver<Asked>) {
        let (asked, questions) = mpsc::unbounded_channel();
        let record = Mutex::new(record);
        (Arc::new(Self { asked, record }), questions)
    }

    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.record)
    }

    pub(super) fn events(&self) -> Vec<String> {
        self.record().events.clone()
    }

    fn write(&self, event: String) -> Result<(), RpcError> {
        let mut record = self.record();
        if record.is_full {
            return Err(RpcError::internal("the store is full"));
        }
        record.events.push(event);
        Ok(())
    }
}

impl TaskLink for Link {
    fn ask(
        self: Arc<Self>,
        question: TaskQuestion,
    ) -> BoxFuture<'static, Result<Box<RawValue>, AskError>> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            self.asked.send(Asked { question, answer }).unwrap();
            answered.await.unwrap_or(Err(AskError::Closed))
        })
    }

    fn progress(&self, done: &Number, total: Option<&Number>, message: Option<&str>) {
        let event = json!(["progress", done, total, message]).to_string();
        self.record().events.push(event);
    }

    fn once(&self, key: &str) -> OnceState {
        let record = self.record();
        match record.once.get(key) {
            Some(value) => OnceState::Done(RawValue::from_string(value.clone()).unwrap()),
            None if record.begun_before.iter().any(|begun| begun == key) => OnceState::Begun,
            None => OnceState::Absent,
        }
    }

    fn begin(self: Arc<Self>, key: String) -> BoxFuture<'static, Result<(), RpcError>> {
        Box::pin(async move { self.write(format!("begin {key}")) })
    }

    fn release(self: Arc<Self>, key: String) -> BoxFuture<'static, Result<(), RpcError>> {
        Box::pin(async move { self.write(format!("release {key}")) })
    }

    fn keep(
        self: Arc<Self>,
        key: String,
        value: Box<RawValue>,
    ) -> BoxFuture<'static, Result<(), RpcError>> {
        Box::pin(async move {
            self.write(format!("keep {key} {value}"))?;
            let mut record = self.record();
            record.once.entry(key).or_insert(value.get().to_owned());
            Ok(())
        })
    }
}

impl Asked {
    pub(super) fn answer(self, answer: &Value) {
        self.answer.send(Ok(to_raw_value(answer).unwrap())).unwrap();
    }

    /// Returns the text of the question.
    pub(super) fn message(&self) -> String {
        let request = serde_json::to_value(&self.question.request).unwrap();
        request["params"]["message"].as_str().unwrap().to_owned()
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.question.fmt(formatter)
    }
}
