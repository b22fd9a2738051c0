//! Spans and metrics of servers and clients, exported by OTLP to a stand-in of a collector on the loopback interface.

mod chain;
mod collector;
mod metrics;
mod spans;
