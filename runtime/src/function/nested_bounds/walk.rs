//! Comparison of the JSON of an argument with the bounds, in one pass over the text.

use std::fmt::Write;

use treenail_schema::internal::json_schema::push_token;

use super::{Amount, NestedBounds, Quantity};
use crate::function::argument_error::{Fault, MAX_REPORTED, Problem};
use crate::wire::{DEEPEST, Scanner, SyntaxError, as_string};

/// Appends the violations in `text`, in its order and at most [`MAX_REPORTED`] in a call. Each wrong argument has at least one.
pub(super) fn check(bounds: &NestedBounds, name: &str, text: &str, problems: &mut Vec<Problem>) {
    let mut pointer = String::new();
    push_token(&mut pointer, name);
    let mut walk = Walk {
        bounds,
        scanner: Scanner::new(text, DEEPEST),
        pointer,
        most: MAX_REPORTED.saturating_sub(problems.len()).max(1),
        violations: Vec::new(),
    };
    // The text is valid, because it has been deserialized, or that of a string type without bounds of items and members.
    let _ = walk.value(Some(0));
    problems.append(&mut walk.violations);
}

struct Walk<'a> {
    bounds: &'a NestedBounds,
    scanner: Scanner<'a>,
    /// Location of the current value.
    pointer: String,
    violations: Vec<Problem>,
    most: usize,
}

impl Walk<'_> {
    /// Checks the next value. Recursive: at most [`DEEPEST`] levels.
    fn value(&mut self, node: Option<usize>) -> Result<(), SyntaxError> {
        let Some(node) = node else {
            return self.scanner.value().map(drop);
        };
        match self.scanner.peek() {
            Some(b'{') => self.object(node),
            // The deserializer of a struct also accepts an array of its fields. Their bounds are not those of items.
            Some(b'[') if self.bounds.is_object(node) => {
                let text = self.scanner.value()?;
                self.report(self.violations.len(), text);
                Ok(())
            }
            Some(b'[') => self.array(node),
            _ => self.scalar(node),
        }
    }

    fn object(&mut self, node: usize) -> Result<(), SyntaxError> {
        self.scanner.open_object()?;
        let parent = self.pointer.len();
        let mut first = true;
        while let Some(name) = self.scanner.next_member(first)? {
            first = false;
            let member = self.bounds.member(node, &name);
            if member.is_some() {
                push_token(&mut self.pointer, &name);
            }
            self.value(member)?;
            self.pointer.truncate(parent);
        }
        Ok(())
    }

    fn array(&mut self, node: usize) -> Result<(), SyntaxError> {
        let start = self.scanner.open_array()?;
        let (parent, before) = (self.pointer.len(), self.violations.len());
        let mut count = 0;
        while self.scanner.has_next(b']', count == 0)? {
            let item = self.bounds.item(node, count);
            if item.is_some() {
                // Writing to a string cannot fail.
                let _ = write!(self.pointer, "/{count}");
            }
            self.value(item)?;
            self.pointer.truncate(parent);
            count += 1;
        }
        if !(self.bounds).holds(node, Quantity::Items, &Amount::count(count)) {
            let text = self.scanner.since(start);
            self.report(before, text);
        }
        Ok(())
    }

    fn scalar(&mut self, node: usize) -> Result<(), SyntaxError> {
        let text = self.scanner.value()?;
        let (quantity, amount) = match text.as_bytes().first() {
            Some(b'"') => {
                let characters = as_string(text).map(|string| string.chars().count());
                (Quantity::Characters, characters.map(Amount::count))
            }
            Some(b'-' | b'0'..=b'9') => (Quantity::Number, Amount::parse(text)),
            _ => return Ok(()),
        };
        let holds = |amount| self.bounds.holds(node, quantity, &amount);
        if !amount.is_none_or(holds) {
            self.report(self.violations.len(), text);
        }
        Ok(())
    }

    /// Reports the value `text` at the current location, before the violations from the index `at` on.
    fn report(&mut self, at: usize, text: &str) {
        // The pointer can be as long as the message, so it is not copied for violations that are not reported.
        if at >= self.most {
            return;
        }
        let problem = Problem::at(self.pointer.clone(), Fault::wrong(text));
        self.violations.insert(at, problem);
        self.violations.truncate(self.most);
    }
}
