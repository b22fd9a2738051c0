//! Field types for strings, numbers and booleans.

use std::error::Error;

use treenail_schema::{
    BooleanSchema, ElicitValue, Number, NumberSchema, NumberSchemaType, PrimitiveSchemaDefinition,
    StringSchema,
};

use crate::form::content::as_integer;
use crate::form::field::FormField;
use crate::function::bounds::widen;

type ReadResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[diagnostic::do_not_recommend]
impl FormField for String {
    fn schema() -> PrimitiveSchemaDefinition {
        StringSchema::new().into()
    }

    #[inline]
    fn read(value: ElicitValue) -> ReadResult<Self> {
        match value {
            ElicitValue::String(text) => Ok(text),
            _ => Err("expected a string".into()),
        }
    }

    fn write(&self) -> Option<ElicitValue> {
        Some(self.clone().into())
    }
}

#[diagnostic::do_not_recommend]
impl FormField for bool {
    fn schema() -> PrimitiveSchemaDefinition {
        BooleanSchema::new().into()
    }

    #[inline]
    fn read(value: ElicitValue) -> ReadResult<Self> {
        match value {
            ElicitValue::Boolean(flag) => Ok(flag),
            _ => Err("expected true or false".into()),
        }
    }

    fn write(&self) -> Option<ElicitValue> {
        Some((*self).into())
    }
}

macro_rules! integers {
    ($($integer:ty: $minimum:expr, $maximum:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl FormField for $integer {
            fn schema() -> PrimitiveSchemaDefinition {
                let mut schema = NumberSchema::new(NumberSchemaType::Integer);
                schema.minimum = $minimum;
                schema.maximum = $maximum;
                schema.into()
            }

            #[inline]
            fn read(value: ElicitValue) -> ReadResult<Self> {
                let number = match &value {
                    ElicitValue::Number(number) => as_integer(number),
                    _ => None,
                };
                let number = number.ok_or("expected an integer")?;
                Ok(Self::try_from(number).map_err(|_| "the number is out of range")?)
            }

            fn write(&self) -> Option<ElicitValue> {
                Some(Number::from(*self).into())
            }
        }
    )*};
}

// Bounds beyond 2^53 are useless in a form, and many clients cannot even parse them.
integers! {
    i8: Some(Self::MIN.into()), Some(Self::MAX.into());
    i16: Some(Self::MIN.into()), Some(Self::MAX.into());
    i32: Some(Self::MIN.into()), Some(Self::MAX.into());
    i64: None, None;
    isize: None, None;
    u8: Some(Self::MIN.into()), Some(Self::MAX.into());
    u16: Some(Self::MIN.into()), Some(Self::MAX.into());
    u32: Some(Self::MIN.into()), Some(Self::MAX.into());
    u64: Some(Self::MIN.into()), None;
    usize: Some(Self::MIN.into()), None;
}

#[diagnostic::do_not_recommend]
impl FormField for f64 {
    fn schema() -> PrimitiveSchemaDefinition {
        NumberSchema::new(NumberSchemaType::Number).into()
    }

    #[inline]
    fn read(value: ElicitValue) -> ReadResult<Self> {
        match value {
            ElicitValue::Number(number) => Ok(number.as_f64()),
            _ => Err("expected a number".into()),
        }
    }

    fn write(&self) -> Option<ElicitValue> {
        Some((*self).into())
    }
}

#[diagnostic::do_not_recommend]
impl FormField for f32 {
    fn schema() -> PrimitiveSchemaDefinition {
        <f64 as FormField>::schema()
    }

    #[inline]
    fn read(value: ElicitValue) -> ReadResult<Self> {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a value that is too large becomes infinite and is rejected"
        )]
        let number = <f64 as FormField>::read(value)? as Self;
        if number.is_finite() {
            Ok(number)
        } else {
            Err("the number is too large".into())
        }
    }

    fn write(&self) -> Option<ElicitValue> {
        Some(widen(*self).into())
    }
}

#[diagnostic::do_not_recommend]
impl<T: FormField> FormField for Option<T> {
    fn schema() -> PrimitiveSchemaDefinition {
        T::schema()
    }

    #[inline]
    fn read(value: ElicitValue) -> ReadResult<Self> {
        T::read(value).map(Some)
    }

    fn write(&self) -> Option<ElicitValue> {
        self.as_ref().and_then(T::write)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    #[track_caller]
    fn check<T: FormField + Debug + PartialEq>(json: &str, expected: Option<&T>) {
        let value: ElicitValue = serde_json::from_str(json).unwrap();
        assert_eq!(T::read(value).ok().as_ref(), expected, "{json}");
    }

    #[test]
    fn integers_are_whole_and_in_range() {
        check("255", Some(&u8::MAX));
        check("256", None::<&u8>);
        check("-1", None::<&u64>);
        check("-128.0", Some(&i8::MIN));
        check("0.5", None::<&i8>);
        check("18446744073709551615", Some(&u64::MAX));
        check("18446744073709551615", None::<&i64>);
        check("-9223372036854775808", Some(&i64::MIN));
        check("9007199254740992.0", Some(&(1_u64 << 53)));
        check("1e300", None::<&u64>);
        check("\"1\"", None::<&u8>);
        check("true", None::<&u8>);
    }

    #[test]
    fn numbers_are_finite() {
        check("1", Some(&1.0_f64));
        check("1e300", Some(&1e300_f64));
        check("1e300", None::<&f32>);
        check("0.1", Some(&0.1_f32));
        check("\"0.1\"", None::<&f32>);
        assert_eq!(0.1_f32.write(), Some(0.1_f64.into()));
    }

    #[test]
    fn options_read_their_value_or_none() {
        check("\"\"", Some(&Some(String::new())));
        check("1", None::<&Option<bool>>);
        check("false", Some(&Some(false)));
        assert_eq!(Option::<bool>::absent(), Some(None));
        assert_eq!(
            (Some(2_u8).write(), None::<u8>.write()),
            (Some(2_i64.into()), None)
        );
        assert_eq!(Option::<u8>::schema(), u8::schema());
    }
}
