//! Options of the text format for tool calls.

use treenail_schema::internal::limits;

limits! {
    /// Text format for models without tool use: lists the tools in the system prompt, and parses calls from the text.
    ///
    /// The model writes a call as two lines, alone or between other text:
    ///
    /// ```text
    /// TOOL: weather.forecast
    /// PARAMETERS: {"place": "Oslo", "days": 3}
    /// ```
    ///
    /// The limits have defaults that are safe with an untrusted model.
    ///
    /// ```
    /// use treenail::agent::TextToolFormat;
    ///
    /// let format = TextToolFormat::default().mentions(true);
    /// assert_eq!(format.arguments_depth, 64);
    /// ```
    struct TextToolFormat {
        /// Treats an announcement without a written call, as in "I will use the clock tool", as a call. Default `false`:
        /// models write such sentences without intent.
        ///
        /// An announcement counts only in a message without other calls, at the start of a sentence outside quotations and
        /// code, without a negation or condition. It has to name exactly one known tool that needs no arguments.
        mentions: bool = false,
        /// Maximum size of the arguments of one call, in bytes; larger ones are reported to the model as an error. Default
        /// 256 KiB.
        arguments_bytes: usize = 256 << 10,
        /// Maximum nesting depth of the arguments of one call, at most 127. Default 64.
        arguments_depth: u32 = 64,
        /// Maximum size of the tool list in the system prompt, in bytes. If it is exceeded, schemas are omitted first, then
        /// descriptions. Default 64 KiB.
        listing_bytes: usize = 64 << 10,
    }
}
