//! Task that moves messages between the streams of a client session and `jsoncall`.

use std::io;
use std::sync::Arc;

use ::jsoncall::Session as Inner;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::time::{sleep, timeout};
use treenail_runtime::client::{ClientError, ClientLimits};
use treenail_runtime::internal::CloseReason;

use crate::calls::Calls;
use crate::guard::Guard;

type ClientGuard = Guard<Arc<Calls>>;

/// Task that owns the streams.
pub(super) struct Driver {
    pub(super) guard: ClientGuard,
    pub(super) inner: Arc<Inner>,
    pub(super) limits: ClientLimits,
}

impl Driver {
    pub(super) async fn run<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
        self,
        reader: R,
        writer: W,
        pipe: (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>),
        ending: CloseReason,
    ) {
        let CloseReason {
            exited,
            stop,
            reason,
            ..
        } = ending;
        let (mut from_inner, mut to_inner) = pipe;
        let result = self
            .pump(
                (reader, writer),
                &mut from_inner,
                &mut to_inner,
                (exited, stop),
            )
            .await;
        let mut reason = reason.await;
        if let Err(error) = result {
            reason = format!("{reason} ({error})");
        }
        let calls = &self.guard.side;
        calls.set_reason(ClientError::closed(reason));
        self.guard.backlog.clear();
        // Responses that have arrived still count, so writing must not fail before they are read.
        let (read, written) = tokio::join!(to_inner.shutdown(), async {
            let sink = &mut tokio::io::sink();
            tokio::select! {
                _ = self.inner.wait() => Ok(0),
                copied = tokio::io::copy(&mut from_inner, sink) => copied,
            }
        });
        if let Some(error) = read.err().or(written.err()) {
            tracing::debug!(%error, "a jsoncall session ended before its streams");
        }
        // `Drop` performs the rest of the shutdown.
    }

    /// Forwards messages in both directions until the server ends, or until the shutdown timeout.
    async fn pump<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
        &self,
        (reader, writer): (R, W),
        from_inner: &mut ReadHalf<DuplexStream>,
        to_inner: &mut WriteHalf<DuplexStream>,
        (exited, stop): (impl Future<Output = ()>, impl Fn()),
    ) -> io::Result<()> {
        let calls = &self.guard.side;
        let mut closing = calls.closing.subscribe();
        let mut inward = std::pin::pin!(self.guard.inward(reader, to_inner));
        let outward = async {
            let written = self.guard.outward(from_inner, writer).await;
            match written {
                // The server's output is read until its end.
                Ok(()) => std::future::pending().await,
                Err(error) => error,
            }
        };
        let shutdown = async {
            tokio::select! {
                _ = closing.wait_for(|closing| *closing) => {
                    self.guard.close();
                    stop();
                }
                () = exited => {}
            }
            sleep(self.limits.shutdown_timeout).await;
        };
        tokio::select! {
            biased;
            read = &mut inward => read,
            () = shutdown => Ok(()),
            error = outward => {
                // The last output of the server may contain pending responses.
                self.guard.backlog.clear();
                drop(timeout(self.limits.shutdown_timeout, inward).await);
                Err(error)
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let calls = &self.guard.side;
        calls.set_reason(ClientError::closed(
            "the runtime of the session has stopped",
        ));
        self.guard.backlog.clear();
        self.inner.shutdown();
        calls.end();
    }
}
