//! The options of the text dialect.

/// How a model without tool use is told of tools, and how its calls are found in its text.
///
/// Such a model writes a call as two lines, alone or between other text:
///
/// ```text
/// TOOL: weather.forecast
/// PARAMETERS: {"place": "Oslo", "days": 3}
/// ```
///
/// The bounds have defaults that are safe with a model that is not trusted.
///
/// ```
/// use treenail_runtime::agent::TextToolFormat;
///
/// let dialect = TextToolFormat { mentions: true, ..TextToolFormat::default() };
/// assert_eq!(dialect.arguments_depth, 64);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextToolFormat {
    /// Whether a model that announces a call without writing one, as in "I will use the clock tool", has thereby called
    /// the tool. Default `false`: models say such things without meaning them.
    ///
    /// It counts only in a message without any other call, as the beginning of a sentence outside of quotations and code,
    /// without a negation or a condition, when it names one tool of those that there are, and that one needs no arguments.
    pub mentions: bool,
    /// Bytes of the arguments of one call; a call with more is told to be too long. Default 256 KiB.
    pub arguments_bytes: usize,
    /// How deeply the arguments of one call may be nested, at most 127. Default 64.
    pub arguments_depth: u32,
    /// Bytes that the list of tools may take in the system prompt; with many tools, or large ones, their schemas are left out
    /// first, then their descriptions. Default 64 KiB.
    pub listing_bytes: usize,
}

impl Default for TextToolFormat {
    fn default() -> Self {
        Self {
            mentions: false,
            arguments_bytes: 256 << 10,
            arguments_depth: 64,
            listing_bytes: 64 << 10,
        }
    }
}
