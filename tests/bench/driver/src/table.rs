//! Tables in Markdown, and the numbers in them.

/// Rows of equally many cells, the first of them the head.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self {
            rows: vec![head.iter().map(ToString::to_string).collect()],
        }
    }

    pub(crate) fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    pub(crate) fn print(&self) {
        for (index, row) in self.rows.iter().enumerate() {
            println!("| {} |", row.join(" | "));
            if index == 0 {
                println!("|{}", "---|".repeat(row.len()));
            }
        }
    }
}

/// The middle one of some numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

pub(crate) fn microseconds(seconds: f64) -> String {
    format!("{:.2}", seconds * 1e6)
}

pub(crate) fn ratio(number: f64, base: f64) -> String {
    format!("{:.2}", number / base)
}
