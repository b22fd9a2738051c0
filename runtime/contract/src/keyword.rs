//! The keywords of JSON Schema, those of all drafts.

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

/// What a keyword does to the values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// It says which values are allowed.
    Constrain,
    /// It says what a schema is called, and holds others that are referred to.
    Mark,
    /// It is for people and models, or not known.
    Tell,
}

/// What a keyword does to the values that a schema allows.
pub(super) fn does(keyword: &str) -> Does {
    match keyword {
        "$anchor" | "$defs" | "$dynamicAnchor" | "$id" | "$recursiveAnchor" | "$schema"
        | "$vocabulary" | "definitions" | "id" => Does::Mark,
        "$dynamicRef" | "$recursiveRef" | "$ref" | "const" | "contentEncoding"
        | "contentMediaType" | "enum" | "exclusiveMaximum" | "exclusiveMinimum" | "format"
        | "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "maximum"
        | "minContains" | "minItems" | "minLength" | "minProperties" | "minimum" | "multipleOf"
        | "pattern" | "uniqueItems" => Does::Constrain,
        other if holds(other) == Holds::Plain => Does::Tell,
        _ => Does::Constrain,
    }
}
