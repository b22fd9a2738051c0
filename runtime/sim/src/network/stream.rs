//! One side of a connection.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::pipe::Pipe;
use crate::world::World;

/// One side of a connection. Dropping it closes both directions.
pub(crate) struct SimStream {
    world: Arc<World>,
    input: Arc<Pipe>,
    output: Arc<Pipe>,
    read_timer: Option<Pin<Box<Sleep>>>,
    write_timer: Option<Pin<Box<Sleep>>>,
    name: Arc<str>,
    is_rough: bool,
}

impl fmt::Debug for SimStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("SimStream")
            .field(&self.name)
            .finish()
    }
}

impl SimStream {
    pub(super) fn new(
        world: &Arc<World>,
        (input, output): (Arc<Pipe>, Arc<Pipe>),
        number: u64,
    ) -> Self {
        Self {
            world: Arc::clone(world),
            input,
            output,
            read_timer: None,
            write_timer: None,
            name: number.to_string().into(),
            is_rough: false,
        }
    }

    pub(super) fn named(mut self, name: &str, is_rough: bool) -> Self {
        self.name = name.into();
        self.is_rough = is_rough;
        self
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns `true` if its messages may be late for a reason outside of the server.
    pub(crate) fn is_rough(&self) -> bool {
        self.is_rough
    }

    /// Lets the other side fail from `at` on.
    pub(super) fn refuse(self, at: u64) {
        self.input.refuse(at);
        self.output.refuse(at);
        self.world.arrives(at);
    }
}

/// Sets a timer for `at`, and polls it. Ready if the time has passed.
fn poll_timer(
    timer: &mut Option<Pin<Box<Sleep>>>,
    world: &World,
    at: u64,
    context: &mut Context<'_>,
) -> Poll<()> {
    let wait = Duration::from_millis(at.saturating_sub(world.now()).min(86_400_000));
    let timer = timer.insert(Box::pin(sleep(wait)));
    timer.as_mut().poll(context)
}

impl AsyncRead for SimStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match this.input.poll_read(&this.world, context, buffer) {
                Ok(polled) => return polled,
                Err(at) => {
                    if poll_timer(&mut this.read_timer, &this.world, at, context).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            match this.output.poll_write(&this.world, context, bytes) {
                Ok(polled) => return polled,
                Err(at) => {
                    if poll_timer(&mut this.write_timer, &this.world, at, context).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.output.finish(&self.world);
        Poll::Ready(Ok(()))
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        self.output.finish(&self.world);
        self.input.abandon(&self.world);
    }
}
