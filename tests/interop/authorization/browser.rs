//! Browser that follows the redirects of a sign-in.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use treenail::auth::{AuthError, AuthorizationRequest, Callback};

/// Redirect URI, where nothing listens.
const REDIRECT_URI: &str = "http://127.0.0.1/callback";
const MAX_REDIRECTS: usize = 10;

/// Returns a user who approves each request at once.
pub(super) fn callback() -> Callback {
    Callback::new(REDIRECT_URI, |request: AuthorizationRequest| async move {
        let url = Browser::default().open(request.url()).await;
        url.map_err(|error| AuthError::NotAuthorized(error.to_string().into()))
    })
}

#[derive(Default)]
struct Browser {
    cookies: BTreeMap<String, String>,
}

impl Browser {
    /// Opens a URL, and follows redirects up to the redirect URI.
    async fn open(&mut self, url: &str) -> io::Result<String> {
        let mut url = url.to_owned();
        for _ in 0..MAX_REDIRECTS {
            if url.starts_with(REDIRECT_URI) {
                return Ok(url);
            }
            url = self.follow(&url).await?;
        }
        Err(io::Error::other("the sign-in has too many redirects"))
    }

    /// Requests a URL, and returns that of the redirect.
    async fn follow(&mut self, url: &str) -> io::Result<String> {
        let rest = url.strip_prefix("http://").unwrap_or_default();
        let (host, target) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let mut request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        if !self.cookies.is_empty() {
            let pairs = self
                .cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            let cookies = pairs.collect::<Vec<_>>().join("; ");
            write!(request, "cookie: {cookies}\r\n").map_err(io::Error::other)?;
        }
        request.push_str("\r\n");
        let stream = TcpStream::connect(host).await;
        let mut stream = stream.map_err(|error| io::Error::other(format!("{url}: {error}")))?;
        stream.write_all(request.as_bytes()).await?;
        let mut response = String::new();
        stream.read_to_string(&mut response).await?;
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
        let mut location = None;
        for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
            match name.to_ascii_lowercase().as_str() {
                "set-cookie" => self.set_cookie(value),
                "location" => location = Some(value),
                _ => {}
            }
        }
        let location = location.ok_or_else(|| {
            let status = head.lines().next().unwrap_or_default();
            io::Error::other(format!("{url} did not redirect: {status}\n{body}"))
        })?;
        Ok(if location.starts_with('/') {
            format!("http://{host}{location}")
        } else {
            location.to_owned()
        })
    }

    fn set_cookie(&mut self, cookie: &str) {
        let pair = cookie
            .split(';')
            .next()
            .and_then(|pair| pair.split_once('='));
        if let Some((name, value)) = pair {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}
