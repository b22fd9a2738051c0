//! The code that asks: the function of a call, or one of the layers around it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Place of a context: that of the function, or that of a layer around it. Outer places are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Level(u8);

impl Level {
    pub(crate) const FUNCTION: Self = Self(u8::MAX);

    /// The place outside of all layers.
    #[cfg(feature = "tower")]
    pub(crate) const OUTSIDE: Self = Self(0);

    /// Returns the place of the next layer inside. The innermost ones of very many share a place.
    #[cfg(feature = "tower")]
    pub(crate) fn inner(self) -> Self {
        Self(self.0.saturating_add(1).min(u8::MAX - 1))
    }

    /// Returns the key of a question or of work, which is unique in a call. The authors of layers do not know the keys of functions,
    /// and a function may forward the questions of another server, whose layers ask too.
    pub(crate) fn key(self, key: &str) -> Cow<'_, str> {
        if self != Self::FUNCTION {
            Cow::Owned(format!("layer-{}/{key}", self.0))
        } else if key.starts_with("layer-") || key.starts_with("function/") {
            Cow::Owned(format!("function/{key}"))
        } else {
            Cow::Borrowed(key)
        }
    }
}

/// The code that asks, and its caller as far as the layers around it have authenticated the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) level: Level,
    pub(crate) principal: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn keys_of_functions_and_layers_are_apart() {
        for (level, key, expected) in [
            (Level::FUNCTION, "question-1", "question-1"),
            (Level::FUNCTION, "a/layer-1", "a/layer-1"),
            (
                Level::FUNCTION,
                "layer-1/question-1",
                "function/layer-1/question-1",
            ),
            (
                Level::FUNCTION,
                "function/layer-1/question-1",
                "function/function/layer-1/question-1",
            ),
            (Level(1), "question-1", "layer-1/question-1"),
            (Level(1), "layer-1/question-1", "layer-1/layer-1/question-1"),
        ] {
            assert_eq!(level.key(key), expected);
        }
    }
}
