//! Generated code for tools, prompts and resources. Expansion is infallible, since the rules have been checked.
//!
//! A local variable and all its uses are written by `quote!`, unless they are within one `quote_spanned!`. A token of the user may
//! be the argument of a `macro_rules`, and a local with its span is another one.

mod complete;
mod entry;
mod handler;
mod output;
mod policy;
mod stream;
mod task;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Visibility;
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::lints;
use crate::signature::is_trait_object;

pub(crate) use self::entry::{Target, default_scopes, default_value, entry};
pub(crate) use self::output::kind_parameter;
pub(crate) use self::stream::fold;
use super::model::{Block, Feature, Kind};
use super::parse::ImplBlock;

/// Expands to
/// ```text
/// #[cfg(…)] pub enum add {}
/// #[cfg(…)] impl ::treenail::tool::Tool for add {
///     const NAME: &'static str = "add";
///     fn definition() -> ::treenail::tool::ToolDefinition<()> { <entry> }
/// }
/// ```
pub(crate) fn function(krate: &Krate, tool: &Feature, visibility: &Visibility) -> TokenStream {
    let entry = entry(krate, tool, Target::None);
    impl_tool(krate, tool, visibility, &entry)
}

/// Stub of [`function`], for a function with an error. Its definition must compile, so that the error is the only one.
pub(crate) fn function_stub(krate: &Krate, tool: &Feature, visibility: &Visibility) -> TokenStream {
    let error = quote!(::core::unreachable!("the tool has an error"));
    impl_tool(krate, tool, visibility, &error)
}

fn impl_tool(
    krate: &Krate,
    tool: &Feature,
    visibility: &Visibility,
    definition: &TokenStream,
) -> TokenStream {
    let ident = &tool.signature.ident;
    let name = &tool.name.text;
    let (cfg, deprecated) = (tool.shared(), &tool.deprecated);
    let allow = allow_deprecated([tool.deprecated.is_some()]);
    let doc = format!("The tool `{name}`, for `tools!`.");
    // At the place of the function, which errors about the visibility of the item then show. It is still generated code for lints.
    let place = ident.span().resolved_at(Span::call_site());
    let item = quote_spanned!(place=> enum #ident {});
    quote! {
        #(#cfg)*
        #deprecated
        #[doc = #doc]
        #[doc(hidden)]
        #[allow(
            missing_debug_implementations,
            non_camel_case_types,
            reason = "it has the name of its function, and no values"
        )]
        #visibility #item

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #krate::tool::Tool for #ident {
            const NAME: &'static ::core::primitive::str = #name;

            fn definition() -> #krate::tool::ToolDefinition<()> {
                #definition
            }
        }
    }
}

/// Expands to
/// ```text
/// impl ::treenail::server::Mount for Weather {
///     const NAMESPACE: &'static str = "weather";
///     const INSTRUCTIONS: &'static str = "…";
///     fn tools() -> ::std::vec::Vec<::treenail::tool::ToolDefinition<Self>> {
///         let mut __list = ::std::vec::Vec::new();
///         #[cfg(…)] __list.push((|| <entry>)());
///         …
///         __list
///     }
/// }
/// ```
/// and, if there are any, the same for `prompts` and `resources`. Each entry is a separate closure to limit the size of a
/// stack frame.
pub(crate) fn block(krate: &Krate, block: &Block, item: &ImplBlock) -> TokenStream {
    let tools = list(krate, block, ["tools", "tool", "ToolDefinition"], |kind| {
        matches!(kind, Kind::Tool(_))
    });
    let prompts = list(
        krate,
        block,
        ["prompts", "prompt", "PromptDefinition"],
        |kind| matches!(kind, Kind::Prompt),
    );
    let resources = list(
        krate,
        block,
        ["resources", "resource", "ResourceDefinition"],
        |kind| matches!(kind, Kind::Resource(_)),
    );
    let scopes = default_scopes(krate, block.scope.as_ref());
    let namespace = or_empty(block.namespace.as_ref());
    let instructions = or_empty(block.instructions.as_ref());
    let members = quote! {
        const NAMESPACE: &'static ::core::primitive::str = #namespace;
        const INSTRUCTIONS: &'static ::core::primitive::str = #instructions;

        #scopes
        #tools
        #prompts
        #resources
    };
    let mount = impl_mount(krate, item, &members);
    let allow = allow_deprecated(block.features.iter().map(|it| it.deprecated.is_some()));
    quote!(#allow #mount)
}

/// The method that lists all definitions of one kind, if there are any.
fn list(
    krate: &Krate,
    block: &Block,
    names: [&str; 3],
    wanted: fn(&Kind) -> bool,
) -> Option<TokenStream> {
    let [method, module, definition] = names.map(|name| format_ident!("{name}"));
    let wanted = block.features.iter().filter(|it| wanted(&it.kind));
    let entries: Vec<_> = wanted
        .map(|feature| {
            let entry = entry(krate, feature, Target::Type);
            let cfg = feature.shared();
            quote!(#(#cfg)* __list.push((|| #entry)());)
        })
        .collect();
    (!entries.is_empty()).then(|| {
        quote! {
            fn #method() -> ::std::vec::Vec<#krate::#module::#definition<Self>> {
                let mut __list = ::std::vec::Vec::new();
                #(#entries)*
                __list
            }
        }
    })
}

/// Stub of [`block`], without definitions. A trait object cannot be mounted and has none.
pub(crate) fn block_stub(krate: &Krate, item: &ImplBlock) -> TokenStream {
    if is_trait_object(&item.self_ty) {
        return TokenStream::new();
    }
    let members = quote! {
        const NAMESPACE: &'static ::core::primitive::str = "";
        const INSTRUCTIONS: &'static ::core::primitive::str = "";
    };
    impl_mount(krate, item, &members)
}

pub(crate) fn impl_mount(krate: &Krate, item: &ImplBlock, members: &TokenStream) -> TokenStream {
    let ImplBlock {
        attributes,
        generics,
        self_ty,
        ..
    } = item;
    let predicates = generics.where_clause.iter().flat_map(|it| &it.predicates);
    let cfg = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    let lints = lints::levels(attributes);
    let span = self_ty.span();
    // For a type with lifetimes, rustc cannot use a bound on `Self` in async code. The bounds are on its parameters there.
    let lifetimes = self_ty.to_token_stream().to_string().contains('\'');
    let parameters = generics.type_params().filter(|_| lifetimes);
    let bounds = parameters.map(|parameter| {
        let ident = format_ident!("{}", parameter.ident, span = Span::call_site());
        quote!(#ident: ::core::marker::Send + ::core::marker::Sync,)
    });
    let shared =
        (!lifetimes).then(|| quote_spanned!(span=> ::core::marker::Send + ::core::marker::Sync +));
    // The bound on `Self` defers the error for a type that cannot be mounted to the mount, if it depends on the type's
    // parameters.
    let implementation = quote_spanned! {span=>
        impl #generics #krate::server::Mount for #self_ty
        where
            #(#predicates,)*
            #(#bounds)*
            Self: #shared 'static,
        {
            #members
        }
    };
    quote! {
        #(#cfg)*
        #(#lints)*
        #[automatically_derived]
        #[allow(trivial_bounds, reason = "a type may have parameters or not")]
        #implementation
    }
}

pub(crate) fn or_empty(text: Option<&impl ToTokens>) -> TokenStream {
    text.map_or_else(|| quote!(""), ToTokens::to_token_stream)
}

/// Lets generated code call deprecated functions.
pub(crate) fn allow_deprecated(are: impl IntoIterator<Item = bool>) -> Option<TokenStream> {
    let deprecated = are.into_iter().any(|is| is);
    deprecated.then(|| quote!(#[allow(deprecated, reason = "listing a tool is not using it")]))
}
