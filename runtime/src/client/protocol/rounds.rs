//! A request, until it has a result: servers of the modern era may ask for input first.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;
use treenail_schema::InputRequest;

use crate::client::ClientError;
use crate::client::answers::check_weight;
use crate::client::protocol::core::{Core, Draft};
use crate::client::protocol::text::{Round, write};
use crate::wire::{Members, as_string, quoted};

/// How long a server that asks for nothing but another try is left alone.
const BREATH: Duration = Duration::from_millis(50);

/// A result that is complete.
#[derive(Debug)]
pub(in crate::client) struct Finished {
    pub(in crate::client) text: String,
    /// Whether the server has asked for input first. Such a result holds for this request only.
    pub(in crate::client) was_asked: bool,
}

impl Core {
    /// A result that is complete.
    pub(super) async fn finish(&self, draft: &Draft) -> Result<Finished, ClientError> {
        let facts = self.facts();
        facts.allow(draft.method)?;
        let mut round = Round::default();
        for number in 0..=self.limits.input_rounds {
            let text = self.send(draft, &round, &facts).await?;
            check_weight(&text, &self.limits)?;
            let finished = |text| {
                let was_asked = number > 0;
                Ok(Finished { text, was_asked })
            };
            if !facts.revision.is_modern() || is_plainly_complete(&text) {
                return finished(text);
            }
            match result_type(&text)?.as_deref() {
                None | Some("complete") => return finished(text),
                Some("input_required") if number == self.limits.input_rounds => break,
                Some("input_required") => {
                    // What is rare must not make every request large.
                    round = Box::pin(self.next_round(&text)).await?;
                }
                Some(other) => {
                    let reason = format!("a result has the unknown type {}", quoted(other));
                    return Err(ClientError::protocol(reason));
                }
            }
        }
        let rounds = self.limits.input_rounds;
        let reason = format!("it asked for input in more than {rounds} rounds of one request");
        Err(ClientError::protocol(reason))
    }

    /// Answers what the server asks for.
    async fn next_round(&self, text: &str) -> Result<Round, ClientError> {
        #[derive(Deserialize)]
        struct Asked<'a> {
            #[serde(borrow, default, rename = "inputRequests")]
            requests: Option<&'a RawValue>,
            /// Kept as it is written, and not looked into.
            #[serde(borrow, default, rename = "requestState")]
            state: Option<&'a RawValue>,
        }

        let asked: Asked<'_> = serde_json::from_str(text)
            .map_err(|error| ClientError::protocol(format!("what it asks for: {error}")))?;
        let requests = read_questions(asked.requests, self.limits.input_requests_per_round)?;
        let mut members = String::new();
        if requests.is_empty() {
            tokio::time::sleep(BREATH).await;
        } else {
            members.push_str("\"inputResponses\":{");
            for (key, request) in requests {
                let method = request.method();
                let answer = self.router.answers.answer(request).await.map_err(|error| {
                    let reason = format!("it asked for `{method}`, which failed: {error}");
                    ClientError::Unanswered(reason.into())
                })?;
                if !members.ends_with('{') {
                    members.push(',');
                }
                members.push_str(&write(&key)?);
                members.push(':');
                members.push_str(&answer);
            }
            members.push('}');
        }
        if let Some(state) = asked
            .state
            .map(RawValue::get)
            .filter(|state| *state != "null")
        {
            if !members.is_empty() {
                members.push(',');
            }
            members.push_str("\"requestState\":");
            members.push_str(state);
        }
        Ok(Round(members))
    }
}

/// The questions of a round by their keys. They are counted before they are read.
fn read_questions(
    requests: Option<&RawValue>,
    most: usize,
) -> Result<BTreeMap<String, InputRequest>, ClientError> {
    let Some(requests) = requests.map(RawValue::get) else {
        return Ok(BTreeMap::new());
    };
    let unreadable = |why: &dyn std::fmt::Display| {
        let reason = format!("what it asks for: {why}");
        ClientError::protocol(reason)
    };
    let mut members = Members::new(requests).map_err(|error| unreadable(&error))?;
    let mut count = 0;
    while members
        .next()
        .map_err(|error| unreadable(&error))?
        .is_some()
    {
        count += 1;
        if count > most {
            let reason = format!("it asked more than {most} questions in one round");
            return Err(ClientError::protocol(reason));
        }
    }
    serde_json::from_str(requests).map_err(|error| unreadable(&error))
}

/// Whether nothing in a result, wherever it stands, says that it is anything but complete. That is quickly seen of nearly all.
fn is_plainly_complete(text: &str) -> bool {
    const KEY: &str = "\"resultType\"";
    static KEYS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KEY));

    let says_complete = |at: usize| text[at + KEY.len()..].starts_with(":\"complete\"");
    KEYS.find_iter(text.as_bytes()).all(says_complete)
}

/// The `resultType` of a result, if it has one.
fn result_type(text: &str) -> Result<Option<String>, ClientError> {
    let unreadable = |_| ClientError::protocol("a result is not an object");
    let mut members = Members::new(text).map_err(unreadable)?;
    while let Some((key, value)) = members.next().map_err(unreadable)? {
        if key == "resultType" {
            let value = as_string(value);
            let value =
                value.ok_or_else(|| ClientError::protocol("`resultType` is not a string"))?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}
