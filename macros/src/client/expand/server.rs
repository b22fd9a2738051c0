//! Additions to the trait: `Send` bounds on futures and streams, and the list of its tools.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Expr, Ident, ReturnType, Signature, Type, TypeParamBound, parse_quote, parse_quote_spanned,
};

use crate::cfg_attr;
use crate::krate::Krate;
use crate::signature::keyword_in;
use crate::tool::expand::{Target, allow_deprecated, default_scopes, entry, or_empty};
use crate::tool::parse::ImplBlock;

use super::super::model::{Contract, Entry, Part, part_type, returned_part};
use super::super::parse::{Member, Method, Trait};

/// Rewrites the user's trait:
/// ```text
/// async fn f(&self) -> R;                → fn f(&self) -> impl Future<Output = R> + Send;
/// fn s(&self) -> impl Stream<Item = R>;  → fn s(&self) -> impl Stream<Item = R> + Send;
/// fn part(&self) -> &impl Api;           → type Part: Api; fn part(&self) -> &<Self as WeatherApi>::Part;
/// ```
/// It also adds supertraits, so that implementations can be shared among threads.
pub(crate) fn rewrite(contract: &Contract, item: &mut Trait) {
    let mut types = Vec::new();
    let own = own(item);
    let mut entries = contract.methods.iter();
    for method in item.methods() {
        match entries.next() {
            Some(Entry::Part(part)) => {
                types.extend(part_of(part, &own, &mut method.function.signature));
            }
            Some(Entry::Tool(tool)) if tool.feature.stream.is_some() => {
                send_stream(&mut method.function.signature.output);
            }
            Some(Entry::Tool(_)) => send_future(method),
            None => {}
        }
    }
    item.members.extend(types.into_iter().map(Member::Ours));
    for bound in ["Sized", "Send", "Sync"] {
        let is_there = item.supertraits.iter().any(|given| {
            given
                .to_token_stream()
                .into_iter()
                .last()
                .is_some_and(|last| last.to_string() == bound)
        });
        let bound = quote::format_ident!("{bound}");
        if !is_there {
            item.supertraits.push(parse_quote!(::core::marker::#bound));
        }
    }
    let is_static = |given: &TypeParamBound| given.to_token_stream().to_string() == "'static";
    if !item.supertraits.iter().any(is_static) {
        item.supertraits.push(parse_quote!('static));
    }
}

/// Rewrites `async fn f() -> R`, whose body becomes an `async` block.
fn send_future(method: &mut Method) {
    let function = &mut method.function;
    if function.signature.asyncness.take().is_none() {
        return;
    }
    let (ty, span) = match &function.signature.output {
        ReturnType::Default => (quote!(()), function.signature.ident.span()),
        ReturnType::Type(_, ty) => (ty.to_token_stream(), ty.span()),
    };
    let hint = output_hint(&ty);
    function.signature.output = parse_quote_spanned! {span=>
        -> impl ::core::future::Future<Output = #ty> + ::core::marker::Send
    };
    // Nested in another block, braces of the user's would be superfluous for rustc. Those of an expansion are not.
    let mut body = function.body.clone();
    body.set_span(body.span().resolved_at(Span::mixed_site()));
    function.body = Group::new(Delimiter::Brace, quote!(async move { #hint #body }));
}

/// The output type of an `async` block, which rustc knows for an `async fn`, so that a `Box<E>` in a `Result` becomes a `Box<dyn Error>`.
/// Expands to
/// ```text
/// if let Some(__output) = None::<R> { return __output; }
/// ```
/// A type without a name, which is an error in a contract, has no hint.
fn output_hint(ty: &TokenStream) -> Option<TokenStream> {
    let is_named = keyword_in(ty.clone(), "impl").is_none();
    is_named.then(|| {
        quote! {
            if let ::core::option::Option::Some(__output) = ::core::option::Option::None::<#ty> {
                return __output;
            }
        }
    })
}

fn send_stream(output: &mut ReturnType) {
    if let ReturnType::Type(_, ty) = output {
        let mut ty: &mut Type = ty;
        loop {
            ty = match ty {
                Type::Group(group) => &mut group.elem,
                Type::Paren(paren) => &mut paren.elem,
                Type::ImplTrait(opaque) => {
                    return opaque.bounds.push(parse_quote!(::core::marker::Send));
                }
                _ => return,
            };
        }
    }
}

/// The path of the trait's own members. One that is generic is an error already, and has no further ones.
fn own(item: &Trait) -> TokenStream {
    let of_trait = &item.ident;
    if item.generics.params.is_empty() {
        quote!(<Self as #of_trait>)
    } else {
        quote!(Self)
    }
}

/// The associated type of a part, which its method returns.
fn part_of(part: &Part, own: &TokenStream, signature: &mut Signature) -> Option<TokenStream> {
    let (of, cfg, ident) = (part.of.as_ref()?, part.shared(), part.type_ident());
    signature.output = parse_quote_spanned!(of.span()=> -> &#own::#ident);
    let doc = format!(
        "The type that [`{}`](Self::{0}) returns.",
        part.signature.ident
    );
    Some(quote! {
        #(#cfg)*
        #[doc = #doc]
        type #ident: #of;
    })
}

/// Expands to
/// ```text
/// const MCP_CONTRACT: ::treenail::__private_0_1_0::TraitContract<Self> = …;
/// fn mcp_tools<__Whole, __Part>(__part: __Part) -> ::std::vec::Vec<::treenail::tool::ToolDefinition<__Whole>>
/// where
///     __Whole: Send + Sync + 'static,
///     __Part: Fn(&__Whole) -> &Self + Copy + Send + Sync + 'static,
/// {
///     let mut __tools = ::std::vec::Vec::new();
///     __tools.push(<entry>);
///     __tools.extend(::treenail::__private_0_1_0::prefix_names(
///         "alerts",
///         <AlertsApiClient>::mcp_tools::<<Self as WeatherApi>::Alerts, __Whole, _>(
///             move |__whole: &__Whole| <Self as WeatherApi>::alerts(__part(__whole)),
///         ),
///     ));
///     __tools
/// }
/// ```
/// `__part` finds the implementation of the trait in the mounted value. Members are named with their trait, since another
/// contract may be its supertrait and have members of the same names.
pub(crate) fn members(krate: &Krate, contract: &Contract, of_trait: &Ident) -> TokenStream {
    let namespace = or_empty(contract.namespace.as_ref());
    let instructions = or_empty(contract.instructions.as_ref());
    let tools = contract.methods.iter();
    let tools = tools.map(|entry| self::tools(krate, entry, of_trait));
    let allow = allow_deprecated(contract.methods.iter().map(Entry::is_deprecated));
    let contract = quote! {
        namespace: #namespace,
        instructions: #instructions,
        tools: || <Self as #of_trait>::mcp_tools(|__whole| __whole),
    };
    let allow = quote! {
        #allow
        #[allow(unused_mut, clippy::vec_init_then_push, reason = "methods may be disabled by `cfg`")]
    };
    let list = quote! {
        let mut __tools = ::std::vec::Vec::new();
        #(#tools)*
        __tools
    };
    members_with(krate, &contract, &allow, &list)
}

/// The members of the trait, given the fields of the constant, and the attributes and the body of `mcp_tools`.
pub(super) fn members_with(
    krate: &Krate,
    contract: &TokenStream,
    attributes: &TokenStream,
    list: &TokenStream,
) -> TokenStream {
    quote! {
        #[doc(hidden)]
        const MCP_CONTRACT: #krate::__private_0_1_0::TraitContract<Self> =
            #krate::__private_0_1_0::TraitContract { #contract };

        #[doc(hidden)]
        #attributes
        fn mcp_tools<__Whole, __Part>(
            __part: __Part,
        ) -> ::std::vec::Vec<#krate::tool::ToolDefinition<__Whole>>
        where
            __Whole: ::core::marker::Send + ::core::marker::Sync + 'static,
            __Part: ::core::ops::Fn(&__Whole) -> &Self
                + ::core::marker::Copy
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static,
        {
            #list
        }
    }
}

fn tools(krate: &Krate, method: &Entry, of_trait: &Ident) -> TokenStream {
    let cfg = method.shared();
    match method {
        Entry::Tool(tool) => {
            let entry = entry(krate, &tool.feature, Target::Contract(of_trait));
            quote!(#(#cfg)* __tools.push(#entry);)
        }
        Entry::Part(part) => {
            let (name, method) = (&part.name.text, &part.signature.ident);
            let of = part.tools(of_trait);
            let whole = quote!(__whole);
            let part = quote!(__part(#whole));
            let tools = quote_spanned! {of.span()=>
                #of(move |#whole: &__Whole| <Self as #of_trait>::#method(#part))
            };
            quote! {
                #(#cfg)*
                ::core::iter::Extend::extend(&mut __tools, #krate::__private_0_1_0::prefix_names(#name, #tools));
            }
        }
    }
}

/// The server half: `#[mcp_tool] impl WeatherApi for Station`. Expands to
/// ```text
/// impl ::treenail::server::Mount for Station {
///     const NAMESPACE: &'static str = <Self as WeatherApi>::MCP_CONTRACT.namespace;
///     const INSTRUCTIONS: &'static str = <Self as WeatherApi>::MCP_CONTRACT.instructions;
///     fn tools() -> ::std::vec::Vec<::treenail::tool::ToolDefinition<Self>> {
///         (<Self as WeatherApi>::MCP_CONTRACT.tools)()
///     }
/// }
/// ```
pub(crate) fn implementation(krate: &Krate, of_trait: &Type, scope: Option<&Expr>) -> TokenStream {
    let scopes = default_scopes(krate, scope);
    let contract = quote_spanned!(of_trait.span()=> <Self as #of_trait>::MCP_CONTRACT);
    quote! {
        const NAMESPACE: &'static ::core::primitive::str = #contract.namespace;
        const INSTRUCTIONS: &'static ::core::primitive::str = #contract.instructions;

        #scopes
        fn tools() -> ::std::vec::Vec<#krate::tool::ToolDefinition<Self>> {
            (#contract.tools)()
        }
    }
}

/// The associated types of the parts that an implementation returns: `type Alerts = Board;` for
/// `fn alerts(&self) -> &Board`.
pub(crate) fn part_types(item: &mut ImplBlock) -> Vec<TokenStream> {
    let parts = item.functions().filter_map(|function| {
        let ty = returned_part(&function.signature)?;
        let ident = part_type(&function.signature.ident);
        let cfg = cfg_attr::cfgs(&function.attributes);
        Some(quote!(#(#cfg)* type #ident = #ty;))
    });
    parts.collect()
}
