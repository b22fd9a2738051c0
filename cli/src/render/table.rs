//! Tables with aligned columns. The last column wraps within the rest of the line, or on separate lines below.

use console::{Alignment, measure_text_width, pad_str};

/// Minimum width of the last column. If less space remains, its text is placed on the lines below.
const MIN_LAST_COLUMN_WIDTH: usize = 24;

/// Maximum width of a column other than the last.
const MAX_COLUMN_WIDTH: usize = 60;
/// Such a column takes at most one in so many parts of the line.
const MAX_COLUMN_SHARE: usize = 3;

/// Indentation of a last column on separate lines.
const WRAPPED_CELL_INDENT: usize = 4;

/// Rows of sanitized cells.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    indent: usize,
}

impl Table {
    pub(crate) fn indented(indent: usize) -> Self {
        Self {
            rows: Vec::new(),
            indent,
        }
    }

    pub(crate) fn push_row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Lays out the table in lines of at most `width` columns.
    pub(crate) fn to_lines(&self, width: Option<usize>) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let max_width = width.map_or(MAX_COLUMN_WIDTH, |width| {
            (width / MAX_COLUMN_SHARE).min(MAX_COLUMN_WIDTH)
        });
        let widths = (0..columns).map(|column| self.column_width(column, max_width));
        let widths: Vec<_> = widths.collect();
        let mut lines = Vec::new();
        for row in &self.rows {
            self.push_lines(&mut lines, row, &widths, width);
        }
        lines
    }

    fn column_width(&self, column: usize, max_width: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| measure_text_width(cell));
        widths
            .filter(|width| *width <= max_width)
            .max()
            .unwrap_or(0)
    }

    fn push_lines(
        &self,
        lines: &mut Vec<String>,
        row: &[String],
        widths: &[usize],
        width: Option<usize>,
    ) {
        let mut line = " ".repeat(self.indent);
        let Some((last, cells)) = row.split_last() else {
            return;
        };
        for (cell, width) in cells.iter().zip(widths).filter(|(_, width)| **width > 0) {
            line.push_str(&pad_str(cell, *width, Alignment::Left, None));
            line.push_str("  ");
        }
        let start = measure_text_width(&line);
        let room = width.map(|width| width.saturating_sub(start));
        if room.is_some_and(|room| room < MIN_LAST_COLUMN_WIDTH && measure_text_width(last) > room)
        {
            lines.push(line.trim_end().to_owned());
            let start = self.indent + WRAPPED_CELL_INDENT;
            let room = width.map(|width| width.saturating_sub(start).max(MIN_LAST_COLUMN_WIDTH));
            let below = wrap_words(last, room).into_iter();
            lines.extend(below.map(|rest| format!("{}{rest}", " ".repeat(start))));
            return;
        }
        let mut wrapped = wrap_words(last, room).into_iter();
        line.push_str(&wrapped.next().unwrap_or_default());
        lines.push(line.trim_end().to_owned());
        lines.extend(wrapped.map(|rest| format!("{}{rest}", " ".repeat(start))));
    }
}

/// Wraps text between words into lines of at most `room` columns. A longer word is placed on its own line.
pub(super) fn wrap_words(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else {
        return vec![text.to_owned()];
    };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let wide = measure_text_width(word);
        let line = lines.last_mut();
        match line {
            Some(line) if used > 0 && used + 1 + wide <= room => {
                line.push(' ');
                line.push_str(word);
                used += 1 + wide;
            }
            Some(line) if used == 0 => {
                line.push_str(word);
                used = wide;
            }
            _ => {
                lines.push(word.to_owned());
                used = wide;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_display_width() {
        let mut table = Table::indented(2);
        table.push_row([
            "漢字".into(),
            "text".into(),
            "one two three four five six".into(),
        ]);
        table.push_row(["a".into(), String::new(), "short".into()]);
        assert_eq!(
            table.to_lines(Some(41)),
            [
                "  漢字  text  one two three four five six",
                "  a           short",
            ]
        );
        assert_eq!(
            table.to_lines(Some(30)),
            [
                "  漢字  text",
                "      one two three four five",
                "      six",
                "  a           short",
            ],
            "the last column is at least 24 wide"
        );
        let mut wide = Table::indented(4);
        let words = "one two three four five six seven eight nine ten eleven twelve";
        wide.push_row([
            "a".repeat(26),
            "b".repeat(26),
            "required".into(),
            words.into(),
        ]);
        wide.push_row(["a".repeat(40), "b".into(), String::new(), words.into()]);
        for line in wide.to_lines(Some(80)) {
            assert!(measure_text_width(&line) <= 80, "{line}");
            assert!(line.split_whitespace().any(|word| word.len() > 2), "{line}");
        }
        assert_eq!(
            table.to_lines(None)[0],
            "  漢字  text  one two three four five six"
        );
    }
}
