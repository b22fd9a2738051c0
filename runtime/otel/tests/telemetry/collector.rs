//! Stand-in of a collector, and providers that export to it.

use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde_json::Value;
use treenail::otel::Telemetry;

type Bodies = Arc<Mutex<Vec<Value>>>;

/// Collector that stores the bodies it receives.
pub(crate) struct Collector {
    address: SocketAddr,
    bodies: Bodies,
}

/// Telemetry of one program, with its providers.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) telemetry: Telemetry,
    pub(crate) traces: SdkTracerProvider,
    pub(crate) metrics: SdkMeterProvider,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bodies = Bodies::default();
        let stored = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let body = read_message(&mut stream).1;
                let body = serde_json::from_slice(&body).expect("OTLP in JSON");
                stored.lock().unwrap().push(body);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
                stream.write_all(head.as_bytes()).unwrap();
            }
        });
        Self { address, bodies }
    }

    /// Makes the telemetry of a program with this service name.
    pub(crate) fn program(&self, name: &'static str) -> Program {
        let resource = Resource::builder_empty().with_service_name(name).build();
        let spans = SpanExporter::builder()
            .with_http()
            .with_http_client(Loopback)
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(format!("http://{}/v1/traces", self.address))
            .build()
            .unwrap();
        let measurements = MetricExporter::builder()
            .with_http()
            .with_http_client(Loopback)
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(format!("http://{}/v1/metrics", self.address))
            .build()
            .unwrap();
        let traces = SdkTracerProvider::builder()
            .with_simple_exporter(spans)
            .with_resource(resource.clone())
            .build();
        let metrics = SdkMeterProvider::builder()
            .with_periodic_exporter(measurements)
            .with_resource(resource)
            .build();
        let telemetry = Telemetry::builder()
            .tracer_provider(&traces)
            .meter_provider(&metrics)
            .build();
        assert!(telemetry.is_enabled());
        Program {
            telemetry,
            traces,
            metrics,
        }
    }

    /// Returns all spans: the service, and the span.
    pub(crate) fn spans(&self) -> Vec<(String, Value)> {
        self.entries("resourceSpans", "scopeSpans", "spans")
    }

    /// Returns all metrics: the service, and the metric.
    pub(crate) fn metrics(&self) -> Vec<(String, Value)> {
        self.entries("resourceMetrics", "scopeMetrics", "metrics")
    }

    fn entries(&self, resources: &str, scopes: &str, entries: &str) -> Vec<(String, Value)> {
        let bodies = self.bodies.lock().unwrap();
        let mut found = Vec::new();
        for resource in bodies.iter().flat_map(|body| list(body, resources)) {
            let service = attribute(&resource["resource"], "service.name").unwrap();
            for scope in list(resource, scopes) {
                assert_eq!(scope["scope"]["name"], "treenail");
                let entries = list(scope, entries).iter().cloned();
                found.extend(entries.map(|entry| (service.clone(), entry)));
            }
        }
        found
    }
}

pub(crate) fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the text of an attribute.
pub(crate) fn attribute(value: &Value, key: &str) -> Option<String> {
    let attributes = list(value, "attributes").iter();
    let mut found = attributes.filter(|attribute| attribute["key"] == key);
    Some(found.next()?["value"]["stringValue"].as_str()?.to_owned())
}

/// HTTP client of the exporters, for the loopback interface.
#[derive(Clone, Copy, Debug)]
struct Loopback;

impl HttpClient for Loopback {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let authority = request.uri().authority().unwrap().as_str();
            let mut stream = TcpStream::connect(authority)?;
            let (path, body) = (request.uri().path(), request.body());
            write!(stream, "POST {path} HTTP/1.1\r\nhost: {authority}\r\n")?;
            write!(stream, "content-length: {}\r\n\r\n", body.len())?;
            stream.write_all(body)?;
            let (_, body) = read_message(&mut stream);
            Ok(Response::new(body.into()))
        })
    }
}

/// Reads the first line and the body of an HTTP message.
fn read_message(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (first, body)
}
