//! Where in an entry a schema is.

use std::fmt::Write;

/// A JSON Pointer that is written only when it is needed: most places have nothing to tell of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p> {
    before: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    /// A pointer already.
    Pointer(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) fn whole(pointer: &'p str) -> Self {
        Self {
            before: None,
            step: Step::Pointer(pointer),
        }
    }

    pub(super) fn pointer(&'p self, pointer: &'p str) -> Self {
        self.then(Step::Pointer(pointer))
    }

    pub(super) fn key(&'p self, name: &'p str) -> Self {
        self.then(Step::Key(name))
    }

    pub(super) fn index(&'p self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(&'p self, step: Step<'p>) -> Self {
        Self {
            before: Some(self),
            step,
        }
    }

    /// The pointer, or not much more than its first `most` bytes.
    pub(super) fn written(&self, most: usize) -> String {
        let mut steps = vec![self.step];
        let mut path = self.before;
        while let Some(before) = path {
            steps.push(before.step);
            path = before.before;
        }
        let mut written = String::new();
        for step in steps.iter().rev() {
            if written.len() > most {
                break;
            }
            match step {
                Step::Pointer(pointer) => written.extend(pointer.chars().take(most)),
                Step::Index(index) => {
                    write!(written, "/{index}").expect("a string takes everything");
                }
                Step::Key(name) => push_key(&mut written, name, most),
            }
        }
        written
    }
}

fn push_key(written: &mut String, name: &str, most: usize) {
    written.push('/');
    for character in name.chars().take(most) {
        match character {
            '~' => written.push_str("~0"),
            '/' => written.push_str("~1"),
            other => written.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped_and_bounded() {
        let whole = Path::whole("/inputSchema");
        let properties = whole.key("properties");
        let property = properties.key("a/b~c");
        let item = property.index(3);
        assert_eq!(item.written(100), "/inputSchema/properties/a~1b~0c/3");
        let long = "x".repeat(1_000);
        let path = item.key(&long);
        assert!(path.written(100).len() < 210);
    }
}
