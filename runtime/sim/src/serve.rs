//! Replicas: processes that serve the server under test.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::timeout;
use tower_service::Service as _;
use treenail_http_client::body;
use treenail_http_server::{HttpBody, HttpService, serve_stream};
use treenail_runtime::Server;
use treenail_runtime::internal::simulated::Environment as _;

use crate::bus::SimBus;
use crate::host::HostClock;
use crate::network::{Listener, SimStream};
use crate::options::Transport;
use crate::watch::{Exchange, Monitor, Rules, WatchedBody, WatchedLines};
use crate::world::World;

/// Maximum size of a body in bytes, more than any server accepts.
const MAX_BODY_BYTES: usize = 64 << 20;

/// A replica of the server under test, at its start. A replica that has crashed starts again as another value with the same index.
#[derive(Clone, Debug)]
pub struct Replica {
    pub(crate) index: usize,
    pub(crate) world: Arc<World>,
    /// Clock of its process.
    pub(crate) clock: Arc<HostClock>,
}

impl Replica {
    /// Returns its number, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns its connection to the event bus of the simulation, for
    /// [`ServerBuilder::event_bus`](treenail_runtime::ServerBuilder::event_bus).
    pub fn bus(&self) -> SimBus {
        SimBus::new(&self.world, self.index)
    }

    /// Returns the time of day of its process, which [`Faults::clock_jumps`](crate::Faults::clock_jumps) changes.
    ///
    /// The code under test has no other access to it, so pass it on where a server reads the clock:
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use treenail::prelude::*;
    /// use treenail::sim::Simulation;
    ///
    /// struct Tickets {
    ///     now: Box<dyn Fn() -> SystemTime + Send + Sync>, // `SystemTime::now` in production
    /// }
    ///
    /// #[mcp_tool]
    /// impl Tickets {
    ///     /// Issues a ticket, and returns its time in seconds since 1970.
    ///     #[tool]
    ///     fn issue(&self) -> Option<u64> {
    ///         let since = (self.now)().duration_since(SystemTime::UNIX_EPOCH);
    ///         since.ok().map(|time| time.as_secs())
    ///     }
    /// }
    ///
    /// let simulation = Simulation::new(7)
    ///     .server(|replica| {
    ///         let replica = replica.clone();
    ///         let now = Box::new(move || replica.system_time());
    ///         treenail::server!().mount(Tickets { now }).build()
    ///     })
    ///     .clients(1, |client| async move {
    ///         let session = client.connect().await.expect("a server without faults");
    ///         let time: u64 = session.call_tool_as("issue", ()).await.expect("an answer");
    ///         assert_eq!(time / 86_400, 20_662); // 28 July 2026
    ///     });
    /// simulation.run().assert_ok();
    /// ```
    pub fn system_time(&self) -> SystemTime {
        self.clock.system_time()
    }

    /// Returns a random number below `end` from the seed, or 0 if there is none.
    pub fn random(&self, end: u64) -> u64 {
        self.clock.random(end)
    }

    /// Adds a note to the transcript.
    pub fn log(&self, text: impl AsRef<str>) {
        self.world.log(text);
    }
}

/// Maximum time for which a proxy waits for the response to its first attempt, in milliseconds.
const MAX_FIRST_ATTEMPT: u64 = 3_000;

/// Accepts connections until the process ends.
pub(crate) async fn serve(world: Arc<World>, service: HttpService, listener: Arc<Listener>) {
    let server = service.server().clone();
    loop {
        let stream = listener.accept(&world).await;
        match world.options.transport {
            Transport::Stream => tokio::spawn(serve_lines(world.clone(), server.clone(), stream)),
            Transport::Http => tokio::spawn(serve_http(world.clone(), service.clone(), stream)),
        };
    }
}

async fn serve_lines(world: Arc<World>, server: Server, stream: SimStream) {
    let rules = Rules {
        own_requests: true,
        complete: false,
        timely: !stream.is_rough(),
    };
    let monitor = Arc::new(Mutex::new(Monitor::new(&world, stream.name(), rules)));
    let watched = WatchedLines::new(stream, Arc::clone(&monitor));
    let (reader, writer) = tokio::io::split(watched);
    // A failed connection concerns its client only.
    let _ = server.serve(reader, writer).await;
    crate::world::lock(&monitor).ended(false);
}

async fn serve_http(world: Arc<World>, service: HttpService, stream: SimStream) {
    let (name, is_rough) = (Arc::clone(stream.name()), stream.is_rough());
    let server = service.server().clone();
    let respond = move |request| {
        let door = Door {
            world: Arc::clone(&world),
            service: service.clone(),
            name: Arc::clone(&name),
            is_rough,
        };
        door.respond(request)
    };
    serve_stream(&server, stream, respond).await;
}

/// Way of one request to the service.
struct Door {
    world: Arc<World>,
    service: HttpService,
    name: Arc<str>,
    is_rough: bool,
}

impl Door {
    async fn respond(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<WatchedBody>, Infallible> {
        let (parts, mut body) = request.into_parts();
        // The body of a broken connection ends early.
        let (body, _) = body::read(&mut body, MAX_BODY_BYTES).await;
        let body = Bytes::from(body);
        let is_duplicated = self
            .world
            .draw(|faults, random| !body.is_empty() && random.chance(faults.duplicates));
        if is_duplicated {
            self.world
                .log(format!("[{}] the request arrives twice", self.name));
            let copy = Request::from_parts(parts.clone(), Whole(Some(body.clone())));
            let exchange = self.exchange(&copy, &body);
            let service = self.service.clone();
            let patience = self.world.draw(|_, random| random.below(MAX_FIRST_ATTEMPT));
            tokio::spawn(timeout(Duration::from_millis(patience), async move {
                let response = exchange.watch(call(service, copy).await);
                read_to_end(response.into_body()).await;
            }));
        }
        let request = Request::from_parts(parts, Whole(Some(body.clone())));
        let exchange = self.exchange(&request, &body);
        let response = call(self.service, request).await;
        Ok(exchange.watch(response))
    }

    fn exchange(&self, request: &Request<Whole>, body: &[u8]) -> Exchange {
        let (parts, ()) = {
            let mut copy = Request::new(());
            *copy.method_mut() = request.method().clone();
            copy.headers_mut().clone_from(request.headers());
            copy.into_parts()
        };
        Exchange::new(&self.world, &self.name, (&parts, body), self.is_rough)
    }
}

async fn call(mut service: HttpService, request: Request<Whole>) -> Response<HttpBody> {
    match service.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn read_to_end(body: WatchedBody) {
    let mut body = pin!(body);
    while let Some(Ok(_)) = poll_fn(|context| body.as_mut().poll_frame(context)).await {}
}

/// Complete body of a request.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.0.take().filter(|bytes| !bytes.is_empty());
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
