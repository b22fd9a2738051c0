//! Elicitation forms: entered field by field, reviewed, and submitted.

use std::collections::BTreeMap;

use console::Style;
use treenail::schema::{ElicitAction, ElicitRequestFormParams, ElicitResult, ElicitValue};

use super::ElicitationHandler;
use super::field::{Field, format_value};
use super::line_reader::{Input, LineReader};
use crate::render::sanitize_line;
use crate::terminal::Terminal;

type Content = BTreeMap<String, ElicitValue>;

impl ElicitationHandler {
    pub(super) async fn answer_form(
        &self,
        form: &ElicitRequestFormParams,
        line_reader: &mut LineReader,
    ) -> ElicitResult {
        let fields = Field::from_schema(&form.requested_schema);
        if fields.is_empty() {
            return self.confirm(&form.message, line_reader).await;
        }
        let mut content = Content::new();
        let (mut open, mut problems) = (Vec::new(), Vec::new());
        let mut has_answer = false;
        for field in fields {
            let texts = self.fields.get(field.name).map_or(&[][..], Vec::as_slice);
            has_answer |= !texts.is_empty();
            let mut is_open = texts.is_empty();
            match field.parse(texts) {
                Ok(value) => content.extend(value.map(|value| (field.name.to_owned(), value))),
                Err(problem) => {
                    problems.push(format!("`{}`: {problem}", sanitize_line(field.name)));
                    is_open = true;
                }
            }
            if is_open {
                open.push(field);
            }
        }
        if Terminal::is_interactive() && !open.is_empty() {
            return self
                .fill_in_form(&form.message, &open, content, line_reader)
                .await;
        }
        if !problems.is_empty() {
            let why = format!("{} (use --answer)", problems.join("; "));
            return self.decline_request(&form.message, &why);
        }
        if !has_answer {
            // Sending only defaults would be an answer that the user did not give.
            let why =
                "standard input is not a terminal and no --answer matches a field of this form";
            return self.decline_request(&form.message, why);
        }
        accepted(content)
    }

    /// Asks for confirmation. A form without fields is a yes-or-no question.
    async fn confirm(&self, message: &str, line_reader: &mut LineReader) -> ElicitResult {
        if self.yes {
            self.terminal.print_note(&format!(
                "confirmed request from {}: {message}",
                self.server_name()
            ));
            return accepted(Content::new());
        }
        if !Terminal::is_interactive() {
            let why = "standard input is not a terminal and --yes is not set";
            return self.decline_request(message, why);
        }
        self.print_request(message);
        let prompt = "[y]es, [n]o, [c]ancel: ";
        loop {
            match line_reader.read_answer(&self.terminal, prompt).await {
                Input::Line(line) => match line.to_lowercase().as_str() {
                    "y" | "yes" => return accepted(Content::new()),
                    "n" | "no" => return ElicitResult::new(ElicitAction::Decline),
                    "c" | "cancel" => return ElicitResult::new(ElicitAction::Cancel),
                    _ => {}
                },
                Input::Decline => return ElicitResult::new(ElicitAction::Decline),
                Input::Cancel => return ElicitResult::new(ElicitAction::Cancel),
                Input::Back => {}
            }
        }
    }

    /// Prompts for each field, until the user submits or aborts the form.
    async fn fill_in_form(
        &self,
        message: &str,
        fields: &[Field<'_>],
        mut content: Content,
        line_reader: &mut LineReader,
    ) -> ElicitResult {
        self.print_request(message);
        self.terminal.print_message(
            "Press Enter to accept the value in brackets. /back, /decline and /cancel work at every prompt.",
        );
        let mut index = 0;
        loop {
            let typed = match fields.get(index) {
                Some(field) => self.enter_field(field, &mut content, line_reader).await,
                None => self.review_form(&content, line_reader).await,
            };
            match typed {
                FormStep::Next => index += 1,
                FormStep::Repeat => {}
                FormStep::Back => index = index.saturating_sub(1),
                FormStep::Restart => index = 0,
                FormStep::Submit => return accepted(content),
                FormStep::End(action) => return ElicitResult::new(action),
            }
        }
    }

    async fn enter_field(
        &self,
        field: &Field<'_>,
        content: &mut Content,
        line_reader: &mut LineReader,
    ) -> FormStep {
        self.terminal
            .print_message(&format!("\n{}", field.describe()));
        let present = content.get(field.name).cloned();
        let prompt = match &present {
            Some(value) => format!("[{}] > ", format_value(value)),
            None => "> ".to_owned(),
        };
        let line = match line_reader.read_answer(&self.terminal, &prompt).await {
            Input::Line(line) => line,
            Input::Back => return FormStep::Back,
            Input::Decline => return FormStep::End(ElicitAction::Decline),
            Input::Cancel => return FormStep::End(ElicitAction::Cancel),
        };
        if line.is_empty() && present.is_some() {
            return FormStep::Next;
        }
        let texts = if line.is_empty() {
            Vec::new()
        } else {
            vec![line]
        };
        match field.parse(&texts) {
            Ok(Some(value)) => drop(content.insert(field.name.to_owned(), value)),
            Ok(None) => drop(content.remove(field.name)),
            Err(problem) => {
                let red = Style::new().red();
                self.terminal.print_labeled("invalid:", &red, &problem);
                return FormStep::Repeat;
            }
        }
        FormStep::Next
    }

    /// Shows all values before they are sent.
    async fn review_form(&self, content: &Content, line_reader: &mut LineReader) -> FormStep {
        self.terminal
            .print_message(&format!("\n{}", review(content)));
        let prompt = format!(
            "Send this to {}? [y]es, [e]dit, [d]ecline, [c]ancel: ",
            self.server_name()
        );
        match line_reader.read_answer(&self.terminal, &prompt).await {
            Input::Line(line) => match line.to_lowercase().as_str() {
                "y" | "yes" => FormStep::Submit,
                "e" | "edit" => FormStep::Restart,
                "d" | "decline" | "n" | "no" => FormStep::End(ElicitAction::Decline),
                "c" | "cancel" => FormStep::End(ElicitAction::Cancel),
                _ => FormStep::Repeat,
            },
            Input::Back => FormStep::Back,
            Input::Decline => FormStep::End(ElicitAction::Decline),
            Input::Cancel => FormStep::End(ElicitAction::Cancel),
        }
    }

    pub(super) fn print_request(&self, message: &str) {
        let heading = format!("\n{} asks:", self.server_name());
        self.terminal
            .print_labeled(&heading, &Style::new().bold(), message);
    }
}

/// Next step in a form.
enum FormStep {
    Next,
    Repeat,
    Back,
    Restart,
    Submit,
    End(ElicitAction),
}

/// Returns a line for each value.
fn review(content: &Content) -> String {
    let lines = content
        .iter()
        .map(|(name, value)| format!("  {}: {}", sanitize_line(name), format_value(value)));
    lines.collect::<Vec<_>>().join("\n")
}

fn accepted(content: Content) -> ElicitResult {
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some(content);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_reviewed_in_one_line() {
        let name = "note: ok\n  amount".to_owned();
        let content = Content::from([(name, ElicitValue::String("a\nb".to_owned()))]);
        assert_eq!(review(&content).lines().count(), 1, "{}", review(&content));
    }
}
