//! Generated definition of one tool, prompt or resource.
//!
//! A type of the user's is mentioned once for each trait it needs, as `<Type as Trait>::…` with its own span. A type without
//! the trait thus causes exactly one error, at the type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit};

use crate::args::Attr;
use crate::krate::Krate;
use crate::tool::model::uri::{Part, Uri};
use crate::tool::model::{Argument, Feature, Kind, Mode, Resource};

use super::complete::complete;
use super::handler::handler;
use super::output::output;
use super::policy::policy;
use super::stream::items;

/// Item that contains the function.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// A free function, whose state is `()`.
    None,
    /// The `impl` block of a type, which is the type of the state.
    Type,
    /// A trait with `#[mcp_client]`. `__part` finds its implementation in a state of type `__Whole`.
    Contract(&'a Ident),
}

impl Target<'_> {
    /// Chooses the trait that bounds the user's types: contracts need a stricter one, since a client uses the types too.
    pub(super) fn bound_for(self, usual: TokenStream, contract: TokenStream) -> TokenStream {
        match self {
            Self::None | Self::Type => usual,
            Self::Contract(_) => contract,
        }
    }
}

/// Expands to
/// ```text
/// ::treenail::__private_0_1_0::ToolMetadata::new("forecast")
///     .title("…").description("…").read_only(true).timeout(…).task(…).schema(…).scope(…).icons(…).meta(…)
///     .define(::treenail::__private_0_1_0::Function::asynchronous(<arguments>, <output>, <handler>))
/// ```
/// followed by `.complete(…)` for each argument with a completer. For a streaming tool, the definition of its items precedes it.
pub(crate) fn entry(krate: &Krate, feature: &Feature, target: Target<'_>) -> TokenStream {
    let metadata = metadata(krate, feature);
    let mode = Mode::of(feature).constructor();
    let mode = Ident::new(mode, feature.signature.ident.span());
    let arguments = arguments(krate, feature, target);
    let items = items(krate, feature, target);
    let output = match items {
        Some(_) => quote!(__items.output()),
        None => output(krate, feature, target),
    };
    let handler = handler(krate, feature, target);
    // Bound to a local first, so that rustc reports a future that is not `Send` here and not in the bounds of `Function`.
    let (early, handler) = match Mode::of(feature) {
        Mode::Asynchronous => (Some(quote!(let __handler = #handler;)), quote!(__handler)),
        Mode::Synchronous | Mode::Blocking => (None, handler),
    };
    let completers = feature.arguments().filter_map(|it| complete(krate, it));
    quote! {{
        #[allow(unused_imports, reason = "not needed for a `Result`")]
        use #krate::__private_0_1_0::ReturnsValue as _;
        #items
        #early
        #[allow(clippy::absolute_paths, reason = "those with the place of a key are generated too")]
        #metadata
            .define(#krate::__private_0_1_0::Function::#mode(#arguments, #output, #handler))
            #(#completers)*
    }}
}

/// Expands to the part of the definition before `.define(…)`.
fn metadata(krate: &Krate, feature: &Feature) -> TokenStream {
    let name = &feature.name.text;
    let head = match &feature.kind {
        Kind::Tool(_) => quote!(ToolMetadata),
        Kind::Prompt => quote!(PromptMetadata),
        Kind::Resource(_) => quote!(ResourceMetadata),
    };
    let title = feature.title.iter();
    let description = feature.description.iter();
    let hints = feature.hints().iter().map(|hint| {
        let method = Ident::new(hint.name, hint.given.key.span());
        let value = hint.given.value;
        quote!(.#method(#value))
    });
    let policy = feature.tool().map(|it| policy(krate, it));
    let resource = feature.resource().map(|it| resource(krate, it));
    let scope = feature.scope.iter();
    let scope = scope.map(|it| value(it, "scope", &quote!(#krate::args::IntoScopes::into_scopes)));
    let icons = feature.icons.iter();
    let icons = icons.map(|it| value(it, "icons", &quote!(#krate::args::IntoIcons::into_icons)));
    let meta = feature.meta.iter();
    let meta = meta.map(|it| value(it, "meta", &quote!(#krate::args::IntoMeta::into_meta)));
    let schema = feature.tool().and_then(|tool| tool.schema.as_ref());
    let schema = schema.iter();
    let schema =
        schema.map(|it| value(it, "schema", &quote!(#krate::args::IntoSchema::into_schema)));
    quote! {
        #krate::__private_0_1_0::#head::new(#name)
            #(.title(#title))*
            #(.description(#description))*
            #(#hints)*
            #policy
            #resource
            #(#scope)*
            #(#icons)*
            #(#meta)*
            #(#schema)*
    }
}

/// Expands to `.icons(::treenail::args::IntoIcons::into_icons([…]))`, and likewise for other keys that accept several types. All
/// tokens have the span of the value, so that errors point there.
fn value(value: &Expr, key: &str, into: &TokenStream) -> TokenStream {
    let method = Ident::new(key, value.span());
    let (into, of): (TokenStream, _) = (respan(into, value.span()), value);
    quote_spanned!(value.span()=> .#method(#into(#of)))
}

/// The method of `Mount` for the scopes of functions that declare none.
pub(crate) fn default_scopes(krate: &Krate, scope: Option<&Expr>) -> Option<TokenStream> {
    let scope = scope?;
    let into = quote!(#krate::args::IntoScopes::into_scopes);
    let into = respan(&into, scope.span());
    let scopes = quote_spanned!(scope.span()=> #into(#scope));
    Some(quote! {
        fn default_scopes() -> #krate::scope::RequiredScopes {
            #scopes
        }
    })
}

/// Sets the span of all tokens.
fn respan(tokens: &TokenStream, span: Span) -> TokenStream {
    let tokens = tokens.clone().into_iter();
    let moved = tokens.map(|mut token| {
        token.set_span(span);
        token
    });
    moved.collect()
}

/// Expands to
/// ```text
/// .template("weather://places/{id}", [Part::Text("weather://places/"), Part::Segment("id")])
///     .mime_type("…").size(…).annotations(…).subscribable(true)
/// ```
/// with `.uri("…")` in place of `.template(…)` if there are no variables.
fn resource(krate: &Krate, resource: &Resource) -> TokenStream {
    let uri = resource.uri.iter().map(|uri| {
        let Uri { literal, parts } = uri;
        if uri.variables().next().is_none() {
            return quote!(.uri(#literal));
        }
        let parts = parts.iter().map(|part| match part {
            Part::Text(text) => quote!(#krate::__private_0_1_0::Part::Text(#text)),
            Part::Segment(name) => quote!(#krate::__private_0_1_0::Part::Segment(#name)),
            Part::Rest(name) => quote!(#krate::__private_0_1_0::Part::Rest(#name)),
        });
        quote!(.template(#literal, [#(#parts),*]))
    });
    let mime_type = resource.mime_type.iter();
    let size = resource.size.iter();
    let annotations = resource.annotations.iter();
    let into = quote!(#krate::args::IntoAnnotations::into_annotations);
    let annotations = annotations.map(|it| value(it, "annotations", &into));
    let subscribable = resource.subscribable.iter().map(|given| given.value);
    quote! {
        #(#uri)*
        #(.mime_type(#mime_type))*
        #(.size(#size))*
        #(#annotations)*
        #(.subscribable(#subscribable))*
    }
}

/// Expands to `(<argument>, …)`, or to `::treenail::__private_0_1_0::Flattened::new((<argument>, …), <argument>)` if one is flattened.
fn arguments(krate: &Krate, feature: &Feature, target: Target<'_>) -> TokenStream {
    let expand = |it| argument(krate, &feature.kind, it, target);
    let named = feature.arguments().filter(|it| !it.is_flattened());
    let named = named.map(expand);
    let named = quote!((#(#named,)*));
    match feature.flattened().map(expand) {
        Some(flattened) => {
            quote!(#krate::__private_0_1_0::Flattened::new(#named, #flattened))
        }
        None => named,
    }
}

/// Expands to
/// ```text
/// <u8 as ::treenail::args::ToolArgument>::argument("days")
///     .description("…").default(|| 1).check(<u8 as ::treenail::args::HasRange>::range(1..=7))
/// ```
/// with `TextArgument` for prompts and resources, whose arguments are sent as text. A flattened argument has an empty name.
fn argument(krate: &Krate, kind: &Kind, argument: &Argument, target: Target<'_>) -> TokenStream {
    let span = argument.ty.span();
    let read = match kind {
        Kind::Tool(_) => target.bound_for(
            quote_spanned!(span=> args::ToolArgument),
            quote_spanned!(span=> contract::ContractArgument),
        ),
        Kind::Prompt | Kind::Resource(_) => quote_spanned!(span=> args::TextArgument),
    };
    let ty = &argument.ty;
    let name = if argument.is_flattened() {
        ""
    } else {
        &argument.name.text
    };
    let description = argument.description.iter();
    let default = argument.default.iter().map(|default| {
        let make = default_value(krate, default);
        let default_value =
            quote_spanned!(default.key.span()=> <#ty as #krate::args::IntoDefault>::default_value);
        quote_spanned!(default.key.span()=> .default(#default_value(#make)))
    });
    // Before the bounds, so that these take precedence for the keywords that both set.
    let header = argument.header.iter().map(|Attr { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::args::HeaderArgument>::header(#value)))
    });
    let range = argument.range.iter().map(|Attr { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::args::HasRange>::range(#value)))
    });
    let length = argument.length.iter().map(|Attr { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::args::HasLength>::length(#value)))
    });
    quote_spanned! {ty.span()=>
        <#ty as #krate::#read>::argument(#name)
            #(.description(#description))*
            #(#default)*
            #(#header)*
            #(#range)*
            #(#length)*
    }
}

/// Expands to a function that creates the default value.
///
/// A string literal can be the default of any type that implements `FromText`.
pub(crate) fn default_value(krate: &Krate, default: &Attr<Option<Expr>>) -> TokenStream {
    match &default.value {
        None => quote_spanned!(default.key.span()=> ::core::default::Default::default),
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => {
            let krate = krate.at(text.span());
            quote_spanned!(text.span()=> || #krate::args::FromText::from_text(#text))
        }
        Some(value) => {
            let lints =
                quote!(#[allow(clippy::redundant_closure, reason = "any expression is a default")]);
            let make = quote_spanned!(value.span()=> || #value);
            quote!(#lints #make)
        }
    }
}
