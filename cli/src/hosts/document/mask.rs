//! Text without secrets, for display.

use std::ops::Range;

use super::Document;
use super::edit::{Edit, replace_all};

/// Members whose values are secrets, of servers and of everything else that hosts configure in the same file.
const SECRETS: [&str; 2] = ["env", "headers"];

impl Document {
    /// Returns the text with a placeholder for each value in objects named `env` and `headers`, wherever they are.
    pub(crate) fn masked(&self) -> String {
        let mut edits = Vec::new();
        if let Some(root) = self.root() {
            self.mask(&root, &mut edits);
        }
        replace_all(&self.text, edits)
    }

    /// Adds the edits of a value. The depth is bounded, because the text has been parsed.
    fn mask(&self, value: &Range<usize>, edits: &mut Vec<Edit>) {
        for item in self.items(value) {
            self.mask(&item, edits);
        }
        if !self.is_object(value) {
            return;
        }
        for member in self.members(value) {
            if SECRETS.contains(&&*member.name) && self.is_object(&member.value) {
                let secrets = self.members(&member.value).into_iter();
                edits.extend(secrets.map(|secret| (secret.value, "\"…\"".to_owned())));
            } else {
                self.mask(&member.value, edits);
            }
        }
    }
}
