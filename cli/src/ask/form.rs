//! Forms: filled in field by field, shown once more, and sent if that is wanted.

use std::collections::BTreeMap;

use console::Style;
use treenail::schema::{ElicitAction, ElicitRequestFormParams, ElicitResult, ElicitValue};

use super::Asked;
use super::dialog::{Lines, Typed};
use super::entry::{Field, told};
use crate::screen::Screen;

type Content = BTreeMap<String, ElicitValue>;

impl Asked {
    pub(super) async fn form(
        &self,
        form: &ElicitRequestFormParams,
        lines: &mut Lines,
    ) -> ElicitResult {
        let fields = Field::all(&form.requested_schema);
        if fields.is_empty() {
            return self.confirm(&form.message, lines).await;
        }
        let mut content = Content::new();
        let (mut open, mut needed) = (Vec::new(), Vec::new());
        let mut is_meant = false;
        for field in fields {
            let texts = self.fields.get(field.name).map_or(&[][..], Vec::as_slice);
            is_meant |= !texts.is_empty();
            let mut is_open = texts.is_empty();
            match field.read(texts) {
                Ok(value) => content.extend(value.map(|value| (field.name.to_owned(), value))),
                Err(problem) => {
                    needed.push(format!("`{}`: {problem}", field.name));
                    is_open = true;
                }
            }
            if is_open {
                open.push(field);
            }
        }
        if Screen::is_interactive() && !open.is_empty() {
            return self.fill_in(&form.message, &open, content, lines).await;
        }
        if !needed.is_empty() {
            let why = format!("{} (see --answer)", needed.join("; "));
            return self.decline(&form.message, &why);
        }
        if !is_meant {
            // Nobody has agreed to the defaults either.
            let why = "standard input is no terminal, and no --answer is for this form";
            return self.decline(&form.message, why);
        }
        accepted(content)
    }

    /// A form without fields wants a yes.
    async fn confirm(&self, message: &str, lines: &mut Lines) -> ElicitResult {
        if self.yes {
            self.screen
                .note(&format!("said yes to {}: {message}", self.server()));
            return accepted(Content::new());
        }
        if !Screen::is_interactive() {
            let why = "standard input is no terminal, and there is no --yes";
            return self.decline(message, why);
        }
        self.show_question(message);
        let prompt = "[y]es, [n]o, [c]ancel: ";
        loop {
            match lines.ask(&self.screen, prompt).await {
                Typed::Line(line) => match line.to_lowercase().as_str() {
                    "y" | "yes" => return accepted(Content::new()),
                    "n" | "no" => return ElicitResult::new(ElicitAction::Decline),
                    "c" | "cancel" => return ElicitResult::new(ElicitAction::Cancel),
                    _ => {}
                },
                Typed::Decline => return ElicitResult::new(ElicitAction::Decline),
                Typed::Cancel => return ElicitResult::new(ElicitAction::Cancel),
                Typed::Back => {}
            }
        }
    }

    /// Asks for field after field, until what was entered is to be sent.
    async fn fill_in(
        &self,
        message: &str,
        fields: &[Field<'_>],
        mut content: Content,
        lines: &mut Lines,
    ) -> ElicitResult {
        self.show_question(message);
        self.screen.say(
            "Enter alone takes what stands in brackets; /back, /decline and /cancel work everywhere.",
        );
        let mut index = 0;
        loop {
            let typed = match fields.get(index) {
                Some(field) => self.enter(field, &mut content, lines).await,
                None => self.review(&content, lines).await,
            };
            match typed {
                Step::Next => index += 1,
                Step::Again => {}
                Step::Back => index = index.saturating_sub(1),
                Step::First => index = 0,
                Step::Send => return accepted(content),
                Step::End(action) => return ElicitResult::new(action),
            }
        }
    }

    async fn enter(&self, field: &Field<'_>, content: &mut Content, lines: &mut Lines) -> Step {
        self.screen.say(&format!("\n{}", field.describe()));
        let present = content.get(field.name).cloned();
        let prompt = match &present {
            Some(value) => format!("[{}] > ", told(value)),
            None => "> ".to_owned(),
        };
        let line = match lines.ask(&self.screen, &prompt).await {
            Typed::Line(line) => line,
            Typed::Back => return Step::Back,
            Typed::Decline => return Step::End(ElicitAction::Decline),
            Typed::Cancel => return Step::End(ElicitAction::Cancel),
        };
        if line.is_empty() && present.is_some() {
            return Step::Next;
        }
        let texts = if line.is_empty() {
            Vec::new()
        } else {
            vec![line]
        };
        match field.read(&texts) {
            Ok(Some(value)) => drop(content.insert(field.name.to_owned(), value)),
            Ok(None) => drop(content.remove(field.name)),
            Err(problem) => {
                let red = Style::new().red();
                self.screen.say_under("no:", &red, &problem);
                return Step::Again;
            }
        }
        Step::Next
    }

    /// Shows what has been entered before it is sent.
    async fn review(&self, content: &Content, lines: &mut Lines) -> Step {
        let entered = content.iter();
        let entered = entered.map(|(name, value)| format!("  {name}: {}", told(value)));
        let entered: Vec<_> = entered.collect();
        self.screen.say(&format!("\n{}", entered.join("\n")));
        let prompt = format!(
            "Send this to {}? [y]es, [e]dit, [d]ecline, [c]ancel: ",
            self.server()
        );
        match lines.ask(&self.screen, &prompt).await {
            Typed::Line(line) => match line.to_lowercase().as_str() {
                "y" | "yes" => Step::Send,
                "e" | "edit" => Step::First,
                "d" | "decline" | "n" | "no" => Step::End(ElicitAction::Decline),
                "c" | "cancel" => Step::End(ElicitAction::Cancel),
                _ => Step::Again,
            },
            Typed::Back => Step::Back,
            Typed::Decline => Step::End(ElicitAction::Decline),
            Typed::Cancel => Step::End(ElicitAction::Cancel),
        }
    }

    pub(super) fn show_question(&self, message: &str) {
        let heading = format!("\n{} asks:", self.server());
        self.screen
            .say_under(&heading, &Style::new().bold(), message);
    }
}

/// Where a form goes on.
enum Step {
    Next,
    Again,
    Back,
    First,
    Send,
    End(ElicitAction),
}

fn accepted(content: Content) -> ElicitResult {
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some(content);
    result
}
