//! TLS and sockets of servers over HTTP.

use std::path::PathBuf;

use clap::Args;
use treenail::auth::{FetchPolicy, OAuth};
use treenail::client::{HttpSessionBuilder, TlsConfig};

use crate::exit::Failure;

/// TLS and sockets of servers over HTTP.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsArgs {
    /// Trust the certificate authorities in this PEM file, beside those of the system; can be repeated
    #[arg(long = "ca-cert", value_name = "FILE")]
    pub(crate) authorities: Vec<PathBuf>,

    /// Present the client certificate in this PEM file to the server (mutual TLS)
    #[arg(long = "client-cert", value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// PEM file with the key of the client certificate [default: the file of --client-cert]
    #[arg(long = "client-key", value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,

    /// Connect over this Unix socket, in place of the address in the URL
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    pub(crate) unix_socket: Option<PathBuf>,
}

impl TlsArgs {
    /// Fails if options were given, for a server that is started as a program.
    pub(super) fn check_unused(&self) -> Result<(), Failure> {
        let is_unused = self.authorities.is_empty() && self.certificate.is_none();
        #[cfg(unix)]
        let is_unused = is_unused && self.unix_socket.is_none();
        if is_unused {
            return Ok(());
        }
        Err(Failure::usage(
            "the options for TLS and sockets are for servers over HTTP; give one with `--url`",
        ))
    }

    /// Returns a session with the server at this URL, with these options. Authorities are not used for `http`: they may be for other
    /// servers, or for authorization.
    pub(crate) fn session(
        &self,
        url: &str,
        mut session: HttpSessionBuilder,
    ) -> Result<HttpSessionBuilder, Failure> {
        #[cfg(unix)]
        if let Some(path) = &self.unix_socket {
            session = session.unix_socket(path);
        }
        match self.config() {
            Some(tls) if !url.starts_with("http://") => Ok(session.tls(tls)),
            Some(_) if self.certificate.is_some() => Err(Failure::usage(
                "a client certificate needs a URL with `https`",
            )),
            _ => Ok(session),
        }
    }

    /// Returns an OAuth client with these options.
    pub(crate) fn oauth(&self, oauth: OAuth) -> OAuth {
        match self.config() {
            Some(tls) => oauth.fetch_policy(FetchPolicy::default().tls(tls)),
            None => oauth,
        }
    }

    fn config(&self) -> Option<TlsConfig> {
        let tls = trust(&self.authorities);
        let Some(certificate) = &self.certificate else {
            return tls;
        };
        let key = self.key.as_ref().unwrap_or(certificate);
        let tls = tls.unwrap_or_default();
        Some(tls.client_certificate_files(certificate, key))
    }
}

/// Returns the options that help after a failure to connect.
pub(super) fn hint(reason: &str) -> Option<&'static str> {
    const HINTS: [(&str, &str); 3] = [
        (
            "the issuer of its certificate is not trusted",
            "`--ca-cert FILE` trusts a private authority",
        ),
        (
            "the client certificate",
            "`--client-cert FILE --client-key FILE` set the client certificate",
        ),
        (
            "a client certificate",
            "`--client-cert FILE --client-key FILE` set the client certificate",
        ),
    ];
    let mut hints = HINTS.iter();
    let found = hints.find(|(text, _)| reason.contains(text));
    found.map(|(_, hint)| *hint)
}

/// Returns settings that trust authorities; `None` without any.
pub(crate) fn trust(files: &[PathBuf]) -> Option<TlsConfig> {
    let add = |tls: TlsConfig, file: &PathBuf| tls.ca_file(file);
    (!files.is_empty()).then(|| files.iter().fold(TlsConfig::new(), add))
}
