//! Set of unique names, in which the first item has precedence.

use std::collections::{BTreeMap, BTreeSet};

/// Names that the generated module uses, or that readers expect to have their usual meaning.
const RESERVED_TYPES: [&str; 54] = [
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Deserializer",
    "Display",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "JsonObject",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Serializer",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Value",
    "Vec",
    "Unit",
    "Formatter",
];

/// Set of unique names.
#[derive(Debug, Default)]
pub(in crate::client) struct Names {
    taken: BTreeSet<String>,
    /// The next number to append to a name.
    next: BTreeMap<String, u64>,
}

impl Names {
    /// Creates a set with reserved names.
    pub(in crate::client) fn without(taken: &[&str]) -> Self {
        let taken = taken.iter().map(|name| (*name).to_owned()).collect();
        Self {
            taken,
            next: BTreeMap::new(),
        }
    }

    /// Creates a set for the types of the generated module.
    pub(in crate::client) fn of_types() -> Self {
        Self::without(&RESERVED_TYPES)
    }

    /// Adds the first of these names that is free, or else the first one with a number appended.
    pub(in crate::client) fn take<const N: usize>(
        &mut self,
        wanted: &[String; N],
        before_number: &str,
    ) -> String {
        if let Some(free) = wanted.iter().find(|name| !self.taken.contains(*name)) {
            self.taken.insert(free.clone());
            return free.clone();
        }
        let first = wanted.first().map_or("", String::as_str);
        let next = self.next.entry(format!("{first}{before_number}"));
        let next = next.or_insert(2);
        loop {
            let name = format!("{first}{before_number}{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
