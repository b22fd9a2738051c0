//! Limits on the work for one lock file.
//!
//! A short schema can expand to a huge one: `allOf` duplicates the schemas it merges, and many places can follow the same
//! reference. All work that can multiply is therefore charged to two budgets: of the schema, and of the lock file.

use std::cell::Cell;

use serde_json::Value;

/// Maximum number of steps, for one schema and for a lock file: values that are copied or compared to merge schemas.
pub(super) const MAX_STEPS_PER_SCHEMA: usize = 50_000;
pub(super) const MAX_STEPS: usize = 200_000;

/// Maximum number of parts, for one schema and for a lock file: fields, variants, types, and schemas read for them.
pub(super) const MAX_PARTS_PER_SCHEMA: usize = 10_000;
pub(super) const MAX_PARTS: usize = 20_000;

/// Maximum number of bytes of a generated module.
pub(super) const MAX_OUTPUT: usize = 8 << 20;

/// Number of bytes of text that count as one value.
const BYTES_PER_STEP: usize = 32;

/// The remaining work.
#[derive(Debug)]
pub(super) struct Budget {
    steps: Meter,
    parts: Meter,
    /// Steps for documentation, which is left out without them.
    docs: Meter,
}

/// Remaining work of one kind.
#[derive(Debug)]
struct Meter {
    /// The remaining amount for the whole lock file, and for the current schema.
    file: Cell<usize>,
    schema: Cell<usize>,
    max: usize,
    max_per_schema: usize,
    /// The noun for it in messages.
    noun: &'static str,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: Meter::new(MAX_STEPS, MAX_STEPS_PER_SCHEMA, "merge steps"),
            parts: Meter::new(MAX_PARTS, MAX_PARTS_PER_SCHEMA, "parts"),
            docs: Meter::new(MAX_STEPS, MAX_STEPS_PER_SCHEMA, "steps for documentation"),
        }
    }
}

impl Budget {
    /// Resets the budget of the schema.
    pub(super) fn start_schema(&self) {
        self.steps.start_schema();
        self.parts.start_schema();
        self.docs.start_schema();
    }

    /// Charges parts of the generated code.
    pub(super) fn charge_parts(&self, count: usize) -> Result<(), String> {
        self.parts.charge(count)
    }

    /// Charges steps.
    pub(super) fn charge_steps(&self, count: usize) -> Result<(), String> {
        self.steps.charge(count)
    }

    /// Charges a copy of values. Visits no more values than the budget allows.
    pub(super) fn charge_copies<'a>(
        &self,
        values: impl IntoIterator<Item = &'a Value>,
    ) -> Result<(), String> {
        self.steps.charge_copies(values)
    }

    /// Charges a copy of values to documentation.
    pub(super) fn charge_docs<'a>(
        &self,
        values: impl IntoIterator<Item = &'a Value>,
    ) -> Result<(), String> {
        self.docs.charge_copies(values)
    }

    /// Returns the charged steps and parts.
    #[cfg(test)]
    pub(super) fn spent(&self) -> (usize, usize) {
        let spent = |meter: &Meter| meter.max - meter.file.get();
        (spent(&self.steps), spent(&self.parts))
    }
}

/// The steps for the text and the parts of a value; they are known before a part is looked at.
fn cost(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / BYTES_PER_STEP,
        Value::Array(items) => items.len(),
        Value::Object(members) => {
            let names = members.keys().map(|name| name.len() / BYTES_PER_STEP);
            members.len() + names.sum::<usize>()
        }
        _ => 0,
    }
}

impl Meter {
    fn charge_copies<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> Result<(), String> {
        let max = self.left();
        let mut open: Vec<&Value> = values.into_iter().collect();
        let mut steps = open.len();
        while let Some(value) = open.pop() {
            steps += cost(value);
            if steps > max {
                break;
            }
            match value {
                Value::Array(items) => open.extend(items),
                Value::Object(members) => open.extend(members.values()),
                _ => {}
            }
        }
        self.charge(steps)
    }

    fn new(max: usize, max_per_schema: usize, noun: &'static str) -> Self {
        Self {
            file: Cell::new(max),
            schema: Cell::new(max_per_schema),
            max,
            max_per_schema,
            noun,
        }
    }

    fn start_schema(&self) {
        self.schema.set(self.max_per_schema);
    }

    fn left(&self) -> usize {
        self.schema.get().min(self.file.get())
    }

    /// Charges `count`. If too little remains, sets the remainder to zero, so that the work is not retried in smaller pieces.
    fn charge(&self, count: usize) -> Result<(), String> {
        let spent = count.min(self.left());
        self.schema.set(self.schema.get() - spent);
        self.file.set(self.file.get() - spent);
        if spent == count {
            return Ok(());
        }
        let noun = self.noun;
        Err(if self.file.get() == 0 {
            format!(
                "the schemas of the lock file have more than {} {noun}",
                self.max
            )
        } else {
            format!("the schema has more than {} {noun}", self.max_per_schema)
        })
    }
}
