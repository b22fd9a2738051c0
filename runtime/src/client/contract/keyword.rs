//! What the keywords of JSON Schema hold, those of all drafts.

/// What the value of a keyword consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A schema, or a list of schemas.
    Schema,
    /// Schemas by names.
    Named,
    /// Texts whose order means nothing.
    Set,
    /// Anything else.
    Plain,
}

/// What the value of a keyword consists of.
pub(super) fn holds(keyword: &str) -> Holds {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "allOf"
        | "anyOf"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "oneOf"
        | "prefixItems"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "$defs" | "definitions" | "dependencies" | "dependentRequired" | "dependentSchemas"
        | "patternProperties" | "properties" => Holds::Named,
        "required" | "type" => Holds::Set,
        _ => Holds::Plain,
    }
}
