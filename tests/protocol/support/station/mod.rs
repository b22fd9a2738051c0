//! Streams that borrow, and endless streams, with counters for their state.

/// The same at run time.
pub(crate) mod twin;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task;

use tokio::sync::{Notify, Semaphore};
use tokio_stream::StreamExt;
use treenail::prelude::*;
use treenail::{Limits, Server};

use crate::support::stream_tools::{BoxStream, all, up_to};

/// State that the tools borrow, with the counters.
struct Station {
    names: Vec<String>,
    /// Number of items from `endless` and `eager`.
    made: Arc<AtomicUsize>,
    /// Whether a stream exists.
    open: Arc<AtomicBool>,
    /// Notified when a stream is dropped.
    dropped: Arc<Notify>,
    gate: Arc<Semaphore>,
}

/// Marks a stream as existing until it is dropped.
struct Guard {
    open: Arc<AtomicBool>,
    dropped: Arc<Notify>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.open.store(false, Ordering::SeqCst);
        self.dropped.notify_one();
    }
}

/// An endless stream of numbers that is always ready.
struct Numbers {
    made: Arc<AtomicUsize>,
    _guard: Guard,
}

impl Stream for Numbers {
    type Item = usize;

    fn poll_next(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> task::Poll<Option<usize>> {
        task::Poll::Ready(Some(1 + self.made.fetch_add(1, Ordering::SeqCst)))
    }
}

impl Station {
    fn numbers(&self) -> Numbers {
        self.open.store(true, Ordering::SeqCst);
        Numbers {
            made: Arc::clone(&self.made),
            _guard: Guard {
                open: Arc::clone(&self.open),
                dropped: Arc::clone(&self.dropped),
            },
        }
    }
}

#[mcp_tool(namespace = "station")]
impl Station {
    #[tool(fold = "concat")]
    fn names(&self, cx: &Context) -> impl Stream<Item = String> {
        let id = cx.request_id();
        tokio_stream::iter(&self.names).map(move |name| format!("{name} for {id}, "))
    }

    #[tool(stream, fold = "concat")]
    async fn boxed(&self, cx: &Context) -> Result<BoxStream<'_, String>, String> {
        let _ = cx.meta();
        tokio::task::yield_now().await;
        Ok(Box::pin(tokio_stream::iter(&self.names).map(String::clone)))
    }

    /// Never ends and never waits.
    #[tool(stream, fold = "last")]
    fn eager(&self) -> Numbers {
        self.numbers()
    }

    /// Never ends, and waits at the gate before each item.
    #[tool]
    fn endless(&self) -> impl Stream<Item = usize> {
        self.numbers().then(move |number| async move {
            self.gate
                .acquire()
                .await
                .expect("it is never closed")
                .forget();
            number
        })
    }

    /// Tells of progress itself, too.
    #[tool]
    fn telling(cx: &Context) -> impl Stream<Item = u32> {
        up_to(3, |at| at).then(move |at| async move {
            if at == 2 {
                cx.progress(50).message("half").await;
                cx.progress(1).await;
            }
            at
        })
    }
}

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) made: Arc<AtomicUsize>,
    pub(crate) open: Arc<AtomicBool>,
    pub(crate) dropped: Arc<Notify>,
    pub(crate) gate: Arc<Semaphore>,
}

pub(crate) fn fixture(limits: Limits) -> Fixture {
    let station = Station {
        names: vec!["north".to_owned(), "south".to_owned()],
        made: Arc::default(),
        open: Arc::default(),
        dropped: Arc::default(),
        gate: Arc::new(Semaphore::new(0)),
    };
    let (made, open) = (Arc::clone(&station.made), Arc::clone(&station.open));
    let (dropped, gate) = (Arc::clone(&station.dropped), Arc::clone(&station.gate));
    let server = treenail::server!()
        .mount(station)
        .tools(all())
        .limits(limits);
    Fixture {
        server: server.build().unwrap(),
        made,
        open,
        dropped,
        gate,
    }
}

pub(crate) fn server() -> Server {
    fixture(Limits::default()).server
}
