//! Streamed arguments of a tool call.

/// Text of the arguments so far, which is scanned once to know where it ends.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    text: String,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl Arguments {
    /// Adds a piece.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        for byte in piece.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Returns true if the braces of an object are closed, so that no other object can be a part of it.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete && self.depth == 0 && !self.in_string
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_complete_after_its_last_brace() {
        for (pieces, expected) in [
            (&[""][..], false),
            (&["{}"], true),
            (&["{\"x\":", "{}"], false),
            (&["{\"x\":", "{}", "} "], true),
            (&["{\"x\":\"}"], false),
            (&["{\"x\":\"\\", "\"}"], false),
            (&["{\"x\":\"\\", "\"}\"", "}"], true),
            (&["{}", "{"], false),
        ] {
            let mut arguments = Arguments::default();
            for piece in pieces {
                arguments.push(piece);
            }
            assert_eq!(arguments.is_complete(), expected, "{pieces:?}");
            assert_eq!(arguments.as_str(), pieces.concat());
        }
    }
}
