//! Generated code for tools. It cannot fail: the rules have been checked.

mod entry;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Visibility;

use crate::krate::Krate;

use self::entry::{Host, entry};
use super::model::{Block, Tool};
use super::parse::ImplBlock;

/// Expands to
/// ```text
/// #[cfg(…)] pub enum add {}
/// #[cfg(…)] impl ::treenail::Tool for add {
///     const NAME: &'static str = "add";
///     fn definition() -> ::treenail::ToolDefinition<()> { <entry> }
/// }
/// ```
pub(crate) fn function(krate: &Krate, tool: &Tool, visibility: &Visibility) -> TokenStream {
    let entry = entry(krate, tool, Host::None);
    impl_tool(krate, tool, visibility, &entry)
}

/// The same as [`function`], with a definition that is never reached.
pub(crate) fn function_stub(krate: &Krate, tool: &Tool, visibility: &Visibility) -> TokenStream {
    impl_tool(krate, tool, visibility, &quote!(loop {}))
}

fn impl_tool(
    krate: &Krate,
    tool: &Tool,
    visibility: &Visibility,
    definition: &TokenStream,
) -> TokenStream {
    let ident = &tool.signature.ident;
    let name = &tool.name.text;
    let (cfg, deprecated) = (&tool.cfg, &tool.deprecated);
    let allow = allow_deprecated([tool]);
    let doc = format!("The tool `{name}`, as `tools!` takes it.");
    quote! {
        #(#cfg)*
        #deprecated
        #[doc = #doc]
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "it has the name of its function")]
        #visibility enum #ident {}

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #krate::Tool for #ident {
            const NAME: &'static str = #name;

            fn definition() -> #krate::ToolDefinition<()> {
                #definition
            }
        }
    }
}

/// Expands to
/// ```text
/// impl ::treenail::Mount for Weather {
///     const NAMESPACE: &'static str = "weather";
///     const INSTRUCTIONS: &'static str = "…";
///     fn tools() -> ::std::vec::Vec<::treenail::ToolDefinition<Self>> {
///         ::core::convert::From::from([#[cfg(…)] <entry>, …])
///     }
/// }
/// ```
pub(crate) fn block(krate: &Krate, block: &Block, item: &ImplBlock) -> TokenStream {
    let entries = block.tools.iter().map(|tool| {
        let entry = entry(krate, tool, Host::Type);
        let cfg = &tool.cfg;
        quote!(#(#cfg)* #entry)
    });
    let namespace = or_empty(block.namespace.as_ref());
    let instructions = or_empty(block.instructions.as_ref());
    let tools = quote!(::core::convert::From::from([#(#entries),*]));
    let mount = impl_mount(krate, item, &[namespace, instructions, tools]);
    let allow = allow_deprecated(&block.tools);
    quote!(#allow #mount)
}

/// The same as [`block`], with tools that are never reached.
pub(crate) fn block_stub(krate: &Krate, item: &ImplBlock) -> TokenStream {
    impl_mount(krate, item, &[quote!(""), quote!(""), quote!(loop {})])
}

fn impl_mount(krate: &Krate, item: &ImplBlock, members: &[TokenStream; 3]) -> TokenStream {
    let ImplBlock {
        attributes,
        generics,
        self_ty,
        ..
    } = item;
    let where_clause = &generics.where_clause;
    let cfg = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    let [namespace, instructions, tools] = members;
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl #generics #krate::Mount for #self_ty #where_clause {
            const NAMESPACE: &'static str = #namespace;
            const INSTRUCTIONS: &'static str = #instructions;

            fn tools() -> ::std::vec::Vec<#krate::ToolDefinition<Self>> {
                #tools
            }
        }
    }
}

fn or_empty(text: Option<&impl ToTokens>) -> TokenStream {
    text.map_or_else(|| quote!(""), ToTokens::to_token_stream)
}

/// Lets generated code call functions that the user has deprecated.
fn allow_deprecated<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Option<TokenStream> {
    let deprecated = tools.into_iter().any(|tool| tool.deprecated.is_some());
    deprecated.then(|| quote!(#[allow(deprecated, reason = "to list a tool is not to use it")]))
}
