//! Position of a comparison within an entry.

use std::fmt::Write;

use treenail_schema::internal::json_schema::push_token;

use crate::compare::schema::Direction;

/// Position in both schemas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position<'p> {
    pub(super) direction: Direction,
    pub(super) path: Path<'p>,
    pub(super) depth: u32,
}

impl<'p> Position<'p> {
    /// Returns the position one level deeper.
    pub(super) fn descend(self, path: Path<'p>) -> Self {
        Self {
            path,
            depth: self.depth + 1,
            ..self
        }
    }

    pub(super) fn in_direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }
}

/// A JSON Pointer that is rendered on demand, because most positions have no difference to report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    /// A pointer of any number of steps.
    Pointer(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) fn root(pointer: &'p str) -> Self {
        Self {
            parent: None,
            step: Step::Pointer(pointer),
        }
    }

    pub(super) fn pointer(&'p self, pointer: &'p str) -> Self {
        self.child(Step::Pointer(pointer))
    }

    pub(super) fn key(&'p self, name: &'p str) -> Self {
        self.child(Step::Key(name))
    }

    pub(super) fn index(&'p self, index: usize) -> Self {
        self.child(Step::Index(index))
    }

    fn child(&'p self, step: Step<'p>) -> Self {
        Self {
            parent: Some(self),
            step,
        }
    }

    /// Renders the pointer, truncated to little more than `max` bytes.
    pub(super) fn render(&self, max: usize) -> String {
        let mut steps = vec![self.step];
        let mut path = self.parent;
        while let Some(parent) = path {
            steps.push(parent.step);
            path = parent.parent;
        }
        let mut rendered = String::new();
        for step in steps.iter().rev() {
            if rendered.len() > max {
                break;
            }
            match step {
                Step::Pointer(pointer) => rendered.extend(pointer.chars().take(max)),
                Step::Index(index) => {
                    write!(rendered, "/{index}").expect("writing to a string does not fail");
                }
                Step::Key(name) => {
                    let end = name.char_indices().nth(max);
                    let end = end.map_or(name.len(), |(end, _)| end);
                    push_token(&mut rendered, &name[..end]);
                }
            }
        }
        rendered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped_and_truncated() {
        let root = Path::root("/inputSchema");
        let properties = root.key("properties");
        let property = properties.key("a/b~c");
        let item = property.index(3);
        assert_eq!(item.render(100), "/inputSchema/properties/a~1b~0c/3");
        let long = "x".repeat(1_000);
        let path = item.key(&long);
        assert!(path.render(100).len() < 210);
    }
}
