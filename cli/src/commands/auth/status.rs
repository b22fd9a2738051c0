//! `treenail auth status`.

use std::time::SystemTime;

use clap::Args;
use serde_json::{Value, json};
use treenail::auth::AuthorizationStatus;

use crate::args::OutputArgs;
use crate::commands::print_if_json;
use crate::exit::{Exit, Failure};
use crate::render::sanitize_line;
use crate::server::stored_client;
use crate::terminal::Terminal;

/// Show the stored authorization for a server, without its tokens
#[derive(Debug, Args)]
pub(super) struct Status {
    /// URL of the server
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl Status {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let oauth = stored_client()?;
        let status = oauth.status(&self.url).await?;
        let now = SystemTime::now();
        let json = status_json(status.as_ref(), now);
        if !print_if_json(self.output, terminal, &json).await? {
            let text = status.map(|status| render_status(&status, now));
            terminal
                .print_text(text.as_deref().unwrap_or("not signed in"))
                .await?;
        }
        Ok(Exit::Success)
    }
}

/// Returns the status as JSON; null without one.
pub(super) fn status_json(status: Option<&AuthorizationStatus>, now: SystemTime) -> Value {
    json!(status.map(|status| json!({
        "issuer": status.issuer,
        "clientId": status.client_id,
        "resource": status.resource,
        "scopes": status.scopes.iter().collect::<Vec<_>>(),
        "expiresIn": seconds_left(status, now),
        "canRefresh": status.can_refresh,
    })))
}

/// Returns the seconds until the access token expires, 0 if it has expired.
fn seconds_left(status: &AuthorizationStatus, now: SystemTime) -> Option<u64> {
    let left = status.expires_at?.duration_since(now);
    Some(left.map_or(0, |left| left.as_secs()))
}

pub(super) fn render_status(status: &AuthorizationStatus, now: SystemTime) -> String {
    let mut lines = vec![
        format!("signed in at  {}", sanitize_line(&status.issuer)),
        format!("client        {}", sanitize_line(&status.client_id)),
    ];
    if let Some(resource) = &status.resource {
        lines.push(format!("resource      {}", sanitize_line(resource)));
    }
    if !status.scopes.is_empty() {
        lines.push(format!("scopes        {}", status.scopes));
    }
    let expiry = match (seconds_left(status, now), status.can_refresh) {
        (None, _) => "the token has no known expiry".to_owned(),
        (Some(0), true) => "the token has expired; the next command renews it".to_owned(),
        (Some(0), false) => "the token has expired; sign in again".to_owned(),
        (Some(seconds), true) => format!("the token expires in {seconds} s, and is renewed"),
        (Some(seconds), false) => format!("the token expires in {seconds} s"),
    };
    lines.push(format!("expiry        {expiry}"));
    lines.join("\n")
}
