//! The key `task` of a tool.

use proc_macro2::Ident;
use syn::LitStr;

use crate::args::{Attr, Keys};
use crate::diag::Sink;

const TASK_KEYS: [&str; 7] = [
    "always", "required", "external", "resume", "after", "keep", "run_time",
];

/// The units of durations, in milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// The key `task` of a tool: `task`, or `task(…)`.
pub(crate) struct Task {
    pub(crate) key: Ident,
    pub(crate) always: Option<Ident>,
    pub(crate) required: Option<Ident>,
    pub(crate) external: Option<Ident>,
    pub(crate) resume: Option<Ident>,
    pub(crate) after: Option<Length>,
    pub(crate) keep: Option<Length>,
    pub(crate) run_time: Option<Length>,
}

/// A length of time, with its key and its literal.
pub(crate) struct Length {
    pub(crate) key: Ident,
    pub(crate) text: LitStr,
    pub(crate) ms: u64,
}

impl Task {
    pub(super) fn read(keys: &mut Keys, sink: &mut Sink) -> Option<Self> {
        let Attr { key, value } = keys.list("task", "`task` or `task(always)`", sink)?;
        let mut keys = Keys::parse(value.unwrap_or_default(), &TASK_KEYS, sink);
        let mut flag = |name| {
            let given = keys.flag(name, sink);
            given.filter(|given| given.value).map(|given| given.key)
        };
        let (always, required) = (flag("always"), flag("required"));
        let (external, resume) = (flag("external"), flag("resume"));
        let mut length = |name| Length::read(keys.string_attr(name, sink)?, sink);
        Some(Self {
            key,
            always,
            required,
            external,
            resume,
            after: length("after"),
            keep: length("keep"),
            run_time: length("run_time"),
        })
    }
}

impl Length {
    /// Reads a literal such as `"500ms"`.
    fn read(given: Attr<LitStr>, sink: &mut Sink) -> Option<Self> {
        let Attr { key, value: text } = given;
        let literal = text.value();
        let digits = literal.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = literal.split_at(digits);
        let factor = UNITS.iter().find(|(name, _)| *name == unit);
        let problem = match (number.parse::<u64>(), factor) {
            (Ok(number), Some((_, factor))) => match number.checked_mul(*factor) {
                Some(0) => format!("`{key}` is zero; write a longer time, like `{key} = \"1s\"`"),
                Some(ms) => return Some(Self { key, text, ms }),
                None => format!("`{key}` is too long; write a shorter time"),
            },
            (Ok(_), None) if unit.is_empty() => {
                format!("`{key}` has no unit; write `{key} = \"{number}s\"` for seconds")
            }
            _ => format!(
                "`{key}` is a number and a unit: `ms`, `s`, `m`, `h` or `d`; write it like \"500ms\" or \"2h\""
            ),
        };
        sink.error(&text, problem);
        None
    }
}
