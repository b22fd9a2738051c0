//! Text that comes piece by piece, cleaned and written as it comes.

use crate::exit::Failure;
use crate::screen::Screen;
use crate::show::clean;

/// The text of one answer.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    /// A carriage return is the end of the last piece. It belongs to a line feed that may come next.
    ends_with_return: bool,
    /// The line that was written last has not ended.
    is_open: bool,
}

impl Streamed {
    /// Writes a piece.
    pub(super) fn write(&mut self, screen: &Screen, piece: &str) -> Result<(), Failure> {
        let text = self.cleaned(piece);
        if let Some(last) = text.chars().last() {
            self.is_open = last != '\n';
            screen.write(text.as_bytes())?;
        }
        Ok(())
    }

    /// Ends the line, if one is open.
    pub(super) fn end_line(&mut self, screen: &Screen) -> Result<(), Failure> {
        self.ends_with_return = false;
        if std::mem::take(&mut self.is_open) {
            screen.write(b"\n")?;
        }
        Ok(())
    }

    fn cleaned(&mut self, piece: &str) -> String {
        let before = if std::mem::take(&mut self.ends_with_return) {
            "\r"
        } else {
            ""
        };
        let whole = format!("{before}{piece}");
        match whole.strip_suffix('\r') {
            Some(rest) => {
                self.ends_with_return = true;
                clean(rest)
            }
            None => clean(&whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_clean_as_the_whole() {
        let cases: [(&[&str], &str); 4] = [
            (&["a\r", "\nb"], "a\nb"),
            (&["a\r", "b"], "a␍b"),
            (&["\u{1b}", "[2J"], "␛[2J"),
            (&["a\r", "", "\n"], "a\n"),
        ];
        for (pieces, expected) in cases {
            let mut streamed = Streamed::default();
            let written: String = pieces.iter().map(|piece| streamed.cleaned(piece)).collect();
            assert_eq!(written, expected, "{pieces:?}");
        }
    }
}
