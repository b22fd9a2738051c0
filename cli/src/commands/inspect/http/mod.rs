//! HTTP server of the page.

mod assets;
mod body;
mod guard;
mod redirect;
mod respond;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

pub(super) use self::body::ResponseBody;
pub(super) use self::guard::Guard;
pub(super) use self::respond::{failure, json_response};

use super::api::App;

/// Maximum number of connections. A browser opens up to six.
const MAX_CONNECTIONS: usize = 64;

/// Maximum time for the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after a connection could not be accepted, for example because there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves the page, until it is dropped.
pub(super) async fn serve(listener: TcpListener, app: Arc<App>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((socket, _)) => {
                tokio::spawn(serve_connection(socket, Arc::clone(&app), permit));
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve_connection(socket: TcpStream, app: Arc<App>, permit: OwnedSemaphorePermit) {
    let _permit = permit;
    let service = service_fn(|request| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(respond::respond(&app, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(socket), service);
    // A browser that disconnects needs no response.
    let _ = connection.await;
}
