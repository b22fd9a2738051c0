//! The client half: a type with a method for each tool.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::expand::{fold, kind_parameter, or_empty};
use crate::tool::model::Output;

use super::super::model::{Contract, Entry, Parameter, Part, Tool};
use super::super::parse::Trait;

/// Expands to
/// ```text
/// pub struct WeatherApiClient { scope: ::treenail::__private_0_1_0::NamespacedClient }
/// impl WeatherApiClient {
///     pub fn new(client: &::treenail::client::McpClient) -> Self { … }
///     <functions>
///     pub fn forecast(&self, city: String) -> ::treenail::client::TypedCall<…> { … }
///     …
/// }
/// ```
pub(super) fn client(
    krate: &Krate,
    contract: &Contract,
    item: &Trait,
    functions: &TokenStream,
) -> TokenStream {
    let (ident, vis) = (&item.ident, &item.visibility);
    let (client, mock) = (
        format_ident!("{}Client", item.ident),
        format_ident!("Mock{}", item.ident),
    );
    let scope_methods = scope_methods(krate, contract, item);
    let methods = contract.methods.iter().map(|entry| match entry {
        Entry::Tool(tool) => Some(client_method(krate, tool, item)),
        Entry::Part(part) => sub_client(part, item),
    });
    let cfg = item.shared();
    let doc = format!("Client of [`{ident}`], which calls its tools on a server.");
    quote! {
        #(#cfg)*
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #[allow(dead_code, reason = "a crate may not use all of it")]
        #vis struct #client {
            scope: #krate::__private_0_1_0::NamespacedClient,
        }

        #(#cfg)*
        #[allow(
            dead_code,
            clippy::needless_pass_by_value,
            clippy::too_many_arguments,
            reason = "methods are those of the trait"
        )]
        impl #client {
            #scope_methods
            #functions
            #(#methods)*
        }

        #(#cfg)*
        #[automatically_derived]
        impl #krate::__private_0_1_0::ClientOf for #client {
            type Mock = #mock;
        }
    }
}

/// Emits the methods that every client has: those for its namespace and its underlying client.
fn scope_methods(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    let vis = &item.visibility;
    let namespace = or_empty(contract.namespace.as_ref());
    quote! {
        /// Creates a client that calls the tools by the names in the trait.
        #[must_use]
        #vis fn new(client: &#krate::client::McpClient) -> Self {
            Self { scope: #krate::__private_0_1_0::NamespacedClient::new(client, #namespace) }
        }

        /// Returns a client for a server with the tools in another namespace, such as `"town.weather"`, or in none, `""`.
        #[must_use]
        #vis fn with_namespace(&self, namespace: &::core::primitive::str) -> Self {
            Self { scope: #krate::__private_0_1_0::NamespacedClient::new(self.scope.client(), namespace) }
        }

        /// The namespace: the prefix of the names of the tools, before a dot.
        #[must_use]
        #vis fn namespace(&self) -> &::core::primitive::str {
            self.scope.namespace()
        }

        /// The underlying client.
        #[must_use]
        #vis const fn client(&self) -> &#krate::client::McpClient {
            self.scope.client()
        }
    }
}

/// The functions of a client that concern the trait as a whole.
pub(super) fn functions(krate: &Krate, item: &Trait) -> TokenStream {
    let ident = &item.ident;
    let mock = format_ident!("Mock{}", item.ident);
    let description =
        quote!(#krate::__private_0_1_0::describe_trait(&<#mock as #ident>::MCP_CONTRACT));
    let contract = contract_function(krate, item, &description);
    let tools = tools(krate, item);
    quote!(#contract #tools)
}

/// Emits the function that returns the contract as data.
pub(super) fn contract_function(
    krate: &Krate,
    item: &Trait,
    description: &TokenStream,
) -> TokenStream {
    let vis = &item.visibility;
    quote! {
        /// The contract: the tools that a conforming server offers.
        ///
        /// # Errors
        ///
        /// Fails if a name or a default in the trait is invalid, for which building a server fails too.
        #vis fn contract() -> #krate::Result<#krate::client::Contract> {
            #description
        }
    }
}

/// Emits the function that lists the tools of an implementation, for contracts that the trait is a part of.
pub(super) fn tools(krate: &Krate, item: &Trait) -> TokenStream {
    let (ident, vis) = (&item.ident, &item.visibility);
    quote! {
        #[doc(hidden)]
        #vis fn mcp_tools<__Part, __Whole, __Find>(
            find: __Find,
        ) -> ::std::vec::Vec<#krate::tool::ToolDefinition<__Whole>>
        where
            __Part: #ident,
            __Whole: ::core::marker::Send + ::core::marker::Sync + 'static,
            __Find: ::core::ops::Fn(&__Whole) -> &__Part
                + ::core::marker::Copy
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static,
        {
            <__Part as #ident>::mcp_tools(find)
        }
    }
}

/// Client method for a tool. Expands to
/// ```text
/// pub fn forecast(&self, city: String)
///     -> ::treenail::client::TypedCall<<Result<Forecast, E> as ::treenail::contract::Fallible>::Ok>
/// {
///     self.scope.call("forecast", &<arguments>, <Result<Forecast, E> as ::treenail::contract::ContractOutput<…>>::reader(<kind>))
/// }
/// ```
fn client_method(krate: &Krate, tool: &Tool, item: &Trait) -> TokenStream {
    let feature = &tool.feature;
    let (vis, ident, name) = (
        &item.visibility,
        &feature.signature.ident,
        &feature.name.text,
    );
    let (docs, cfg, deprecated) = (&tool.docs, feature.shared(), &feature.deprecated);
    let parameters = tool
        .parameters
        .iter()
        .map(|Parameter { ident, ty, .. }| quote!(#ident: #ty));
    let arguments = arguments(krate, &tool.parameters);
    let ty = returned(tool);
    let kind = quote_spanned!(ty.span()=> #krate::__private_0_1_0::Returns::<#ty>::__kind());
    let of_kind = kind_parameter(krate, &ty);
    let ok = quote_spanned!(ty.span()=> <#ty as #krate::contract::Fallible>::Ok);
    let (returns, call) = match &feature.stream {
        None => {
            let reader = quote_spanned!(ty.span()=> <#ty as #krate::contract::ContractOutput<#of_kind, _>>::reader(#kind));
            (
                quote_spanned!(ty.span()=> TypedCall),
                quote!(call(#name, &#arguments, #reader)),
            )
        }
        Some(stream) => {
            let fold = fold(krate, stream);
            let reader = quote_spanned!(ty.span()=> <#ty as #krate::contract::ContractItem<#of_kind, _>>::reader(#kind, #fold));
            (
                quote_spanned!(ty.span()=> TypedStream),
                quote!(stream(#name, &#arguments, #reader)),
            )
        }
    };
    let krate_there = krate.at(ty.span());
    let returns = quote_spanned!(ty.span()=> #krate_there::client::#returns<#ok>);
    quote! {
        #(#cfg)*
        #(#docs)*
        #deprecated
        #vis fn #ident(&self, #(#parameters),*) -> #returns {
            #[allow(unused_imports, reason = "not needed for a `Result`")]
            use #krate::__private_0_1_0::ReturnsValue as _;
            self.scope.#call
        }
    }
}

/// The return type of a call, or the item type of its stream.
pub(super) fn returned(tool: &Tool) -> Type {
    let item = tool
        .feature
        .stream
        .as_ref()
        .and_then(|stream| stream.item.as_ref());
    match (item, &tool.feature.output) {
        (Some(ty), _) | (None, Output::Named(ty) | Output::Opaque(ty) | Output::Borrowed(ty)) => {
            ty.clone()
        }
        (None, Output::Unit) => syn::parse_quote!(()),
    }
}

/// Expands to
/// ```text
/// ::treenail::__private_0_1_0::Arguments::new()
///     .with(<String as ::treenail::contract::ContractArgument>::given(&city, "city", false))
/// ```
/// with `.with_fields(…)` for a flattened argument.
pub(super) fn arguments(krate: &Krate, parameters: &[Parameter]) -> TokenStream {
    let with = parameters.iter().map(|parameter| {
        let Parameter {
            ident,
            ty,
            name,
            has_default,
            is_flattened,
        } = parameter;
        let given = quote_spanned! {ty.span()=>
            <#ty as #krate::contract::ContractArgument>::given(&#ident, #name, #has_default)
        };
        if *is_flattened {
            quote!(.with_fields(#given))
        } else {
            quote!(.with(#given))
        }
    });
    quote!(#krate::__private_0_1_0::Arguments::new() #(#with)*)
}

/// Client method for a part. Expands to
/// ```text
/// pub fn alerts(&self) -> AlertsApiClient {
///     <AlertsApiClient>::new(self.client()).with_namespace(&self.scope.name("alerts"))
/// }
/// ```
fn sub_client(part: &Part, item: &Trait) -> Option<TokenStream> {
    let (vis, ident, name) = (&item.visibility, &part.signature.ident, &part.name.text);
    let (docs, cfg, deprecated) = (&part.docs, part.shared(), &part.deprecated);
    let client = part.client()?;
    Some(quote! {
        #(#cfg)*
        #(#docs)*
        #deprecated
        #[must_use]
        #vis fn #ident(&self) -> #client {
            <#client>::new(self.scope.client()).with_namespace(&self.scope.name(#name))
        }
    })
}
