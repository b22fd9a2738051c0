//! The callers of the values that a state carries.

use serde::{Deserialize, Serialize};
use treenail_schema::internal::object::object;

use crate::ask::asker::{Asker, Level};

/// Key of a value that a state carries.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueKey<'k> {
    /// Answer to a question.
    Answer(&'k str),
    /// Result of [`Context::once`](crate::Context::once).
    Work(&'k str),
}

/// The principals of the callers by their values. Layers authenticate the caller after the state has been opened, and a layer may
/// do so between two values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Callers(Vec<Caller>);

/// A caller at one place, and the keys of the values that the place has obtained for it.
#[derive(Clone, Debug)]
struct Caller {
    level: Level,
    principal: Option<Box<str>>,
    answers: Vec<String>,
    once: Vec<String>,
}

object! { Caller {
    required level = "level",
    required principal = "principal",
    required answers = "answers",
    required once = "once"
} }

impl Callers {
    /// Returns `true` if another caller has values at the same place.
    #[cfg(feature = "tower")]
    pub(super) fn have_others(&self, asker: Asker<'_>) -> bool {
        self.others(asker).next().is_some()
    }

    /// Returns `true` if a value is that of another caller at the same place.
    #[inline]
    pub(super) fn is_of_other(&self, asker: Asker<'_>, value: ValueKey<'_>) -> bool {
        self.others(asker).any(|other| other.has(value))
    }

    /// Binds a value to a caller, and to no other one.
    #[inline]
    pub(super) fn bind(&mut self, asker: Asker<'_>, value: ValueKey<'_>) {
        self.0.retain_mut(|caller| {
            if caller.level == asker.level && !caller.is(asker) {
                caller.remove(value);
            }
            !caller.answers.is_empty() || !caller.once.is_empty()
        });
        match self.0.iter_mut().find(|caller| caller.is(asker)) {
            Some(caller) => caller.insert(value),
            None => self.0.push(Caller::of(asker, value)),
        }
    }

    #[inline]
    fn others(&self, asker: Asker<'_>) -> impl Iterator<Item = &Caller> {
        let callers = self.0.iter();
        callers.filter(move |caller| caller.level == asker.level && !caller.is(asker))
    }
}

impl Caller {
    #[inline]
    fn of(asker: Asker<'_>, value: ValueKey<'_>) -> Self {
        let mut caller = Self {
            level: asker.level,
            principal: asker.principal.map(Into::into),
            answers: Vec::new(),
            once: Vec::new(),
        };
        caller.insert(value);
        caller
    }

    fn is(&self, asker: Asker<'_>) -> bool {
        self.level == asker.level && self.principal.as_deref() == asker.principal
    }

    fn has(&self, value: ValueKey<'_>) -> bool {
        match value {
            ValueKey::Answer(key) => self.answers.iter().any(|own| own == key),
            ValueKey::Work(key) => self.once.iter().any(|own| own == key),
        }
    }

    #[inline]
    fn insert(&mut self, value: ValueKey<'_>) {
        if self.has(value) {
            return;
        }
        match value {
            ValueKey::Answer(key) => self.answers.push(key.to_owned()),
            ValueKey::Work(key) => self.once.push(key.to_owned()),
        }
    }

    #[inline]
    fn remove(&mut self, value: ValueKey<'_>) {
        match value {
            ValueKey::Answer(key) => self.answers.retain(|own| own != key),
            ValueKey::Work(key) => self.once.retain(|own| own != key),
        }
    }
}
