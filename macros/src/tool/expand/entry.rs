//! The definition of one tool, prompt or resource.
//!
//! A type of the user's is mentioned once for each trait that it needs, as `<Type as Trait>::…`
//! under its own span, so that a type without the trait is one error right there.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit};

use crate::args::Given;
use crate::krate::Krate;
use crate::tool::model::uri::{Part, Uri};
use crate::tool::model::{Argument, CallInput, Feature, Input, Kind, Output, Resource};

use super::complete::complete;
use super::policy::policy;
use super::stream::{gather, items};

/// Where the function is.
#[derive(Clone, Copy)]
pub(crate) enum Host {
    /// On its own; its state is `()`.
    None,
    /// In the `impl` block of a type; its state is a value of that type.
    Type,
    /// In a trait with `#[mcp_client]`; `__part` finds what implements it in a state of the type `__Whole`.
    Contract,
}

impl Host {
    /// What is asked of the user's types: more, where there is a client too.
    pub(super) fn asks(self, usual: TokenStream, contract: TokenStream) -> TokenStream {
        match self {
            Self::None | Self::Type => usual,
            Self::Contract => contract,
        }
    }
}

/// How the function runs.
#[derive(Clone, Copy)]
enum Mode {
    Asynchronous,
    Synchronous,
    Blocking,
}

impl Mode {
    /// The function of the runtime for it.
    fn constructor(self) -> &'static str {
        match self {
            Self::Asynchronous => "asynchronous",
            Self::Synchronous => "synchronous",
            Self::Blocking => "blocking",
        }
    }

    fn of(feature: &Feature) -> Self {
        let blocking = feature.blocking.as_ref();
        if feature.stream.is_some() || feature.signature.asyncness.is_some() {
            Self::Asynchronous
        } else if blocking.is_some_and(|blocking| blocking.value) {
            Self::Blocking
        } else {
            Self::Synchronous
        }
    }
}

/// Expands to
/// ```text
/// ::treenail::__private::ToolHead::new("forecast")
///     .title("…").description("…").read_only(true).timeout(…).schema(…).icons(…).meta(…)
///     .define(::treenail::__private::Function::asynchronous((<argument>, …), <output>, <handler>))
/// ```
/// and, for arguments that have it, `.complete(…)`; a tool that streams has its items before that.
pub(crate) fn entry(krate: &Krate, feature: &Feature, host: Host) -> TokenStream {
    let name = &feature.name.text;
    let head = match &feature.kind {
        Kind::Tool(_) => quote!(ToolHead),
        Kind::Prompt => quote!(PromptHead),
        Kind::Resource(_) => quote!(ResourceHead),
    };
    let title = feature.title.iter();
    let description = feature.description.iter();
    let hints = feature.hints().iter().map(|hint| {
        let method = Ident::new(hint.name, hint.given.key.span());
        let value = hint.given.value;
        quote!(.#method(#value))
    });
    let policy = feature.tool().map(policy);
    let resource = feature.resource().map(|it| resource(krate, it));
    let icons = feature.icons.iter();
    let icons = icons.map(|it| value(it, "icons", &quote!(#krate::IconValues::into_icons)));
    let meta = feature.meta.iter();
    let meta = meta.map(|it| value(it, "meta", &quote!(#krate::MetaValue::into_meta)));
    let schema = feature.tool().and_then(|tool| tool.schema.as_ref());
    let schema = schema.iter();
    let schema = schema.map(|it| value(it, "schema", &quote!(#krate::SchemaValue::into_schema)));
    let mode = Mode::of(feature).constructor();
    let mode = Ident::new(mode, feature.signature.ident.span());
    let arguments = feature
        .arguments()
        .map(|it| argument(krate, &feature.kind, it, host));
    let items = items(krate, feature, host);
    let output = match items {
        Some(_) => quote!(__items.output()),
        None => output(krate, feature, host),
    };
    let handler = handler(krate, feature, host);
    // Before the function that takes it, so that rustc finds what is not `Send` here and not in the bounds of that.
    let (early, handler) = match Mode::of(feature) {
        Mode::Asynchronous => (Some(quote!(let __handler = #handler;)), quote!(__handler)),
        Mode::Synchronous | Mode::Blocking => (None, handler),
    };
    let completers = feature.arguments().filter_map(|it| complete(krate, it));
    quote! {{
        #[allow(unused_imports, reason = "a `Result` does without")]
        use #krate::__private::ReturnsValue as _;
        #items
        #early
        #krate::__private::#head::new(#name)
            #(.title(#title))*
            #(.description(#description))*
            #(#hints)*
            #policy
            #resource
            #(#icons)*
            #(#meta)*
            #(#schema)*
            .define(#krate::__private::Function::#mode((#(#arguments,)*), #output, #handler))
            #(#completers)*
    }}
}

/// Expands to `.icons(::treenail::IconValues::into_icons([…]))`, and the same for other keys whose value may be of more than
/// one type; errors about it belong under it.
fn value(value: &Expr, key: &str, into: &TokenStream) -> TokenStream {
    let method = Ident::new(key, value.span());
    let (into, of): (TokenStream, _) = (respan(into, value.span()), value);
    quote_spanned!(value.span()=> .#method(#into(#of)))
}

/// The same tokens as if they stood at `span`.
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
/// or, without variables, to the same with `.uri("…")`.
fn resource(krate: &Krate, resource: &Resource) -> TokenStream {
    let uri = resource.uri.iter().map(|uri| {
        let Uri { literal, parts } = uri;
        if uri.variables().next().is_none() {
            return quote!(.uri(#literal));
        }
        let parts = parts.iter().map(|part| match part {
            Part::Text(text) => quote!(#krate::__private::Part::Text(#text)),
            Part::Segment(name) => quote!(#krate::__private::Part::Segment(#name)),
            Part::Rest(name) => quote!(#krate::__private::Part::Rest(#name)),
        });
        quote!(.template(#literal, [#(#parts),*]))
    });
    let mime_type = resource.mime_type.iter();
    let size = resource.size.iter();
    let annotations = resource.annotations.iter();
    let into = quote!(#krate::AnnotationsValue::into_annotations);
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

/// Expands to
/// ```text
/// <u8 as ::treenail::ToolArgument>::argument("days")
///     .description("…").default(|| 1).check(<u8 as ::treenail::Bounded>::range(1..=7))
/// ```
/// with `TextArgument` for what comes as text.
fn argument(krate: &Krate, kind: &Kind, argument: &Argument, host: Host) -> TokenStream {
    let span = argument.ty.span();
    let read = match kind {
        Kind::Tool(_) => host.asks(
            quote_spanned!(span=> ToolArgument),
            quote_spanned!(span=> ContractArgument),
        ),
        Kind::Prompt | Kind::Resource(_) => quote_spanned!(span=> TextArgument),
    };
    let ty = &argument.ty;
    let name = &argument.name.text;
    let description = argument.description.iter();
    let default = argument.default.iter().map(|default| {
        let make = default_value(krate, default);
        let made_by =
            quote_spanned!(default.key.span()=> <#ty as #krate::DefaultArgument>::made_by);
        quote_spanned!(default.key.span()=> .default(#made_by(#make)))
    });
    // Before the bounds, so that what they say of the same keyword is what counts.
    let header = argument.header.iter().map(|Given { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::Mirrored>::header(#value)))
    });
    let range = argument.range.iter().map(|Given { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::Bounded>::range(#value)))
    });
    let length = argument.length.iter().map(|Given { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::Measured>::length(#value)))
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

/// Expands to a function that makes the default value.
///
/// A string literal may be the default of any type that is made from one.
pub(crate) fn default_value(krate: &Krate, default: &Given<Option<Expr>>) -> TokenStream {
    match &default.value {
        None => quote_spanned!(default.key.span()=> ::core::default::Default::default),
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => {
            let krate = krate.at(text.span());
            quote_spanned!(text.span()=> || #krate::FromText::from_text(#text))
        }
        Some(value) => quote_spanned!(value.span()=> || #value),
    }
}

/// Expands to
/// ```text
/// <Result<Forecast, WeatherError> as ::treenail::ToolOutput<_>>::output(
///     ::treenail::__private::Returns::<Result<Forecast, WeatherError>>::kind(),
/// )
/// ```
/// or, if the type has no name, to the same with `_`, which the handler will tell. A prompt has no kinds to choose from.
fn output(krate: &Krate, feature: &Feature, host: Host) -> TokenStream {
    let (ty, kind) = match &feature.output {
        Output::Opaque(ty) => {
            let any = quote_spanned!(ty.span()=> #krate::__private::Kind::any());
            (quote_spanned!(ty.span()=> _), any)
        }
        Output::Unit => returns(krate, &quote!(())),
        Output::Named(ty) => returns(krate, ty),
        Output::Borrowed(ty) => {
            let owned = quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::Owned);
            returns(krate, &owned)
        }
    };
    let span = ty.span();
    match feature.kind {
        Kind::Tool(_) => {
            let output = host.asks(
                quote_spanned!(span=> ToolOutput<_>),
                quote_spanned!(span=> ContractOutput<_, _>),
            );
            quote_spanned!(span=> <#ty as #krate::#output>::output(#kind))
        }
        Kind::Prompt => quote_spanned!(span=> <#ty as #krate::PromptOutput>::output()),
        Kind::Resource(_) => {
            quote_spanned!(span=> <#ty as #krate::ResourceOutput<_>>::output(#kind))
        }
    }
}

/// A type, and its kind as far as it is known.
pub(super) fn returns(krate: &Krate, ty: &impl ToTokens) -> (TokenStream, TokenStream) {
    let ty = ty.to_token_stream();
    let kind = quote_spanned!(ty.span()=> #krate::__private::Returns::<#ty>::kind());
    (ty, kind)
}

/// The closure that calls the user's function. Expands to one of
/// ```text
/// |__state: ::std::sync::Arc<Self>, __call, (__a0, __a1,)| async move { <call> }
/// |__state: ::std::sync::Arc<Self>, __call, (__a0, __a1,)| <call>
/// |__state: &::std::sync::Arc<Self>, __call, (__a0, __a1,)| <call>
/// ```
/// where `__call` has the type `::treenail::Context`, or `()` if the function does without, and what streams has a
/// `Streaming` of that.
fn handler(krate: &Krate, feature: &Feature, host: Host) -> TokenStream {
    let state = match host {
        Host::None => quote!(::std::sync::Arc<()>),
        Host::Type => quote!(::std::sync::Arc<Self>),
        Host::Contract => quote!(::std::sync::Arc<__Whole>),
    };
    let call_ty = feature
        .call_inputs()
        .next()
        .map_or(quote!(()), |_| quote!(#krate::Context));
    let call_ty = match feature.stream {
        Some(_) => quote!(#krate::__private::Streaming<#call_ty>),
        None => call_ty,
    };
    let arguments = names(feature);
    let call = call(krate, feature, host);
    let call = match feature.stream {
        Some(_) => gather(krate, feature, &call),
        None => call,
    };
    let (state, body) = match Mode::of(feature) {
        Mode::Asynchronous => (state, sent(&feature.signature.ident, &call)),
        Mode::Blocking => (state, call),
        Mode::Synchronous => (quote!(&#state), call),
    };
    let captures = feature.stream.is_some() || matches!(host, Host::Contract);
    let capture = captures.then(|| quote!(move));
    quote!(#capture |__state: #state, __call: #call_ty, (#(#arguments,)*)| #body)
}

/// The future of a call. Expands to
/// ```text
/// { let __future = async move { <call> }; let _: &dyn ::core::marker::Send = &__future; __future }
/// ```
/// which asks for `Send` where rustc tells which value is held across which `await`, and nothing of ours.
fn sent(ident: &Ident, call: &TokenStream) -> TokenStream {
    let span = ident.span();
    let future = quote_spanned!(span=> async move { #call });
    quote_spanned! {span=> {
        let __future = #future;
        let _: &dyn ::core::marker::Send = &__future;
        __future
    }}
}

/// The call of the user's function. Expands to
/// ```text
/// Self::forecast(&__state, <Context as ::treenail::FromCall>::from_call(&__call), __a0).await
/// ```
/// without what the function does not have. A borrowed output is copied.
fn call(krate: &Krate, feature: &Feature, host: Host) -> TokenStream {
    let ident = &feature.signature.ident;
    let function = match host {
        Host::None => quote!(#ident),
        Host::Type | Host::Contract => quote!(Self::#ident),
    };
    let state = feature.signature.receiver().map(|_| match host {
        Host::None | Host::Type => quote!(&__state),
        Host::Contract => quote!(__part(&__state)),
    });
    let context = if feature.stream.is_some() {
        quote!(__call.context())
    } else {
        quote!(&__call)
    };
    let mut names = names(feature);
    let inputs = feature.inputs.iter().map(|input| match input {
        Input::Call(CallInput { ty, .. }) => {
            let ty = &ty.elem;
            quote_spanned!(ty.span()=> <#ty as #krate::FromCall>::from_call(#context))
        }
        Input::Argument(_) => names.next().to_token_stream(),
    });
    let inputs = state.into_iter().chain(inputs);
    let dot_await = feature.signature.asyncness.map(|_| quote!(.await));
    let call = quote!(#function(#(#inputs),*) #dot_await);
    match &feature.output {
        Output::Borrowed(ty) => {
            quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::to_owned(#call))
        }
        _ => call,
    }
}

/// The names of the arguments in generated code, which clash with none of the user's.
fn names(feature: &Feature) -> impl Iterator<Item = Ident> {
    (0..feature.arguments().count()).map(|index| format_ident!("__a{index}"))
}
