//! Input rounds: modern servers may request input before they return the result of a request.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;
use treenail_schema::{InputRequest, Revision};

use crate::client::ClientError;
use crate::client::answers::check_decoded_size;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::params::{RoundParams, serialize};
use crate::client::protocol::result::unknown_type;
use crate::client::protocol::server_info::PeerInfo;
use crate::client::protocol::task_driver::{NewTask, creates_legacy_task};
use crate::client::try_join::try_join_all;
use crate::wire::{Members, as_string, read_json};

/// Delay before the next round if the server requests a retry without input.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Final result of a request.
#[derive(Debug)]
pub(in crate::client) struct CompleteResult {
    pub(in crate::client) text: String,
    /// True if the server requested input first. Such a result must not be cached: it is valid for this request only.
    pub(in crate::client) was_asked: bool,
    /// Present if the call has become a task; `text` is the result that created it.
    pub(in crate::client) task: Option<NewTask>,
}

impl Inner {
    /// Sends a request, and answers input requests until the result is complete.
    pub(super) async fn complete(
        &self,
        template: &RequestTemplate,
    ) -> Result<CompleteResult, ClientError> {
        let mut peer = self.peer();
        let limits = &self.link.limits;
        template.check_support(&peer)?;
        let mut round = RoundParams::default();
        for number in 0..=limits.input_rounds {
            let sent = self.send_round(template, &round, &mut peer).await;
            let text = sent.map_err(|error| match number {
                0 => error,
                _ => error.after_start(),
            })?;
            check_decoded_size(&text, limits)?;
            let complete = |text| {
                let was_asked = number > 0;
                let task = None;
                Ok(CompleteResult {
                    text,
                    was_asked,
                    task,
                })
            };
            if template.asks_for_task && creates_legacy_task(&text) {
                return Ok(CompleteResult::created(text, number > 0));
            }
            if !peer.revision.is_modern() || is_obviously_complete(&text) {
                return complete(text);
            }
            match result_type(&text)?.as_deref() {
                None | Some("complete") => return complete(text),
                Some("input_required") if template.may_require_input() => {
                    if number == limits.input_rounds {
                        break;
                    }
                    // Boxed: input rounds are rare and must not enlarge the future of every request.
                    round = Box::pin(self.answer_round(&text)).await?;
                }
                // An extension defines the types of its own results.
                Some(_) if template.extension.is_some() => return complete(text),
                Some("task") if self.accepts_task(template) && peer.declares_tasks() => {
                    return Ok(CompleteResult::created(text, number > 0));
                }
                Some(other) => return Err(unknown_type(other)),
            }
        }
        let rounds = limits.input_rounds;
        let reason = format!("it requested input in more than {rounds} rounds of one request");
        Err(ClientError::protocol(reason))
    }

    /// Sends a request of one round. Timeouts do not run while handlers answer requests of a legacy server.
    async fn send_round(
        &self,
        template: &RequestTemplate,
        round: &RoundParams,
        peer: &mut Arc<PeerInfo>,
    ) -> Result<String, ClientError> {
        let router = &self.link.router;
        if peer.revision.is_modern() || !router.handler.may_be_asked() {
            return self.send(template, round, peer).await;
        }
        let sent = self.send(template, round, peer);
        // Boxed: most clients have no handler.
        Box::pin(router.answering.pause_during(sent)).await
    }

    /// Answers the input requests of one round.
    async fn answer_round(&self, text: &str) -> Result<RoundParams, ClientError> {
        #[derive(Deserialize)]
        struct InputRequired<'a> {
            #[serde(borrow, default, rename = "inputRequests")]
            requests: Option<&'a RawValue>,
            /// Opaque to the client, which returns it unchanged.
            #[serde(borrow, default, rename = "requestState")]
            state: Option<&'a RawValue>,
        }

        let required: InputRequired<'_> =
            serde_json::from_str(text).map_err(|error| malformed_requests(&error))?;
        let max_requests = self.link.limits.input_requests_per_round;
        let requests = parse_input_requests(required.requests, max_requests)?;
        let state = required.state.map(RawValue::get);
        let state = state.filter(|state| *state != "null");
        let mut members = String::new();
        if requests.is_empty() {
            if state.is_none() {
                return Err(ClientError::protocol("it requires input but requests none"));
            }
            tokio::time::sleep(RETRY_DELAY).await;
        } else {
            let revision = self.peer().revision;
            let (keys, requests): (Vec<_>, Vec<_>) = requests.into_iter().unzip();
            let answers = requests.into_iter().map(|it| self.answer(it, revision));
            let answers = try_join_all(answers).await?;
            members.push_str("\"inputResponses\":{");
            for (key, answer) in keys.iter().zip(answers) {
                if !members.ends_with('{') {
                    members.push(',');
                }
                members.push_str(&serialize(key)?);
                members.push(':');
                members.push_str(&answer);
            }
            members.push('}');
        }
        if let Some(state) = state {
            if !members.is_empty() {
                members.push(',');
            }
            members.push_str("\"requestState\":");
            members.push_str(state);
        }
        Ok(RoundParams(members))
    }

    async fn answer(
        &self,
        request: InputRequest,
        revision: Revision,
    ) -> Result<String, ClientError> {
        let method = request.method();
        let answer = self.link.router.handler.answer(request, revision).await;
        answer.map_err(|error| {
            let reason = format!("it requested `{method}`, which failed: {error}");
            ClientError::Unanswered(reason.into())
        })
    }
}

/// Parses the input requests of a round, by key. They are counted first, so that too many take no memory.
pub(super) fn parse_input_requests(
    requests: Option<&RawValue>,
    max_requests: usize,
) -> Result<BTreeMap<String, InputRequest>, ClientError> {
    let Some(requests) = requests.map(RawValue::get) else {
        return Ok(BTreeMap::new());
    };
    let mut members = Members::new(requests).map_err(|error| malformed_requests(&error))?;
    let mut count = 0;
    while members
        .next()
        .map_err(|error| malformed_requests(&error))?
        .is_some()
    {
        count += 1;
        if count > max_requests {
            let reason = format!("it sent more than {max_requests} input requests in one round");
            return Err(ClientError::protocol(reason));
        }
    }
    read_json(requests).map_err(|error| malformed_requests(&error))
}

fn malformed_requests(error: &dyn std::fmt::Display) -> ClientError {
    ClientError::protocol(format!("its input requests are malformed: {error}"))
}

/// Fast check that covers nearly all results: true if each occurrence of `resultType`, at any depth, has the value
/// `complete`.
fn is_obviously_complete(text: &str) -> bool {
    const KEY: &str = "\"resultType\"";
    static KEYS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KEY));

    let is_complete = |at: usize| text[at + KEY.len()..].starts_with(":\"complete\"");
    KEYS.find_iter(text.as_bytes()).all(is_complete)
}

/// Returns the `resultType` of a result, if it has one.
pub(super) fn result_type(text: &str) -> Result<Option<String>, ClientError> {
    let not_an_object = |_| ClientError::protocol("a result is not an object");
    let mut members = Members::new(text).map_err(not_an_object)?;
    while let Some((key, value)) = members.next().map_err(not_an_object)? {
        if key == "resultType" {
            let value = as_string(value);
            let value =
                value.ok_or_else(|| ClientError::protocol("`resultType` is not a string"))?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}
