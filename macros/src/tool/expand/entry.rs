//! The definition of one tool.
//!
//! A type of the user's is mentioned once for each trait that it needs, as `<Type as Trait>::…`
//! under its own span, so that a type without the trait is one error right there.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit};

use crate::args::Given;
use crate::krate::Krate;
use crate::tool::model::{Argument, CallInput, Input, Output, Tool};

/// Where the function of a tool is.
#[derive(Clone, Copy)]
pub(crate) enum Host {
    /// On its own; its state is `()`.
    None,
    /// In the `impl` block of a type; its state is a value of that type.
    Type,
}

/// How the function of a tool runs.
#[derive(Clone, Copy)]
enum Mode {
    Asynchronous,
    Synchronous,
    Blocking,
}

impl Mode {
    fn of(tool: &Tool) -> Self {
        let blocking = tool.blocking.as_ref();
        if tool.signature.asyncness.is_some() {
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
///     .title("…").description("…").read_only(true).icons(…).meta(…)
///     .asynchronous((<argument>, …), <output>, <handler>)
/// ```
pub(crate) fn entry(krate: &Krate, tool: &Tool, host: Host) -> TokenStream {
    let name = &tool.name.text;
    let title = tool.title.iter();
    let description = tool.description.iter();
    let hints = tool.hints.iter().map(|hint| {
        let method = Ident::new(hint.name, hint.given.key.span());
        let value = hint.given.value;
        quote!(.#method(#value))
    });
    let (icons, meta) = (tool.icons.iter(), tool.meta.iter());
    let mode = match Mode::of(tool) {
        Mode::Asynchronous => "asynchronous",
        Mode::Synchronous => "synchronous",
        Mode::Blocking => "blocking",
    };
    let mode = Ident::new(mode, tool.signature.ident.span());
    let arguments = tool.arguments().map(|it| argument(krate, it));
    let output = output(krate, &tool.output);
    let handler = handler(krate, tool, host);
    quote! {{
        #[allow(unused_imports, reason = "a `Result` does without")]
        use #krate::__private::ReturnsValue as _;
        #krate::__private::ToolHead::new(#name)
            #(.title(#title))*
            #(.description(#description))*
            #(#hints)*
            #(.icons(#icons))*
            #(.meta(#meta))*
            .#mode((#(#arguments,)*), #output, #handler)
    }}
}

/// Expands to
/// ```text
/// <u8 as ::treenail::ToolArgument>::argument("days")
///     .description("…").default(|| 1).check(<u8 as ::treenail::Bounded>::range(1..=7))
/// ```
fn argument(krate: &Krate, argument: &Argument) -> TokenStream {
    let ty = &argument.ty;
    let name = &argument.name.text;
    let description = argument.description.iter();
    let default = argument.default.iter().map(|default| {
        let make = default_value(krate, default);
        quote_spanned!(default.key.span()=> .default(#make))
    });
    let range = argument.range.iter().map(|Given { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::Bounded>::range(#value)))
    });
    let length = argument.length.iter().map(|Given { key, value }| {
        quote_spanned!(key.span()=> .check(<#ty as #krate::Measured>::length(#value)))
    });
    quote_spanned! {ty.span()=>
        <#ty as #krate::ToolArgument>::argument(#name)
            #(.description(#description))*
            #(#default)*
            #(#range)*
            #(#length)*
    }
}

/// Expands to a function that makes the default value.
///
/// A string literal may be the default of any type that is made from one.
fn default_value(krate: &Krate, default: &Given<Option<Expr>>) -> TokenStream {
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
/// or, if the type has no name, to the same with `_`, which the handler will tell.
fn output(krate: &Krate, output: &Output) -> TokenStream {
    let ty = match output {
        Output::Opaque(ty) => {
            return quote_spanned! {ty.span()=>
                <_ as #krate::ToolOutput<_>>::output(#krate::__private::Kind::any())
            };
        }
        Output::Unit => quote!(()),
        Output::Named(ty) => ty.to_token_stream(),
        Output::Borrowed(ty) => quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::Owned),
    };
    quote_spanned! {ty.span()=>
        <#ty as #krate::ToolOutput<_>>::output(#krate::__private::Returns::<#ty>::kind())
    }
}

/// The closure that calls the user's function. Expands to one of
/// ```text
/// |__state: ::std::sync::Arc<Self>, __call, (__a0, __a1,)| async move { <call> }
/// |__state: ::std::sync::Arc<Self>, __call, (__a0, __a1,)| <call>
/// |__state: &::std::sync::Arc<Self>, __call, (__a0, __a1,)| <call>
/// ```
/// where `__call` has the type `::treenail::Context`, or `()` if the function does without.
fn handler(krate: &Krate, tool: &Tool, host: Host) -> TokenStream {
    let state = match host {
        Host::None => quote!(::std::sync::Arc<()>),
        Host::Type => quote!(::std::sync::Arc<Self>),
    };
    let call_ty = tool
        .call_inputs()
        .next()
        .map_or(quote!(()), |_| quote!(#krate::Context));
    let arguments = names(tool);
    let call = call(krate, tool, host);
    let (state, body) = match Mode::of(tool) {
        Mode::Asynchronous => (state, quote!(async move { #call })),
        Mode::Blocking => (state, call),
        Mode::Synchronous => (quote!(&#state), call),
    };
    quote!(|__state: #state, __call: #call_ty, (#(#arguments,)*)| #body)
}

/// The call of the user's function. Expands to
/// ```text
/// Self::forecast(&__state, <Context as ::treenail::FromCall>::from_call(&__call), __a0).await
/// ```
/// without what the function does not have. A borrowed output is copied.
fn call(krate: &Krate, tool: &Tool, host: Host) -> TokenStream {
    let ident = &tool.signature.ident;
    let function = match host {
        Host::None => quote!(#ident),
        Host::Type => quote!(Self::#ident),
    };
    let state = tool.signature.receiver().map(|_| quote!(&__state));
    let mut names = names(tool);
    let inputs = tool.inputs.iter().map(|input| match input {
        Input::Call(CallInput { ty, .. }) => {
            let ty = &ty.elem;
            quote_spanned!(ty.span()=> <#ty as #krate::FromCall>::from_call(&__call))
        }
        Input::Argument(_) => names.next().to_token_stream(),
    });
    let inputs = state.into_iter().chain(inputs);
    let dot_await = tool.signature.asyncness.map(|_| quote!(.await));
    let call = quote!(#function(#(#inputs),*) #dot_await);
    match &tool.output {
        Output::Borrowed(ty) => {
            quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::to_owned(#call))
        }
        _ => call,
    }
}

/// The names of the arguments in generated code, which clash with none of the user's.
fn names(tool: &Tool) -> impl Iterator<Item = Ident> {
    (0..tool.arguments().count()).map(|index| format_ident!("__a{index}"))
}
