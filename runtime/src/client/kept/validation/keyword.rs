//! What the keywords of a schema have in them, in all dialects together.

/// What a keyword applies its subschemas to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// The same value.
    Same,
    /// Any member of an object.
    Members,
    /// The names of members.
    Names,
    /// Any item of a list.
    Items,
    /// Nothing, until there is a reference to it.
    Later,
}

/// What a keyword has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// A subschema, or a list of them.
    Schemas(Applied),
    /// Subschemas by name.
    Named(Applied),
    /// Subschemas by the name of the member that each is for.
    Properties,
    /// Subschemas by a pattern for the names of members.
    PatternProperties,
    /// A pattern for texts.
    Pattern,
    /// A look at the whole of a text, which takes so many times the steps of reading it.
    Text(u64),
    /// Names of members that an object has to have, or lists of them by the names of others.
    Required,
    /// All items of a list, compared with each other.
    Unique,
    /// Where another subschema is.
    Reference,
    /// Another name for this subschema.
    Anchor,
    /// What references are relative to.
    Id,
    /// What a value is compared with.
    Values,
    /// The dialect.
    Dialect,
    /// Nothing that takes work.
    Other,
}

impl Keyword {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "contentSchema" => {
                Self::Schemas(Applied::Same)
            }
            "additionalProperties" | "unevaluatedProperties" => Self::Schemas(Applied::Members),
            "propertyNames" => Self::Schemas(Applied::Names),
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => {
                Self::Schemas(Applied::Items)
            }
            "dependentSchemas" | "dependencies" => Self::Named(Applied::Same),
            "$defs" | "definitions" => Self::Named(Applied::Later),
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
