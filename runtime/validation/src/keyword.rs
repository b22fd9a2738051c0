//! Contents of the keywords of a schema, for all dialects together.

/// Location that a keyword applies its subschemas to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppliesTo {
    /// The same value.
    SameValue,
    /// Any member of an object.
    Members,
    /// The names of members.
    Names,
    /// Any item of a list.
    Items,
    /// None, except through a reference.
    ReferencesOnly,
}

/// Content of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    /// A subschema, or a list of them.
    Schemas(AppliesTo),
    /// Subschemas by name.
    Named(AppliesTo),
    /// Subschemas by the name of the member that each is for.
    Properties,
    /// Subschemas by a pattern for the names of members.
    PatternProperties,
    /// A pattern for strings.
    Pattern,
    /// A check of a whole string, which costs this many times the steps of reading it.
    Text(u64),
    /// Names of required members, or lists of them by the name of another member.
    Required,
    /// Comparison of all items of a list with each other.
    Unique,
    /// A reference to another subschema.
    Reference,
    /// An anchor: another name for this subschema.
    Anchor,
    /// The base URI of references.
    Id,
    /// Values for comparison.
    Values,
    /// The dialect.
    Dialect,
    /// A keyword that takes no work.
    Other,
}

impl Keyword {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "contentSchema" => {
                Self::Schemas(AppliesTo::SameValue)
            }
            "additionalProperties" | "unevaluatedProperties" => Self::Schemas(AppliesTo::Members),
            "propertyNames" => Self::Schemas(AppliesTo::Names),
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => {
                Self::Schemas(AppliesTo::Items)
            }
            "dependentSchemas" | "dependencies" => Self::Named(AppliesTo::SameValue),
            "$defs" | "definitions" => Self::Named(AppliesTo::ReferencesOnly),
            "properties" => Self::Properties,
            "patternProperties" => Self::PatternProperties,
            "pattern" => Self::Pattern,
            "minLength" | "maxLength" | "format" | "contentEncoding" => Self::Text(1),
            "contentMediaType" => Self::Text(4),
            "required" | "dependentRequired" => Self::Required,
            "uniqueItems" => Self::Unique,
            "$ref" | "$dynamicRef" | "$recursiveRef" => Self::Reference,
            "$anchor" | "$dynamicAnchor" => Self::Anchor,
            "$id" | "id" => Self::Id,
            "const" | "enum" => Self::Values,
            "$schema" => Self::Dialect,
            _ => Self::Other,
        }
    }
}
