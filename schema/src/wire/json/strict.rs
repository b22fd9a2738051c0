//! Serializer adapter that rejects numbers that are not finite.

use std::fmt;

use serde::ser::{
    Error, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde::{Serialize, Serializer};

/// Serializer that rejects numbers that are not finite, at any depth, and delegates everything else.
pub(super) struct Strict<S>(pub(super) S);

/// Value nested in another one.
struct Inner<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Inner<'_, T> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Strict(serializer))
    }
}

#[cold]
fn not_finite<E: Error>(number: impl fmt::Display) -> E {
    E::custom(format_args!("JSON has no number {number}"))
}

macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*) -> $output:ident;)*) => {$(
        #[inline]
        fn $method(self, $($argument: $type),*) -> Result<Self::$output, S::Error> {
            self.0.$method($($argument),*)
        }
    )*};
}

macro_rules! open {
    ($($method:ident($($argument:ident: $type:ty),*) -> $output:ident;)*) => {$(
        #[inline]
        fn $method(self, $($argument: $type),*) -> Result<Self::$output, S::Error> {
            self.0.$method($($argument),*).map(Strict)
        }
    )*};
}

impl<S: Serializer> Serializer for Strict<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Strict<S::SerializeSeq>;
    type SerializeTuple = Strict<S::SerializeTuple>;
    type SerializeTupleStruct = Strict<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Strict<S::SerializeTupleVariant>;
    type SerializeMap = Strict<S::SerializeMap>;
    type SerializeStruct = Strict<S::SerializeStruct>;
    type SerializeStructVariant = Strict<S::SerializeStructVariant>;

    #[inline]
    fn serialize_f32(self, number: f32) -> Result<S::Ok, S::Error> {
        if number.is_finite() {
            self.0.serialize_f32(number)
        } else {
            Err(not_finite(number))
        }
    }

    #[inline]
    fn serialize_f64(self, number: f64) -> Result<S::Ok, S::Error> {
        if number.is_finite() {
            self.0.serialize_f64(number)
        } else {
            Err(not_finite(number))
        }
    }

    pass_on! {
        serialize_bool(value: bool) -> Ok;
        serialize_i8(value: i8) -> Ok;
        serialize_i16(value: i16) -> Ok;
        serialize_i32(value: i32) -> Ok;
        serialize_i64(value: i64) -> Ok;
        serialize_i128(value: i128) -> Ok;
        serialize_u8(value: u8) -> Ok;
        serialize_u16(value: u16) -> Ok;
        serialize_u32(value: u32) -> Ok;
        serialize_u64(value: u64) -> Ok;
        serialize_u128(value: u128) -> Ok;
        serialize_char(value: char) -> Ok;
        serialize_str(value: &str) -> Ok;
        serialize_bytes(value: &[u8]) -> Ok;
        serialize_none() -> Ok;
        serialize_unit() -> Ok;
        serialize_unit_struct(name: &'static str) -> Ok;
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> Ok;
    }

    open! {
        serialize_seq(length: Option<usize>) -> SerializeSeq;
        serialize_tuple(length: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, length: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeTupleVariant;
        serialize_map(length: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, length: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeStructVariant;
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Inner(value))
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Inner(value))
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let inner = &Inner(value);
        self.0
            .serialize_newtype_variant(name, index, variant, inner)
    }

    #[inline]
    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! compound {
    ($($trait:ident: $method:ident($($key:ident: $type:ty)?);)*) => {$(
        impl<C: $trait> $trait for Strict<C> {
            type Ok = C::Ok;
            type Error = C::Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: $type,)?
                value: &T,
            ) -> Result<(), C::Error> {
                self.0.$method($($key,)? &Inner(value))
            }

            #[inline]
            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        }
    )*};
}

compound! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeStruct: serialize_field(key: &'static str);
    SerializeStructVariant: serialize_field(key: &'static str);
}

impl<C: SerializeMap> SerializeMap for Strict<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.0.serialize_key(key)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_value(&Inner(value))
    }

    #[inline]
    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), C::Error> {
        self.0.serialize_entry(key, &Inner(value))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}
