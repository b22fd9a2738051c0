//! Pages that the user is to open. They are shown, and neither opened nor fetched here.

use console::Style;
use iri_string::types::IriStr;
use treenail::schema::{ElicitAction, ElicitRequestUrlParams, ElicitResult};

use super::Asked;
use super::dialog::{Lines, Typed};
use crate::screen::Screen;

/// What has to be known of a page before one agrees to it.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    host: String,
    warnings: Vec<&'static str>,
}

impl Asked {
    pub(super) async fn page(
        &self,
        params: &ElicitRequestUrlParams,
        lines: &mut Lines,
    ) -> ElicitResult {
        let page = match Page::of(&params.url) {
            Ok(page) => page,
            Err(why) => return self.decline(&params.message, why),
        };
        let is_interactive = Screen::is_interactive();
        let known = self
            .hosts
            .iter()
            .any(|host| host.eq_ignore_ascii_case(&page.host));
        if !known && !is_interactive {
            let (url, host) = (&params.url, &page.host);
            let why = format!(
                "it is the page {url}, and there is no terminal and no `--accept-page {host}`"
            );
            return self.decline(&params.message, &why);
        }
        self.show_question(&params.message);
        let bold = Style::new().bold();
        self.screen.say("It wants you to open a page:");
        self.screen.say_under("  host:", &bold, &page.host);
        self.screen.say_under("  page:", &bold, &params.url);
        for warning in &page.warnings {
            self.screen
                .say_under("  beware:", &Style::new().yellow(), warning);
        }
        if known {
            return ElicitResult::new(ElicitAction::Accept);
        }
        self.screen
            .say("Nothing has been opened or fetched; open it in your browser if you trust it.");
        self.agree(lines).await
    }

    async fn agree(&self, lines: &mut Lines) -> ElicitResult {
        let prompt = "[a]gree, [d]ecline, [c]ancel: ";
        loop {
            let action = match lines.ask(&self.screen, prompt).await {
                Typed::Line(line) => match line.to_lowercase().as_str() {
                    "a" | "agree" | "y" | "yes" => ElicitAction::Accept,
                    "d" | "decline" | "n" | "no" => ElicitAction::Decline,
                    "c" | "cancel" => ElicitAction::Cancel,
                    _ => continue,
                },
                Typed::Back => continue,
                Typed::Decline => ElicitAction::Decline,
                Typed::Cancel => ElicitAction::Cancel,
            };
            return ElicitResult::new(action);
        }
    }
}

impl Page {
    /// What there is to know of a page, or why it is refused without asking.
    fn of(url: &str) -> Result<Self, &'static str> {
        let url = IriStr::new(url).map_err(|_| "its page has no valid URL")?;
        let authority = url.authority_components();
        let authority = authority.filter(|authority| !authority.host().is_empty());
        let authority = authority.ok_or("its page has no host")?;
        let host = authority.host();
        let scheme = url.scheme_str().to_ascii_lowercase();
        let mut warnings = Vec::new();
        match scheme.as_str() {
            "https" => {}
            "http" => warnings.push("the connection is not encrypted"),
            _ => return Err("its page is neither http nor https"),
        }
        let mut labels = host.split('.');
        if labels.any(|label| label.to_ascii_lowercase().starts_with("xn--")) || !host.is_ascii() {
            warnings.push("the host has letters that may look like others (Punycode)");
        }
        if authority.userinfo().is_some() {
            warnings.push("what stands before `@` is not the host");
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
    fn the_host_is_found_and_tricks_are_named() {
        let check = |url: &str, host: &str, warnings: &[&str]| {
            let page = Page::of(url).unwrap();
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
            assert!(Page::of(url).is_err(), "{url}");
        }
    }
}
