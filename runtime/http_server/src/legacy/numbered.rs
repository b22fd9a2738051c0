//! Values by increasing numbers. There are usually few, for which a vector takes less memory and work than a tree.

/// Values, each with the number under which it was inserted. Numbers are not reused.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    /// In the order of the numbers.
    values: Vec<(u64, T)>,
    last: u64,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            last: 0,
        }
    }
}

impl<T> Numbered<T> {
    /// Inserts a value, and returns its number.
    pub(super) fn insert(&mut self, value: T) -> u64 {
        self.last += 1;
        self.values.push((self.last, value));
        self.last
    }

    pub(super) fn get(&self, number: u64) -> Option<&T> {
        Some(&self.values[self.position(number)?].1)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let position = self.position(number)?;
        Some(&mut self.values[position].1)
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let position = self.position(number)?;
        Some(self.values.remove(position).1)
    }

    /// Removes all values, and returns them in the order of their numbers.
    pub(super) fn take(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.values)
            .into_iter()
            .map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.values.iter().map(|(number, value)| (*number, value))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|(_, value)| value)
    }

    fn position(&self, number: u64) -> Option<usize> {
        let found = self.values.binary_search_by_key(&number, |(one, _)| *one);
        found.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_reused() {
        let mut values = Numbered::default();
        let numbers = ["a", "b", "c"].map(|value| values.insert(value));
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(values.remove(2), Some("b"));
        assert_eq!((values.remove(2), values.get(2)), (None, None));
        assert_eq!(values.remove(3), Some("c"));
        assert_eq!(values.insert("d"), 4);
        let left: Vec<_> = values.iter().collect();
        assert_eq!(left, [(1, &"a"), (4, &"d")]);
        assert_eq!(values.take().collect::<Vec<_>>(), ["a", "d"]);
        assert_eq!(values.insert("e"), 5);
    }
}
