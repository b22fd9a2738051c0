//! Model of a returned stream.

use quote::ToTokens;
use syn::{GenericArgument, Ident, PathArguments, PathSegment, Type};

use crate::args::{Keys, unknown};
use crate::diag::Sink;
use crate::signature::{bound_in, keyword_in};

/// The folds: the value of the key, and the name of the runtime's variant.
const FOLDS: [(&str, &str); 3] = [
    ("collect", "Collect"),
    ("concat", "Concat"),
    ("last", "Last"),
];

/// A returned stream, directly or in a `Result`.
pub(crate) struct Stream {
    /// The `Stream` in the return type, if it is visible there.
    pub(crate) ident: Option<Ident>,
    /// The key that declares a stream: `stream` or `fold`.
    pub(crate) key: Option<Ident>,
    /// The type of the items, if it is visible and has a name.
    pub(crate) item: Option<Type>,
    /// The fold that combines the items into one result, if one is given.
    pub(crate) fold: Option<&'static str>,
}

impl Stream {
    /// Reads the stream if `ty` contains a visible one or a key declares it.
    pub(super) fn read(ty: Option<&Type>, keys: &mut Keys, sink: &mut Sink) -> Option<Self> {
        let key = keys.flag("stream", sink);
        let key = key.filter(|given| given.value).map(|given| given.key);
        let (fold_key, fold) = fold(keys, sink);
        let key = key.or(fold_key);
        let segment = ty.and_then(|ty| bound_in(ty.to_token_stream(), "Stream"));
        if segment.is_none() && key.is_none() {
            return None;
        }
        Some(Self {
            item: segment.as_ref().and_then(item),
            ident: segment.map(|segment| segment.ident),
            key,
            fold,
        })
    }
}

/// `fold = "…"`
fn fold(keys: &mut Keys, sink: &mut Sink) -> (Option<Ident>, Option<&'static str>) {
    let Some(given) = keys.string_attr("fold", sink) else {
        return (None, None);
    };
    let name = given.value.value();
    let found = FOLDS.iter().find(|(known, _)| *known == name);
    if found.is_none() {
        let known = FOLDS.map(|(known, _)| known);
        sink.error(&given.value, unknown("fold", &name, &known));
    }
    (Some(given.key), found.map(|(_, variant)| *variant))
}

/// The `T` of `Stream<Item = T>`, if it has a name.
fn item(segment: &PathSegment) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(item) if item.ident == "Item" => {
            let named = keyword_in(item.ty.to_token_stream(), "impl").is_none();
            named.then(|| item.ty.clone())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn visible_streams_and_their_items_are_found() {
        let item = |ty: &str| Some(ty.to_owned());
        for (ty, expected) in [
            (quote!(impl Stream<Item = u8>), Some(item("u8"))),
            (
                quote!(impl futures_core::Stream<Item = Result<u8, E>> + use<>),
                Some(item("Result < u8 , E >")),
            ),
            (
                quote!(Result<impl Send + Stream<Item = Vec<Vec<u8>>>, E>),
                Some(item("Vec < Vec < u8 > >")),
            ),
            (
                quote!(Pin<Box<dyn Stream<Item = String> + Send + 'static>>),
                Some(item("String")),
            ),
            (quote!(Option<(impl Stream<Item = u8>,)>), Some(item("u8"))),
            (quote!(impl Stream<Item = impl Serialize>), Some(None)),
            (quote!(impl Stream), Some(None)),
            (quote!(BoxStream<'static, u8>), None),
            (quote!(Stream<u8>), None),
            (quote!(Result<Stream, Box<dyn Error>>), None),
            (quote!(impl Iterator<Item = Stream>), None),
            (
                quote!(impl for<'a> Send + ?Sized + Iterator<Item = (impl Stream<Item = u8>,)>),
                Some(item("u8")),
            ),
            (quote!(impl Iterator<Item = u8>), None),
        ] {
            let found = bound_in(ty.clone(), "Stream").map(|segment| {
                super::item(&segment).map(|item| item.to_token_stream().to_string())
            });
            assert_eq!(found, expected, "{ty}");
        }
    }
}
