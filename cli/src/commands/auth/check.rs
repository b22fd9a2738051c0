//! `treenail auth check`.

use clap::Args;
use serde_json::json;
use treenail::auth::{AuthorizationReport, Finding, FindingLevel};
use treenail::client::{HttpClientBuilderExt as _, HttpSession};
use treenail::{ClientError, McpClient};

use crate::args::OutputArgs;
use crate::commands::print_if_json;
use crate::exit::{Exit, Failure};
use crate::render::sanitize_text;
use crate::server::{TlsArgs, client_without_tokens};
use crate::signals::until_interrupted;
use crate::terminal::Terminal;

/// Check the documents that lead clients from a server to a token, without requesting one
#[derive(Debug, Args)]
pub(super) struct Check {
    /// URL of the server
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl Check {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        // Boxed, because the futures of a connection are large.
        let session = HttpSession::builder(&self.url);
        let session = self.tls.session(&self.url, session)?;
        let connecting = async { Ok(Box::pin(McpClient::builder().http(session).build()).await) };
        let refused = match until_interrupted(connecting).await? {
            Err(ClientError::Unauthorized(refused)) => refused,
            Err(error) => return Err(error.into()),
            Ok(client) => {
                // The outcome of the check is known, so a failure to close does not matter.
                let _ = until_interrupted(async { Ok(client.close().await) }).await?;
                let none = json!({ "findings": [] });
                if !print_if_json(self.output, terminal, &none).await? {
                    terminal
                        .print_text("the server requires no authorization")
                        .await?;
                }
                return Ok(Exit::Success);
            }
        };
        let oauth = self.tls.oauth(client_without_tokens());
        let reporting = async {
            let report = Box::pin(oauth.report(&self.url, &refused.challenges)).await;
            report.map_err(Failure::from)
        };
        let report = until_interrupted(reporting).await?;
        if !print_if_json(self.output, terminal, &as_json(&report)).await? {
            let lines: Vec<_> = report.findings.iter().map(render_finding).collect();
            terminal
                .print_text(&sanitize_text(&lines.join("\n")))
                .await?;
        }
        Ok(match report.worst() {
            FindingLevel::Violated => Exit::Breaking,
            _ => Exit::Success,
        })
    }
}

fn level(finding: &Finding) -> &'static str {
    match finding.level {
        FindingLevel::Met => "ok",
        FindingLevel::Violated => "broken",
        _ => "warning",
    }
}

fn render_finding(finding: &Finding) -> String {
    let (level, subject) = (level(finding), finding.subject);
    format!("{level:8} {subject}: {} ({})", finding.text, finding.source)
}

fn as_json(report: &AuthorizationReport) -> serde_json::Value {
    let findings = report.findings.iter().map(|finding| {
        json!({
            "level": level(finding),
            "subject": finding.subject,
            "text": finding.text,
            "source": finding.source,
        })
    });
    json!({ "findings": findings.collect::<Vec<_>>() })
}
