//! Single-choice and multiple-choice fields.

use std::error::Error;

use treenail_schema::{
    ElicitValue, EnumOption, PrimitiveSchemaDefinition, TitledEnumItems,
    TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema, UntitledEnumItems,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};

use crate::form::field::FormField;

type ReadResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A type whose values are a fixed set of named choices.
///
/// `#[mcp_form]` implements it for an enum without data.
pub trait FormChoice: Sized + Send + 'static {
    /// Names of all values, each with its display title where that differs from the name.
    const CHOICES: &'static [(&'static str, Option<&'static str>)];

    /// Returns the value with this name.
    fn pick(name: &str) -> Option<Self>;

    /// Returns the name of this value.
    fn name(&self) -> &'static str;
}

#[diagnostic::do_not_recommend]
impl<T: FormChoice> FormField for T {
    fn schema() -> PrimitiveSchemaDefinition {
        match options::<T>() {
            Some(titled) => TitledSingleSelectEnumSchema::new(titled).into(),
            None => UntitledSingleSelectEnumSchema::new(names::<T>()).into(),
        }
    }

    fn read(value: ElicitValue) -> ReadResult<Self> {
        match value {
            ElicitValue::String(name) => pick(&name),
            _ => Err("expected one choice".into()),
        }
    }

    fn write(&self) -> Option<ElicitValue> {
        Some(self.name().into())
    }
}

#[diagnostic::do_not_recommend]
impl<T: FormChoice> FormField for Vec<T> {
    fn schema() -> PrimitiveSchemaDefinition {
        match options::<T>() {
            Some(titled) => TitledMultiSelectEnumSchema::new(TitledEnumItems::new(titled)).into(),
            None => UntitledMultiSelectEnumSchema::new(UntitledEnumItems::new(names::<T>())).into(),
        }
    }

    fn read(value: ElicitValue) -> ReadResult<Self> {
        match value {
            ElicitValue::Strings(names) => names.iter().map(|name| pick(name)).collect(),
            _ => Err("expected a list of choices".into()),
        }
    }

    fn write(&self) -> Option<ElicitValue> {
        let names = self.iter().map(|choice| choice.name().to_owned());
        Some(names.collect::<Vec<_>>().into())
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

fn pick<T: FormChoice>(name: &str) -> ReadResult<T> {
    T::pick(name).ok_or_else(|| "not one of the choices".into())
}

/// Names and titles of all choices, if any choice has a title.
fn options<T: FormChoice>() -> Option<Vec<EnumOption>> {
    let titled = T::CHOICES.iter().any(|(_, title)| title.is_some());
    let option = |(name, title): &(&'static str, Option<&'static str>)| {
        EnumOption::new(*name, title.unwrap_or(name))
    };
    titled.then(|| T::CHOICES.iter().map(option).collect())
}

fn names<T: FormChoice>() -> Vec<String> {
    let names = T::CHOICES.iter().map(|(name, _)| (*name).to_owned());
    names.collect()
}
