//! Use of a type: as input of the user's functions, as their output, or both.

use proc_macro2::{Ident, Span};

use crate::args::Keys;
use crate::diag::Sink;

/// Use of a type, which decides about its derives.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Direction {
    Both,
    Input,
    Output,
}

impl Direction {
    /// Reads the keys `input` and `output`.
    pub(super) fn parse(keys: &mut Keys, sink: &mut Sink) -> Self {
        let input = keys.flag("input", sink).filter(|flag| flag.value);
        let output = keys.flag("output", sink).filter(|flag| flag.value);
        match (input, output) {
            (Some(_), Some(output)) => {
                sink.error(
                    output.key,
                    "a type is for input and output by default; remove both keys",
                );
                Self::Both
            }
            (Some(_), None) => Self::Input,
            (None, Some(_)) => Self::Output,
            (None, None) => Self::Both,
        }
    }

    /// Returns true if the type has `Deserialize`.
    pub(super) fn reads(self) -> bool {
        self != Self::Output
    }

    /// Returns true if the type has `Serialize`.
    pub(super) fn writes(self) -> bool {
        self != Self::Input
    }

    /// Returns the trait of `args` for its fields, and the constant of `FieldTraits` that is true if a type has it.
    pub(super) fn field_trait(self) -> (Ident, Ident) {
        let (field_trait, constant) = match self {
            Self::Both => ("FieldType", "HAVE"),
            Self::Input => ("InputFieldType", "HAVE_INPUT"),
            Self::Output => ("OutputFieldType", "HAVE_OUTPUT"),
        };
        let ident = |name| Ident::new(name, Span::call_site());
        (ident(field_trait), ident(constant))
    }
}
