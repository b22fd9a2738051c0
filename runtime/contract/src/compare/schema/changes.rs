//! Reports of the differences that a traversal finds.

use serde_json::Value;

use crate::Severity;
use crate::compare::schema::path::Position;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

const CHANGED: &str = "changed in a way that cannot be judged";

impl Walk<'_, '_, '_, '_> {
    /// Reports an effect on the allowed values.
    pub(super) fn report_effect(&mut self, effect: Effect, at: Position<'_>, message: &str) {
        self.report_difference(effect, at, message, (None, None));
    }

    /// Reports the effect of a keyword on the allowed values.
    pub(super) fn report_keyword(
        &mut self,
        effect: Effect,
        at: Position<'_>,
        name: &str,
        (old, new): (Option<&Value>, Option<&Value>),
    ) {
        if self.is_probing() {
            self.probe = Some(true);
            return;
        }
        if self.is_repeated {
            return;
        }
        self.reported.extend(new.map(std::ptr::from_ref));
        let message = match effect {
            Effect::Narrowed => format!("`{name}` allows less"),
            Effect::Widened => format!("`{name}` allows more"),
            Effect::Changed => CHANGED.to_owned(),
        };
        let (old, new) = (old.map(Value::to_string), new.map(Value::to_string));
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.take_steps((length(&old) + length(&new)) / 64);
        let at = at.descend(at.path.key(name));
        self.report_difference(effect, at, &message, (old.as_deref(), new.as_deref()));
    }

    /// Reports an effect on the allowed values, with the old and the new text.
    pub(super) fn report_difference(
        &mut self,
        effect: Effect,
        at: Position<'_>,
        message: &str,
        texts: (Option<&str>, Option<&str>),
    ) {
        if self.probe.is_some() {
            self.probe = Some(true);
            return;
        }
        if self.is_repeated {
            return;
        }
        let path = at.path.render(self.entry.limits().text_bytes);
        let severity = at.direction.severity(effect);
        if at.direction == Direction::Unknown && effect != Effect::Changed {
            let message = format!("{message}, at a position where the effect cannot be judged");
            self.entry
                .report_with_texts(severity, &path, &message, texts);
        } else {
            self.entry
                .report_with_texts(severity, &path, message, texts);
        }
    }

    /// Reports a difference whose effect is unknown.
    pub(super) fn report_changed(&mut self, at: Position<'_>) {
        self.report_effect(Effect::Changed, at, CHANGED);
    }

    /// Reports an added or removed member. Its severity does not follow from the allowed values, because undeclared members
    /// may be allowed but ignored.
    pub(super) fn report_member(&mut self, severity: Severity, at: Position<'_>, message: &str) {
        if self.is_probing() {
            self.report_changed(at);
            return;
        }
        if self.is_repeated {
            return;
        }
        let path = at.path.render(self.entry.limits().text_bytes);
        self.entry.report(severity, &path, message);
    }
}
