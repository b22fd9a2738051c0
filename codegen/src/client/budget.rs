//! Bounds of the work that one lock file causes.
//!
//! A short schema can stand for a huge one: `allOf` doubles what it unites, and a reference may be followed from many places.
//! Everything that multiplies is therefore paid for here: by one schema, and by the lock file as a whole.

use std::cell::Cell;

use serde_json::Value;

/// Steps for one schema, and for all schemas of a lock file: values that are copied or compared while schemas are united.
pub(super) const STEPS_OF_SCHEMA: usize = 50_000;
pub(super) const STEPS: usize = 200_000;

/// Parts of one schema, and of all schemas of a lock file: what becomes a field, a variant or a type, and what is read for it.
pub(super) const PARTS_OF_SCHEMA: usize = 10_000;
pub(super) const PARTS: usize = 20_000;

/// Bytes of a generated module.
pub(super) const OUTPUT: usize = 8 << 20;

/// Bytes of text that count as one more value.
const BYTES_OF_STEP: usize = 32;

/// The work that is left.
#[derive(Debug)]
pub(super) struct Budget {
    steps: Meter,
    parts: Meter,
}

/// One kind of work.
#[derive(Debug)]
struct Meter {
    /// Left for the lock file as a whole, and for the schema that is being read.
    file: Cell<usize>,
    schema: Cell<usize>,
    most: usize,
    most_of_schema: usize,
    /// The noun for it in messages.
    noun: &'static str,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: Meter::new(STEPS, STEPS_OF_SCHEMA, "steps to unite"),
            parts: Meter::new(PARTS, PARTS_OF_SCHEMA, "parts"),
        }
    }
}

impl Budget {
    /// Begins another schema.
    pub(super) fn begin_schema(&self) {
        self.steps.begin_schema();
        self.parts.begin_schema();
    }

    /// Pays for parts of what is generated.
    pub(super) fn parts(&self, count: usize) -> Result<(), String> {
        self.parts.spend(count)
    }

    /// Pays for work.
    pub(super) fn steps(&self, count: usize) -> Result<(), String> {
        self.steps.spend(count)
    }

    /// Pays for a copy of values. It looks at no more of them than can be paid for.
    pub(super) fn copies<'a>(
        &self,
        values: impl IntoIterator<Item = &'a Value>,
    ) -> Result<(), String> {
        let most = self.steps.left();
        let mut open: Vec<&Value> = values.into_iter().collect();
        let mut steps = open.len();
        while let Some(value) = open.pop() {
            steps += cost(value);
            if steps > most {
                break;
            }
            match value {
                Value::Array(items) => open.extend(items),
                Value::Object(members) => open.extend(members.values()),
                _ => {}
            }
        }
        self.steps.spend(steps)
    }

    /// The steps and the parts that were paid for.
    #[cfg(test)]
    pub(super) fn spent(&self) -> (usize, usize) {
        let spent = |meter: &Meter| meter.most - meter.file.get();
        (spent(&self.steps), spent(&self.parts))
    }
}

/// The steps for the text and the parts of a value; they are known before a part is looked at.
fn cost(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / BYTES_OF_STEP,
        Value::Array(items) => items.len(),
        Value::Object(members) => {
            let names = members.keys().map(|name| name.len() / BYTES_OF_STEP);
            members.len() + names.sum::<usize>()
        }
        _ => 0,
    }
}

impl Meter {
    fn new(most: usize, most_of_schema: usize, noun: &'static str) -> Self {
        Self {
            file: Cell::new(most),
            schema: Cell::new(most_of_schema),
            most,
            most_of_schema,
            noun,
        }
    }

    fn begin_schema(&self) {
        self.schema.set(self.most_of_schema);
    }

    fn left(&self) -> usize {
        self.schema.get().min(self.file.get())
    }

    /// Takes away what is left if it is not enough: what was too much is not tried again in smaller pieces.
    fn spend(&self, count: usize) -> Result<(), String> {
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
                self.most
            )
        } else {
            format!("the schema has more than {} {noun}", self.most_of_schema)
        })
    }
}
