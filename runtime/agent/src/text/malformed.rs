//! Messages to the model about malformed calls.

use treenail_schema::internal::quoted;

use crate::text::piece::Piece;

/// Reason why a call is malformed.
#[derive(Debug)]
pub(super) enum Malformed {
    /// The tool accepts arguments, but other text follows in place of `PARAMETERS:`.
    MissingParameters,
    /// Another character, or the end of the message, is in place of the object.
    MissingObject(Option<char>),
    /// The object is not valid JSON, for this reason.
    InvalidJson(String),
    /// The object exceeds this size in bytes.
    TooLong(usize),
    /// The object exceeds this nesting depth.
    TooDeep(u32),
    /// The message was truncated within the call.
    CutOff,
}

impl Malformed {
    pub(super) fn piece(&self, name: &str, source: String) -> Piece {
        Piece::Malformed {
            name: Some(name.to_owned()),
            source,
            message: self.message(name),
        }
    }

    fn message(&self, name: &str) -> String {
        let tool = quoted(name);
        let problem = match self {
            Self::MissingParameters => {
                "the line after TOOL: has to start with PARAMETERS:".to_owned()
            }
            Self::MissingObject(found) => {
                let found = found.map_or("the end of the message".to_owned(), |found| {
                    quoted(&found.to_string())
                });
                format!("after PARAMETERS: a JSON object has to start with `{{`, but found {found}")
            }
            Self::InvalidJson(reason) => format!("its PARAMETERS are not a JSON object: {reason}"),
            Self::TooLong(max) => {
                format!("its PARAMETERS are longer than {max} bytes; send less at once")
            }
            Self::TooDeep(max) => {
                format!("its PARAMETERS are nested deeper than {max} levels")
            }
            Self::CutOff => "the message was cut off before it was complete; \
                write less in one message"
                .to_owned(),
        };
        format!(
            "The call of {tool} could not be parsed and was not run: {problem}.\n\
            Write the call again, in this form:\n\
            TOOL: {name}\n\
            PARAMETERS: {{\"argument\": \"value\"}}\n\
            Put names and strings in double quotes; a quote in a string is \\\", a backslash \\\\, a line break \\n. \
            PARAMETERS: {{}} is for a call without arguments. \
            Calls after this one were not run either.",
        )
    }
}
