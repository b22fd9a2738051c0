//! What is told to a model of a call that cannot be read.

use crate::agent::text::piece::Piece;
use crate::wire::quoted;

/// Why a call cannot be read.
#[derive(Debug)]
pub(super) enum Malformed {
    /// Text follows where the arguments, which it could have had, would have to be announced.
    MissingParameters,
    /// Something else stands where the object has to begin, or nothing.
    MissingObject(Option<char>),
    /// The object is not one, for this reason.
    InvalidJson(String),
    /// The object has more than so many bytes.
    TooLong(usize),
    /// The object is nested more than so deeply.
    TooDeep(u32),
    /// The message was cut off in the call.
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
                "the line after TOOL: has to begin with PARAMETERS:".to_owned()
            }
            Self::MissingObject(found) => {
                let found = found.map_or("the end of the message".to_owned(), |found| {
                    quoted(&found.to_string())
                });
                format!(
                    "after PARAMETERS: a JSON object has to begin with `{{`, and there is {found}"
                )
            }
            Self::InvalidJson(reason) => format!("its PARAMETERS are no JSON object: {reason}"),
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
            "The call of {tool} cannot be read, and was not run: {problem}.\n\
            Write the call again, in this form:\n\
            TOOL: {name}\n\
            PARAMETERS: {{\"argument\": \"value\"}}\n\
            Names and strings stand in double quotes; a quote in a string is \\\", a backslash \\\\, a line break \\n. \
            PARAMETERS: {{}} is for a call without arguments. \
            Calls that stood after this one were not run either.",
        )
    }
}
