//! Documentation from the texts of servers, which are not trusted.
//!
//! A text is escaped so that it renders as written: without headings, links, tags, or code that `cargo test` would run.

mod markdown;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use self::markdown::{clean, escape};
pub(super) use self::markdown::{code, inline};

/// Maximum number of characters of a text.
const MAX_LENGTH: usize = 4_000;

/// Lines of documentation, as Markdown.
#[derive(Clone, Debug, Default)]
pub(super) struct Docs {
    lines: Vec<String>,
}

impl Docs {
    /// Documentation from a text of the server.
    pub(super) fn quoted(text: &str) -> Self {
        let mut docs = Self::default();
        docs.quote(text);
        docs
    }

    /// Adds a paragraph of trusted Markdown.
    pub(super) fn add(&mut self, paragraph: &str) {
        self.begin_paragraph();
        self.lines.push(paragraph.to_owned());
    }

    /// Adds a text of the server.
    pub(super) fn quote(&mut self, text: &str) {
        let is_cut = text.chars().nth(MAX_LENGTH).is_some();
        let text: String = text.chars().take(MAX_LENGTH).collect();
        let mut in_list = false;
        let mut is_new = true;
        for line in text.lines().map(clean) {
            let item = ["- ", "* ", "• "]
                .iter()
                .find_map(|sign| line.strip_prefix(sign));
            if line.is_empty() {
                is_new = true;
                continue;
            }
            if is_new || in_list != item.is_some() || is_numbered(&line) {
                self.begin_paragraph();
            }
            (is_new, in_list) = (false, item.is_some());
            self.lines.push(match item {
                Some(item) => format!("- {}", escape(item.trim_start())),
                None => escape(&line),
            });
        }
        if is_cut {
            self.add("…");
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn begin_paragraph(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Renders the `doc` attributes, with `otherwise` if there is no text.
    pub(super) fn render(&self, otherwise: &str) -> TokenStream {
        let otherwise = [otherwise.to_owned()];
        let lines = if self.is_empty() {
            &otherwise[..]
        } else {
            &self.lines[..]
        };
        let lines = lines.iter().map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!(" {line}")
            }
        });
        quote! { #(#[doc = #lines])* }
    }
}

/// Truncates a text to the maximum length plus one character, which marks it as too long.
pub(super) fn truncate(text: &str) -> String {
    text.chars().take(MAX_LENGTH + 1).collect()
}

/// Returns `true` for a line `1. …`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with('.') || rest.starts_with(')'))
}
