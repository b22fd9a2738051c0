//! Several texts in one value, with at most one allocation.

/// A number of texts in one allocation, or in none if all are empty.
#[derive(Debug)]
pub struct PackedTexts<const N: usize> {
    text: String,
    /// End of each text.
    ends: [usize; N],
}

impl<const N: usize> PackedTexts<N> {
    /// Copies the texts.
    #[inline]
    pub fn new(texts: [&str; N]) -> Self {
        let mut text = String::with_capacity(texts.iter().map(|text| text.len()).sum());
        let mut ends = [0; N];
        if text.capacity() > 0 {
            for (end, part) in ends.iter_mut().zip(texts) {
                text.push_str(part);
                *end = text.len();
            }
        }
        Self { text, ends }
    }

    /// Returns the text with this index.
    pub fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[index]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_returned_as_it_was() {
        let long = "é".repeat(100);
        for texts in [
            ["", "", ""],
            ["a", "", "é"],
            ["", "b\"c", ""],
            [&long, "a", ""],
            ["", "", &long],
        ] {
            let packed = PackedTexts::new(texts);
            let found = [packed.get(0), packed.get(1), packed.get(2)];
            assert_eq!(found, texts);
        }
    }
}
