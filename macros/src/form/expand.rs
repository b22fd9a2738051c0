//! Generated implementations for forms and choices.
//!
//! The type of a field is mentioned once for each trait it needs, as `<Type as Trait>::…` with its own span. A type without
//! the trait thus causes exactly one error, at the type.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Ident, ItemEnum, ItemStruct};

use crate::args::Attr;
use crate::krate::Krate;
use crate::lints;
use crate::tool::expand::default_value;

use super::model::{Choice, Field, Form, RustcAttributes};

/// Expands to
/// ```text
/// impl ::treenail::__private_0_1_0::FormFields for Booking {
///     fn fields(__form: &mut ::treenail::__private_0_1_0::FormVisitor) -> Option<Self> {
///         let __f0 = __form.field(<field>);
///         let __f1 = __form.field(<field>);
///         Some(Self { day: __f0?, guests: __f1? })
///     }
/// }
/// ```
/// All fields are visited before a missing one returns `None`.
pub(crate) fn form(krate: &Krate, form: &Form, item: &ItemStruct) -> TokenStream {
    let locals: Vec<_> = (0..form.fields.len())
        .map(|index| format_ident!("__f{index}"))
        .collect();
    let visits = form.fields.iter().zip(&locals).map(|(it, local)| {
        let cfg = &it.attributes.cfg;
        let field = field(krate, it);
        quote! {
            #(#cfg)*
            #[allow(clippy::absolute_paths, reason = "those with the place of a key are generated too")]
            let #local = __form.field(#field);
        }
    });
    let members = form.fields.iter().zip(&locals).map(|(it, local)| {
        let (cfg, ident) = (&it.attributes.cfg, &it.ident);
        quote!(#(#cfg)* #ident: #local?)
    });
    let body = quote! {
        #(#visits)*
        ::core::option::Option::Some(Self { #(#members),* })
    };
    let allow = allow_deprecated(form.fields.iter().map(|field| &field.attributes));
    let implementation = impl_form(krate, item, &body);
    quote!(#allow #implementation)
}

/// Stub of [`form`] for a form with errors.
pub(crate) fn form_stub(krate: &Krate, item: &ItemStruct) -> TokenStream {
    impl_form(krate, item, &quote!(::core::option::Option::None))
}

fn impl_form(krate: &Krate, item: &ItemStruct, body: &TokenStream) -> TokenStream {
    let of = quote!(#krate::__private_0_1_0::FormFields);
    let members = quote! {
        fn fields(
            __form: &mut #krate::__private_0_1_0::FormVisitor,
        ) -> ::core::option::Option<Self> {
            #body
        }
    };
    let levels = lints::levels_beside(&item.attrs);
    let implementation = implementation(&of, &item.ident, &item.generics, &members);
    quote!(#(#levels)* #implementation)
}

/// Expands to
/// ```text
/// <u8 as ::treenail::form::FormField>::field("guests")
///     .title("…").description("…").default(|| 2).check(<u8 as ::treenail::args::HasRange>::range(1..=12))
///     .format(<String as ::treenail::form::StringFormat>::format(::treenail::schema::StringSchemaFormat::Date))
/// ```
fn field(krate: &Krate, field: &Field) -> TokenStream {
    let (ty, name) = (&field.ty, &field.name.text);
    let title = field.title.iter();
    let description = field.description.iter();
    let default = field.default.iter().map(|default| {
        let make = default_value(krate, default);
        quote_spanned!(default.key.span()=> .default(#make))
    });
    let range = field.range.iter().map(|Attr { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::args::HasRange>::range(#value)))
    });
    let length = field.length.iter().map(|Attr { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::args::HasLength>::length(#value)))
    });
    let format = field.format.iter().map(|Attr { key, value }| {
        let format = match &*value.value() {
            "email" => quote!(Email),
            "uri" => quote!(Uri),
            "date" => quote!(Date),
            _ => quote!(DateTime),
        };
        let format = quote!(#krate::schema::StringSchemaFormat::#format);
        quote_spanned!(key.span()=> .format(<#ty as #krate::form::StringFormat>::format(#format)))
    });
    quote_spanned! {ty.span()=>
        <#ty as #krate::form::FormField>::field(#name)
            #(.title(#title))*
            #(.description(#description))*
            #(#range)*
            #(#length)*
            #(#format)*
            #(#default)*
    }
}

/// Expands to
/// ```text
/// impl ::treenail::form::FormChoice for Room {
///     const CHOICES: &'static [(&'static str, Option<&'static str>)] = &[("double", Some("Double room")), …];
///     fn pick(name: &str) -> Option<Self> {
///         match name { "double" => Some(Self::Double), …, _ => None }
///     }
///     fn name(&self) -> &'static str {
///         match *self { Self::Double => "double", … }
///     }
/// }
/// ```
pub(crate) fn choice(krate: &Krate, choice: &Choice, item: &ItemEnum) -> TokenStream {
    let parts = choice.options.iter().map(|option| {
        let (cfg, ident, name) = (&option.attributes.cfg, &option.ident, &option.name.text);
        let title = option.title.as_ref();
        let title = title.map(|title| quote!(::core::option::Option::Some(#title)));
        let title = title.unwrap_or_else(|| quote!(::core::option::Option::None));
        [
            quote!(#(#cfg)* (#name, #title)),
            quote!(#(#cfg)* #name => ::core::option::Option::Some(Self::#ident)),
            quote!(#(#cfg)* Self::#ident => #name),
        ]
    });
    let parts: Vec<[TokenStream; 3]> = parts.collect();
    let [choices, picks, names] = [0, 1, 2].map(|index| parts.iter().map(move |it| &it[index]));
    let names = quote!(match *self { #(#names,)* });
    let picks = quote!(match __name { #(#picks,)* _ => ::core::option::Option::None });
    let allow = allow_deprecated(choice.options.iter().map(|option| &option.attributes));
    let implementation = impl_choice(krate, item, [quote!(#(#choices),*), picks, names]);
    quote!(#allow #implementation)
}

/// Stub of [`choice`] for an enum with errors: it has no options.
pub(crate) fn choice_stub(krate: &Krate, item: &ItemEnum) -> TokenStream {
    let none = quote!(::core::option::Option::None);
    impl_choice(krate, item, [TokenStream::new(), none, quote!("")])
}

fn impl_choice(
    krate: &Krate,
    item: &ItemEnum,
    [choices, pick, name]: [TokenStream; 3],
) -> TokenStream {
    let str = quote!(&'static ::core::primitive::str);
    let members = quote! {
        const CHOICES: &'static [(#str, ::core::option::Option<#str>)] = &[#choices];

        fn pick(__name: &::core::primitive::str) -> ::core::option::Option<Self> {
            #pick
        }

        fn name(&self) -> #str {
            #name
        }
    };
    let of = quote!(#krate::form::FormChoice);
    let levels = lints::levels_beside(&item.attrs);
    let implementation = implementation(&of, &item.ident, &item.generics, &members);
    quote!(#(#levels)* #implementation)
}

/// Correct items have no generics. Those of incorrect items must not cause further errors.
fn implementation(
    of: &TokenStream,
    ident: &Ident,
    generics: &Generics,
    members: &TokenStream,
) -> TokenStream {
    let (of_impl, of_type, clause) = generics.split_for_impl();
    let outlives = (!generics.params.is_empty()).then(|| {
        let clause = clause.map_or_else(|| quote!(where), |clause| quote!(#clause,));
        quote!(#clause Self: ::core::marker::Send + 'static)
    });
    let clause = outlives.unwrap_or_else(|| clause.to_token_stream());
    quote! {
        #[automatically_derived]
        impl #of_impl #of for #ident #of_type #clause {
            #members
        }
    }
}

/// Lets generated code name items that the user has deprecated.
fn allow_deprecated<'a>(
    attributes: impl IntoIterator<Item = &'a RustcAttributes>,
) -> Option<TokenStream> {
    let deprecated = attributes
        .into_iter()
        .any(|attributes| attributes.deprecated);
    deprecated.then(|| quote!(#[allow(deprecated, reason = "listing a field is not using it")]))
}
