//! Quick validation of arguments against flat schemas.
//!
//! Most tools have a few arguments of simple types. [`FlatSchema`] accepts valid arguments from their text, without building a
//! value. It never rejects: whatever it does not accept is validated in full, which also finds the reasons.

use serde_json::{Map, Value};
use treenail_schema::internal::Places;
use treenail_schema::internal::wire::{Members, has_private_key, is_private_key};

/// Maximum number of properties: one bit each.
const MAX_PROPERTIES: usize = 64;

/// Maximum number of characters of an integer that is compared as an `i64`.
const MAX_DIGITS: usize = 18;

/// Keywords of the object that this module implements, or that do not constrain it.
const OBJECT_KEYWORDS: [&str; 6] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
];

/// Keywords of a property that do not constrain it.
const ANNOTATIONS: [&str; 5] = [
    "title",
    "description",
    "default",
    "examples",
    "x-mcp-header",
];

/// Schema of an object whose properties have simple types.
#[derive(Debug)]
pub struct FlatSchema {
    properties: Vec<Property>,
    /// Bits of the required properties.
    required: u64,
    /// Set if other properties are allowed.
    open: bool,
}

#[derive(Debug)]
struct Property {
    name: String,
    /// The name in quotes and a colon, as compact JSON has them. `None` for a name with escapes.
    key: Option<String>,
    /// `None` if its schema is not a simple one.
    kind: Option<Kind>,
}

/// Type of a property, with inclusive bounds.
#[derive(Debug, PartialEq)]
enum Kind {
    Boolean,
    Number,
    Integer(i64, i64),
    /// String with a number of characters.
    Text(usize, usize),
    /// One of these strings, in quotes.
    Choice(Vec<String>),
}

impl FlatSchema {
    /// Analyses a schema. Returns `None` if it is not flat.
    pub fn new(schema: &Map<String, Value>) -> Option<Self> {
        let is_known = |keyword: &String| OBJECT_KEYWORDS.contains(&&**keyword);
        let kind = schema.get("type").and_then(Value::as_str);
        if kind != Some("object") || !schema.keys().all(is_known) {
            return None;
        }
        let open = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => return None,
        };
        let none = Map::new();
        let properties = schema
            .get("properties")
            .map_or(Some(&none), Value::as_object)?;
        let property = |(name, schema): (&String, &Value)| Property {
            name: name.clone(),
            key: compact_key(name),
            kind: schema.as_object().and_then(Kind::of),
        };
        let properties: Vec<_> = properties.iter().map(property).collect();
        let mut required = 0;
        let names = schema
            .get("required")
            .map_or(Some(&[][..]), |names| names.as_array().map(Vec::as_slice))?;
        for name in names {
            let at = properties.iter().position(|it| *name == *it.name)?;
            required |= 1_u64.checked_shl(u32::try_from(at).ok()?)?;
        }
        let is_usable = properties.len() <= MAX_PROPERTIES
            && !properties.iter().any(|it| is_private_key(&it.name));
        is_usable.then_some(Self {
            properties,
            required,
            open,
        })
    }

    /// Returns the places of the members if the object is certainly valid.
    pub fn accepts(&self, object: &str) -> Option<Places> {
        let mut members = Members::new(object).ok()?;
        let (mut seen, mut next, mut places) = (0_u64, 0, Places::new(object));
        loop {
            // Most callers give the arguments in the order of the schema, and as compact JSON.
            let property = self.properties.get(next);
            let key = property.and_then(|property| property.key.as_deref());
            if let Some(key) = key.filter(|key| members.skip_key(key)) {
                let value = property?.read(&mut members)?;
                places.add_compact(object, key.len(), value);
            } else {
                match self.other(&mut members, object, &mut places)? {
                    Other::Property(index) => next = index,
                    Other::Unknown => continue,
                    Other::End => break,
                }
            }
            if seen & (1 << next) != 0 {
                return None;
            }
            seen |= 1 << next;
            next += 1;
        }
        (seen & self.required == self.required).then_some(places)
    }

    /// Reads a member in any place and any form. Returns `None` if it is not accepted.
    #[inline(never)]
    fn other(&self, members: &mut Members<'_>, object: &str, places: &mut Places) -> Option<Other> {
        let Some((key, value)) = members.next().ok()? else {
            return Some(Other::End);
        };
        places.add(object, &key, value);
        let Some(at) = self.properties.iter().position(|it| it.name == *key) else {
            let accepts = self.open && !is_private_key(&key) && !has_private_key(value);
            return accepts.then_some(Other::Unknown);
        };
        let kind = self.properties[at].kind.as_ref()?;
        kind.accepts(value).then_some(Other::Property(at))
    }
}

/// A member that is not the next one in the order of the schema, or not compact JSON.
enum Other {
    /// Index of its property, whose type the value has.
    Property(usize),
    Unknown,
    End,
}

impl Property {
    /// Reads the value after the key. Returns `None` if it is not certainly valid.
    #[inline]
    fn read<'a>(&self, members: &mut Members<'a>) -> Option<&'a str> {
        let kind = self.kind.as_ref()?;
        if *kind == Kind::ANY_INTEGER {
            let value = members.integer()?;
            return (value.len() <= MAX_DIGITS).then_some(value);
        }
        let value = members.value().ok()?;
        kind.accepts(value).then_some(value)
    }
}

/// Returns a name in quotes and a colon, unless it has characters that JSON can escape.
fn compact_key(name: &str) -> Option<String> {
    let key = format!("{}:", Value::from(name));
    (!key.contains('\\')).then_some(key)
}

impl Kind {
    const ANY_INTEGER: Self = Self::Integer(i64::MIN, i64::MAX);

    fn of(schema: &Map<String, Value>) -> Option<Self> {
        let (mut low, mut high, mut choices) = (None, None, None);
        let kind = schema.get("type")?.as_str()?;
        for (keyword, value) in schema {
            match (kind, &**keyword) {
                (_, "type") => {}
                (_, annotation) if ANNOTATIONS.contains(&annotation) => {}
                ("integer", "minimum") | ("string", "minLength") => low = Some(value.as_i64()?),
                ("integer", "maximum") | ("string", "maxLength") => high = Some(value.as_i64()?),
                ("string", "enum") => choices = Some(quoted_choices(value)?),
                _ => return None,
            }
        }
        Some(match kind {
            "boolean" => Self::Boolean,
            "number" => Self::Number,
            "integer" => Self::Integer(low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX)),
            "string" if choices.is_some() && low.is_none() && high.is_none() => {
                Self::Choice(choices?)
            }
            "string" if choices.is_none() => {
                let high = high.map_or(Ok(usize::MAX), usize::try_from).ok()?;
                Self::Text(usize::try_from(low.unwrap_or(0)).ok()?, high)
            }
            _ => return None,
        })
    }

    /// Returns `true` if a value, given as valid JSON, is certainly valid.
    fn accepts(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Self::Boolean => text == "true" || text == "false",
            Self::Number => bytes
                .first()
                .is_some_and(|it| *it == b'-' || it.is_ascii_digit()),
            // An exponent or a fraction is validated in full.
            Self::Integer(i64::MIN, i64::MAX) => {
                let is_digit = |byte: &u8| matches!(byte, b'-' | b'0'..=b'9');
                text.len() <= MAX_DIGITS && bytes.iter().all(is_digit)
            }
            Self::Integer(low, high) => {
                text.len() <= MAX_DIGITS
                    && text
                        .parse()
                        .is_ok_and(|number: i64| (*low..=*high).contains(&number))
            }
            Self::Text(0, usize::MAX) => bytes.first() == Some(&b'"'),
            Self::Text(low, high) => {
                let inner = text
                    .strip_prefix('"')
                    .and_then(|text| text.strip_suffix('"'));
                inner
                    .filter(|inner| !inner.contains('\\'))
                    .is_some_and(|inner| (*low..=*high).contains(&inner.chars().count()))
            }
            Self::Choice(choices) => choices.iter().any(|choice| choice == text),
        }
    }
}

/// Returns the strings of an `enum` in quotes.
fn quoted_choices(choices: &Value) -> Option<Vec<String>> {
    let choices = choices.as_array()?.iter();
    choices
        .map(|choice| choice.is_string().then(|| choice.to_string()))
        .collect()
}

#[cfg(test)]
mod tests;
