//! HTTP listener on a loopback address.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use treenail_http_client::body::{self, End};

use super::reply::{Delivery, Failure, ReplyBody};
use super::state::Shared;

/// Maximum size of a request's body.
const MAX_BODY: usize = 1024 * 1024;

/// Task that accepts connections until this handle is dropped.
#[derive(Debug)]
pub(super) struct Listener(JoinHandle<()>);

impl Listener {
    pub(super) fn spawn(socket: TcpListener, shared: Arc<Shared>) -> Self {
        Self(tokio::spawn(accept(socket, shared)))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn accept(socket: TcpListener, shared: Arc<Shared>) {
    // Aborting this task drops the set, which aborts the connections.
    let mut connections = JoinSet::new();
    loop {
        match socket.accept().await {
            Ok((stream, _)) => {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
            Err(error) => tracing::debug!(%error, "could not accept a connection"),
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| respond(request, Arc::clone(&shared)));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection failed");
    }
}

async fn respond(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> io::Result<Response<ReplyBody>> {
    let (parts, body) = request.into_parts();
    let Some(body) = read(body).await? else {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        let failure = Failure::new("invalid_request", "the body is larger than 1 MiB");
        return Ok(whole(Failure { status, ..failure }.into()));
    };
    let body = match shared.respond(&Request::from_parts(parts, body)) {
        Delivery::Whole(response) => return Ok(whole(response)),
        Delivery::Huge(bytes) => ReplyBody::Huge(bytes),
        Delivery::Slow => ReplyBody::slow(),
        Delivery::Silent => std::future::pending().await,
        Delivery::Lost => return Err(io::ErrorKind::ConnectionReset.into()),
    };
    let response = Response::builder().header("content-type", "application/json");
    response.body(body).map_err(io::Error::other)
}

fn whole(response: Response<Bytes>) -> Response<ReplyBody> {
    response.map(|body| ReplyBody::Whole((!body.is_empty()).then_some(body)))
}

/// Reads a body. `None` if it is larger than [`MAX_BODY`].
async fn read(mut body: Incoming) -> io::Result<Option<Bytes>> {
    match body::read(&mut body, MAX_BODY).await {
        (bytes, End::Complete) => Ok(Some(bytes.into())),
        (_, End::TooLong) => Ok(None),
        (_, End::Broken(error)) => Err(io::Error::other(error)),
    }
}
