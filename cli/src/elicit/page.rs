//! Elicitation by URL. The program prints the URL, but never opens or fetches it.

use console::Style;
use iri_string::types::IriStr;
use treenail::schema::{ElicitAction, ElicitRequestUrlParams, ElicitResult};

use super::ElicitationHandler;
use super::line_reader::{Input, LineReader};
use crate::terminal::Terminal;

/// Facts that the user needs to judge a URL.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    host: String,
    warnings: Vec<&'static str>,
}

impl ElicitationHandler {
    pub(super) async fn answer_url(
        &self,
        params: &ElicitRequestUrlParams,
        line_reader: &mut LineReader,
    ) -> ElicitResult {
        let page = match Page::parse(&params.url) {
            Ok(page) => page,
            Err(why) => return self.decline_request(&params.message, why),
        };
        let is_interactive = Terminal::is_interactive();
        let known = self
            .hosts
            .iter()
            .any(|host| host.eq_ignore_ascii_case(&page.host));
        if !known && !is_interactive {
            let (url, host) = (&params.url, &page.host);
            let why = format!(
                "the page {url} needs approval; standard input is not a terminal and `--accept-page {host}` is not set"
            );
            return self.decline_request(&params.message, &why);
        }
        self.print_request(&params.message);
        let bold = Style::new().bold();
        self.terminal
            .print_message("The server asks you to open a page:");
        self.terminal.print_labeled("  host:", &bold, &page.host);
        self.terminal.print_labeled("  page:", &bold, &params.url);
        for warning in &page.warnings {
            self.terminal
                .print_labeled("  warning:", &Style::new().yellow(), warning);
        }
        if known {
            return ElicitResult::new(ElicitAction::Accept);
        }
        self.terminal.print_message(
            "The page was not opened or fetched. Open it in your browser if you trust it.",
        );
        self.confirm_page(line_reader).await
    }

    async fn confirm_page(&self, line_reader: &mut LineReader) -> ElicitResult {
        let prompt = "[a]gree, [d]ecline, [c]ancel: ";
        loop {
            let action = match line_reader.read_answer(&self.terminal, prompt).await {
                Input::Line(line) => match line.to_lowercase().as_str() {
                    "a" | "agree" | "y" | "yes" => ElicitAction::Accept,
                    "d" | "decline" | "n" | "no" => ElicitAction::Decline,
                    "c" | "cancel" => ElicitAction::Cancel,
                    _ => continue,
                },
                Input::Back => continue,
                Input::Decline => ElicitAction::Decline,
                Input::Cancel => ElicitAction::Cancel,
            };
            return ElicitResult::new(action);
        }
    }
}

impl Page {
    /// Parses a URL and collects warnings. The error is the reason to decline it without a prompt.
    fn parse(url: &str) -> Result<Self, &'static str> {
        let url = IriStr::new(url).map_err(|_| "the URL is invalid")?;
        let authority = url.authority_components();
        let authority = authority.filter(|authority| !authority.host().is_empty());
        let authority = authority.ok_or("the URL has no host")?;
        let host = authority.host();
        let scheme = url.scheme_str().to_ascii_lowercase();
        let mut warnings = Vec::new();
        match scheme.as_str() {
            "https" => {}
            "http" => warnings.push("the connection is not encrypted"),
            _ => return Err("the URL is neither http nor https"),
        }
        let mut labels = host.split('.');
        if labels.any(|label| label.to_ascii_lowercase().starts_with("xn--")) || !host.is_ascii() {
            warnings.push("the host may contain look-alike characters (Punycode)");
        }
        if authority.userinfo().is_some() {
            warnings.push("the text before `@` is not the host");
        }
        Ok(Self {
            host: host.to_owned(),
            warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_extracted_and_deceptive_urls_are_flagged() {
        let check = |url: &str, host: &str, warnings: &[&str]| {
            let page = Page::parse(url).unwrap();
            assert_eq!(page.host, host, "CLI-ELI-09: {url}");
            assert_eq!(page.warnings.len(), warnings.len(), "CLI-ELI-12: {url}");
            for (warning, expected) in page.warnings.iter().zip(warnings) {
                assert!(warning.contains(expected), "CLI-ELI-12: {url}: {warning}");
            }
        };
        check("https://example.com/pay?a=b", "example.com", &[]);
        check("http://localhost:8080/", "localhost", &["encrypted"]);
        check(
            "https://xn--80ak6aa92e.com/",
            "xn--80ak6aa92e.com",
            &["Punycode"],
        );
        check("https://аррӏе.com/", "аррӏе.com", &["Punycode"]);
        check(
            "https://bank.com@evil.example/",
            "evil.example",
            &["before `@`"],
        );
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://",
            "no url",
            "ftp://a/b",
        ] {
            assert!(Page::parse(url).is_err(), "{url}");
        }
    }
}
