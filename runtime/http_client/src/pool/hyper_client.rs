//! Connections with and without TLS.

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::ResponseFuture;

use crate::body::FullBody;
use crate::connector::{Bounded, Connector};
use crate::idle::Connections;

/// The hyper client. Without TLS, the certificates of the system are not read.
pub(super) enum HyperClient {
    Plain(Connections<Bounded<Connector>>),
    Tls(Connections<Bounded<HttpsConnector<Connector>>>),
    #[cfg(feature = "dial")]
    Dialed(Connections<crate::dial::Dialer>),
}

impl HyperClient {
    pub(super) fn request(&self, request: Request<FullBody>) -> ResponseFuture {
        match self {
            Self::Plain(connections) => connections.request(request),
            Self::Tls(connections) => connections.request(request),
            #[cfg(feature = "dial")]
            Self::Dialed(connections) => connections.request(request),
        }
    }

    pub(super) fn observe(&self, response: &Response<Incoming>) {
        match self {
            Self::Plain(connections) => connections.observe(response),
            Self::Tls(connections) => connections.observe(response),
            #[cfg(feature = "dial")]
            Self::Dialed(connections) => connections.observe(response),
        }
    }
}
