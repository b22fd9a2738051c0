//! Requests that wait for an answer, and the future of one.
//!
//! An answer is stored with its request, under the lock that both sides take anyway, so a request needs no channel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::hash::BuildHasherDefault;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};

use crate::client::line::id_hasher::IdHasher;
use crate::client::line::inner::Inner;
use crate::client::line::message;
use crate::client::session::LateAnswers;
use crate::client::{ClientError, SessionRequest};

pub(super) type Answer = Result<String, ClientError>;

/// Requests whose answer has not been read, by id.
#[derive(Default)]
pub(super) struct PendingRequests(HashMap<i64, Pending, BuildHasherDefault<IdHasher>>);

struct Pending {
    reply: Reply,
    late: Option<Weak<dyn LateAnswers>>,
}

enum Reply {
    /// The waker is that of the last poll.
    Waiting(Option<Waker>),
    Answered(Answer),
}

impl PendingRequests {
    /// Adds a request that waits, unless another one has its id.
    #[inline]
    pub(super) fn insert(
        &mut self,
        id: i64,
        late: Option<Weak<dyn LateAnswers>>,
    ) -> Result<(), ClientError> {
        let Entry::Vacant(entry) = self.0.entry(id) else {
            return Err(ClientError::invalid(format!(
                "a request with the id {id} is pending; two sessions must not share a connection"
            )));
        };
        let reply = Reply::Waiting(None);
        entry.insert(Pending { reply, late });
        Ok(())
    }

    /// Stores an answer, and returns the waker of its request. The error is the answer, if no request waits for it.
    pub(super) fn answer(&mut self, id: i64, answer: Answer) -> Result<Option<Waker>, Answer> {
        let Some(Pending { reply, .. }) = self.0.get_mut(&id) else {
            return Err(answer);
        };
        let Reply::Waiting(waker) = reply else {
            return Err(answer);
        };
        let waker = waker.take();
        *reply = Reply::Answered(answer);
        Ok(waker)
    }

    /// Fails all requests that wait, and returns their wakers.
    pub(super) fn fail(&mut self, reason: &ClientError) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for pending in self.0.values_mut() {
            if let Reply::Waiting(waker) = &mut pending.reply {
                wakers.extend(waker.take());
                pending.reply = Reply::Answered(Err(reason.clone()));
            }
        }
        wakers
    }
}

/// A request whose answer has not been read. Dropping it cancels the request on the server.
pub(super) struct PendingReply<'a> {
    inner: &'a Inner,
    id: i64,
    cancellable: bool,
    is_read: bool,
}

impl<'a> PendingReply<'a> {
    /// Creates the future of a request that is pending.
    pub(super) fn new(inner: &'a Inner, request: &SessionRequest) -> Self {
        Self {
            inner,
            id: request.id,
            cancellable: request.cancellable,
            is_read: false,
        }
    }
}

impl Future for PendingReply<'_> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let mut state = self.inner.state();
        let Entry::Occupied(mut entry) = state.pending.0.entry(self.id) else {
            drop(state);
            return Poll::Ready(Err(self.inner.close_error()));
        };
        match &mut entry.get_mut().reply {
            Reply::Waiting(Some(waker)) if waker.will_wake(context.waker()) => Poll::Pending,
            Reply::Waiting(waker) => {
                let former = waker.replace(context.waker().clone());
                // Without the lock, because a waker may own the future of another request.
                drop(state);
                drop(former);
                Poll::Pending
            }
            Reply::Answered(_) => {
                let Reply::Answered(answer) = entry.remove().reply else {
                    return Poll::Pending;
                };
                drop(state);
                self.is_read = true;
                Poll::Ready(answer)
            }
        }
    }
}

impl Drop for PendingReply<'_> {
    fn drop(&mut self) {
        if self.is_read {
            return;
        }
        let mut state = self.inner.state();
        let Some(Pending { reply, late }) = state.pending.0.remove(&self.id) else {
            return;
        };
        match reply {
            Reply::Waiting(waker) => {
                if self.cancellable {
                    message::push_cancellation(&mut state.output.lines, self.id);
                    state.wake_driver();
                }
                if let Some(late) = late {
                    state.note_cancelled(self.id, late);
                }
                drop(state);
                drop(waker);
            }
            // The answer has arrived, and has not been read.
            Reply::Answered(answer) => {
                drop(state);
                pass_late(late, answer);
            }
        }
    }
}

/// Passes a result to its late receiver. Returns `false` if there is none.
pub(super) fn pass_late(late: Option<Weak<dyn LateAnswers>>, answer: Answer) -> bool {
    let late = late.and_then(|late| late.upgrade());
    let (Some(late), Ok(text)) = (late, answer) else {
        return false;
    };
    late.on_late_result(text);
    true
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;
    use crate::client::ClientLimits;
    use crate::client::stray::StrayLines;

    fn inner() -> Inner {
        Inner::new(ClientLimits::default(), StrayLines::default())
    }

    fn request(id: i64) -> SessionRequest {
        SessionRequest::new(id, "ping", "{}".to_owned())
    }

    fn poll(reply: &mut PendingReply<'_>) -> Poll<Answer> {
        Pin::new(reply).poll(&mut Context::from_waker(Waker::noop()))
    }

    fn complete(inner: &Inner, id: i64, text: &str) {
        inner.complete(id, Ok(text.to_owned()));
    }

    #[test]
    fn the_first_answer_counts_and_leaves_nothing_behind() {
        let inner = inner();
        let mut reply = inner.send_request(&request(7)).unwrap();
        assert!(poll(&mut reply).is_pending());
        complete(&inner, 8, "other");
        assert!(poll(&mut reply).is_pending());
        complete(&inner, 7, "first");
        complete(&inner, 7, "second");
        assert!(matches!(poll(&mut reply), Poll::Ready(Ok(text)) if text == "first"));
        let output = inner.state().output.lines.len();
        drop(reply);
        let state = inner.state();
        assert!(state.pending.0.is_empty());
        assert_eq!(state.output.lines.len(), output, "nothing is cancelled");
    }

    #[test]
    fn an_id_is_not_used_twice_at_a_time() {
        let inner = inner();
        let mut reply = inner.send_request(&request(1)).unwrap();
        let output = inner.state().output.lines.len();
        let second = inner.send_request(&request(1));
        assert!(matches!(second, Err(ClientError::Invalid(_))));
        assert_eq!(inner.state().output.lines.len(), output, "nothing is sent");
        complete(&inner, 1, "first");
        assert!(matches!(poll(&mut reply), Poll::Ready(Ok(text)) if text == "first"));
        inner.send_request(&request(1)).unwrap();
    }

    #[test]
    fn dropping_cancels_only_a_request_without_an_answer() {
        let inner = inner();
        let (first, second) = (
            inner.send_request(&request(1)),
            inner.send_request(&request(2)),
        );
        complete(&inner, 2, "{}");
        drop((first.unwrap(), second.unwrap()));
        let state = inner.state();
        assert!(state.pending.0.is_empty());
        let output = String::from_utf8_lossy(&state.output.lines).into_owned();
        assert!(output.contains("\"requestId\":1"), "{output}");
        assert!(!output.contains("\"requestId\":2"), "{output}");
    }

    #[test]
    fn closing_fails_requests_that_wait_but_not_answered_ones() {
        let inner = inner();
        let mut replies = [1, 2].map(|id| inner.send_request(&request(id)).unwrap());
        complete(&inner, 1, "{}");
        inner.close(&ClientError::closed("it is gone"));
        assert!(matches!(poll(&mut replies[0]), Poll::Ready(Ok(_))));
        assert!(matches!(
            poll(&mut replies[1]),
            Poll::Ready(Err(ClientError::Closed(_)))
        ));
        assert!(inner.send_request(&request(3)).is_err());
    }

    /// Waker that owns the future of another request, as a waker of an executor may.
    struct Owner {
        _reply: PendingReply<'static>,
    }

    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_waker_may_own_another_request() {
        let inner: &'static Inner = Box::leak(Box::new(inner()));
        let owner = |id| {
            let reply = inner.send_request(&request(id)).unwrap();
            Waker::from(Arc::new(Owner { _reply: reply }))
        };
        let mut reply = inner.send_request(&request(1)).unwrap();
        for id in [2, 3] {
            let waker = owner(id);
            let polled = Pin::new(&mut reply).poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        }
        drop(reply);
        assert!(inner.state().pending.0.is_empty());
    }
}
