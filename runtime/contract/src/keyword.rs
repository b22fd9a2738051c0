//! Classification of the keywords of JSON Schema, for all drafts.

/// Content of the value of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordValue {
    /// A schema, or a list of schemas.
    Schemas,
    /// An object whose members are schemas.
    SchemaMap,
    /// Strings in any order.
    Set,
    /// Anything else.
    Plain,
}

/// Returns the content of the value of a keyword.
pub(super) fn keyword_value(keyword: &str) -> KeywordValue {
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
        | "unevaluatedProperties" => KeywordValue::Schemas,
        "$defs" | "definitions" | "dependencies" | "dependentRequired" | "dependentSchemas"
        | "patternProperties" | "properties" => KeywordValue::SchemaMap,
        "required" | "type" => KeywordValue::Set,
        _ => KeywordValue::Plain,
    }
}

/// Effect of a keyword on the values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordRole {
    /// Restricts the values, or applies a subschema that may restrict them.
    Constraint,
    /// Identifies a schema, or contains definitions that are referenced.
    Structure,
    /// Information for people and models. Includes unknown keywords.
    Annotation,
}

/// Returns the effect of a keyword on the values that a schema allows.
pub(super) fn keyword_role(keyword: &str) -> KeywordRole {
    match keyword {
        "$anchor" | "$defs" | "$dynamicAnchor" | "$id" | "$recursiveAnchor" | "$schema"
        | "$vocabulary" | "definitions" | "id" => KeywordRole::Structure,
        "$dynamicRef" | "$recursiveRef" | "$ref" | "const" | "contentEncoding"
        | "contentMediaType" | "enum" | "exclusiveMaximum" | "exclusiveMinimum" | "format"
        | "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "maximum"
        | "minContains" | "minItems" | "minLength" | "minProperties" | "minimum" | "multipleOf"
        | "pattern" | "uniqueItems" => KeywordRole::Constraint,
        other if keyword_value(other) == KeywordValue::Plain => KeywordRole::Annotation,
        _ => KeywordRole::Constraint,
    }
}
