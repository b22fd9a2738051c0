//! Names of the tables.

/// Longest name of the table in bytes. PostgreSQL has 63, of which other names need a part.
const TABLE_BYTES: usize = 48;
/// Longest name of a schema in bytes.
const SCHEMA_BYTES: usize = 63;

/// Names of the objects of a store, quoted.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// Schema in quotes with a dot, or nothing.
    schema: String,
    table: String,
}

impl Names {
    /// Reads the name of a table, optionally after that of a schema and a dot. Returns `None` if it is not valid.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (schema, table) = match name.split_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, name),
        };
        let schema = match schema {
            Some(schema) if is_name(schema, SCHEMA_BYTES) => format!("\"{schema}\"."),
            Some(_) => return None,
            None => String::new(),
        };
        is_name(table, TABLE_BYTES).then(|| Self {
            schema,
            table: table.to_owned(),
        })
    }

    /// Table of the tasks.
    pub(super) fn table(&self) -> String {
        self.qualified("")
    }

    /// Table of the number and size of the tasks of owners.
    pub(super) fn usage(&self) -> String {
        self.qualified("_usage")
    }

    /// Table of one row, the version of the tables.
    pub(super) fn format(&self) -> String {
        self.qualified("_format")
    }

    /// Function of the triggers.
    pub(super) fn count(&self) -> String {
        self.qualified("_count")
    }

    /// Name of an index or a trigger, which is in the schema of its table.
    pub(super) fn unqualified(&self, suffix: &str) -> String {
        format!("\"{}{suffix}\"", self.table)
    }

    fn qualified(&self, suffix: &str) -> String {
        format!("{}{}", self.schema, self.unqualified(suffix))
    }
}

fn is_name(name: &str, max_bytes: usize) -> bool {
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.len() <= max_bytes
        && name.bytes().next().is_some_and(is_first)
        && name
            .bytes()
            .all(|byte| is_first(byte) || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_identifiers() {
        let names = Names::parse("app_1.hotel_tasks").unwrap();
        assert_eq!(names.table(), "\"app_1\".\"hotel_tasks\"");
        assert_eq!(names.usage(), "\"app_1\".\"hotel_tasks_usage\"");
        assert_eq!(names.unqualified("_wake"), "\"hotel_tasks_wake\"");
        assert!(Names::parse(&"t".repeat(48)).is_some());
        let long = "t".repeat(49);
        for name in [
            "", ".", "a.", ".a", "a.b.c", "1a", "A", "a-b", "a\"b", "a'b", "a b", "ä", "a;", &long,
        ] {
            assert!(Names::parse(name).is_none(), "{name}");
        }
    }
}
