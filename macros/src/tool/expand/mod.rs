//! Generated code for tools, prompts and resources. It cannot fail: the rules have been checked.

mod complete;
mod entry;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Visibility;

use crate::krate::Krate;

use self::entry::{Host, entry};
use super::model::{Block, Feature, Kind};
use super::parse::ImplBlock;

/// Expands to
/// ```text
/// #[cfg(…)] pub enum add {}
/// #[cfg(…)] impl ::treenail::Tool for add {
///     const NAME: &'static str = "add";
///     fn definition() -> ::treenail::ToolDefinition<()> { <entry> }
/// }
/// ```
pub(crate) fn function(krate: &Krate, tool: &Feature, visibility: &Visibility) -> TokenStream {
    let entry = entry(krate, tool, Host::None);
    impl_tool(krate, tool, visibility, &entry)
}

/// The same as [`function`], with a definition that is never reached.
pub(crate) fn function_stub(krate: &Krate, tool: &Feature, visibility: &Visibility) -> TokenStream {
    impl_tool(krate, tool, visibility, &quote!(loop {}))
}

fn impl_tool(
    krate: &Krate,
    tool: &Feature,
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
/// and the same for `prompts` and `resources`, where there are any.
pub(crate) fn block(krate: &Krate, block: &Block, item: &ImplBlock) -> TokenStream {
    let all = |method, definition, wanted: fn(&Kind) -> bool| {
        let mut entries = block
            .features
            .iter()
            .filter(|feature| wanted(&feature.kind))
            .map(|feature| {
                let entry = entry(krate, feature, Host::Type);
                let cfg = &feature.cfg;
                quote!(#(#cfg)* #entry)
            })
            .peekable();
        let (method, definition) = (format_ident!("{method}"), format_ident!("{definition}"));
        entries.peek().is_some().then(|| {
            quote! {
                fn #method() -> ::std::vec::Vec<#krate::#definition<Self>> {
                    ::core::convert::From::from([#(#entries),*])
                }
            }
        })
    };
    let tools = all("tools", "ToolDefinition", |kind| {
        matches!(kind, Kind::Tool(_))
    });
    let prompts = all("prompts", "PromptDefinition", |kind| {
        matches!(kind, Kind::Prompt)
    });
    let resources = all("resources", "ResourceDefinition", |kind| {
        matches!(kind, Kind::Resource(_))
    });
    let namespace = or_empty(block.namespace.as_ref());
    let instructions = or_empty(block.instructions.as_ref());
    let members = quote! {
        const NAMESPACE: &'static str = #namespace;
        const INSTRUCTIONS: &'static str = #instructions;

        #tools
        #prompts
        #resources
    };
    let mount = impl_mount(krate, item, &members);
    let allow = allow_deprecated(&block.features);
    quote!(#allow #mount)
}

/// The same as [`block`], with nothing in it.
pub(crate) fn block_stub(krate: &Krate, item: &ImplBlock) -> TokenStream {
    let members = quote! {
        const NAMESPACE: &'static str = "";
        const INSTRUCTIONS: &'static str = "";
    };
    impl_mount(krate, item, &members)
}

fn impl_mount(krate: &Krate, item: &ImplBlock, members: &TokenStream) -> TokenStream {
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
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl #generics #krate::Mount for #self_ty #where_clause {
            #members
        }
    }
}

fn or_empty(text: Option<&impl ToTokens>) -> TokenStream {
    text.map_or_else(|| quote!(""), ToTokens::to_token_stream)
}

/// Lets generated code call functions that the user has deprecated.
fn allow_deprecated<'a>(tools: impl IntoIterator<Item = &'a Feature>) -> Option<TokenStream> {
    let deprecated = tools.into_iter().any(|tool| tool.deprecated.is_some());
    deprecated.then(|| quote!(#[allow(deprecated, reason = "to list a tool is not to use it")]))
}
