//! Input and output behind a tool: a value of Redis and a document over HTTP, each on a connection of its own from a pool.
//!
//! All servers use the same, so that they differ in the framework only.

use std::env;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Length of the values that the service has.
pub const VALUE_BYTES: usize = 64;

const REDIS_GET: &[u8] = b"*2\r\n$3\r\nGET\r\n$4\r\nrate\r\n";
const HTTP_GET: &[u8] = b"GET /rate HTTP/1.1\r\nhost: bench\r\naccept: */*\r\n\r\n";

static BACKEND: OnceLock<Option<Backend>> = OnceLock::new();

/// Idle connections to the service, of each protocol.
struct Backend {
    address: SocketAddr,
    redis: Mutex<Vec<TcpStream>>,
    http: Mutex<Vec<TcpStream>>,
}

/// Reads the value from Redis, and then the document over HTTP, from the service at the address in the first argument of the
/// program. Does nothing if the program has no argument.
///
/// # Errors
///
/// If the service does not answer.
pub async fn fetch() -> io::Result<()> {
    let Some(backend) = BACKEND.get_or_init(Backend::of_arguments) else {
        return Ok(());
    };
    backend.ask(&backend.redis, REDIS_GET).await?;
    backend.ask(&backend.http, HTTP_GET).await
}

impl Backend {
    fn of_arguments() -> Option<Self> {
        Some(Self {
            address: env::args().nth(1)?.parse().ok()?,
            redis: Mutex::default(),
            http: Mutex::default(),
        })
    }

    /// Sends one request, and reads its answer to the end of the value.
    async fn ask(&self, pool: &Mutex<Vec<TcpStream>>, request: &[u8]) -> io::Result<()> {
        let idle = pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut stream = match idle {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(self.address).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        stream.write_all(request).await?;
        let (mut answer, mut length) = ([0; 1024], 0);
        while !is_complete(&answer[..length]) {
            match stream.read(&mut answer[length..]).await? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => length += count,
            }
        }
        pool.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(stream);
        Ok(())
    }
}

/// Both protocols end the value with the same mark, which is part of it.
fn is_complete(answer: &[u8]) -> bool {
    let answer = answer.strip_suffix(b"\r\n").unwrap_or(answer);
    answer.ends_with(b"END.")
}
