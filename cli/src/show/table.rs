//! Tables: columns as wide as what stands in them, and a last one that takes the rest of the line, or lines of its own.

use console::{Alignment, measure_text_width, pad_str};

/// The narrowest last column; where there is no room for it, it has the lines below.
const NARROWEST: usize = 24;

/// The widest column that is not the last one, and its share of a line.
const WIDEST: usize = 60;
const SHARE: usize = 3;

/// Spaces before a last column that has lines of its own.
const BELOW: usize = 4;

/// Rows of cells that have been cleaned.
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

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// The lines of the table, no longer than `width` if there is one.
    pub(crate) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = width.map_or(WIDEST, |width| (width / SHARE).min(WIDEST));
        let widths = (0..columns).map(|column| self.width_of(column, widest));
        let widths: Vec<_> = widths.collect();
        let mut lines = Vec::new();
        for row in &self.rows {
            self.push_row(&mut lines, row, &widths, width);
        }
        lines
    }

    fn width_of(&self, column: usize, widest: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| measure_text_width(cell));
        widths.filter(|width| *width <= widest).max().unwrap_or(0)
    }

    fn push_row(
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
        if room.is_some_and(|room| room < NARROWEST && measure_text_width(last) > room) {
            lines.push(line.trim_end().to_owned());
            let start = self.indent + BELOW;
            let room = width.map(|width| width.saturating_sub(start).max(NARROWEST));
            let below = wrap(last, room).into_iter();
            lines.extend(below.map(|rest| format!("{}{rest}", " ".repeat(start))));
            return;
        }
        let mut wrapped = wrap(last, room).into_iter();
        line.push_str(&wrapped.next().unwrap_or_default());
        lines.push(line.trim_end().to_owned());
        lines.extend(wrapped.map(|rest| format!("{}{rest}", " ".repeat(start))));
    }
}

/// The text in lines no wider than `room`, broken between words; a longer word has a line of its own.
pub(super) fn wrap(text: &str, room: Option<usize>) -> Vec<String> {
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
    fn columns_are_aligned_by_what_is_seen() {
        let mut table = Table::indented(2);
        table.row([
            "漢字".into(),
            "text".into(),
            "one two three four five six".into(),
        ]);
        table.row(["a".into(), String::new(), "short".into()]);
        assert_eq!(
            table.lines(Some(41)),
            [
                "  漢字  text  one two three four five six",
                "  a           short",
            ]
        );
        assert_eq!(
            table.lines(Some(30)),
            [
                "  漢字  text",
                "      one two three four five",
                "      six",
                "  a           short",
            ],
            "the last column never gets narrower than 24"
        );
        let mut wide = Table::indented(4);
        let words = "one two three four five six seven eight nine ten eleven twelve";
        wide.row([
            "a".repeat(26),
            "b".repeat(26),
            "required".into(),
            words.into(),
        ]);
        wide.row(["a".repeat(40), "b".into(), String::new(), words.into()]);
        for line in wide.lines(Some(80)) {
            assert!(measure_text_width(&line) <= 80, "{line}");
            assert!(line.split_whitespace().any(|word| word.len() > 2), "{line}");
        }
        assert_eq!(
            table.lines(None)[0],
            "  漢字  text  one two three four five six"
        );
    }
}
