//! Field types of other crates: dates, times, URLs and further values that are entered as text.

use std::error::Error;

use serde::Serialize;
use serde::de::DeserializeOwned;
#[cfg(any(feature = "chrono", feature = "jiff", feature = "url"))]
use treenail_schema::StringSchemaFormat as Format;
use treenail_schema::{ElicitValue, PrimitiveSchemaDefinition, StringSchema};

use crate::form::field::FormField;

type ReadResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn read<T: DeserializeOwned>(value: ElicitValue) -> ReadResult<T> {
    let text = String::read(value)?;
    Ok(serde_json::from_value(text.into())?)
}

fn write(value: &impl Serialize) -> Option<ElicitValue> {
    let json = serde_json::to_value(value).ok()?;
    Some(json.as_str()?.into())
}

macro_rules! texts {
    ($($feature:literal $type:ty: $format:expr;)*) => {$(
        #[cfg(feature = $feature)]
        #[diagnostic::do_not_recommend]
        impl FormField for $type {
            fn schema() -> PrimitiveSchemaDefinition {
                let mut schema = StringSchema::new();
                schema.format = $format;
                schema.into()
            }

            fn read(value: ElicitValue) -> ReadResult<Self> {
                read(value)
            }

            fn write(&self) -> Option<ElicitValue> {
                write(self)
            }
        }
    )*};
}

texts! {
    "chrono" chrono::NaiveDate: Some(Format::Date);
    "chrono" chrono::DateTime<chrono::Utc>: Some(Format::DateTime);
    "chrono" chrono::DateTime<chrono::FixedOffset>: Some(Format::DateTime);
    "jiff" jiff::civil::Date: Some(Format::Date);
    "jiff" jiff::Timestamp: Some(Format::DateTime);
    "rust_decimal" rust_decimal::Decimal: None;
    "url" url::Url: Some(Format::Uri);
    "uuid" uuid::Uuid: None;
}
