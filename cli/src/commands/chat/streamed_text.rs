//! Sanitizing and writing of text that is streamed in pieces.

use crate::exit::Failure;
use crate::render::sanitize_text;
use crate::terminal::Terminal;

/// Text of one answer.
#[derive(Debug, Default)]
pub(super) struct StreamedText {
    /// The last piece ended with a carriage return, which may be followed by a line feed.
    ends_with_return: bool,
    /// The last written line has not ended.
    is_open: bool,
}

impl StreamedText {
    /// Writes a piece.
    pub(super) fn write(&mut self, terminal: &Terminal, piece: &str) -> Result<(), Failure> {
        let text = self.sanitize_piece(piece);
        if let Some(last) = text.chars().last() {
            self.is_open = last != '\n';
            terminal.write_bytes(text.as_bytes())?;
        }
        Ok(())
    }

    /// Ends the line, if one is open.
    pub(super) fn end_line(&mut self, terminal: &Terminal) -> Result<(), Failure> {
        self.ends_with_return = false;
        if std::mem::take(&mut self.is_open) {
            terminal.write_bytes(b"\n")?;
        }
        Ok(())
    }

    fn sanitize_piece(&mut self, piece: &str) -> String {
        let before = if std::mem::take(&mut self.ends_with_return) {
            "\r"
        } else {
            ""
        };
        let whole = format!("{before}{piece}");
        match whole.strip_suffix('\r') {
            Some(rest) => {
                self.ends_with_return = true;
                sanitize_text(rest)
            }
            None => sanitize_text(&whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_sanitized_like_the_whole_text() {
        let cases: [(&[&str], &str); 4] = [
            (&["a\r", "\nb"], "a\nb"),
            (&["a\r", "b"], "a␍b"),
            (&["\u{1b}", "[2J"], "␛[2J"),
            (&["a\r", "", "\n"], "a\n"),
        ];
        for (pieces, expected) in cases {
            let mut streamed = StreamedText::default();
            let written: String = pieces
                .iter()
                .map(|piece| streamed.sanitize_piece(piece))
                .collect();
            assert_eq!(written, expected, "{pieces:?}");
        }
    }
}
