//! Writer that waits for room on a stream.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};
use treenail_runtime::internal::deadline;

use crate::legacy::events::Events;

/// Writer of a stream. Dropping it removes its waker: the client of a request may leave at any time.
pub(super) struct Writer<'a> {
    events: &'a Events,
    stream: u64,
    /// Number among the writers that wait, once it has waited.
    place: Option<u64>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(events: &'a Events, stream: u64) -> Self {
        Self {
            events,
            stream,
            place: None,
        }
    }

    /// Appends a message as soon as the stream has room, and sets `message` to `None`. Returns false if the reader has stalled
    /// for the timeout.
    pub(super) async fn push(
        &mut self,
        message: &mut Option<Vec<u8>>,
        last: bool,
        write_timeout: Duration,
    ) -> bool {
        let mut timer = pin!(None::<Sleep>);
        poll_fn(|context| {
            let Err(stalled_since) = self.try_push(message, last, context) else {
                return Poll::Ready(true);
            };
            let deadline = deadline::from(stalled_since, write_timeout);
            let known = timer.as_ref().as_pin_ref().map(|timer| timer.deadline());
            if known != Some(deadline) {
                timer.set(Some(sleep_until(deadline)));
            }
            let timer = timer.as_mut().as_pin_mut();
            timer.map_or(Poll::Pending, |timer| {
                deadline::poll_timer(timer, context).map(|()| false)
            })
        })
        .await
    }

    /// Appends a message if the stream has room. Otherwise progress of the reader wakes the writer, and the error is the time since
    /// which there has been none.
    fn try_push(
        &mut self,
        message: &mut Option<Vec<u8>>,
        last: bool,
        context: &mut Context<'_>,
    ) -> Result<(), Instant> {
        let mut store = self.events.lock();
        let has_room = store.has_room(self.stream);
        let stream = store.streams.get_mut(self.stream);
        let Some(stream) = stream.filter(|_| !has_room) else {
            let message = message.take();
            let wakers = message.map(|message| store.push(self.stream, message, last));
            drop(store);
            wakers.unwrap_or_default().wake();
            return Ok(());
        };
        let old = self.place.and_then(|place| stream.writers.remove(place));
        self.place = Some(stream.writers.insert(context.waker().clone()));
        let stalled_since = *stream.stalled_since.get_or_insert_with(Instant::now);
        drop(store);
        // Without the lock, because a waker may own its task.
        drop(old);
        Err(stalled_since)
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place else {
            return;
        };
        let mut store = self.events.lock();
        let stream = store.streams.get_mut(self.stream);
        let waker = stream.and_then(|stream| stream.writers.remove(place));
        drop(store);
        // Without the lock, because a waker may own its task.
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::time::sleep;
    use treenail_runtime::Limits;

    use super::*;
    use crate::legacy::last_use::LastUse;
    use crate::legacy::store::EventId;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_reader_stalls_from_its_last_progress() {
        let start = Instant::now();
        let events = Events::new(&Limits::default(), LastUse::now());
        let stream = events.open();
        let mut reader = events.read(EventId::stream_start(stream)).unwrap();
        while events.has_room(stream) {
            events.push(stream, vec![1], false);
        }
        let write = async || {
            let mut message = Some(vec![2]);
            let mut writer = Writer::new(&events, stream);
            let pushed = writer.push(&mut message, false, SECOND * 30).await;
            (pushed, message.is_none(), start.elapsed().as_secs())
        };
        let read = async {
            sleep(SECOND * 20).await;
            let mut context = Context::from_waker(Waker::noop());
            assert!(reader.poll_next(&mut context).is_ready());
        };
        let (first, second, ()) = tokio::join!(write(), write(), read);
        let mut written = [first, second];
        written.sort_unstable();
        assert_eq!(written, [(false, false, 50), (true, true, 20)]);
        // A writer that arrives later does not wait for the stalled reader again.
        assert_eq!(write().await, (false, false, 50));
        assert_eq!(
            events
                .lock()
                .streams
                .get(stream)
                .unwrap()
                .writers
                .values()
                .count(),
            0
        );
    }
}
