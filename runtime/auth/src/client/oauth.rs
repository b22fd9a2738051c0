//! The OAuth client of a program.

use std::sync::Arc;

use http::Uri;
use treenail_runtime::client::Challenges;

use super::code::CodeGrant;
use super::grant::Grant;
use super::provider::{AuthorizationReport, AuthorizationStatus, Server, Servers};
use super::registration;
use super::settings::{Method, Settings};
use super::source::TokenSource;
use super::user_agent::{Browser, Callback, Console, UserAgent};
use crate::AuthError;

/// OAuth client: obtains, stores and renews the tokens of sessions over HTTP.
///
/// The first request is sent without a token. If the server refuses it with status 401, the client finds the authorization server
/// in the metadata of the MCP server, obtains tokens, and sends the request again. Later requests use the tokens, which are renewed
/// before they expire.
///
/// Clones share their tokens. One client can be used for several servers: each has tokens of its own. A server over `http` on another
/// computer receives none: its requests fail when it requires authorization, or at once with a [`token_source`](Self::token_source).
///
/// ```no_run
/// use treenail::auth::OAuth;
/// use treenail::prelude::*;
///
/// # async fn connect() -> Result<(), ClientError> {
/// let client = McpClient::builder()
///     .url("https://mcp.example.com/mcp")
///     .authorization(OAuth::browser("Travel planner"))
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// An invalid configuration is reported by the first request, before it is sent. Requests need a Tokio runtime: renewals run as
/// tasks, so that a cancelled request does not lose the tokens of others.
#[derive(Clone, Debug)]
#[cfg(feature = "oauth")]
pub struct OAuth {
    pub(super) settings: Arc<Settings>,
    pub(super) servers: Arc<Servers>,
}

/// Constructors
impl OAuth {
    /// Returns a client whose user signs in with the browser of this computer. `client_name` is shown to the user.
    pub fn browser(client_name: impl Into<String>) -> Self {
        Self::user_agent(client_name, Browser::new())
    }

    /// Returns a client whose user opens a printed URL, and pastes the URL of the redirect.
    pub fn console(client_name: impl Into<String>) -> Self {
        Self::user_agent(client_name, Console::new())
    }

    /// Returns a client whose user signs in by a function of the program. See [`Callback`].
    pub fn callback(client_name: impl Into<String>, callback: Callback) -> Self {
        Self::user_agent(client_name, callback)
    }

    /// Returns a client whose user signs in in another way.
    pub fn user_agent(client_name: impl Into<String>, agent: impl UserAgent) -> Self {
        Self::with_grant(client_name, CodeGrant(Box::new(agent)))
    }

    /// Returns a client that takes its tokens from another part of the program, without authorization server.
    pub fn token_source(source: impl TokenSource) -> Self {
        let method = Method::Source(Arc::new(source));
        Self::new(Settings::new("".into(), method))
    }

    pub(super) fn with_grant(client_name: impl Into<String>, grant: impl Grant + 'static) -> Self {
        let method = Method::Grant(Arc::new(grant));
        Self::new(Settings::new(client_name.into().into(), method))
    }

    fn new(settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            servers: Arc::default(),
        }
    }
}

impl OAuth {
    /// Returns the metadata document of this client, as JSON, for the URL of [`client_id_url`](Self::client_id_url).
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if no URL was set, if it is not a valid client id, or if tokens are from a source of the program.
    pub fn client_id_document(&self) -> Result<String, AuthError> {
        registration::document(&self.settings)
    }

    /// Revokes the tokens for the server at `url`, if its authorization server supports that, and deletes them. The registration of
    /// a public client is deleted too, so that a client that the authorization server has lost is registered again.
    ///
    /// # Errors
    ///
    /// The reason for which the tokens were not revoked. They are deleted nevertheless, unless it is [`AuthError::Store`].
    pub async fn logout(&self, url: &str) -> Result<(), AuthError> {
        self.server_at(url)?.logout().await
    }

    /// Returns the authorization for the server at `url`, in use or stored; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for a URL that cannot be used, and [`AuthError::Store`].
    pub async fn status(&self, url: &str) -> Result<Option<AuthorizationStatus>, AuthError> {
        self.server_at(url)?.status().await
    }

    /// Reports on the documents that lead to the authorization servers of the server at `url`, without requesting a token.
    ///
    /// `challenges` are those of a response with status 401, see [`ClientError::Unauthorized`].
    ///
    /// ```no_run
    /// use treenail::auth::OAuth;
    /// use treenail::client::HttpClientBuilderExt;
    /// use treenail::{ClientError, McpClient};
    ///
    /// # async fn report() -> Result<(), Box<dyn std::error::Error>> {
    /// let url = "https://mcp.example.com/mcp";
    /// if let Err(ClientError::Unauthorized(refused)) = McpClient::builder().url(url).build().await {
    ///     let report = OAuth::console("report").report(url, &refused.challenges).await?;
    ///     for finding in &report.findings {
    ///         println!("{:?} {}: {} ({})", finding.level, finding.subject, finding.text, finding.source);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for a URL that cannot be used. Errors of the servers are findings.
    ///
    /// [`ClientError::Unauthorized`]: treenail_runtime::client::ClientError::Unauthorized
    pub async fn report(
        &self,
        url: &str,
        challenges: &Challenges,
    ) -> Result<AuthorizationReport, AuthError> {
        Ok(self.server_at(url)?.report(challenges).await)
    }

    fn server_at(&self, url: &str) -> Result<Arc<Server>, AuthError> {
        let url: Uri = url
            .parse()
            .map_err(|_| AuthError::invalid("the text is not a URL"))?;
        self.server(&url)
    }

    pub(super) fn server(&self, url: &Uri) -> Result<Arc<Server>, AuthError> {
        self.servers.of(url, &self.settings)
    }
}
