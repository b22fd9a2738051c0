//! Work that runs once, although its function runs again: in the next round of questions, or after a restart in a task.

use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::ask::AskError;
use crate::ask::callers::ValueKey;
use crate::ask::delivery::admit;
use crate::ask::work::Work;
use crate::call::CallState;
use crate::context::Context;
use crate::task::OnceState;
use crate::wire::{RpcError, raw_json};

impl Context {
    /// Runs `work` once, although the function runs again in each round of questions. In later rounds, the value is read from
    /// the state that the client carries. A failure is not stored.
    ///
    /// A question that is asked beside the work, for example with `tokio::try_join!`, ends the round after the work. Work that is
    /// dropped before its end runs again in the next round.
    ///
    /// In a layer, finish the work before the inner service is called. The state that a question of an inner layer or of the function
    /// has sealed does not contain later values, so their work runs again.
    ///
    /// `key` identifies the work within the function. The value counts towards
    /// [`Limits::request_state_bytes`](crate::Limits::request_state_bytes).
    ///
    /// In a task, the value is stored with the task before this returns. If a restart interrupts the work, it may have happened,
    /// or not. A tool that is `read_only` or `idempotent` runs it again then. Any other task fails.
    ///
    /// ```
    /// # async fn reserve(_: &str) -> Result<u64, AskError> { Ok(7) }
    /// use treenail::Context;
    /// use treenail::elicit::AskError;
    ///
    /// async fn book(cx: &Context, room: String) -> Result<u64, AskError> {
    ///     let number = cx.once("reserve", reserve(&room)).await?;
    ///     cx.confirm(format!("Room {room} is reserved under {number}. Book it?")).await?;
    ///     Ok(number)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of `work`, [`AskError::Invalid`] if the stored value cannot be read as a `T`, [`AskError::NotAllowed`] for the
    /// state of another caller, and [`AskError::Task`]. A question inside of `work` fails with [`AskError::NotAllowed`].
    pub async fn once<T, E>(
        &self,
        key: impl AsRef<str>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<AskError>,
    {
        let key = &*self.asker().level.key(key.as_ref());
        if let Some(done) = begin(self, key).await? {
            return Ok(read(key, &done)?);
        }
        let state = self.state();
        // Until the value is recorded.
        let running = Work::start(self);
        let value = match running.run(work).await {
            Ok(value) => value,
            Err(error) => {
                release(state, key).await;
                return Err(error);
            }
        };
        if state.round().is_some() {
            let text = raw_json(&value)
                .map_err(|error| AskError::NotAllowed(format!("`{key}`: {error}")))?;
            if let Some(first) = keep(self, key, text).await? {
                return Ok(read(key, &first)?);
            }
        }
        Ok(value)
    }
}

/// Returns the recorded value of work. Without one, records that the work begins.
async fn begin(context: &Context, key: &str) -> Result<Option<Box<RawValue>>, AskError> {
    let state = context.state();
    let Some(round) = state.round() else {
        return Ok(None);
    };
    admit(context, round, ValueKey::Work(key))?;
    let done = if state.is_task() {
        None
    } else {
        round.done(context.asker(), key)
    };
    if done.is_some() {
        return Ok(done);
    }
    let Err(link) = state.record(|round| round.begin_work(key)) else {
        return Ok(None);
    };
    match link.once(key) {
        OnceState::Done(value) => Ok(Some(value)),
        OnceState::Begun => {
            let message = format!(
                "interrupted by a restart while `once(\"{key}\")` ran; it may have happened"
            );
            Err(fail(state, RpcError::internal(message)))
        }
        OnceState::Absent => {
            let begun = Arc::clone(link).begin(key.to_owned()).await;
            begun.map(|()| None).map_err(|error| fail(state, error))
        }
    }
}

/// Records that work has failed, so that it may run again.
async fn release(state: &CallState, key: &str) {
    if let Err(link) = state.record(|round| round.release_work(key)) {
        if let Err(error) = Arc::clone(link).release(key.to_owned()).await {
            tracing::warn!(key, %error, "the failure of work could not be recorded");
        }
    }
}

/// Records the value of work. Returns an earlier value of the same key, which counts instead.
async fn keep(
    context: &Context,
    key: &str,
    text: Box<RawValue>,
) -> Result<Option<Box<RawValue>>, AskError> {
    let (state, asker) = (context.state(), context.asker());
    let Err(link) = state.record(|round| round.keep(asker, key, text.clone())) else {
        return Ok(None);
    };
    let kept = Arc::clone(link).keep(key.to_owned(), text.clone()).await;
    kept.map_err(|error| fail(state, error))?;
    Ok(match link.once(key) {
        OnceState::Done(first) if first.get() != text.get() => Some(first),
        _ => None,
    })
}

fn read<T: DeserializeOwned>(key: &str, value: &RawValue) -> Result<T, AskError> {
    serde_json::from_str(value.get())
        .map_err(|error| AskError::Invalid(format!("`{key}`: {error}")))
}

/// Makes the error for a function whose task cannot continue. If the function fails then, the task fails with `error`.
fn fail(state: &CallState, error: RpcError) -> AskError {
    state.set_fault(error.clone());
    AskError::Task(error)
}
