//! Places in a schema: the nesting depth, and the size of the path.

use serde_json::Value;

use crate::keyword::Keyword;

/// Place of a value in a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Number of subschemas around it.
    pub(crate) depth: u32,
    /// Bytes of the path to it, as a compiled schema stores it: as a JSON Pointer, and as a URI if the schema has an `$id`.
    pub(crate) path_bytes: usize,
    has_uri: bool,
}

impl Place {
    pub(crate) fn of_root(schema: &Value) -> Self {
        let mut ids = ["$id", "id"]
            .iter()
            .filter_map(|id| schema.get(id)?.as_str());
        let id = ids.next();
        Self {
            depth: 0,
            path_bytes: id.map_or(0, str::len),
            has_uri: id.is_some(),
        }
    }

    /// Returns the place of a member.
    pub(crate) fn member(self, name: &str) -> Self {
        let pointer: usize = name.bytes().map(pointer_bytes).sum();
        let uri: usize = if self.has_uri {
            1 + name.bytes().map(uri_bytes).sum::<usize>()
        } else {
            0
        };
        Self {
            path_bytes: self.path_bytes + 1 + pointer + uri,
            ..self
        }
    }

    /// Returns the place of an item of a list.
    pub(crate) fn item(self, index: usize) -> Self {
        let digits = index.checked_ilog10().unwrap_or(0) as usize + 1;
        let copies = if self.has_uri { 2 } else { 1 };
        Self {
            path_bytes: self.path_bytes + copies * (1 + digits),
            ..self
        }
    }

    /// Returns the same place, inside of another subschema.
    pub(crate) fn inside(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

/// Size of the paths in a compiled schema, within a limit.
pub(crate) struct PathBudget {
    max_bytes: usize,
    bytes: usize,
}

impl PathBudget {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: 0,
        }
    }

    /// Counts paths of one size. The error is the reason for rejecting the schema.
    pub(crate) fn charge(&mut self, count: usize, path_bytes: usize) -> Result<(), String> {
        let max_bytes = self.max_bytes;
        self.bytes = self.bytes.saturating_add(count.saturating_mul(path_bytes));
        if self.bytes <= max_bytes {
            return Ok(());
        }
        Err(format!(
            "the paths to its subschemas and keywords are longer than {max_bytes} bytes together"
        ))
    }
}

/// Returns the number of paths that a compiled keyword stores, besides those of its subschemas: one, and one for each
/// member that only has names.
pub(crate) fn count_paths(keyword: Keyword, value: &Value) -> usize {
    let members = match (keyword, value) {
        (Keyword::Required | Keyword::Named(_), Value::Object(members)) => {
            members.values().filter(|member| member.is_array()).count()
        }
        _ => 0,
    };
    1 + members
}

/// Returns the size of a byte in a JSON Pointer, where two characters are escaped.
fn pointer_bytes(byte: u8) -> usize {
    if matches!(byte, b'~' | b'/') { 2 } else { 1 }
}

/// Returns the maximum size of a byte of a JSON Pointer in a URI.
fn uri_bytes(byte: u8) -> usize {
    if byte.is_ascii_alphanumeric() || b"-._$".contains(&byte) {
        1
    } else {
        3
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{CompiledSchema, ValidationLimits};

    fn compile(schema: &Value) -> Result<CompiledSchema, String> {
        let schema = schema.as_object().unwrap().clone().into();
        CompiledSchema::new(&schema, &ValidationLimits::default())
    }

    /// Properties, each with the same schema.
    fn properties(count: usize, schema: &Value) -> Value {
        let properties = (0..count).map(|at| (format!("{at:x}"), schema.clone()));
        json!({"properties": properties.collect::<serde_json::Map<_, _>>()})
    }

    #[test]
    fn a_long_name_counts_for_everything_below_it() {
        let name = "n".repeat(100 << 10);
        let below = |schema: &Value| json!({"properties": {&name: schema}});
        let null = json!({"type": "null"});
        let names: serde_json::Map<_, _> =
            (0..2_000).map(|at| (at.to_string(), json!([]))).collect();
        let anchored = json!({"$anchor": "a", "type": "null"});
        let id = format!("https://example.com/{name}");
        let to_anchor = json!({
            "$id": "https://example.com/", "properties": {&name: anchored},
            "allOf": vec![json!({"$ref": "#a"}); 2_000],
        });
        let pointer = format!("#/unknown/{name}");
        let to_unknown = json!({"unknown": {&name: properties(2_000, &null)}, "$ref": pointer});
        let mut with_id = properties(2_000, &null);
        with_id["$id"] = id.into();
        for (schema, why) in [
            (below(&properties(5_400, &null)), "properties"),
            (below(&json!({"anyOf": vec![null; 2_000]})), "choices"),
            (
                below(&json!({"dependentRequired": names})),
                "names of required members",
            ),
            (to_anchor, "references to an anchor"),
            (to_unknown, "the target of a reference"),
            (with_id, "an id"),
        ] {
            assert!(schema.to_string().len() < 256 << 10, "{why}");
            let error = compile(&schema).unwrap_err();
            assert!(
                error.contains("longer than 8388608 bytes"),
                "{why}: {error}"
            );
        }
    }

    #[test]
    fn ordinary_large_schemas_are_compiled() {
        let field = json!({"type": "string", "minLength": 1, "maxLength": 80, "pattern": "^a"});
        let list =
            json!({"type": "array", "items": {"type": "object", "additionalProperties": field}});
        let mut wide = properties(900, &list);
        wide["$id"] = "https://example.com/schemas/large.json".into();
        let deep = (0..60).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "object", "properties": {"child": inner}}),
        );
        for schema in [wide, deep] {
            compile(&schema).unwrap();
        }
    }
}
